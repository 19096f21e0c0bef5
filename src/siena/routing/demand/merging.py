"""Fewer filters to tell a neighbour, for the same demand or a little more.

Towards another broker filters may be merged: *perfectly*, so that they select the same
together, or *imperfectly*, so that they select more; whatever more comes is dropped
before any client sees it, because clients are matched with their own filters.  Filters
from different origins are not merged: they travel along different trees.

Reference:
    CU-CS-888-99, section 5.3; our specification, B.10.
"""

from collections.abc import Callable, Iterable

from siena.algebra.covering import covers_filter
from siena.algebra.merging import merge_imperfect, merge_perfect
from siena.model import Filter
from siena.routing.options import Merging

Pairs = set[tuple[Filter, int]]
Merge = Callable[[Pairs], Pairs]


def merge_of(merging: Merging) -> Merge | None:
    """How pairs are merged before they are told; ``None`` if not at all.

    >>> from siena.lang.parser import parse_filter as parse
    >>> merge = merge_of("perfect")
    >>> merge({(parse(f"integer alarm {rest}"), 1) for rest in ("= 1", "> 2", "= 2")})
    {(<Filter integer alarm > 0>, 1)}
    """
    if merging == "none":
        return None
    merge = _perfectly if merging == "perfect" else _imperfectly

    def merged(pairs: Pairs) -> Pairs:
        by_origin: dict[int, list[Filter]] = {}
        for f, origin in sorted(pairs, key=lambda pair: str(pair[0])):
            by_origin.setdefault(origin, []).append(f)
        return {
            (f, origin)
            for origin, filters in by_origin.items()
            for f in maximal(merge(filters))
        }

    return merged


def _perfectly(filters: list[Filter]) -> list[Filter]:
    return [merge.filter for merge in merge_perfect(filters)]


def _imperfectly(filters: list[Filter]) -> list[Filter]:
    """One filter for all that are about the same names.

    Across different names a hull would forget names, and let in nearly everything.
    """
    groups: dict[tuple[str, ...], list[Filter]] = {}
    for f in filters:
        groups.setdefault(tuple(f.by_name), []).append(f)
    return [merge_imperfect(group) for group in groups.values()]


def maximal(filters: Iterable[Filter]) -> list[Filter]:
    """Those that no other covers, and of equals the first.

    A merge may cover what none of its parts did; told beside it, that would be ignored,
    and be missing once the merge is cancelled.
    """
    kept: list[Filter] = []
    for f in filters:
        if not any(covers_filter(g, f) for g in kept):
            kept = [g for g in kept if not covers_filter(f, g)]
            kept.append(f)
    return kept
