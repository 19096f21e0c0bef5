"""What holds of every run: all clients got what they must, and nothing else.

Always: nothing twice, nothing that its receiver never wanted, and what one publisher
sends in its order, while neither the routes nor the two clients change.  Of what is
published when everything rests: all that the flat list of filters says, and only that.
In a gentle round, where nothing is cancelled and no link breaks: nothing is lost of
what was wanted before it began, although clients move.

Reference:
    The design, part 9; our specification, A.8 and A.9.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from siena.algebra.overlap import overlaps
from siena.model import Advertisement, Filter, Notification
from siena.sim.clients import Client
from siena.sim.steps import Step
from worlds.script import (
    ABSENT_KEPT,
    ALL_KEPT,
    FEW_KEPT,
    NONE_KEPT,
    Round,
    Script,
    number_of,
    said,
)

Tell = Callable[[str], None]
# Of each client, the advertisements of which it was told that nobody wants them.
Quenched = Mapping[str, Collection[Advertisement]]
# What was published when everything rested, and whom it has reached.
Reached = dict[str, tuple[int, ...]]


def say_nothing(text: str) -> None:
    """For who does not want to know."""


class Violation(AssertionError):  # noqa: N818 -- it is not an error of the program
    """A world did what it must not do."""


@dataclass(slots=True)
class _Party:
    """A client, and what it must get."""

    client: Client
    queue: int = 0
    # What it has wanted since it last rested, awake.
    wanted: list[Filter] = field(default_factory=list)
    got: list[int] = field(default_factory=list)
    # Of what was published at rest: due now, due when it resumes, and what a short
    # queue may have dropped.
    due: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    excused: set[int] = field(default_factory=set)
    # Of what was published in a gentle round.
    owed: set[int] = field(default_factory=set)
    # Whether it gets what was kept, whose order is another.
    is_replayed: bool = False
    may_lose: bool = False


class Invariants:
    """Follows a script step by step, and hears of every delivery.

    Args:
        tell: is told of every step and every delivery.
    """

    def __init__(self, script: Script, tell: Tell = say_nothing) -> None:
        self.script = script
        self._tell = tell
        self.deliveries = 0
        self.reached: list[Reached] = []
        """After each round: what each client got of what was judged until then."""
        self._parties = {n: _Party(Client(n, at)) for n, at in script.clients.items()}
        links = [] if script.is_apart else script.topology.links
        self._up = {(link.one, link.other) for link in links}
        self._published: dict[int, tuple[str, Notification]] = {}
        self._judged: set[int] = set()
        self._round: Round | None = None
        self._is_resting = False
        self._moved: set[str] = set()
        self._steady: dict[str, list[Filter]] = {}
        self._last: dict[tuple[str, str], int] = {}
        self._where = "before the first round"

    # --- What happens ---------------------------------------------------------------

    def begin(self, number: int, this: Round) -> None:
        """A round begins."""
        self._round = this
        self._is_resting = False
        self._where = f"round {number} ({this.kind})"
        self._moved.clear()
        self._last.clear()
        is_gentle = this.kind == "gentle" and self.script.options.merging == "none"
        self._steady = {
            name: list(party.client.filters)
            for name, party in self._parties.items()
            if is_gentle and not party.client.is_suspended
        }

    def step(self, step: Step) -> None:
        """Something is about to happen."""
        self._tell(f"{self._where}: {said(step)}")
        link = min(step.at, step.to), max(step.at, step.to)
        if step.op == "connect":
            self._up.add(link)
        elif step.op == "disconnect":
            self._up.discard(link)
        elif step.op == "publish":
            self._publish(step)
        else:
            self._ask(step, self._parties[step.client])

    def _ask(self, step: Step, party: _Party) -> None:
        client, interest = party.client, step.interest
        if step.op == "subscribe":
            assert isinstance(interest, Filter)
            client.subscribe(interest)
            party.wanted.append(interest)
        elif step.op == "unsubscribe":
            assert isinstance(interest, Filter)
            client.unsubscribe(interest)
        elif step.op in {"advertise", "unadvertise"}:
            assert step.advertisement is not None
            is_new = step.op == "advertise"
            (client.advertise if is_new else client.unadvertise)(step.advertisement)
        elif step.op == "suspend":
            client.is_suspended, party.queue = True, step.queue
            party.may_lose = step.queue in {FEW_KEPT, NONE_KEPT}
            party.is_replayed = True
        else:  # resume, or move, which ends with it
            client.is_suspended = False
            party.due |= party.kept
            party.kept.clear()
            party.is_replayed = True
            if step.op == "move":
                client.at = step.to
                self._moved.add(client.name)

    def _publish(self, step: Step) -> None:
        assert step.notification is not None
        number = number_of(step.notification)
        publisher = self._parties[step.client].client
        self._published[number] = publisher.name, step.notification
        if self._is_resting:
            self._judged.add(number)
            for name in self._receivers(publisher, step.notification):
                self._must_get(self._parties[name], number)
        elif not self.script.options.is_advertising or (
            # What is advertised at a new broker has yet to be heard of elsewhere.
            publisher.name not in self._moved
        ):
            receivers = self._receivers(publisher, step.notification)
            for name, filters in self._steady.items():
                is_old = any(f.matches(step.notification) for f in filters)
                if name in receivers and is_old:
                    self._parties[name].owed.add(number)

    def _receivers(self, publisher: Client, notification: Notification) -> set[str]:
        """The oracle: all within reach whose filters match; some may be suspended."""
        if self.script.options.is_advertising and not publisher.offers(notification):
            return set()
        reached = self._component(publisher.at)
        clients = [party.client for party in self._parties.values()]
        return {c.name for c in clients if c.at in reached and c.wants(notification)}

    @staticmethod
    def _must_get(party: _Party, number: int) -> None:
        if not party.client.is_suspended:
            party.due.add(number)
        elif party.queue in {ALL_KEPT, ABSENT_KEPT}:
            party.kept.add(number)
        elif party.queue == FEW_KEPT:
            party.excused.add(number)

    def _component(self, broker: int) -> set[int]:
        reached = {broker}
        for _ in self.script.topology.brokers:
            for one, other in self._up:
                if reached & {one, other}:
                    reached |= {one, other}
        return reached

    # --- What comes of it -----------------------------------------------------------

    def hear(self, name: str, notification: Notification) -> None:
        """A client has got something.

        Raises:
            Violation: if it must not.
        """
        self._tell(f"    {name} gets {notification}")
        party, number = self._parties[name], number_of(notification)
        self.deliveries += 1
        publisher, published = self._published.get(number, ("", None))
        if notification != published:
            raise self._violation(f"{name} got {notification}, which nobody published")
        if number in party.got:
            raise self._violation(f"{name} got {notification} twice")
        party.got.append(number)
        if not any(f.matches(notification) for f in party.wanted):
            raise self._violation(f"{name} got {notification}, which it never wanted")
        last = self._last.get((name, publisher), 0)
        self._last[name, publisher] = max(last, number)
        if number < last and self._is_ordered(party, publisher):
            raise self._violation(f"{name} got {notification} too late")

    def miss(self, name: str, count: int) -> None:
        """A client was told that so many were not kept for it.

        Raises:
            Violation: if it had asked for all to be kept.
        """
        if not self._parties[name].may_lose:
            raise self._violation(f"{name} lost {count}, which should have been kept")

    def _is_ordered(self, party: _Party, publisher: str) -> bool:
        script = self.script
        assert self._round is not None
        is_one_way = script.options.paths == "tree" or script.architecture != "general"
        is_steady = self._is_resting or self._round.kind != "storm"
        is_replayed = party.is_replayed or publisher in self._moved
        return is_one_way and is_steady and not is_replayed

    def rest(self, quenched: Quenched | None) -> None:
        """Nothing is on its way; what is published from now on is judged exactly.

        Args:
            quenched: of each client, the advertisements of which it was told that
                nobody wants what they admit, unless it is absent; ``None`` if that is
                judged elsewhere.

        Raises:
            Violation: if something was lost, or a publisher told what is not so.
        """
        if quenched is not None:
            self._check_quenching(quenched)
        for name, party in self._parties.items():
            lost = sorted(party.owed.difference(party.got))
            if lost:
                raise self._violation(f"{name} lost {lost}, and nothing was cancelled")
            party.owed.clear()
            party.is_replayed = party.client.is_suspended
            if not party.client.is_suspended:
                party.wanted = list(party.client.filters)
                party.may_lose = False
        self._where += ", at rest"
        self._moved.clear()
        self._last.clear()
        self._is_resting = True

    def _check_quenching(self, quenched: Quenched) -> None:
        script, options = self.script, self.script.options
        knows_all = (
            options.quench
            and script.architecture != "hierarchical"
            and options.covering != "pairwise"
            and options.merging != "imperfect"
        )
        for name, told in quenched.items():
            party = self._parties[name]
            reached = self._component(party.client.at)
            others = [
                p.client for p in self._parties.values() if p.client.at in reached
            ]
            for advertisement in party.client.advertisements:
                filters = (f for client in others for f in client.filters)
                is_wanted = any(overlaps(advertisement, f) for f in filters)
                is_quenched = advertisement in told
                if is_quenched and (is_wanted or not options.quench):
                    raise self._violation(f"{name} is quenched for {advertisement}")
                if knows_all and not is_wanted and not is_quenched:
                    raise self._violation(f"{name} is not quenched for {advertisement}")

    def compare(self) -> None:
        """Nothing is on its way again: whom has it reached?

        Raises:
            Violation: if these are not exactly those whom the oracle names.
        """
        reached: Reached = {}
        for name, party in self._parties.items():
            got = self._judged.intersection(party.got) - party.excused
            if got != party.due:
                raise self._violation(
                    f"{name} missed {sorted(party.due - got)} and should not have got "
                    f"{sorted(got - party.due)}"
                )
            reached[name] = tuple(sorted(got))
        self.reached.append(reached)

    def fail(self, what: str) -> None:
        """Something else went wrong.

        Raises:
            Violation: always.
        """
        raise self._violation(what)

    def _violation(self, what: str) -> Violation:
        return Violation(f"{self._where}: {what}")
