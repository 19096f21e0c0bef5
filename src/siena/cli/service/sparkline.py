"""A line of small bars: how a number went lately, in a terminal."""

from collections.abc import Sequence
from math import ceil

BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """A bar for each value; the largest is as high as they get, and nothing is lowest.

    >>> sparkline([0, 1, 2, 4, 8])
    '▁▂▃▅█'
    >>> sparkline([0, 0])
    '▁▁'
    >>> sparkline([])
    ''
    >>> sparkline([0.1 + 0.2, 7.1])  # a quotient of at most 1, also when rounded
    '▂█'
    """
    most = max(values, default=0)
    if most <= 0:
        return BARS[0] * len(values)
    steps = len(BARS) - 1
    # Rounded up: whatever is more than nothing is seen to be.
    return "".join(BARS[ceil(value / most * steps)] for value in values)
