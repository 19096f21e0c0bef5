"""Transit-stub networks: a few well-linked domains, with small ones hanging on them.

Wide-area networks look like this: *stub* domains, where the traffic begins and ends,
each joined to a broker of a *transit* domain, which carries the traffic of others.
The Siena study (CU-CS-888-99, section 6.2) has its sites on such networks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import NamedTuple

from siena.errors import InvalidTopologyError
from siena.routing.topology.topology import Broker, Link, Topology
from siena.routing.topology.trees import Components
from siena.sim.topologies.regular import check_count

TRANSIT = "transit"
STUB = "stub"

# A domain is redrawn until it is connected.  Where that is as rare as one in hundreds,
# somebody should be told rather than wait.
REDRAWS_MAX = 1_000


class Level(NamedTuple):
    """The domains of one level: how many members, and how likely a link between two."""

    size: int
    probability: float


class Costs(NamedTuple):
    """The bounds, both included, between which weights are drawn."""

    within_stub: tuple[int, int] = (1, 10)
    stub_to_transit: tuple[int, int] = (10, 30)
    transit: tuple[int, int] = (20, 60)


# GT-ITM's customary sample, of 1 * 4 * (1 + 3 * 8) = 100 brokers.
DOMAINS = Level(1, 1.0)
TRANSIT_LEVEL = Level(4, 0.6)
STUB_LEVEL = Level(8, 0.42)
COSTS = Costs()


@dataclass(frozen=True, slots=True)
class TransitStub:
    """The parameters of a transit-stub network; the default has 100 sites.

    >>> sites = TransitStub().draw(seed=47)
    >>> len(sites), sites.is_connected, sites.with_role("transit")
    (100, True, (1, 2, 3, 4))

    Transit brokers have the first numbers and the role ``transit``, the others follow
    domain by domain with the role ``stub``.  Each stub domain is joined to its transit
    broker by one link.  Extra links join random stub brokers to random transit brokers,
    or to random brokers of other stub domains.

    The papers give no parameters; these are the customary sample of GT-ITM.

    Reference:
        Zegura, Calvert and Bhattacharjee, INFOCOM 1996; our specification, F.2.
    """

    # How many transit domains, and how likely two of them are linked.
    domains: Level = DOMAINS
    # The brokers of a transit domain, and of a stub domain.
    transit: Level = TRANSIT_LEVEL
    stub: Level = STUB_LEVEL
    stubs_per_transit: int = 3
    extra_transit_stub: int = 0
    extra_stub_stub: int = 0
    costs: Costs = COSTS

    def __post_init__(self) -> None:
        for level in (self.domains, self.transit, self.stub):
            check_count(level.size, least=1)
            if not 0 < level.probability <= 1:
                raise InvalidTopologyError(
                    f"{level.probability} is no probability of a link",
                    hint="above 0, and 1 at most",
                )
        if (
            min(self.stubs_per_transit, self.extra_transit_stub, self.extra_stub_stub)
            < 0
        ):
            raise InvalidTopologyError("fewer than no stubs, or than no extra links")
        check_count(self.brokers, least=1)

    @property
    def brokers(self) -> int:
        """How many brokers there will be."""
        per_transit = 1 + self.stubs_per_transit * self.stub.size
        return self.domains.size * self.transit.size * per_transit

    def draw(self, *, seed: int) -> Topology:
        """The network of a seed."""
        return _Drawing(self, Random(f"{seed}/transit-stub")).topology()


class _Drawing:
    """One network while it is drawn."""

    def __init__(self, plan: TransitStub, random: Random) -> None:
        self.plan = plan
        self.random = random
        self.links: dict[tuple[Broker, Broker], Link] = {}
        transit = plan.domains.size * plan.transit.size
        self.transit = range(1, transit + 1)
        self.stubs: list[range] = []

    def topology(self) -> Topology:
        self._draw_transit()
        self._draw_stubs()
        self._draw_extra_links()
        roles = dict.fromkeys(self.transit, TRANSIT)
        roles |= {broker: STUB for domain in self.stubs for broker in domain}
        return Topology(self.links.values(), brokers=self.transit, roles=roles)

    def _draw_transit(self) -> None:
        costs = self.plan.costs.transit
        size = self.plan.transit.size
        domains = [
            self.transit[i : i + size] for i in range(0, len(self.transit), size)
        ]
        for domain in domains:
            self._draw_domain(domain, self.plan.transit.probability, costs)
        numbers = range(len(domains))
        for one, other in self._connected(numbers, self.plan.domains.probability):
            ends = self.random.choice(domains[one]), self.random.choice(domains[other])
            self._link(*ends, costs)

    def _draw_stubs(self) -> None:
        first = len(self.transit) + 1
        size = self.plan.stub.size
        for gate in self.transit:
            for _ in range(self.plan.stubs_per_transit):
                domain = range(first, first + size)
                first += size
                self.stubs.append(domain)
                costs = self.plan.costs
                self._draw_domain(domain, self.plan.stub.probability, costs.within_stub)
                self._link(gate, self.random.choice(domain), costs.stub_to_transit)

    def _draw_extra_links(self) -> None:
        costs = self.plan.costs.stub_to_transit
        for _ in range(self.plan.extra_transit_stub if self.stubs else 0):
            domain = self.random.choice(self.stubs)
            self._link(
                self.random.choice(self.transit), self.random.choice(domain), costs
            )
        # Two stub domains as far apart as by way of their transit brokers.
        for _ in range(self.plan.extra_stub_stub if len(self.stubs) > 1 else 0):
            one, other = self.random.sample(self.stubs, 2)
            self._link(self.random.choice(one), self.random.choice(other), costs)

    def _draw_domain(
        self, brokers: range, probability: float, costs: tuple[int, int]
    ) -> None:
        for one, other in self._connected(brokers, probability):
            self._link(one, other, costs)

    def _connected(
        self, members: Sequence[int], probability: float
    ) -> list[tuple[int, int]]:
        """Pairs of members, each with the probability, redrawn until they join all."""
        for _ in range(REDRAWS_MAX):
            pairs = [
                pair
                for pair in combinations(members, 2)
                if self.random.uniform(0, 1) < probability
            ]
            joined = Components()
            if sum(joined.join(*pair) for pair in pairs) == len(members) - 1:
                return pairs
        raise InvalidTopologyError(
            f"{len(members)} members linked with probability {probability} are in "
            f"pieces, {REDRAWS_MAX} times in a row",
            hint="a higher probability is needed",
        )

    def _link(self, one: Broker, other: Broker, costs: tuple[int, int]) -> None:
        """A link with a weight; a second one between the same brokers is left out."""
        ends = min(one, other), max(one, other)
        self.links.setdefault(ends, Link(*ends, self.random.randint(*costs)))
