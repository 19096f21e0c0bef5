"""Monitors: patterns in the network, looked for next to where they are published.

A monitor looks for one pattern on behalf of one subscriber, a client or a neighbour.
It is a hop of its own broker, with a number below 0: it subscribes to what it matches
itself, and is handed what others have found.  Without advertisements it is not known
who can provide what, and a monitor matches every step itself: at the access point of
the subscriber, which always works, and costs more messages.

Reference:
    Our specification, A.6.1 and B.11.
"""

from dataclasses import dataclass, field

from siena.algebra.disjunction import covers_pattern
from siena.algebra.sat import satisfiable
from siena.messages import (
    Found,
    Interface,
    Notify,
    Outbox,
    Side,
    Subscribe,
    Unsubscribe,
)
from siena.model import Filter, Pattern, Predicate
from siena.routing.interest_table import Change, Holder
from siena.routing.patterns.factoring import Factor, factor
from siena.routing.tables import Tables


@dataclass(slots=True)
class Monitor:
    """The search for one pattern; greedy, as :mod:`siena.matching.pattern` is.

    What is handed over counts as one input: its first element must be later than what
    was accepted last, and its last element is what the next is compared with.
    """

    number: int
    subscriber: Interface
    pattern: Pattern
    since: int
    factors: tuple[Factor, ...] = ()
    accepted: list[Notify] = field(default_factory=list)
    done: int = 0
    began: int = 0

    def plan(self, factors: tuple[Factor, ...]) -> None:
        """Look for other factors from now on; what was accepted is forgotten."""
        self.factors = factors
        self._restart()

    def offer(
        self, inputs: tuple[Notify, ...], source: int | None, began: int, now: int
    ) -> tuple[tuple[Notify, ...], int] | None:
        """The sequence that is complete, and when its search began; or ``None``."""
        wanted = self.factors[self.done]
        if wanted.source != source or began <= self.since:
            return None
        if source is None and not wanted.steps[0].matches(inputs[0].notification):
            return None
        if self.accepted and inputs[0].time <= self.accepted[-1].time:
            return None
        if not self.accepted:
            self.began = now if source is None else began
        self.accepted += inputs
        self.done += 1
        if self.done < len(self.factors):
            return None
        found = tuple(self.accepted), self.began
        self._restart()
        return found

    def _restart(self) -> None:
        self.accepted = []
        self.done = 0


