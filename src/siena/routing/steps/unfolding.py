"""Unfolding: what clients want is entered into the tables, once there is a neighbour.

All at once, or in steps.  Meanwhile clients may come, go and ask for more: what a party
has asked for is entered as it is when its turn comes, or when an answer depends on it,
and never twice, for the table knows what a party has.
"""

from collections.abc import Callable, Iterator
from itertools import islice

from siena.messages import Outbox, Subscribe
from siena.messages.requests import is_sequence
from siena.model import Filter
from siena.routing.registrations import Registrations
from siena.routing.steps.backlog import Task
from siena.routing.tables import Tables

Enter = Callable[[Subscribe, str], Outbox]


class Unfolding:
    """Enters what is registered; that publishers hear nothing new of it is known."""

    def __init__(
        self, registrations: Registrations, tables: Tables, enter: Enter
    ) -> None:
        self._registrations = registrations
        self._tables = tables
        self._enter = enter

    def __iter__(self) -> Iterator[Filter]:
        """All that is wanted, while some of it is not in the tables yet."""
        yield from self._tables.filters
        yield from self._registrations.filters()

    def at_once(self) -> None:
        """Enter everything."""
        for party in self._registrations.parties_now():
            self.enter(party)

    def in_steps(self, done: Callable[[], Outbox]) -> Task:
        """Enter everything, some at a time; no neighbour is told before the end."""
        self._tables.is_held = True
        parties = self._registrations.parties_now()
        while some := list(islice(parties, self._tables.step_max)):
            for party in some:
                self.enter(party)
            yield []
        self._tables.is_held = False
        yield done()

    def enter_client(self, client: str) -> None:
        """Enter all that a client has asked for."""
        for party in self._registrations.parties(client):
            self.enter(party)

    def enter(self, party: str) -> None:
        """Enter what a party has asked for, if it still does."""
        for interest in self._registrations.of_party(party):
            if not is_sequence(interest):
                self._enter(Subscribe(interest), party)
