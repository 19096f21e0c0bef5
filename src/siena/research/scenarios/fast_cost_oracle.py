"""The oracle of scenarios, for large ones: only what changes is looked at.

It comes to the totals of :class:`siena.research.scenarios.cost_oracle.CostOracle`, its
slow and obvious twin, and the tests compare the two.

*Theory of operation.*  Let a client appear at a site, where T others are active.  On
the links of the path from the site to the root, there is one client more below, and as
many above as before.  On all other links there is one more above: that makes a
difference only where all T others are below.  If T is 0 these are all links; otherwise
they are on the path from any one of the others to the root.  So two paths are enough.
For a notification, the links above sites with parties are summed up once and for all,
and only those on the path from the publisher to the root need a closer look.
Every active party gets every publication, so that it is known from the beginning which
will be its last; it is told of all of them then.

Reference:
    Our specification, F.5.
"""

import random
from collections import Counter
from collections.abc import Iterator

from siena.errors import SienaError
from siena.research.scenarios.behaviour import Party
from siena.routing.options import Forwarding
from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import tree_below
from siena.sim.architecture import Architecture, plain
from siena.sim.network import Account, Fault
from siena.sim.scheduler import Scheduler

# A link of the tree is known by its lower end; upwards, or downwards.
Toggle = tuple[Broker, bool]


