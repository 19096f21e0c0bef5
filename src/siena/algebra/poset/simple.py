"""Simple conditions: points and bounds, whose order is known without comparing.

A *point* is a single ``=``.  Two points of different operands never cover each
other, so a point has only its few *kin* to be compared with: ``integer x = 4``,
``float x = 4.0`` and the untyped ``x = 4``, which covers both.

A *bound* is a single ``<``, ``<=``, ``>`` or ``>=``.  The bounds of one kind and
one direction are a *chain*, in which the operands alone tell what covers what::

    integer x > 3   covers   integer x > 5   covers   integer x >= 9

Bounds near the ends of a domain are left out: they may be points
(``s <= ""``), or cover everything (``integer x >= -9223372036854775808``).  The
bounds that remain have many values each, and those of opposite directions never
cover each other.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from siena.algebra.poset.conditions import Condition
from siena.model import Kind, Operator, Value
from siena.model.values import CHARACTER_MAX

PointKey = tuple[Kind, Value]
ChainKey = tuple[bool, Kind]

_LOWER = frozenset({Operator.GT, Operator.GE})
_BOUNDS = _LOWER | {Operator.LT, Operator.LE}
# Operands strictly between these are far from every end.  Those of numbers are
# where doubles still tell all integers apart.
_ORDINARY: dict[Kind, tuple[Any, Any]] = {
    Kind.STRING: ("\0", CHARACTER_MAX),
    Kind.INTEGER: (-(2**62), 2**62),
    Kind.FLOAT: (-1e300, 1e300),
    Kind.NUMBER: (-(2**53), 2**53),
    Kind.TIME: (datetime(2, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)),
}


class Bound(NamedTuple):
    """Where a bound stands: its chain, and its edge on it."""

    chain: ChainKey
    edge: tuple[Any, bool]

    def reaches(self, other: "Bound") -> bool:
        """Whether this bound covers another of the same chain."""
        is_lower, _ = self.chain
        return self.edge <= other.edge if is_lower else self.edge >= other.edge


def point_key(condition: Condition) -> PointKey | None:
    """What a point has in common with its kin; None for what is no point."""
    if len(condition) == 1 and condition[0].operator is Operator.EQ:
        value = condition[0].value
        assert value is not None
        return kin_key(value)
    return None


def kin_key(value: Value) -> PointKey:
    """The key of all points that may be satisfied by the value.

    Python calls 4 and 4.0 equal, as their kin should; True is of another kind.
    """
    return Kind.wanted_by(value), value


def bound_of(condition: Condition) -> Bound | None:
    """The condition as a bound, if it is one and far from the ends of its domain.

    >>> from siena.lang.parser import parse_filter as parse
    >>> low, high = (bound_of(parse(t).constraints) for t in ("x > 3", "x >= 4"))
    >>> low.reaches(high), high.reaches(low)
    (True, False)
    >>> bound_of(parse("x = 3").constraints)
    """
    if len(condition) != 1 or condition[0].operator not in _BOUNDS:
        return None
    _, operator, kind, value = condition[0]
    if kind not in _ORDINARY:
        return None
    first, last = _ORDINARY[kind]
    if not first < value < last:
        return None
    # At one operand, `> v` lies inside `>= v`, and `< v` inside `<= v`.
    edge = value, operator in {Operator.GT, Operator.LE}
    return Bound((operator in _LOWER, kind), edge)
