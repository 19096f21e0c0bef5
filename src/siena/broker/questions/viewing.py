"""Viewing: what one principal sees of the index, and what holders are called.

A viewer that may subscribe to everything sees it all.  For others each filter is
decided once, and remembered for all who have the same grant, as long as the
index lives; a question waits for that a bounded time, and says if it was not enough.
"""

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from time import perf_counter

import numpy as np

from siena.broker.access.grants.sight import Sight
from siena.broker.questions.interest_index import Bools, InterestIndex, Wanting
from siena.broker.state import BrokerState
from siena.messages import Party
from siena.model import Predicate

# Grants for which decisions are remembered.
GRANTS_MAX = 16
# How long one question decides what may be seen.
SECONDS_MAX = 0.25
# Holders that are named, and the characters that are shown of a filter.
HOLDERS_MAX = 20
CHARACTERS_MAX = 500

UNDECIDED, HIDDEN, SEEN = range(3)


class Decisions:
    """What was decided of filters, by the grant that it was decided for."""

    def __init__(self) -> None:
        self._generation: object = None
        self._known: OrderedDict[Predicate, bytearray] = OrderedDict()

    def of(self, grant: Predicate, index: InterestIndex) -> bytearray:
        """A byte for each filter of the index."""
        if self._generation is not index.generation:
            self._known.clear()
            self._generation = index.generation
        found = self._known.pop(grant, bytearray())
        self._known[grant] = found
        if len(self._known) > GRANTS_MAX:
            self._known.popitem(last=False)
        found.extend(bytes(len(index.filters) - len(found)))
        return found


class Viewer:
    """One principal, who looks at the index."""

    def __init__(self, state: BrokerState, sight: Sight, decisions: Decisions) -> None:
        self._state = state
        self.sight = sight
        self._decisions = decisions
        self.is_complete = True
        """Whether it was decided of all filters whether they may be seen."""

    def seen(self, index: InterestIndex) -> Bools:
        """Which filters are held, and may be seen."""
        held: Bools = index.counts() > 0
        if self.sight.is_whole:
            return held
        known = self._decisions.of(self.sight.grant.subscribe, index)
        end = perf_counter() + SECONDS_MAX
        undecided = np.frombuffer(known, np.uint8) == UNDECIDED
        for number in np.flatnonzero(held & undecided).tolist():
            is_seen = self.sight.of_interest(index.filters[number])
            known[number] = SEEN if is_seen else HIDDEN
            if perf_counter() > end:
                break
        decided = np.frombuffer(bytes(known), np.uint8)
        self.is_complete = not bool((held & (decided == UNDECIDED)).any())
        seen: Bools = held & (decided == SEEN)
        return seen

    def names(self, holders: Iterable[Wanting]) -> list[str]:
        """What holders are called; each once, and of many the first."""
        named = islice(holders, 4 * HOLDERS_MAX)
        found = dict.fromkeys(self._name(each) for each in named)
        return list(islice(found, HOLDERS_MAX))

    def _name(self, holder: Wanting) -> str:
        if isinstance(holder, str):
            client = holder.client if isinstance(holder, Party) else holder
            session = self._state.sessions.get(int(client))
            if session is None:
                return "a client that has left"
            called = session.identity or session.name
            text = f"{called} ({holder})" if called else f"client {holder}"
            return self.sight.names([(session.principal, text)])[0]
        assert isinstance(holder.hop, int)
        link = self._state.links.get(holder.hop)
        return f"broker {link.snapshot()['name']}" if link else "a broker that has left"

    def shown(self, index: InterestIndex, number: int) -> dict[str, object]:
        """A filter, and who wants it."""
        holders = index.holders(number)
        return {
            "text": cut(index.filters[number]),
            "held": int(index.counts()[number]),
            "holders": self.names(holders),
        }


def cut(value: object) -> str:
    """A text that is not too long to be shown."""
    text = str(value)
    return text if len(text) <= CHARACTERS_MAX else f"{text[: CHARACTERS_MAX - 1]}…"
