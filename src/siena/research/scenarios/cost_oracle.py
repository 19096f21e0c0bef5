"""The oracle of scenarios: what they cost without latency, by counting alone.

On a tree, and about one event, the state of the network is a number for each direction
of each link: how many active parties, and how many advertisers, are on its near side.
Whenever one of the conditions below changes, that is one message over the link.  No
router, no filter and no message is involved.

Reference:
    Our specification, F.5.
"""

import random
from collections import Counter

from siena.errors import SienaError
from siena.research.scenarios.behaviour import Party
from siena.routing.options import Forwarding
from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import tree_below
from siena.sim.architecture import Architecture, plain
from siena.sim.network import Account, Fault
from siena.sim.scheduler import Scheduler


class CostOracle:
    """Carries a scenario by counting; the topology is a tree.

    The root of a hierarchy, or the only broker of a centralised network, is the first
    broker, unless another ``root`` is named.

    Cost: all links, for each request and each publication.  For large scenarios there
    is :class:`siena.research.scenarios.fast_cost_oracle.QuickTally`.
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
        self._root = topology.brokers[0] if root is None else root
        self._parents = tree_below(topology, self._root).parents
        self._weights = {(a, b): plain(w) for a, b, w in topology.links}
        self._events: dict[str, _Event] = {}

    def subscribe(self, who: Party) -> None:
        """One more active party at a site."""
        event = self._event(who.event)
        event.active[who.name] = who
        self._change(event, event.parties, who.site, 1)

    def unsubscribe(self, who: Party) -> None:
        """One active party less."""
        event = self._event(who.event)
        del event.active[who.name]
        self._change(event, event.parties, who.site, -1)

    def advertise(self, _name: str, site: int, event: str) -> None:
        """One more advertiser at a site."""
        if self._is_advertising:
            self._change(self._event(event), self._event(event).advertisers, site, 1)

    def unadvertise(self, _name: str, site: int, event: str) -> None:
        """One advertiser less."""
        if self._is_advertising:
            self._change(self._event(event), self._event(event).advertisers, site, -1)

    def publish(self, _name: str, site: int, event: str) -> None:
        """Pay for a notification, and hand it to all who are active."""
        known = self._event(event)
        if self._architecture == "centralised":
            self._pay_way("publish", site)
            for party in known.active.values():
                self._pay_way("notify", party.site)
        else:
            self._pay_notification(known, site)
        for party in list(known.active.values()):
            party.receive()

    def spoil(self, fault: Fault, _rng: random.Random) -> None:
        """Counting knows no frames."""
        raise SienaError(
            "there is an oracle for networks without faults only",
            hint=f"here a frame is {fault}",
        )

    def finish(self) -> None:
        """Nothing is held back."""

    def _event(self, event: str) -> "_Event":
        return self._events.setdefault(event, _Event())

    def _change(self, event: "_Event", what: Counter[int], site: int, by: int) -> None:
        if self._architecture == "centralised":
            self._pay_way("subscribe" if by > 0 else "unsubscribe", site)
            return
        here: int | None = site
        while here is not None:
            what[here] += by
            here = self._parents.get(here)
        self._pay_changes(event)

    def _pay_changes(self, event: "_Event") -> None:
        """Each condition that has come true, or is not true any more, is a message."""
        advertised, subscribed = self._conditions(event)
        for before, now, verbs in (
            (event.advertised, advertised, ("advertise", "unadvertise")),
            (event.subscribed, subscribed, ("subscribe", "unsubscribe")),
        ):
            for verb, links in zip(verbs, (now - before, before - now), strict=True):
                for one, other in links:
                    self._pay(verb, one, other)
        event.advertised, event.subscribed = advertised, subscribed

    def _conditions(
        self, event: "_Event"
    ) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """The directed links over which something is advertised, and subscribed to."""
        advertised = set()
        subscribed = set()
        for child, parent in self._parents.items():
            up, down = self._sides(event.parties, child)
            to_up, to_down = self._sides(event.advertisers, child)
            if to_up:
                advertised.add((child, parent))
            if to_down:
                advertised.add((parent, child))
            if up and (not self._is_advertising or to_down):
                subscribed.add((child, parent))
            is_peer = self._architecture != "hierarchical"
            if is_peer and down and (not self._is_advertising or to_up):
                subscribed.add((parent, child))
        return advertised, subscribed

    def _sides(self, what: Counter[int], child: int) -> tuple[int, int]:
        """How many there are below a link, and above it."""
        return what[child], what[self._root] - what[child]

    def _pay_notification(self, event: "_Event", site: int) -> None:
        above: set[int] = set()
        here: int | None = site
        while here is not None:
            above.add(here)
            here = self._parents.get(here)
        climbs = self._architecture == "hierarchical"
        for child, parent in self._parents.items():
            below, elsewhere = self._sides(event.parties, child)
            if child in above:
                if climbs or elsewhere:
                    self._pay("notify", child, parent)
            elif below:
                self._pay("notify", parent, child)

    def _pay_way(self, verb: str, site: int) -> None:
        """Over all links between a site and the only broker."""
        while site != self._root:
            self._pay(verb, site, self._parents[site])
            site = self._parents[site]

    def _pay(self, verb: str, one: int, other: int) -> None:
        self.account.add(verb, self._weights[min(one, other), max(one, other)])


class _Event:
    """What there is of one event: by site, with all that is below it in the tree."""

    def __init__(self) -> None:
        self.parties: Counter[int] = Counter()
        self.advertisers: Counter[int] = Counter()
        self.active: dict[str, Party] = {}
        self.advertised: set[tuple[int, int]] = set()
        self.subscribed: set[tuple[int, int]] = set()
