"""A crowd: many clients in a large network, and whether each gets what it wants.

Clients follow stock quotes: each is at a random broker and wants one symbol,
most of them below a price, some of these at one exchange only.  So filters are alike,
as interests are, and brokers have much to cover.

*What is compared.*  The oracle (:mod:`siena.sim.clients`) has a flat list of filters
for each client, and knows nothing of brokers.  All publications travel at the same
time; afterwards each must have reached those whom the oracle names, once each, and
no other client.
"""

import random
from collections.abc import Callable, Iterator
from typing import Any

from siena.messages import Settle, Settled, Stamp, Subscribe, Unsubscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.sim.clients import Client, expected
from siena.sim.invariants import Violation
from siena.sim.world import World

SYMBOLS = tuple(f"S{number}" for number in range(20))
EXCHANGES = ("LSE", "NYSE", "TSE")
PRICES = range(10, 101, 10)
# Of 10 clients, so many name a price, and so many of these an exchange.
PRICED, PLACED = 9, 3
# Everybody comes, and everything is published, within so many units of time.
PERIOD = 100.0


class Crowd:
    """The clients of a world, and what they published.

    >>> from siena.sim.topologies.regular import ring
    >>> world = World(ring(5), "general")
    >>> crowd = Crowd(world, seed=1)
    >>> crowd.come(20)
    >>> crowd.publish(10)
    >>> crowd.verify()  # how many were delivered, all of them rightly
    6
    """

    def __init__(
        self,
        world: World,
        seed: int,
        progress: Callable[[float], None] = lambda _share: None,
    ) -> None:
        self._progress = progress
        world.network.is_traced = False
        self.world = world
        self._rng = random.Random(f"{seed}/crowd")
        self._published: dict[Stamp, tuple[Client, Notification]] = {}

    def come(self, clients: int) -> None:
        """Let clients come and subscribe; nothing is on its way afterwards."""
        known = len(self.world.clients)
        for number in range(known + 1, known + clients + 1):
            at = self._rng.choice(self.world.topology.brokers)
            client = self.world.client(f"c{number}", at)
            self._later(self._subscribe, client, self._filter())
        self._run()

    def go(self, clients: int) -> None:
        """Let some of them unsubscribe; nothing is on its way afterwards."""
        wanting = [c for c in self.world.clients.values() if c.filters]
        for client in self._rng.sample(wanting, clients):
            self._later(self._unsubscribe, client)
        self._run()

    def settle(self, clients: int) -> None:
        """Let some of them ask whether their subscriptions are in force everywhere."""
        answered: set[str] = set()
        before = self.world.heard

        def hear(client: Client, message: object) -> None:
            if isinstance(message, Settled):
                answered.add(client.name)

        self.world.heard = hear
        wanting = [c for c in self.world.clients.values() if c.filters]
        asking = self._rng.sample(wanting, clients)
        for client in asking:
            self._later(self._settle, client)
        self._run()
        self.world.heard = before
        if len(answered) < len(asking):
            raise Violation(
                f"{len(asking) - len(answered)} subscriptions never settled"
            )

    def publish(self, publications: int) -> None:
        """Let some of them publish; nothing is on its way afterwards."""
        clients = list(self.world.clients.values())
        for _ in range(publications):
            self._later(self._publish, self._rng.choice(clients))
        self._run()

    def verify(self) -> int:
        """Compare what all clients received since the last time with the oracle."""
        got: dict[Stamp, list[str]] = {stamp: [] for stamp in self._published}
        for client in self.world.clients.values():
            for notify in client.received:
                got[notify.stamp].append(client.name)
            client.received.clear()
        for stamp, wanted in self._expected():
            names = got[stamp]
            if len(names) > len(set(names)):
                raise Violation(f"somebody got publication {tuple(stamp)} twice")
            if set(names) != wanted:
                raise Violation(
                    f"publication {tuple(stamp)} reached {len(names)} clients, and was "
                    f"wanted by {len(wanted)}"
                )
        self._published.clear()
        return sum(map(len, got.values()))

    def _expected(self) -> Iterator[tuple[Stamp, set[str]]]:
        clients = list(self.world.clients.values())
        for stamp, (publisher, notification) in self._published.items():
            yield (
                stamp,
                expected(notification, publisher, clients, advertising=False),
            )

    def _run(self) -> None:
        """Until nothing is on its way; every tenth of the time, say how far it is."""
        begin = self.world.scheduler.now
        for tenth in range(1, 11):
            self.world.scheduler.run(until=begin + PERIOD * tenth / 10)
            self._progress(tenth / 10)
        self.world.run()

    def _later(self, act: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401
        delay = self._rng.uniform(0, PERIOD)
        self.world.scheduler.after(delay, lambda: act(*arguments))

    def _subscribe(self, client: Client, f: Filter) -> None:
        client.subscribe(f)
        self.world.ask(client, Subscribe(f))

    def _unsubscribe(self, client: Client) -> None:
        [f] = client.filters
        client.unsubscribe(f)
        self.world.ask(client, Unsubscribe(f))

    def _settle(self, client: Client) -> None:
        self.world.ask(client, Settle(client.filters[0], token=1))

    def _publish(self, client: Client) -> None:
        router = self.world.routers[self.world.access(client.at)]
        notification = Notification(
            symbol=self._rng.choice(SYMBOLS),
            price=self._rng.randrange(1, PRICES[-1] + 10),
            exchange=self._rng.choice(EXCHANGES),
        )
        stamp = Stamp(router.me, self.world.epochs[router.me], router.published)
        self._published[stamp] = client, notification
        self.world.publish(client, notification)

    def _filter(self) -> Filter:
        wanted = [Constraint("symbol", Operator.EQ, self._rng.choice(SYMBOLS))]
        particular = self._rng.randrange(10)
        if particular < PRICED:
            bound = self._rng.choice(PRICES)
            wanted.append(Constraint("price", Operator.LT, bound))
        if particular < PLACED:
            place = self._rng.choice(EXCHANGES)
            wanted.append(Constraint("exchange", Operator.EQ, place))
        return Filter(wanted)
