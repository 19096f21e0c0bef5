"""Merging: fewer filters that say the same, or a little more.

A *perfect* merge selects exactly what its parts select together.  An *imperfect*
one selects more: a broker may use it towards another broker, to keep tables
small, and drops what it lets in before any client sees it.  Every merge keeps its
parts, so that it can be made anew when one of them goes.

Reference:
    CU-CS-888-99, section 5.3 (compaction); perfect and imperfect merging are
    Mühl's words for it.  The procedure is ours: the hull of two conditions, with
    single values cut out of it as counterexamples demand.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

from siena.algebra.covering import covers_filter, implies
from siena.algebra.disjunction import decide_covers_predicate
from siena.algebra.hull import hull, kind_of_condition
from siena.algebra.poset.conditions import Condition
from siena.algebra.poset.poset import Poset
from siena.algebra.sat import satisfiable
from siena.algebra.simplify import simplify
from siena.model import (
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Predicate,
    Value,
)
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX

# How many single values a perfect merge may exclude with `!=`, all in all, unless its
# parts exclude more: each is one more constraint to store and to test.
HOLES_MAX = 3
# Below this many filters that differ in one attribute only, all pairs of them are
# tried; above it, neighbours in canonical order.
PAIRS_TRIED_BELOW = 32


class Merge(NamedTuple):
    """A filter, and the filters that it stands for."""

    filter: Filter
    parts: frozenset[Filter]


@dataclass(frozen=True, slots=True)
class Excess:
    """What a merge lets in: counted on a sample, and shown by an example.

    ``example`` is None where the merge is perfect, or where looking for one was
    given up.
    """

    selected: int
    unwanted: int
    example: Notification | None

    @property
    def share(self) -> float:
        """The share of what the merge selects that no part wanted."""
        return self.unwanted / self.selected if self.selected else 0.0


def merge_perfect(filters: Iterable[Filter]) -> tuple[Merge, ...]:
    """Filters that together select the same, as few as the procedure finds.

    >>> from siena.lang.parser import parse_filter as parse
    >>> alarms = ("integer alarm = 1", "integer alarm > 2", "integer alarm = 2")
    >>> [merge] = merge_perfect(map(parse, alarms))
    >>> print(merge.filter)
    integer alarm > 0

    Between the floats 1 and 2 there are others:

    >>> floats = [parse(text.replace("integer", "float")) for text in alarms]
    >>> for merge in merge_perfect(floats):
    ...     print(merge.filter)
    float alarm = 1.0
    float alarm >= 2.0
    """
    merges = _uncovered(filters)
    # Whole ranges first; single values are cut out only where nothing else helps.
    for holes_max in (0, HOLES_MAX):
        merges = _merge_until_stable(merges, holes_max)
    return tuple(sorted(merges, key=lambda m: m.filter.constraints))


def merge_imperfect(filters: Iterable[Filter]) -> Filter:
    """One filter that covers them all: the hull, name by name.

    >>> from siena.lang.parser import parse_filter as parse
    >>> print(merge_imperfect(map(parse, ("x > 200", "x < 100"))))
    number x any
    >>> print(merge_imperfect(map(parse, ("a = 1, s = abc", "a = 3, s = abd, t = 1"))))
    a <= 3 and a >= 1 and s <= abd and s >= abc

    Raises:
        ValueError: if there is nothing to merge.
    """
    given = list(filters)
    if not given:
        raise ValueError("nothing to merge")
    # What nothing matches adds nothing, and would only widen the hull.
    possible = [f for f in given if satisfiable(f)] or given[:1]
    return reduce(_hull_of_filters, possible)


def excess(
    merged: Filter, parts: Iterable[Filter], sample: Iterable[Mapping[str, Value]] = ()
) -> Excess:
    """How much ``merged`` selects that none of its parts selects.

    >>> from siena.lang import parse_filter as parse
    >>> parts = [parse("integer x > 7"), parse("integer x < 5")]
    >>> merged = merge_imperfect(parts)
    >>> let_in = excess(merged, parts, [{"x": x} for x in range(10)])
    >>> print(let_in.unwanted, "of", let_in.selected, "such as", let_in.example)
    3 of 10 such as x = 5
    """
    wanted = list(parts)
    selected = [n for n in sample if merged.matches(n)]
    unwanted = [n for n in selected if not any(f.matches(n) for f in wanted)]
    example = None
    if len(wanted) <= FILTERS_MAX:
        verdict = decide_covers_predicate(Predicate(wanted), Predicate([merged]))
        example = verdict.witness
    return Excess(len(selected), len(unwanted), example)


def merge_pair(
    one: Filter, other: Filter, *, holes_max: int = HOLES_MAX
) -> Filter | None:
    """One filter that selects exactly what the two select, or None.

    They must say the same about every attribute but one.

    >>> from siena.lang.parser import parse_filter as parse
    >>> print(merge_pair(parse("a = 1, x < 5"), parse("a = 1, x > 5")))
    a = 1 and x != 5
    """
    if covers_filter(one, other):
        return one
    if covers_filter(other, one):
        return other
    name = _single_difference(one, other)
    if name is None:
        return None
    union = _exact_union(one.by_name[name], other.by_name[name], holes_max)
    if union is None or len(union) + len(one) > CONSTRAINTS_MAX:
        return None
    return Filter((*(c for c in one if c.name != name), *union))


def _exact_union(one: Condition, other: Condition, holes_max: int) -> Condition | None:
    """The hull without the values that neither condition admits, if they are few."""
    candidate = hull(one, other)
    kind = kind_of_condition(candidate)
    wanted = Predicate([Filter(one), Filter(other)])
    while _holes(candidate) <= max(holes_max, _holes(one), _holes(other)):
        verdict = decide_covers_predicate(wanted, Predicate([Filter(candidate)]))
        if verdict.holds:
            return simplify(Filter(candidate)).constraints
        if verdict.witness is None or kind is Kind.ANY or len(verdict.witness) != 1:
            return None
        ((name, value),) = verdict.witness.items()
        hole = Constraint(name, Operator.NE, value, kind)
        # Among numbers, what excludes 5 excludes 5.0 as well, which may be wanted.
        if not (implies(one, (hole,)) and implies(other, (hole,))):
            return None
        candidate = (*candidate, hole)
    return None


def _holes(condition: Condition) -> int:
    return sum(c.operator is Operator.NE for c in condition)


def _single_difference(one: Filter, other: Filter) -> str | None:
    """The one name about which two filters differ, if it is one."""
    if one.by_name.keys() != other.by_name.keys():
        return None
    names = [n for n, c in one.by_name.items() if not _same(c, other.by_name[n])]
    return names[0] if len(names) == 1 else None


def _same(one: Condition, other: Condition) -> bool:
    return one == other or (implies(one, other) and implies(other, one))


def _merge_until_stable(merges: list[Merge], holes_max: int) -> list[Merge]:
    before = None
    while before != len(merges):
        before = len(merges)
        for name in sorted({name for m in merges for name in m.filter.by_name}):
            merges = _merge_along(name, merges, holes_max)
    return merges


def _merge_along(name: str, merges: list[Merge], holes_max: int) -> list[Merge]:
    """Merge the filters that differ in this attribute only."""
    groups: dict[tuple[Constraint, ...], list[Merge]] = {}
    merged: list[Merge] = []
    for merge in merges:
        if name in merge.filter.by_name:
            rest = tuple(c for c in merge.filter if c.name != name)
            groups.setdefault(rest, []).append(merge)
        else:
            merged.append(merge)
    for group in groups.values():
        merged += _merge_group(group, holes_max)
    return merged


def _merge_group(group: list[Merge], holes_max: int) -> list[Merge]:
    done: list[Merge] = []
    reach = len(group) if len(group) < PAIRS_TRIED_BELOW else 1
    for merge in sorted(group, key=lambda m: m.filter.constraints):
        current = merge
        for earlier in done[-reach:]:
            union = merge_pair(current.filter, earlier.filter, holes_max=holes_max)
            if union is not None:
                done.remove(earlier)
                current = Merge(union, current.parts | earlier.parts)
        done.append(current)
    return done


def _uncovered(filters: Iterable[Filter]) -> list[Merge]:
    """The filters that no other covers, each with those that it covers."""
    poset = Poset.of_filters()
    given = list(dict.fromkeys(filters))
    for f in given:
        poset.add(f)
    parts: dict[Filter, set[Filter]] = {root: set() for root in poset.roots}
    for f in given:
        if f not in poset.impossible:
            for root in poset.covering(f) & parts.keys():
                parts[root].add(f)
    return [
        Merge(simplify(root), frozenset(covered)) for root, covered in parts.items()
    ]


def _hull_of_filters(one: Filter, other: Filter) -> Filter:
    common = one.by_name.keys() & other.by_name.keys()
    return Filter(
        constraint
        for name in common
        for constraint in hull(one.by_name[name], other.by_name[name])
    )
