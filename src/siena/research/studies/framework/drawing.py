"""How figures look: axes, colours and lines, the same in all of them."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import LogFormatter

# Colours that people who see red and green alike can tell apart (Okabe and Ito), and
# marks, for paper.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")

PANEL_WIDTH, PANEL_HEIGHT = 5.2, 3.9


def panels(columns: int, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure with so many drawings side by side."""
    size = (PANEL_WIDTH * columns, PANEL_HEIGHT * rows)
    # A title belongs to what is below it, and not to the axis above.
    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(hspace=0.08))
    axes = figure.subplots(rows, columns, squeeze=False)
    flat: list[Axes] = list(axes.flat)
    for each in flat:
        each.grid(visible=True, color="#dddddd", linewidth=0.6)
        each.set_axisbelow(True)
        each.spines[["top", "right"]].set_visible(False)
    return figure, flat


def line(axes: Axes, points: Mapping[float, float], label: str, style: int) -> None:
    """A curve with marks."""
    axes.plot(
        list(points),
        list(points.values()),
        label=label,
        color=COLOURS[style % len(COLOURS)],
        marker=MARKS[style % len(MARKS)],
        markersize=4,
        linewidth=1.5,
    )


def formula(axes: Axes, points: Mapping[float, float], label: str) -> None:
    """A curve that was not measured."""
    xs, ys = list(points), list(points.values())
    axes.plot(xs, ys, label=label, color="#000000", linestyle="--", linewidth=1)


def band(
    axes: Axes, low: Mapping[float, float], high: Mapping[float, float], style: int
) -> None:
    """What lies between two curves."""
    axes.fill_between(
        list(low),
        list(low.values()),
        list(high.values()),
        color=COLOURS[style % len(COLOURS)],
        alpha=0.15,
        linewidth=0,
    )


class Plain(LogFormatter):
    """Labels of a logarithmic axis as people say them: 20, 300, 10k, 5M.

    >>> [Plain.words(value) for value in (0.02, 20, 3000, 10_000, 5_000_000)]
    ['0.02', '20', '3,000', '10k', '5M']
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a tick; none where there are enough others."""
        return self.words(x) if super().__call__(x, pos) else ""

    @staticmethod
    def words(value: float) -> str:
        """A number, short."""
        for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
            if value >= unit and value >= 10_000:
                return f"{value / unit:g}{letter}"
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def finish(
    axes: Axes, title: str, x: str, y: str, *, log: Sequence[str] = (), legend: str = ""
) -> None:
    """Titles, scales and the legend."""
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        if name in log:
            axes.set(**{f"{name}scale": "log"})
            axis.set_major_formatter(Plain())
            axis.set_minor_formatter(Plain(labelOnlyBase=False))
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(which="both", labelsize=8)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(
            fontsize=8,
            title=legend or None,
            title_fontsize=8,
            # Curves may pass below it; so they remain visible, and it readable.
            facecolor="white",
            edgecolor="none",
            framealpha=0.75,
        )


HOLDS, DIFFERS, OPEN = "#bfe3d0", "#f3c9a5", "#eeeeee"
"""Of squares that stand for verdicts."""


def table_of_verdicts(
    axes: Axes, columns: Mapping[str, Mapping[str, bool | None]]
) -> None:
    """A square for each claim in each column: it holds, it differs, or nobody knows."""
    claims = sorted({claim for column in columns.values() for claim in column})
    words = {True: ("holds", HOLDS), False: ("differs", DIFFERS), None: ("", OPEN)}
    for x, column in enumerate(columns.values()):
        for y, claim in enumerate(claims):
            text, colour = words[column.get(claim)]
            axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=colour))
            axes.text(x, y, text, ha="center", va="center", fontsize=8)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(claims) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [c.replace(" ", "\n", 1) for c in columns])
    axes.set_yticks(range(len(claims)), claims)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
