"""Paper and ink: a picture of a simulated network as PNG, SVG or PDF."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from siena.errors import SienaError
from siena.extras import how_to_get
from siena.sim.picture.drawing import LINE_HEIGHT, MARGIN, Picture

FORMATS = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 150
BORDER = 0.15
POINTS = 7


def check(path: Path) -> None:
    """Make sure, before anything is simulated, that it can be drawn.

    Raises:
        SienaError: if it cannot, with what to do.
    """
    if path.suffix.lower() not in FORMATS:
        raise SienaError(
            f"{path.name!r} is not a picture", hint=f"end it in {', '.join(FORMATS)}"
        )
    if find_spec("matplotlib") is None:
        raise SienaError(
            "a drawing needs matplotlib, which is not installed",
            hint=how_to_get("plot"),
        )
    if not path.parent.is_dir():
        raise SienaError(f"there is no folder {str(path.parent)!r}", hint="make it")


def save(picture: Picture, path: Path) -> None:
    """Draw it; one inch of the picture is one inch on paper."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    width, height = picture.size
    figure = Figure(figsize=(width + 2 * BORDER, height + 2 * BORDER))
    axes = figure.add_axes((0, 0, 1, 1), frameon=False)
    axes.set_xlim(-BORDER, width + BORDER)
    axes.set_ylim(-height - BORDER, BORDER)
    axes.set_axis_off()
    places = {box.broker: (box.x, box.y) for box in picture.boxes}
    text: dict[str, Any] = {"family": "monospace", "fontsize": POINTS}
    for line in picture.lines:
        (x, y), (to_x, to_y) = places[line.one], places[line.other]
        axes.plot([x, to_x], [y, to_y], color="#8a8a8a", linewidth=0.8, zorder=1)
    for line in picture.lines:
        if line.weight:
            axes.text(
                line.x, line.y, line.weight, ha="center", va="center_baseline",
                color="#555555", zorder=2, **text,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6},
            )  # fmt: skip
    for box in picture.boxes:
        left, top = box.x - box.width / 2, box.y + box.height / 2
        corner = left + MARGIN / 2, box.y - box.height / 2 + MARGIN / 2
        patch = FancyBboxPatch(
            corner, box.width - MARGIN, box.height - MARGIN, zorder=3,
            boxstyle=f"round,pad={MARGIN / 2}",
            facecolor="#eef2fb", edgecolor="#3b5998", linewidth=0.8,
        )  # fmt: skip
        axes.add_patch(patch)
        middle = top - MARGIN - LINE_HEIGHT / 2
        axes.text(
            box.x, middle, str(box.broker), ha="center", va="center_baseline",
            weight="bold", zorder=4, **text,
        )  # fmt: skip
        for number, said in enumerate(box.lines, start=1):
            axes.text(
                left + MARGIN, middle - number * LINE_HEIGHT, said.replace("$", r"\$"),
                ha="left", va="center_baseline", zorder=4, **text,
            )  # fmt: skip
    # Letters stay letters in an SVG, so that they can be searched and copied.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "siena"}):
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=_undated(path))


def _undated(path: Path) -> dict[str, None]:
    """The same picture is the same file, whenever it is drawn."""
    return {} if path.suffix.lower() == ".png" else {_DATES[path.suffix.lower()]: None}


_DATES = {".svg": "Date", ".pdf": "CreationDate"}
