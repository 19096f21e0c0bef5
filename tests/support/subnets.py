"""Routing tables in general: filters as addresses, and subnets among them.

A table maps addresses to next hops, and a notification goes to the hops of every
address that matches it.  Where addresses are receivers or groups, and the filters
equalities, this is unicast and multicast.  The routers keep the same information in
a poset; this is the model they are an instance of.

Reference:
    Carzaniga, Rosenblum and Wolf, CU-CS-902-00, section 2.
"""

from collections.abc import Hashable, Mapping, Set as AbstractSet
from typing import TypeVar

from siena.algebra.covering import covers_filter
from siena.model import Filter, Notification

Hop = TypeVar("Hop", bound=Hashable)


def next_hops(
    table: Mapping[Filter, AbstractSet[Hop]],
    notification: Notification,
    *,
    source: Hop | None = None,
) -> set[Hop]:
    """Where a notification goes: to all hops of all filters that match it.

    >>> from siena.lang.parser import parse_filter as parse
    >>> table = {parse("airline any"): {2, 3}, parse("airline = UA"): {4}}
    >>> next_hops(table, Notification(airline="UA"), source=3)
    {2, 4}

    ``source`` is the hop it came from, which is never one that it goes to.
    """
    matching = (hops for f, hops in table.items() if f.matches(notification))
    return set().union(*matching) - {source}


def reduce_table(table: Mapping[Filter, AbstractSet[Hop]]) -> dict[Filter, set[Hop]]:
    """A smaller table with the same next hops for every notification.

    Filters that select the same become one entry with the hops of all.  Then an
    entry goes if the filter of another covers it and leads to all of its hops:
    it is a *content-based subnet* of the other.

    >>> from siena.lang.parser import parse_filter as parse
    >>> reduce_table({parse("airline any"): {2, 3}, parse("airline = UA"): {2}})
    {<Filter airline any>: {2, 3}}

    Cost: each entry is compared with each, so this is for tables of hundreds.
    """
    merged = _merge_equal(table)
    # No two entries are equal any more, so none goes because of one that goes
    # because of it.
    return {
        f: hops
        for f, hops in merged.items()
        if not any(
            covers_filter(general, f) and hops <= more
            for general, more in merged.items()
            if general is not f
        )
    }


def _merge_equal(table: Mapping[Filter, AbstractSet[Hop]]) -> dict[Filter, set[Hop]]:
    merged: dict[Filter, set[Hop]] = {}
    for f, hops in table.items():
        same = (g for g in merged if covers_filter(g, f) and covers_filter(f, g))
        merged.setdefault(next(same, f), set()).update(hops)
    return merged
