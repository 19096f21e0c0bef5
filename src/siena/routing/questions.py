"""Questions: clients and neighbours ask whether something is in force everywhere.

What is asked is made of what they say here, and asked on by
:mod:`siena.routing.settling`; before, whatever was held back of it is told, for the
answer would not be true otherwise.

Who has offered something, and asks, publishes once it is answered.  So what is wanted
of the offer is told to the neighbour that asks before its answer, however much that is.
"""

from collections.abc import Callable, Iterable, Sequence

from siena.algebra.sat import satisfiable
from siena.messages import (
    Interest,
    Interface,
    Message,
    Outbox,
    Party,
    Settle,
    Settled,
)
from siena.messages.interface import TTL_MAX
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Pattern
from siena.routing.demand.covering_order import is_satisfiable
from siena.routing.neighbour import Neighbour
from siena.routing.patterns.monitors import Monitors
from siena.routing.registrations import Registrations
from siena.routing.settling import Question, Settling
from siena.routing.steps.backlog import Task
from siena.routing.steps.gathering import Asked, Own
from siena.routing.steps.unfolding import Unfolding
from siena.routing.tables import Tables


class Questions:
    """Asks on behalf of clients and neighbours, and answers them."""

    def __init__(
        self,
        tables: Tables,
        registrations: Registrations,
        monitors: Monitors,
        unfolding: Unfolding,
    ) -> None:
        self._tables = tables
        self._registrations = registrations
        self._monitors = monitors
        self._unfolding = unfolding
        options = tables.options
        is_exact = options.covering == "exact" and options.merging == "none"
        self._settling = Settling(tables.reach, tables.leads, is_exact=is_exact)
        self._is_batching = options.batching
        # Of clients, while batching: what is held back with the interest itself.
        self._unsettled: dict[str, dict[int, Settle]] = {}
        # What neighbours have asked about offers, by token.
        self._of_offers: set[tuple[Interface, int]] = set()

    def ask(self, message: Settle, source: Interface) -> Outbox:
        """Ask what a client or a neighbour asks."""
        return self.ask_all([Asked(message, source)])

    def ask_all(self, asked: Iterable[Asked], own: Sequence[Own] = ()) -> Outbox:
        """Ask what clients and neighbours ask, all of it together.

        ``own`` are questions of clients about filters of theirs that can be satisfied.
        """
        if own and (self._is_batching or self._tables.is_held):
            each_asked = [
                Asked(Settle(f, token), source, (f,)) for f, source, token in own
            ]
            asked, own = [*asked, *each_asked], ()
        questions: list[tuple[Question, Outbox]] = []
        answered: Outbox = []
        for message, source, filters in asked:
            is_of_offer = isinstance(message.interest, Advertisement)
            is_of_neighbour = isinstance(source, int)
            if is_of_offer and is_of_neighbour:
                self._of_offers.add((source, message.token))
            elif (
                is_of_neighbour
                and self._is_alone_with(source)
                and not isinstance(message.interest, Pattern)
            ):
                answered.append((source, Settled(message.token)))
                continue
            if self._is_batching and isinstance(source, str):
                # Asked at once, every interest would be sent at once.
                self._unsettled.setdefault(source, {})[message.token] = message
                continue
            if self._tables.is_held and isinstance(source, str):
                self._unfolding.enter(source)
            questions.append(self._question(message, source, filters))
        return answered + self._ask(questions, own)

    def _is_alone_with(self, source: Interface) -> bool:
        """Whether there is no other broker to be asked on behalf of a neighbour."""
        neighbours = self._tables.neighbours
        return len(neighbours) == 1 and source in neighbours

    def of_client(self, client: str, answer: Outbox, *, fresh: bool) -> Outbox:
        """Give the answer when all that a client wants is in force everywhere."""
        filters: set[Filter] = set()
        delegated: list[tuple[int, Pattern]] = []
        if self._tables.is_held:
            self._unfolding.enter_client(client)
        for key, interest in self._registrations.of(client).interests.items():
            filters.update(filter(satisfiable, filters_of(interest)))
            if isinstance(interest, Pattern):
                party = Party(client, key) if isinstance(key, int) else client
                delegated += self._monitors.delegations(party, interest)
        ordered = tuple(sorted(filters, key=str))
        me = self._tables.me
        question = Question(ordered, me, client, fresh, TTL_MAX, tuple(delegated))
        return self._ask([(question, answer)])

    def flush(self) -> Outbox:
        """Ask what was held back."""
        unsettled, self._unsettled = self._unsettled, {}
        return self._ask(
            [
                self._question(question, client)
                for client, questions in unsettled.items()
                for question in questions.values()
            ]
        )

    def withdraw(self, party: Party) -> None:
        """A party has cancelled its request before it was asked about."""
        self._unsettled.get(party, {}).pop(party.number, None)

    def forget_party(self, party: str) -> None:
        """A party has gone."""
        self._unsettled.pop(party, None)

    def forget(self, neighbour: int) -> Outbox:
        """A neighbour has gone, and need not answer."""
        self._of_offers = {asked for asked in self._of_offers if asked[0] != neighbour}
        return self._told_first(self._settling.forget(neighbour))

    def answered(self, message: Settled, source: Interface) -> Outbox:
        """A neighbour has answered."""
        answers = self._settling.answered(message.token, source, message.silent)
        return self._told_first(answers)

    def age(self) -> Outbox:
        """Time has passed: who has not answered by now is waited for no longer."""
        return self._told_first(self._settling.age())

    def name_neighbours(self, name_of: Callable[[int], str]) -> None:
        """How those are called that have not answered."""
        self._settling.name_of = name_of

    @property
    def silent(self) -> frozenset[int]:
        """Neighbours that have not answered in time, and nothing since."""
        return frozenset(self._settling.silent)

    def _question(
        self,
        message: Settle,
        source: Interface,
        wanted: tuple[Filter, ...] | None = None,
    ) -> tuple[Question, Outbox]:
        tables, interest = self._tables, message.interest
        origin = tables.me
        if isinstance(source, int):
            origin = tables.holder(source, message.origin).origin
        delegated: tuple[tuple[int, Pattern], ...] = ()
        filters: tuple[Filter | Advertisement, ...]
        if isinstance(interest, Advertisement):
            filters = (interest,)
        else:
            # What nothing can match has been told to nobody.
            filters = self.satisfiable(interest) if wanted is None else wanted
            if isinstance(interest, Pattern):
                delegated = tuple(self._monitors.delegations(source, interest))
        question = Question(
            filters, origin, source, message.fresh, message.ttl, delegated
        )
        return question, [(source, Settled(message.token))]

    def satisfiable(self, interest: Interest) -> tuple[Filter, ...]:
        """The filters of an interest that something can match."""
        order = self._tables.filters.order
        if type(interest) is Filter:  # most often
            return (interest,) if is_satisfiable(order, interest) else ()
        wanted = filters_of(interest)
        return tuple([f for f in wanted if is_satisfiable(order, f)])

    def _ask(
        self, questions: list[tuple[Question, Outbox]], own: Sequence[Own] = ()
    ) -> Outbox:
        if not questions and not own:
            return []
        # What is held back would not be in force when its settling is answered.
        held_back = self._held_back()
        if self._tables.backlog:
            for question, _ in questions:
                wanted = [f for f in question.filters if isinstance(f, Filter)]
                held_back += self._tables.hasten(wanted, question.origin)
            if own:
                wanted = [f for f, _, _ in own]
                held_back += self._tables.hasten(wanted, self._tables.me)
        neighbours = [*self._tables.neighbours.values()]
        asked = self._settling.ask_all(questions, neighbours)
        asked += self._settling.ask_own(own, self._tables.me, neighbours)
        return held_back + self._told_first(asked)

    def _held_back(self) -> Outbox:
        return self._monitors.sync() + self._tables.sync()

    def _told_first(self, out: Outbox) -> Outbox:
        """The same, but answers about offers follow what is wanted of them."""
        if not self._of_offers:  # most often
            return out
        sent: Outbox = []
        for to, message in out:
            key = to, message.token if isinstance(message, Settled) else -1
            if key not in self._of_offers:
                sent.append((to, message))
                continue
            self._of_offers.remove(key)
            sent += self._held_back()
            assert isinstance(to, int), "clients are answered at once"
            neighbour = self._tables.neighbours[to]
            if neighbour.is_behind or self._tables.is_held:
                self._tables.backlog.add(self._answering_later(neighbour, message))
            else:
                sent.append((to, message))
        return sent

    def _answering_later(self, neighbour: Neighbour, answer: Message) -> Task:
        """Answer after all that was put off, of which more may have come meanwhile."""
        tables = self._tables
        if tables.neighbours.get(neighbour.number) is not neighbour:
            return
        if neighbour.is_behind or tables.is_held:
            tables.backlog.add(self._answering_later(neighbour, answer))
        else:
            yield [(neighbour.number, answer)]