class Monitors:
    """All monitors of a broker, and the runs it has delegated to its neighbours."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._monitors: dict[int, Monitor] = {}
        self._delegated: dict[int, set[Pattern]] = {}
        self._next = -1
        # How many notifications this broker has looked at: its own sense of time.
        self._now = 0

    def __len__(self) -> int:
        return len(self._monitors)

    def subscribe(
        self, subscriber: Interface, pattern: Pattern
    ) -> list[Change[Filter]]:
        """Look for a pattern; one that is looked for already stays as it is."""
        if any(m.pattern == pattern for m in self._of(subscriber)):
            return []
        monitor = Monitor(self._next, subscriber, pattern, self._now)
        self._next -= 1
        self._monitors[monitor.number] = monitor
        if isinstance(subscriber, int):
            self._tables.spared[monitor.number] = subscriber
        return self.replan()

    def unsubscribe(
        self, subscriber: Interface, pattern: Pattern
    ) -> list[Change[Filter]]:
        """Look no longer for what a client's pattern covers, or a broker's equals."""
        gone = [
            m.number
            for m in self._of(subscriber)
            if m.pattern == pattern
            or (isinstance(subscriber, str) and covers_pattern(pattern, m.pattern))
        ]
        return self._stop(gone)

    def forget(self, subscriber: Interface) -> list[Change[Filter]]:
        """A subscriber is gone; runs delegated to it are too."""
        if isinstance(subscriber, int):
            self._delegated.pop(subscriber, None)
        return self._stop([m.number for m in self._of(subscriber)])

    def replan(self) -> list[Change[Filter]]:
        """Cut all patterns anew: what is advertised, or monitored, has changed."""
        changes: list[Change[Filter]] = []
        monitored: dict[Pattern, int] = {}
        for monitor in self._monitors.values():
            factors = self._factors(monitor, monitored)
            if factors != monitor.factors:
                monitor.plan(factors)
                changes += self._subscribe_to(monitor)
            monitored.setdefault(monitor.pattern, monitor.number)
        return changes

    def sync(self) -> Outbox:
        """The messages after which neighbours look for what is delegated to them."""
        if not self._monitors and not self._delegated:
            return []
        spared = self._tables.spared
        ours = [hop for hop in spared if isinstance(hop, int) and hop < 0]
        for hop in [h for h in ours if h not in self._monitors]:
            del spared[hop]
        out: Outbox = []
        for number in sorted(self._tables.neighbours):
            told = self._delegated.setdefault(number, set())
            wanted = {
                f.pattern
                for m in self._monitors.values()
                for f in m.factors
                if f.source == number
            }
            gone, come = sorted(told - wanted, key=str), sorted(wanted - told, key=str)
            out += [(number, Unsubscribe(pattern)) for pattern in gone]
            out += [(number, Subscribe(pattern)) for pattern in come]
            self._delegated[number] = wanted
        if not self._monitors:
            self._delegated.clear()
        return out

    def delegations(
        self, subscriber: Interface, pattern: Pattern
    ) -> list[tuple[int, Pattern]]:
        """The neighbours that look for runs of a pattern, and for which."""
        return [
            (f.source, f.pattern)
            for m in self._of(subscriber)
            if m.pattern == pattern
            for f in m.factors
            if f.source is not None and f.source > 0
        ]

    def progress(self, subscriber: Interface) -> dict[Pattern, tuple[Notify, ...]]:
        """What has been accepted for each pattern of a subscriber, and not given."""
        return {m.pattern: tuple(m.accepted) for m in self._of(subscriber)}

    def notify(self, hops: set[Interface], message: Notify) -> Outbox:
        """Offer a notification to the monitors that subscribed to it."""
        self._now += 1
        numbers = sorted(
            (h for h in hops if isinstance(h, int) and h < 0), reverse=True
        )
        out: Outbox = []
        for number in numbers:
            out += self._offer(self._monitors[number], (message,), None, self._now)
        return out

    def found(self, message: Found, source: int) -> Outbox:
        """Offer what a neighbour has found."""
        self._now += 1
        out: Outbox = []
        for monitor in list(self._monitors.values()):
            if Factor(message.pattern.steps, source) in monitor.factors:
                out += self._offer(monitor, message.sequence, source, self._now)
        return out

    def _offer(
        self,
        monitor: Monitor,
        inputs: tuple[Notify, ...],
        source: int | None,
        began: int,
    ) -> Outbox:
        complete = monitor.offer(inputs, source, began, self._now)
        if complete is None:
            return []
        sequence, began = complete
        out: Outbox = [(monitor.subscriber, Found(monitor.pattern, sequence))]
        for other in self._monitors.values():
            if any(f.source == monitor.number for f in other.factors):
                out += self._offer(other, sequence, monitor.number, began)
        return out

    def _of(self, subscriber: Interface) -> list[Monitor]:
        return [m for m in self._monitors.values() if m.subscriber == subscriber]

    def _stop(self, numbers: list[int]) -> list[Change[Filter]]:
        changes: list[Change[Filter]] = []
        for number in numbers:
            del self._monitors[number]
            changes += self._tables.filters.forget(number)
        if numbers:
            changes += self.replan()
        return changes

    def _subscribe_to(self, monitor: Monitor) -> list[Change[Filter]]:
        table = self._tables.filters
        changes = table.forget(monitor.number)
        holder = Holder(monitor.number, self._tables.me)
        for each in monitor.factors:
            if each.source is None:
                # What nothing can match nobody needs to hear of, as in any filter.
                for f in filter(satisfiable, each.steps[0]):
                    changes += table.announce(holder, f)
        return changes

    def _factors(
        self, monitor: Monitor, monitored: dict[Pattern, int]
    ) -> tuple[Factor, ...]:
        if not self._tables.options.is_advertising:
            return tuple(Factor((step,)) for step in monitor.pattern)
        neighbours = self._tables.neighbours

        def providers(step: Predicate) -> frozenset[Interface]:
            found = self._providers(step)
            if isinstance(monitor.subscriber, str):
                return found  # a client gets what it publishes itself, too
            return found - {monitor.subscriber}

        def delegates(hop: Interface) -> bool:
            return isinstance(hop, int) and neighbours[hop].side is Side.PEER

        return factor(monitor.pattern, monitored, providers, delegates)

    def _providers(self, step: Predicate) -> frozenset[Interface]:
        """The hops that advertise something that may match a step."""
        table = self._tables.advertisements
        return frozenset(
            holder.hop
            for a in table
            if any(self._tables.overlaps(a, f) for f in step)
            for holder in table.holders(a)
        )
