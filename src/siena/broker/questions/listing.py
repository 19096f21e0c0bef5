"""Listing: what is wanted here, searched, and drawn as covering orders it.

A page of filters is put into a poset of its own, so one sees which of them another
covers; how much covering saves on each link is counted over all of them.
"""

from time import perf_counter
from typing import Any

import numpy as np

from siena.algebra.poset.poset import Poset
from siena.broker.questions.interest_index import Bools, InterestIndex
from siena.broker.questions.viewing import Viewer
from siena.broker.state import BrokerState
from siena.errors import LimitError
from siena.model import Notification
from siena.model.spelling import spell, spell_name
from siena.routing.interest_table import Holder

# Filters of one page: to put them into a poset takes some tens of milliseconds.
PAGE_MAX = 300
SECONDS_MAX = 0.25
# Words that are looked for at once: each is compared with every constraint.
WORDS_MAX = 16
# Names of attributes that are offered to who writes a filter, and values of each.
NAMES_MAX = 200
VALUES_MAX = 12
VALUE_CHARACTERS_MAX = 60

Form = dict[str, Any]


def list_interests(
    index: InterestIndex,
    viewer: Viewer,
    wanted: str | Notification,
    page: tuple[int, int],
) -> Form:
    """The filters that mention all words of a text, or want a notification.

    Those that are held most often come first; ``page`` is how many, and how many to
    leave out.
    """
    seen = viewer.seen(index)
    if isinstance(wanted, str):
        found = seen & mentioning(index, wanted)
    else:
        found = seen & (index.missing(wanted) == 0)
    counts = index.counts()
    numbers = np.flatnonzero(found)
    order = np.argsort(-counts[numbers], kind="stable")
    limit, offset = page
    shown = numbers[order[offset : offset + min(limit, PAGE_MAX)]].tolist()
    return {
        "filters": int(np.count_nonzero(seen)),
        "held": int(counts[seen].sum()),
        "found": len(numbers),
        "offset": offset,
        "shown": _ordered(index, viewer, shown),
        "complete": viewer.is_complete,
    }


def mentioning(index: InterestIndex, text: str) -> Bools:
    """Which filters have, for each word, a constraint that has it.

    Raises:
        LimitError: if there are too many words.
    """
    found = np.ones(len(index.filters), np.bool_)
    wanted = dict.fromkeys(text.lower().split())
    if len(wanted) > WORDS_MAX:
        raise LimitError("WORDS_MAX", WORDS_MAX, "words")
    for word in wanted:
        has = np.fromiter((word in c for c in index.spelled()), np.bool_)
        found &= index.sums(has) > 0
    return found


def _ordered(index: InterestIndex, viewer: Viewer, numbers: list[int]) -> list[Form]:
    """The filters, each with those of the others that it covers at once."""
    poset = Poset.of_filters()
    place = {index.filters[number]: at for at, number in enumerate(numbers)}
    end = perf_counter() + SECONDS_MAX
    for f in place:
        if perf_counter() < end:
            poset.add(f)
    roots = poset.roots
    return [
        {
            **viewer.shown(index, number),
            "root": (f := index.filters[number]) in roots,
            "covers": sorted(place[g] for g in poset.successors(f) if g in place),
        }
        for number in numbers
    ]


def saving(state: BrokerState, index: InterestIndex) -> list[Form]:
    """Of each neighbour: the filters that are wanted from it, and those it was told."""
    found = []
    for number, link in list(state.links.items()):
        neighbour = state.router.tables.neighbours.get(number)
        if neighbour is None:
            continue
        theirs = index.of_neighbour(number).tolist()
        alone = sum(all(_is_of(h, number) for h in index.holders(n)) for n in theirs)
        found.append(
            {
                "name": link.snapshot()["name"],
                "wanted": len(index) - alone,
                "told": len(neighbour.filters.told),
            }
        )
    return found


def _is_of(holder: object, neighbour: int) -> bool:
    return isinstance(holder, Holder) and holder.hop == neighbour


def words(index: InterestIndex, viewer: Viewer) -> list[Form]:
    """The names that filters ask about, the most used first, with some values.

    Both are spelled as they stand in a filter; of what is long nothing is offered.
    """
    weights = index.tally(
        np.ones(len(index.constraints), np.bool_),
        viewer.seen(index).astype(np.int32),
    )
    names: dict[str, tuple[int, dict[str, None]]] = {}
    for number in np.flatnonzero(weights).tolist():
        constraint = index.constraints[number]
        count, values = names.get(constraint.name, (0, {}))
        value = constraint.value
        if len(values) < VALUES_MAX and isinstance(value, str):
            values |= {spell(value): None} if len(value) <= VALUE_CHARACTERS_MAX else {}
        names[constraint.name] = count + int(weights[number]), values
    most = sorted(names.items(), key=lambda each: -each[1][0])[:NAMES_MAX]
    return [
        {
            "name": name,
            "text": spell_name(name),
            "filters": count,
            "values": list(values),
        }
        for name, (count, values) in most
    ]
