"""What a neighbour of an older version is told: a cover, in words that it knows.

It has the papers' operators.  A filter with others is told without them, or with what
they imply; more comes than is wanted, as with an imperfect merge, and is dropped before
any client sees it.  Several filters may have one cover, which is told once, and
withdrawn with the last of them.
"""

from collections.abc import Iterator

from siena.model import Advertisement, Constraint, Filter, Kind, Operator
from siena.model.operators import NEGATED
from siena.model.wildcards import read_wildcards
from siena.routing.demand.merging import Merge, maximal

Offers = set[tuple[Advertisement, int]]


def older_filter(f: Filter) -> Filter:
    """A filter in the papers' operators that covers this one.

    >>> from siena.lang.parser import parse_filter as parse
    >>> wanted = 'x = 1, y absent, s like "ab*cd", t contains A ignoring case'
    >>> print(older_filter(parse(wanted)))
    s >* ab and s *< cd and string t any and x = 1
    """
    return Filter(older for constraint in f for older in _older(constraint))


def older_advertisement(a: Advertisement) -> Advertisement:
    """An advertisement in the papers' operators that admits all that this one does."""
    return Advertisement(
        Constraint(c.name, Operator.ANY, None, c.kind)
        if c.operator > Operator.ANY
        else c
        for c in a
    )


def told_older(merge: Merge | None) -> Merge:
    """How filters are merged for an older neighbour: as others are, and translated."""

    def told(pairs: set[tuple[Filter, int]]) -> set[tuple[Filter, int]]:
        merged = pairs if merge is None else merge(pairs)
        by_origin: dict[int, list[Filter]] = {}
        for f, origin in sorted(merged, key=lambda pair: str(pair[0])):
            by_origin.setdefault(origin, []).append(older_filter(f))
        return {
            (f, origin)
            for origin, filters in by_origin.items()
            for f in maximal(filters)
        }

    return told


def offered_older(offers: Offers) -> Offers:
    """The same for advertisements, none of which is left out for another."""
    return {(older_advertisement(a), origin) for a, origin in offers}


def _older(constraint: Constraint) -> Iterator[Constraint]:
    """What a constraint implies, in the papers' operators."""
    name, operator, kind, value = constraint
    if operator <= Operator.ANY:
        yield constraint
    elif operator is Operator.OTHER:
        yield Constraint(name, Operator.ANY)
    elif operator is Operator.LIKE:
        yield from _parts_of(name, str(value))
    elif operator is not Operator.ABSENT:
        assert operator in NEGATED or operator.ignores_case
        yield Constraint(name, Operator.ANY, None, kind)


def _parts_of(name: str, pattern: str) -> Iterator[Constraint]:
    parts = read_wildcards(pattern).parts
    found: list[Constraint] = []
    for number, part in enumerate(parts):
        for at, run in part.literals:
            operator = Operator.SUBSTRING
            if number == at == 0:
                operator = Operator.PREFIX
            elif part is parts[-1] and at + len(run) == len(part.text):
                operator = Operator.SUFFIX
            found.append(Constraint(name, operator, run))
    yield from found or [Constraint(name, Operator.ANY, None, Kind.STRING)]
