"""Numbers as the kernels compare them: exactly, whatever their kind."""

import math

from siena.model.values import INTEGER_MAX, INTEGER_MIN


def split(value: float) -> tuple[int, float]:
    """A number as a whole part and a rest, which compare as the number does.

    Every integer of 64 bits and every double has such a pair, exactly; what is
    beyond 64 bits keeps itself as its rest.  The whole part is that towards zero: what
    is left of a small number is then the number itself, and nothing is rounded.

    >>> split(2.75), split(-1.25), split(-1e-20), split(2**53 + 1)
    ((2, 0.75), (-1, -0.25), (0, -1e-20), (9007199254740993, 0.0))
    """
    if isinstance(value, int):
        return value, 0.0
    if value >= 2.0**63:
        return INTEGER_MAX, value
    if value < -(2.0**63):
        return INTEGER_MIN, value
    whole = math.trunc(value)
    return whole, value - whole
