"""Small charts as SVG, to stand inside a page: its colours, by day and by night.

Drawn here and not with Matplotlib, whose pictures have the colours that they were drawn
with; and a page that needs one library less is a page that every browser gets.
"""

from collections.abc import Sequence
from html import escape
from math import ceil, log10

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 74, 12, 30, 44
# A bar that is wider is a wall.
BAR_MAX = 90
# Lines across the chart, about so many.
TICKS = 4


def nice_step(most: float, ticks: int = TICKS) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten.

    >>> [nice_step(most) for most in (3, 47, 979, 6136)]
    [1.0, 20.0, 500.0, 2000.0]
    """
    if most <= 0:
        return 1.0
    rough = most / ticks
    power = 10.0 ** ceil(log10(rough) - 1)
    step = next((power * n for n in (1, 2, 5) if power * n >= rough), power * 10)
    return max(1.0, step)


def bars(
    labels: Sequence[str],
    series: Sequence[tuple[str, Sequence[float]]],
    *,
    title: str,
    below: str = "",
    beside: str = "",
) -> str:
    """Bars side by side: a group for each label, in it a bar for each series.

    >>> chart = bars(["a", "b"], [("with", [1, 2]), ("without", [3, 4])], title="t")
    >>> chart.count("<title>")
    4
    """
    most = max((value for _, values in series for value in values), default=0)
    step = nice_step(most)
    top = step * max(1, ceil(most / step))
    parts = [*_frame(step, top, title), _axis_label(below), _side_label(beside)]
    room = (WIDTH - LEFT - RIGHT) / max(len(labels), 1)
    width = min(room * 0.8 / max(len(series), 1), BAR_MAX)
    every = ceil(len(labels) / 24)
    for place, label in enumerate(labels):
        left = LEFT + room * (place + 0.5) - width * len(series) / 2
        for number, (name, values) in enumerate(series):
            height = (HEIGHT - TOP - BOTTOM) * values[place] / top
            parts.append(
                f'<rect class="bar s{number}" x="{left + width * number:.1f}" '
                f'y="{HEIGHT - BOTTOM - height:.1f}" width="{max(width - 1, 1):.1f}" '
                f'height="{height:.1f}" rx="1"><title>'
                f"{escape(', '.join(part for part in (label, name) if part))}: "
                f"{values[place]:,.0f}</title></rect>"
            )
        if place % every == 0:
            x = LEFT + room * (place + 0.5)
            parts.append(_text(x, HEIGHT - BOTTOM + 15, label, "middle"))
    parts += _legend([name for name, _ in series if name])
    return f"{''.join(parts)}</svg>"


def _frame(step: float, top: float, title: str) -> list[str]:
    parts = [
        (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(title, quote=True)}">'
        )
    ]
    value = 0.0
    while value <= top:
        y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" '
            f'y2="{y:.1f}"/>{_text(LEFT - 6, y + 4, f"{value:,.0f}", "end")}'
        )
        value += step
    return parts


def _axis_label(text: str) -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return _text(middle, HEIGHT - 8, text, "middle") if text else ""


def _side_label(text: str) -> str:
    """The title of the axis of values, along it."""
    if not text:
        return ""
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 14 {middle:.1f})"'
    return (
        f'<text x="14" y="{middle:.1f}" text-anchor="middle" {turned}>'
        f"{escape(text)}</text>"
    )


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    x = LEFT + 10.0
    for number, name in enumerate(names):
        parts.append(
            f'<rect class="bar s{number}" x="{x:.0f}" y="{TOP - 22}" width="10" '
            f'height="10" rx="2"/>{_text(x + 15, TOP - 13, name, "start")}'
        )
        x += 34 + 6.4 * len(name)
    return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