class QuickTally:
    """Carries a scenario by counting; the topology is a tree, with weights of integers.

    Cost: the depth of the tree, for each request and each publication; deliveries cost
    nothing.
    """

    def __init__(
        self,
        topology: Topology,
        architecture: Architecture,
        forwarding: Forwarding,
        *,
        root: Broker | None = None,
    ) -> None:
        assert topology.is_tree, "there is an oracle for trees only"
        self.scheduler = Scheduler()
        self.account = Account()
        self._architecture = architecture
        self._is_advertising = forwarding == "advertisement"
        tree = tree_below(topology, topology.brokers[0] if root is None else root)
        # From each site the lower ends of the links on its way to the root.
        self._ways = {site: tree.path(site)[:0:-1] for site in topology.brokers}
        self._weights = {
            child: plain(topology.weight(child, parent))
            for child, parent in tree.parents.items()
        }
        self._far = {
            site: sum(self._weights[link] for link in way)
            for site, way in self._ways.items()
        }
        self._events: dict[str, _Event] = {}

    def subscribe(self, who: Party) -> None:
        """One more active party at a site."""
        event = self._event(who.event)
        event.due.setdefault(event.published + who.missing, []).append(who)
        event.far += self._far[who.site]
        event.hops += len(self._ways[who.site])
        self._change_parties(event, who.site, 1)

    def unsubscribe(self, who: Party) -> None:
        """One active party less."""
        event = self._event(who.event)
        event.far -= self._far[who.site]
        event.hops -= len(self._ways[who.site])
        self._change_parties(event, who.site, -1)

    def advertise(self, _name: str, site: int, event: str) -> None:
        """One more advertiser at a site."""
        if self._is_advertising:
            self._change_advertisers(self._event(event), site, 1)

    def unadvertise(self, _name: str, site: int, event: str) -> None:
        """One advertiser less."""
        if self._is_advertising:
            self._change_advertisers(self._event(event), site, -1)

    def publish(self, _name: str, site: int, event: str) -> None:
        """Pay for a notification, and hand it to all who are active."""
        known = self._event(event)
        if self._architecture == "centralised":
            self._pay("publish", len(self._ways[site]), self._far[site])
            self._pay("notify", known.hops, known.far)
        else:
            self._pay("notify", *self._notification(known, site))
        known.published += 1
        for party in known.due.pop(known.published, ()):
            party.receive(party.missing)

    def spoil(self, fault: Fault, _rng: random.Random) -> None:
        """Counting knows no frames."""
        raise SienaError(
            "there is an oracle for networks without faults only",
            hint=f"here a frame is {fault}",
        )

    def finish(self) -> None:
        """Hand over what those have got who still wait for more."""
        for event in self._events.values():
            for last, parties in event.due.items():
                for party in parties:
                    party.receive(party.missing - (last - event.published))

    def _event(self, event: str) -> "_Event":
        found = self._events.get(event)
        if found is None:
            found = self._events[event] = _Event()
        return found

    def _change_parties(self, event: "_Event", site: int, by: int) -> None:
        verb = "subscribe" if by > 0 else "unsubscribe"
        if self._architecture == "centralised":
            self._pay(verb, len(self._ways[site]), self._far[site])
            return
        climbs = self._architecture == "hierarchical"
        for link, is_up in list(self._toggles(event.parties, site, by)):
            if is_up:
                event.spanned += by
                event.cost += by * self._weights[link]
            elif climbs:
                continue
            if not self._is_advertising or event.advertisers.has(link, not is_up):
                self._pay(verb, 1, self._weights[link])

    def _change_advertisers(self, event: "_Event", site: int, by: int) -> None:
        advertised, subscribed = (
            ("advertise", "subscribe") if by > 0 else ("unadvertise", "unsubscribe")
        )
        for link, is_up in list(self._toggles(event.advertisers, site, by)):
            self._pay(advertised, 1, self._weights[link])
            if event.parties.has(link, not is_up):
                self._pay(subscribed, 1, self._weights[link])

    def _toggles(self, sites: "_Sites", site: int, by: int) -> Iterator[Toggle]:
        """Count a client that comes or goes; the directed links which that changes.

        These are the links whose near side had none before, or has none now.
        """
        sites.count(site, self._ways[site], by)
        others = sites.total - (by > 0)
        edge = 1 if by > 0 else 0
        own = set(self._ways[site])
        for link in own:
            if sites.below[link] == edge:
                yield link, True
        if not others:
            yield from ((link, False) for link in self._weights if link not in own)
            return
        elsewhere = next((s for s in sites.at if s != site), None)
        if elsewhere is not None:
            for link in self._ways[elsewhere]:
                if link not in own and sites.below[link] == others:
                    yield link, False

    def _notification(self, event: "_Event", site: int) -> tuple[int, float]:
        """How many links a notification crosses, and what that costs."""
        climbs = self._architecture == "hierarchical"
        links, cost = event.spanned, event.cost
        for link in self._ways[site]:
            if event.parties.has(link, is_up=True):  # it does not go down here
                links -= 1
                cost -= self._weights[link]
            if climbs or event.parties.has(link, is_up=False):
                links += 1
                cost += self._weights[link]
        return links, cost

    def _pay(self, verb: str, messages: int, cost: float) -> None:
        if messages:
            self.account.counts[verb] += messages
            self.account.costs[verb] = self.account.costs.get(verb, 0) + cost


class _Sites:
    """How many clients of a kind there are: at sites, below links, and in all."""

    def __init__(self) -> None:
        self.total = 0
        self.at: Counter[int] = Counter()
        self.below: Counter[int] = Counter()

    def count(self, site: int, way: tuple[int, ...], by: int) -> None:
        self.total += by
        self.at[site] += by
        if not self.at[site]:
            del self.at[site]
        for link in way:
            self.below[link] += by

    def has(self, link: int, is_up: bool) -> bool:  # noqa: FBT001 -- half of a link
        """Whether there is one on the near side: below it, or above."""
        return (self.below[link] if is_up else self.total - self.below[link]) > 0


class _Event:
    """What there is of one event."""

    def __init__(self) -> None:
        self.parties = _Sites()
        self.advertisers = _Sites()
        self.published = 0
        # Who leaves after which publication: each active party gets them all.
        self.due: dict[int, list[Party]] = {}
        # All links with an active party below.
        self.spanned = 0
        self.cost = 0.0
        # From all active parties to the root.
        self.hops = 0
        self.far = 0.0
