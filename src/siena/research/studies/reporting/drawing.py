"""How figures look: axes, colours and lines, the same in all of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogFormatter, NullLocator

from siena.research.studies.framework.claim import Verdict
from siena.research.studies.framework.intervals import Interval

# Colours that people who see red and green alike can tell apart (Okabe and Ito), and
# marks, for paper.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
# The earlier a curve, the larger its marks: those of a later one lie within them.
MARK_SIZES = (8.0, 6.8, 5.8, 4.8, 4.0, 3.4, 3.0)
DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = (
    *("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 1.5, 1.5, 1.5)), (0, (1, 1))),
    *((0, (8, 3)), (0, (4, 1, 1, 1, 1, 1))),
)

PANEL_WIDTH, PANEL_HEIGHT = 5.2, 3.9
# From here on linear axes have short labels too.
LARGE = 20_000
# Half a mark, of the height of a drawing.
EDGE = 0.02


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


def line(
    axes: Axes, points: Mapping[float, float | Interval], label: str, style: int
) -> None:
    """A curve with marks, and the band of its intervals where it has some.

    Marks are hollow and lines are dashed, each in its way, so that a curve shows
    through another one that coincides with it.
    """
    xs = list(points)
    values = [y.value if isinstance(y, Interval) else y for y in points.values()]
    colour = COLOURS[style % len(COLOURS)]
    axes.plot(
        xs,
        values,
        label=label,
        color=colour,
        linestyle=DASHES[style % len(DASHES)],
        marker=MARKS[style % len(MARKS)],
        markersize=MARK_SIZES[style % len(MARK_SIZES)],
        markerfacecolor="none",
        linewidth=1.5,
    )
    wide = {x: y for x, y in points.items() if isinstance(y, Interval)}
    if wide:
        lows, highs = [y.low for y in wide.values()], [y.high for y in wide.values()]
        axes.fill_between(
            list(wide), lows, highs, color=colour, alpha=0.18, linewidth=0
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
        elif max(map(abs, axis.get_view_interval())) >= LARGE:
            axis.set_major_formatter(FuncFormatter(lambda x, _: Plain.words(x)))
    axes.set_title(title, fontsize=10)
    axes.set_xlabel(x, fontsize=9)
    axes.set_ylabel(y, fontsize=9)
    axes.tick_params(which="both", labelsize=8)
    handles = axes.get_legend_handles_labels()[0]
    if handles:
        # Below the drawing: inside, it would lie over a curve sooner or later.
        axes.legend(
            fontsize=8,
            title=legend or None,
            title_fontsize=8,
            loc="upper center",
            bbox_to_anchor=(0.5, -0.16),
            ncols=1 if len(handles) == 1 else 2 if not legend else len(handles),
            frameon=False,
        )


def from_zero(axes: Axes) -> None:
    """Let y begin at 0, with room for whole marks where something is 0, or the most."""
    top = max(axes.get_ylim()[1], 1.04 * axes.dataLim.y1)
    edge = EDGE * top
    lows = [np.nanmin(each.get_ydata()) for each in axes.get_lines()]
    axes.set_ylim(-edge if min(lows, default=top) < edge else 0, top)


def ticks_at(axes: Axes, xs: Iterable[float]) -> None:
    """Labels of x at these values, and no others: for curves of few points."""
    axes.set_xticks(list(xs))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: Plain.words(x)))
    axes.xaxis.set_minor_locator(NullLocator())


def two_views(
    axes: Sequence[Axes],
    draws: Sequence[Callable[[Axes], None]],
    titles: Sequence[str],
    x: str,
    y: str,
    *,
    log_x: bool = True,
    legend: str = "",
) -> None:
    """Each drawing twice: with a linear y as papers print it, and a logarithmic one.

    ``axes`` are the linear ones of all drawings, then the logarithmic ones.
    """
    assert len(axes) == 2 * len(draws)
    other = "x" if log_x else ""
    for place, (draw, title) in enumerate(zip(draws, titles, strict=True)):
        linear, logarithmic = axes[place], axes[len(draws) + place]
        draw(linear)
        finish(linear, title, x, y, log=other, legend=legend)
        from_zero(linear)
        draw(logarithmic)
        words = f"{title}: the same, y logarithmic"
        finish(logarithmic, words, x, y, log=other + "y", legend=legend)


SQUARES = {
    Verdict.HOLDS: "#bfe3d0",
    Verdict.DIFFERS: "#f3c9a5",
    Verdict.UNDECIDED: "#e8e2f2",
    Verdict.OPEN: "#eeeeee",
}
"""Colours of squares that stand for verdicts."""


def table_of_verdicts(axes: Axes, columns: Mapping[str, Mapping[str, Verdict]]) -> None:
    """A square for each claim in each column, with its verdict; none if not tried."""
    claims = sorted({claim for column in columns.values() for claim in column})
    for x, column in enumerate(columns.values()):
        for y, claim in enumerate(claims):
            verdict = column.get(claim)
            if verdict is None:
                continue
            colour = SQUARES[verdict]
            axes.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, color=colour))
            axes.text(x, y, str(verdict), ha="center", va="center", fontsize=7)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(claims) - 0.5, -0.5)
    axes.set_xticks(range(len(columns)), [c.replace(" ", "\n", 1) for c in columns])
    axes.set_yticks(range(len(claims)), claims)
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
