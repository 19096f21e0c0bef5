"""Links between simulated brokers: FIFO and lossless while they are up.

Every message takes a delay of its own, and none overtakes another on the same link.  A
frame that is lost is missed, and one that comes twice is recognised, by its sequence
number; either breaks the link.  What is on its way when a link breaks never arrives.
"""

from collections import Counter
from collections.abc import Callable
from typing import Literal

from siena.messages import Message, verb
from siena.sim.scheduler import Scheduler

Ends = tuple[int, int]
# What may happen to a frame.
Fault = Literal["lost", "duplicated"]


def ends(one: int, other: int) -> Ends:
    """A link, whichever end is named first."""
    return (one, other) if one < other else (other, one)


class Account:
    """How many messages of each kind there were, and what they cost.

    >>> account = Account()
    >>> account.add("notify", 2.5)
    >>> account.add("notify", 1)
    >>> account.counts["notify"], account.costs["notify"], account.total
    (2, 3.5, 3.5)
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.costs: dict[str, float] = {}

    def add(self, kind: str, cost: float) -> None:
        """One message more."""
        self.counts[kind] += 1
        self.costs[kind] = self.costs.get(kind, 0) + cost

    @property
    def total(self) -> float:
        """What all of them cost together."""
        return sum(self.costs.values())


class Network:
    """The links, what is on its way over them, and what went over them."""

    def __init__(
        self,
        scheduler: Scheduler,
        deliver: Callable[[int, int, Message], None],
        delay: Callable[[], float],
    ) -> None:
        self.account = Account()
        self.sent: list[tuple[int, int, str]] = []
        self.is_traced = True
        self._scheduler = scheduler
        self._deliver = deliver
        self._delay = delay
        # How often each link has come up, for what was sent before must not arrive.
        self._lives: dict[Ends, int] = {}
        self._weights: dict[Ends, float] = {}
        self._arrived: dict[tuple[int, int], float] = {}
        self._faulty: dict[Ends, tuple[Fault, Callable[[], None]]] = {}

    def __contains__(self, link: Ends) -> bool:
        return link in self._weights

    def links(self) -> list[Ends]:
        """The links that are up."""
        return sorted(self._weights)

    def open(self, one: int, other: int, weight: float) -> None:
        """Let a link come up."""
        link = ends(one, other)
        assert link not in self._weights, "it is up"
        self._lives[link] = self._lives.get(link, 0) + 1
        self._weights[link] = weight

    def close(self, one: int, other: int) -> None:
        """Let a link go down, and with it all that is on its way."""
        link = ends(one, other)
        del self._weights[link]
        self._faulty.pop(link, None)
        self._arrived.pop((one, other), None)
        self._arrived.pop((other, one), None)

    def fail_next(
        self, one: int, other: int, fault: Fault, broken: Callable[[], None]
    ) -> None:
        """Lose or duplicate the next frame; when it is noticed, call ``broken``."""
        self._faulty[ends(one, other)] = fault, broken

    def heal(self) -> None:
        """Let nothing happen to any frame that has not been sent yet."""
        self._faulty.clear()

    def send(self, source: int, target: int, message: Message) -> None:
        """Send a message; over a link that is down it is lost."""
        link = ends(source, target)
        weight = self._weights.get(link)
        if weight is None:
            return
        self.record(source, target, verb(message), weight)
        fault, broken = self._faulty.pop(link, (None, None))
        if fault != "lost":
            self._carry(source, target, lambda: self._deliver(source, target, message))
        if broken is not None:
            # The gap that a lost frame leaves, or the copy of one that came before it.
            self._carry(source, target, broken)

    def _carry(self, source: int, target: int, arrive: Callable[[], None]) -> None:
        """Let something arrive after a delay, behind all that was sent before it."""
        link = ends(source, target)
        life = self._lives[link]
        time = self._scheduler.now + self._delay()
        time = max(time, self._arrived.get((source, target), 0.0))
        self._arrived[source, target] = time

        def if_it_is_still_up() -> None:
            if link in self._weights and self._lives[link] == life:
                arrive()

        self._scheduler.at(time, if_it_is_still_up)

    def record(self, source: int, target: int, kind: str, cost: float) -> None:
        """Account for a message over a link."""
        self.account.add(kind, cost)
        if self.is_traced:
            self.sent.append((source, target, kind))
