"""What is gathered: subscriptions, and questions about them, that are handled together.

The order of these changes nothing, so neighbours may be told of all of them at once.
"""

from collections.abc import Callable
from typing import NamedTuple

from siena.messages import Interest, Interface, Outbox, Settle, Subscribe
from siena.messages.requests import is_sequence
from siena.model import Filter, Predicate
from siena.routing.interest_table import Change
from siena.routing.steps.backlog import STEP_MAX

Batched = Subscribe | Settle
# So many messages, or filters in them, are handled at once: some milliseconds.  Fewer
# than are told in one step, for one that comes may take the place of others.
GATHERED_MAX = STEP_MAX * 3 // 4

Changes = list[Change[Filter]]
Filters = tuple[Filter, ...]


# What a client wants, and asks about: a filter, its party, and the token of the answer.
Own = tuple[Filter, Interface, int]


class Asked(NamedTuple):
    """A question, who asks, and which filters it is about, where that is known."""

    message: Settle
    source: Interface
    filters: Filters | None = None


class Gathering:
    """Messages with their sources; subscriptions perhaps with a token to be answered.

    >>> from siena.lang.parser import parse_predicate
    >>> gathering = Gathering()
    >>> gathering.add(Subscribe(parse_predicate("x = 1 or y = 1")), 2, None)
    False
    >>> len(gathering)
    2
    """

    def __init__(self) -> None:
        self.entries: list[tuple[Batched, Interface, int | None]] = []
        self._size = 0
        # Those that were entered last: if that went wrong, who has to hear of it.
        self._entered: list[tuple[Batched, Interface, int | None]] = []

    def __len__(self) -> int:
        return self._size

    def add(self, message: Batched, source: Interface, token: int | None) -> bool:
        """One more, which counts for as many as it has filters; whether it is full."""
        self.entries.append((message, source, token))
        interest = message.interest
        is_several = type(interest) is Predicate and len(interest) > 1
        self._size += len(interest) if is_several else 1
        return self._size >= GATHERED_MAX

    def enter(
        self,
        satisfiable: Callable[[Interest], Filters],
        announce: Callable[[Subscribe, Interface, Filters], Changes],
        change: Callable[[Changes], Outbox],
    ) -> tuple[Outbox, list[Asked], list[Own]]:
        """Enter all of it into the tables; what follows, and what is to be asked.

        Of clients' own filters, which are by far the most, apart.
        """
        entries = self._entered = self.entries
        self.entries, self._size = [], 0
        out: Outbox = []
        asked: list[Asked] = []
        own: list[Own] = []
        changes: Changes = []
        for message, source, token in entries:
            if isinstance(message, Settle):
                asked.append(Asked(message, source))
                continue
            interest = message.interest
            filters: Filters | None = None
            if type(interest) is Filter:
                filters = satisfiable(interest)
                if filters:
                    changes += announce(message, source, filters)
                    if token is not None and isinstance(source, str):
                        own.append((interest, source, token))
                        continue
                if token is not None:
                    asked.append(Asked(Settle(interest, token), source, filters))
                continue
            if is_sequence(interest):  # how it is cut depends on all before
                out += change(changes)
                out += change(announce(message, source, ()))
                changes = []
            else:
                filters = satisfiable(interest)
                changes += announce(message, source, filters)
            if token is not None:
                asked.append(Asked(Settle(interest, token), source, filters))
        return out + change(changes), asked, own

    def sources(self) -> set[Interface]:
        """Where all of it came from, and what was entered last."""
        return {source for _, source, _ in (*self._entered, *self.entries)}
