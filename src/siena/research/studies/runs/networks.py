"""Runs over whole networks: routing schemes, and Gryphon's link matching."""

from random import Random
from statistics import fmean

from siena.model import Constraint, Filter, Notification, Operator, Predicate
from siena.research.matchers.tree import TreeMatcher
from siena.research.schemes.assessment import assess
from siena.research.schemes.delivery import deliver
from siena.research.schemes.drp import DRP
from siena.research.schemes.flooding import Flooding
from siena.research.schemes.ips import IPS
from siena.research.schemes.link_matching import LinkMatching
from siena.research.schemes.network import Network
from siena.research.schemes.pif import PIF
from siena.research.schemes.psf import PSF
from siena.research.studies.framework.rows import Row, digest, integer, text
from siena.routing.topology.topology import Topology
from siena.sim.topologies.drawn import barabasi_albert, random_graph, random_tree
from siena.sim.topologies.examples import EXAMPLES
from siena.sim.topologies.transit_stub import Level, TransitStub

# How many notifications a scheme is assessed with, and for how many at most.
NOTIFICATIONS = 30
RECEIVERS_MAX = 4

SCHEMES = {"PSF": PSF, "iPS": IPS, "PIF": PIF, "DRP": DRP}


def topology_of(kind: str, brokers: int, seed: int) -> Topology:
    """A network by the name of its kind."""
    if kind in EXAMPLES:
        return EXAMPLES[kind]
    if kind == "tree":
        return random_tree(brokers, seed=seed)
    if kind == "random":
        return random_graph(brokers, extra_links=brokers // 2, seed=seed)
    if kind == "power law":
        return barabasi_albert(brokers, seed=seed)
    assert kind == "transit-stub"
    # One transit domain of four, with a stub of so many at each.
    stub = Level(brokers // 4 - 1, 0.42)
    return TransitStub(stub=stub, stubs_per_transit=1).draw(seed=seed)


def assess_scheme(row: Row) -> Row:
    """What a scheme stores, and how well it delivers; every broker wants one name.

    >>> row = {"network": "N12", "brokers": 12, "scheme": "PSF", "seed": 1}
    >>> assess_scheme(row)["copies"]
    332
    """
    kind, seed = text(row, "network"), integer(row, "seed")
    topology = topology_of(kind, integer(row, "brokers"), seed)
    wanted = {b: wants(b) for b in topology.brokers}
    network = Network(topology, wanted)
    scheme = SCHEMES[text(row, "scheme")](network)
    memory = scheme.memory()
    random = Random(f"{seed}/{kind}/notifications")
    ratios, stretches, sizes = [], [], []
    paths: list[tuple[int, ...]] = []
    is_correct = True
    for _ in range(NOTIFICATIONS):
        source = random.choice(topology.brokers)
        count = random.randint(1, min(RECEIVERS_MAX, len(topology) - 1))
        receivers = random.sample(topology.brokers, count)
        notification = Notification({f"r{b}": 1 for b in receivers})
        found = assess(scheme, network, source, notification)
        is_correct = is_correct and found.is_correct
        ratios.append(len(found.tree) / found.ideal_size)
        sizes.append(len(found.tree))
        paths += found.tree.paths()
        stretches += [float(each) for each in found.stretch.values()]
    return {
        "size": len(topology),
        "copies": memory.copies,
        "identifier_bits": memory.identifier_bits,
        "bits": memory.bits(),
        "hops": sum(
            len(network.trees[v].path(x)) - 1
            for v in topology.brokers
            for x in topology.brokers
        ),
        "is_correct": is_correct,
        "vertices": sum(sizes),
        "trees": digest(paths),
        "cost": fmean(ratios),
        "stretch": max(stretches, default=1.0),
    }


def wants(broker: int) -> Predicate:
    """What the applications of a broker want: a name that no other wants."""
    return Predicate([Filter([Constraint(f"r{broker}", Operator.EQ, 1)])])


# --- Gryphon --------------------------------------------------------------------

ATTRIBUTES, VALUES = 10, 5
EVENTS = 200


def _subscription(random: Random, tests: int) -> Filter:
    names = random.sample(range(ATTRIBUTES), tests)
    return Filter(
        [Constraint(f"a{n}", Operator.EQ, random.randrange(VALUES)) for n in names]
    )


def _event(random: Random) -> Notification:
    return Notification({f"a{n}": random.randrange(VALUES) for n in range(ATTRIBUTES)})


def gryphon(row: Row) -> Row:
    """One matcher's visits, or a whole network's messages, as the row asks."""
    return _visits(row) if row["part"] == "visits" else _links(row)


def _visits(row: Row) -> Row:
    """Nodes that a search tree visits for an event."""
    random = Random(f"{integer(row, 'seed')}/gryphon")
    filters = [
        _subscription(random, random.randint(1, ATTRIBUTES))
        for _ in range(integer(row, "subscriptions"))
    ]
    matcher = TreeMatcher()
    for f in filters:
        matcher.add(0, f)
    events = [_event(random) for _ in range(EVENTS)]
    found = sum(len(matcher.match_filters(event)) for event in events)
    # Of few events: a loop over all filters is what the tree is there to avoid.
    some = events[:10]
    agrees = all(
        matcher.match_filters(e) == [i for i, f in enumerate(filters) if f.matches(e)]
        for e in some
    )
    visits = matcher.visits / (EVENTS + len(some))
    return {"visits": visits, "matches": found / EVENTS, "agrees": agrees}


def _links(row: Row) -> Row:
    """Messages and visits in a network: link matching, flooding, and match-first.

    Match-first finds all destinations at the source, and sends to no others.
    """
    seed = integer(row, "seed")
    random = Random(f"{seed}/links")
    topology = random_graph(20, extra_links=10, seed=seed)
    tests = integer(row, "tests")
    wanted = {
        broker: Predicate(_subscription(random, tests) for _ in range(5))
        for broker in topology.brokers
    }
    network = Network(topology, wanted)
    scheme, flooding = LinkMatching(network), Flooding(network)
    central = TreeMatcher()
    for broker, predicate in network.predicates.items():
        central.add(broker, predicate)
    sent = flooded = 0
    is_correct = True
    for _ in range(EVENTS):
        event, source = _event(random), random.choice(topology.brokers)
        tree = deliver(scheme, topology, source, event)
        sent += len(tree) - 1
        flooded += len(deliver(flooding, topology, source, event)) - 1
        wanting = central.match(event)
        is_correct = is_correct and wanting - {source} <= tree.brokers
        needed = {b for x in wanting for b in network.trees[source].path(x)}
        is_correct = is_correct and len(tree) == len(needed | {source})
    visits = sum(scheme.visits.values())
    return {
        "messages": sent / EVENTS,
        "flooded": flooded / EVENTS,
        "visits": visits / EVENTS,
        "central_visits": central.visits / EVENTS,
        "agrees": is_correct,
    }
