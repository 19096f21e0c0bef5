"""What routing schemes store in large networks, counted without storing it.

The schemes of :mod:`siena.research.schemes` hold every table, which is what they are
about; with thousands of brokers that is too much.  Here the trees of all sources are
looked at one after the other, and only numbers are kept.  On small networks the tests
compare both.

*Theory of operation.*  Every broker publishes, and wants one name of its own.  A tree
is walked from its leaves: each broker learns how many are below it, what their
predicates take, and a number for the set of them: the sum of random numbers, one for
each.  At a broker two sources cannot be told apart (iPS) if children and sets are the
same; more than sixty random bits make sure of it.  Shortest paths are unique and
symmetric, so the next hop from u towards x is the parent of u in the tree of x: for
deliveries the trees of the source and of the receivers are enough.
"""

from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean

from siena.research.schemes.memory import log2_ceiling, psf_bits, text_bits
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.networks import RECEIVERS_MAX, topology_of, wants
from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import Ways
from siena.sim.topologies.transit_stub import Level, TransitStub

NOTIFICATIONS = 100
# Of transit-stub networks.
SITES_PER_DOMAIN = 100
_BITS = 128
_MASK = 2**_BITS - 1


def count_schemes(row: Row) -> Row:
    """Copies of predicates and bits of all four schemes, and what PIF sends in vain.

    >>> found = count_schemes({"network": "N12", "brokers": 12, "seed": 1})
    >>> [found[f"{scheme}_copies"] for scheme in ("PSF", "iPS", "PIF")]
    [332, 255, 132]
    """
    kind, seed = text(row, "network"), integer(row, "seed")
    topology = _topology(kind, integer(row, "brokers"), seed)
    brokers = topology.brokers
    n = len(brokers)
    sizes = {b: sum(text_bits(f) for f in wants(b)) for b in brokers}
    counted = _Count(topology, sizes)
    number = log2_ceiling(n)
    others = (n - 1) * sum(sizes.values())
    classes = sum(map(len, counted.classes.values()))
    delivered, needed = counted.deliveries(Random(f"{seed}/{kind}/notifications"))
    size = round(fmean(sizes.values()))
    return {
        "size": n,
        "links": len(topology.links),
        "hops": counted.hops,
        "classes": classes,
        "PSF_copies": counted.hops,
        "iPS_copies": counted.class_copies,
        "PIF_copies": n * (n - 1),
        "DRP_copies": n * (n - 1),
        "PSF_bits": n * number + counted.hop_bits,
        "iPS_bits": (n + n * n) * number + classes + counted.class_bits,
        "PIF_bits": (n + n * (n - 1)) * number + others,
        "DRP_bits": n * (n - 1) * number + others,
        "PSF_formula": psf_bits(
            brokers=n, senders=n, hops=counted.hops, predicate=size
        ),
        "PIF_vertices": delivered,
        "PSF_vertices": needed,
    }


def _topology(kind: str, brokers: int, seed: int) -> Topology:
    """As for small networks; but large ones have more domains, not larger ones."""
    if kind == "transit-stub" and brokers >= SITES_PER_DOMAIN:
        domains = Level(brokers // SITES_PER_DOMAIN, 1.0)
        return TransitStub(domains=domains).draw(seed=seed)
    return topology_of(kind, brokers, seed)


class _Count:
    def __init__(self, topology: Topology, sizes: Mapping[Broker, int]) -> None:
        ways = Ways({(one, other): weight for one, other, weight in topology.links})
        random = Random("scheme counts")
        numbers = {b: random.getrandbits(_BITS) for b in topology.brokers}
        self.parents = {b: ways.parents(b) for b in topology.brokers}
        self.hops = self.hop_bits = self.class_copies = self.class_bits = 0
        # At each broker, the continuations of all sources that were seen.
        self.classes: dict[Broker, set[int]] = {b: set() for b in topology.brokers}
        for source in topology.brokers:
            self._look(source, sizes, numbers)

    def _look(
        self,
        source: Broker,
        sizes: Mapping[Broker, int],
        numbers: Mapping[Broker, int],
    ) -> None:
        """Add up one tree, from the farthest broker to the source."""
        parents = self.parents[source]
        below = dict.fromkeys(parents, 0)
        bits = dict.fromkeys(parents, 0)
        members = dict.fromkeys(parents, 0)
        goes_on = dict.fromkeys(parents, 0)
        for each in (below, bits, members, goes_on):
            each[source] = 0
        for broker in [*reversed(parents), source]:
            self._class(broker, goes_on[broker], below[broker], bits[broker])
            if broker == source:
                continue
            parent = parents[broker]
            whole = (members[broker] + numbers[broker]) & _MASK
            below[parent] += below[broker] + 1
            bits[parent] += bits[broker] + sizes[broker]
            members[parent] = (members[parent] + whole) & _MASK
            # The child, and who is below it; in any order of children.
            goes_on[parent] += hash((broker, whole))
        # Everybody is below all that are on its path.
        self.hops += sum(below.values())
        self.hop_bits += sum(bits.values())

    def _class(self, broker: Broker, goes_on: int, copies: int, bits: int) -> None:
        if goes_on not in self.classes[broker]:
            self.classes[broker].add(goes_on)
            self.class_copies += copies
            self.class_bits += bits

    def deliveries(self, random: Random) -> tuple[int, int]:
        """Vertices of delivery trees: of PIF, and of PSF, which sends none in vain."""
        brokers = list(self.parents)
        sent = needed = 0
        for _ in range(NOTIFICATIONS):
            source = random.choice(brokers)
            count = random.randint(1, min(RECEIVERS_MAX, len(brokers) - 1))
            receivers = random.sample(brokers, count)
            sent += 1 + len(self._pif(source, receivers))
            needed += 1 + len(self._paths(source, receivers))
        return sent, needed

    def _paths(self, source: Broker, receivers: Sequence[Broker]) -> set[Broker]:
        parents = self.parents[source]
        found: set[Broker] = set()
        for broker in receivers:
            while broker != source and broker not in found:
                found.add(broker)
                broker = parents[broker]  # noqa: PLW2901 -- up the tree
        return found

    def _pif(self, source: Broker, receivers: Sequence[Broker]) -> list[Broker]:
        """Whom messages reach: the tree's children behind which a broker wants it."""
        tree = self.parents[source]
        reached: list[Broker] = []
        waiting = [source]
        while waiting:
            broker = waiting.pop()
            wanted = {self.parents[x][broker] for x in receivers if x != broker}
            for hop in sorted(wanted):
                if tree.get(hop) == broker:
                    reached.append(hop)
                    waiting.append(hop)
        return reached
