"""What ``siena bench match`` found, as a drawing: time per message against filters."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from siena.bench.match.rounds import Run
from siena.errors import SienaError
from siena.extras import how_to_get

FORMATS = (".png", ".svg", ".pdf")
# One colour and mark for each matcher, whichever of them were measured; told apart
# without colours too (Okabe and Ito).
STYLES = {
    "engine": ("#0072B2", "o", "engine"),
    "engine-bytes": ("#56B4E9", "s", "engine, from bytes"),
    "engine-one": ("#009E73", "v", "engine, one by one"),
    "counting": ("#E69F00", "D", "counting"),
    "tree": ("#CC79A7", "^", "tree (Python)"),
    "reference": ("#555555", "x", "loop (Python)"),
}


def check(path: Path) -> None:
    """Make sure, before anything is measured, that it can be drawn.

    Raises:
        SienaError: if it cannot, with what to do.
    """
    if find_spec("matplotlib") is None:
        raise SienaError(
            "--plot needs matplotlib, which is not installed",
            hint=how_to_get("plot"),
        )
    if path.suffix.lower() not in FORMATS:
        raise SienaError(
            f"{path.name!r} is not a picture", hint=f"end it in {', '.join(FORMATS)}"
        )
    if not path.parent.is_dir():
        raise SienaError(f"there is no folder {str(path.parent)!r}", hint="make it")


def draw(runs: Sequence[Run], path: Path) -> None:
    """Draw the median of each matcher, and its spread, both axes logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5.5), layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log")
    for matcher, (colour, mark, label) in STYLES.items():
        found = sorted(
            (r for r in runs if r.matcher == matcher), key=lambda r: r.filters
        )
        if not found:
            continue
        sizes = [run.filters for run in found]
        times = [1e6 / run.messages_per_second for run in found]
        below = [time - 1e6 / r.fastest for time, r in zip(times, found, strict=True)]
        above = [1e6 / r.slowest - time for time, r in zip(times, found, strict=True)]
        axes.errorbar(
            sizes, times, (below, above), color=colour, marker=mark, label=label,
            capsize=3, elinewidth=0.8,
        )  # fmt: skip
    first = runs[0]
    sizes = sorted({run.filters for run in runs})
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("filters")
    axes.set_ylabel("time per message, µs (median and spread)")
    wanted = "all matching filters wanted"
    if first.interfaces != "all":
        wanted = f"{first.interfaces} interfaces"
    names = f"{first.names} names {first.distribution}"
    axes.set_title(f"W-{first.workload.upper()}, {names}, {wanted}")
    axes.grid(which="major", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    # Beside the axes: no curve passes there.
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=150)
