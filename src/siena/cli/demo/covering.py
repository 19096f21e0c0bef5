"""What covering saves: the same subscriptions, told with it and without.

In simulated brokers, which are the same routers, because there nothing else is told:
real ones also ask each other whether a subscription has settled.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from siena.cli.demo.day import BROKERS, LINKS, Wish, broker_of
from siena.lang.parser import parse_interest
from siena.messages import Subscribe
from siena.model import Pattern
from siena.routing.options import Covering, Options
from siena.routing.topology.topology import Topology
from siena.sim.world import World


@dataclass(frozen=True, slots=True)
class Saved:
    """Messages over all links until every broker knew all it has to know."""

    without: int
    with_covering: int

    @property
    def messages(self) -> int:
        """Those that no broker had to send."""
        return self.without - self.with_covering

    @property
    def share(self) -> float:
        """The same as a share of all."""
        return self.messages / self.without if self.without else 0.0


def saved_by_covering(wishes: Sequence[Wish]) -> Saved:
    """Subscribe all clients twice, and count.

    >>> saved_by_covering([Wish(99, "a", "x > 3"), Wish(100, "b", "x > 5")])
    Saved(without=8, with_covering=4)
    """
    return Saved(_messages(wishes, "none"), _messages(wishes, "exact"))


def _messages(wishes: Sequence[Wish], covering: Covering) -> int:
    numbers = {name: number for number, name in enumerate(BROKERS, start=1)}
    links = [(numbers[one], numbers[other]) for one, other in LINKS]
    world = World(Topology(links), "acyclic", Options(covering=covering))
    for wish in wishes:
        broker = broker_of(wish)
        interest = parse_interest(wish.filter)
        assert not isinstance(interest, Pattern)
        world.ask(world.client(str(wish.number), numbers[broker]), Subscribe(interest))
    world.run()
    return len(world.network.sent)
