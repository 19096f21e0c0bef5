"""Random worlds: everything about them follows from one seed.

The domains are tiny on purpose.  Filters over a large domain never touch each other,
and a world in which no filter covers or overlaps another asks nothing of a router.
"""

import random
from dataclasses import replace

from siena.messages import Side
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Pattern,
    Value,
)
from siena.routing.options import Covering, Merging, Options, Paths
from siena.routing.topology.topology import Link, Topology
from siena.sim.architecture import Architecture, Sides
from siena.sim.world import World

BROKERS_MAX = 8
CLIENTS = ("a", "b", "c", "d", "e", "f")

_NUMBERS = (0, 1, 2, 3)
_WORDS = ("a", "ab", "b", "ba")
_ON_NUMBERS = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT)
_ON_WORDS = (
    *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.GE, Operator.LT),
    *(Operator.NOT_SUFFIX, Operator.NOT_SUBSTRING, Operator.EQ_FOLDED, Operator.LIKE),
)
_WILD = ("a*", "*b?", "?", "a?*", "*a*b")


def random_world(rng: random.Random) -> World:
    """A world of any architecture, with any options that go with it."""
    architectures: list[Architecture] = [
        "hierarchical",
        "acyclic",
        "acyclic",
        "general",
    ]
    architecture = rng.choice([*architectures, "general", "hybrid", "centralised"])
    options = _options(rng)
    sides: Sides = {}
    if architecture == "hybrid":
        topology, sides = _hybrid(rng)
    else:
        topology = _topology(rng, architecture)
    if architecture in {"centralised", "hierarchical"} or Side.MASTER in sides.values():
        options = replace(options, forwarding="subscription")
    latency = rng.choice(((0.0, 0.0), (0.5, 1.5), (0.0, 5.0)))
    seed = rng.randrange(2**32)
    return World(
        topology,
        architecture,
        options,
        sides=sides,
        seed=seed,
        latency=latency,
        flat=seed % 2 == 0,
    )


def _options(rng: random.Random) -> Options:
    coverings: tuple[Covering, ...] = ("exact", "exact", "pairwise", "none")
    mergings: tuple[Merging, ...] = ("none", "none", "none", "perfect", "imperfect")
    paths: tuple[Paths, ...] = ("tree", "reverse")
    return Options(
        forwarding=rng.choice(("subscription", "advertisement")),
        covering=rng.choice(coverings),
        merging=rng.choice(mergings),
        batching=rng.random() < 0.2,
        quench=rng.random() < 0.5,
        paths=rng.choice(paths),
    )


def _topology(rng: random.Random, architecture: Architecture) -> Topology:
    """A network that fits."""
    brokers = range(1, rng.randint(1, BROKERS_MAX) + 1)
    links = [Link(rng.randint(1, n - 1), n, rng.randint(1, 5)) for n in brokers[1:]]
    if architecture == "general":
        links += _more(rng, links, brokers)
    return Topology(links, brokers=brokers)


def _more(rng: random.Random, links: list[Link], brokers: range) -> list[Link]:
    """Some links more, so that there are cycles."""
    linked = {(link.one, link.other) for link in links}
    pairs = [(a, b) for a in brokers for b in brokers if a < b and (a, b) not in linked]
    rng.shuffle(pairs)
    return [Link(a, b, rng.randint(1, 5)) for a, b in pairs[: rng.randint(0, 4)]]


def _hybrid(rng: random.Random) -> tuple[Topology, Sides]:
    """Hierarchies joined by a mesh, or meshes joined by peers."""
    clusters = [range(1, 4), range(4, 7), range(7, 9)][: rng.randint(2, 3)]
    has_masters = rng.random() < 0.5
    inside: list[Link] = []
    for cluster in clusters:
        links = [Link(rng.randint(cluster[0], n - 1), n) for n in cluster[1:]]
        if not has_masters:
            links += _more(rng, links, cluster)
        inside += links
    gateways = [
        cluster[0] if has_masters else rng.choice(cluster) for cluster in clusters
    ]
    outside = [Link(gateways[0], gateway, 2) for gateway in gateways[1:]]
    if has_masters and len(gateways) == 3:
        outside.append(Link(gateways[1], gateways[2], 1))  # a cycle on top
    # In a cluster with a master everybody is below somebody with a smaller number.
    within = Side.MASTER if has_masters else Side.MESH
    sides = {(link.other, link.one): within for link in inside}
    between = Side.MESH if has_masters else Side.PEER
    sides |= {(link.one, link.other): between for link in outside}
    return Topology(inside + outside), sides


# --- What clients say ---------------------------------------------------------------


def random_constraint(rng: random.Random) -> Constraint:
    """A condition on one of three names."""
    name = rng.choice("xys")
    if rng.random() < 0.1:
        return Constraint(name, Operator.ANY, None)
    if name == "s":
        operator = rng.choice(_ON_WORDS)
        words = _WILD if operator is Operator.LIKE else _WORDS
        return Constraint(name, operator, rng.choice(words))
    kind = Kind.INTEGER if rng.random() < 0.3 else None
    return Constraint(name, rng.choice(_ON_NUMBERS), rng.choice(_NUMBERS), kind)


def random_filter(rng: random.Random) -> Filter:
    """A filter of few constraints, often with two on one name, or with an absence."""
    count = rng.choice((0, 1, 1, 1, 2, 2, 3))
    wanted = [random_constraint(rng) for _ in range(count)]
    if rng.random() < 0.1:
        wanted.append(Constraint(rng.choice("xys"), Operator.ABSENT))
    return Filter(wanted)


def random_pattern(rng: random.Random) -> Pattern:
    """A pattern of two or three steps, which may be the same."""
    return Pattern(random_filter(rng) for _ in range(rng.choice((2, 2, 3))))


def random_advertisement(rng: random.Random) -> Advertisement:
    """An advertisement that admits something."""
    return Advertisement(
        random_constraint(rng) for _ in range(rng.choice((1, 2, 2, 3)))
    )


def random_notification(rng: random.Random) -> Notification:
    """A notification with some of the names, and values on both sides of operands."""
    attributes: dict[str, Value] = {}
    for name in "xy":
        if rng.random() < 0.7:
            attributes[name] = rng.choice((-1, 0, 1, 2, 3, 4, 0.5, 1.0))
    if rng.random() < 0.5:
        attributes["s"] = rng.choice((*_WORDS, "", "aba", "bb", "c"))
    return Notification(attributes)


def exactly(notification: Notification) -> Advertisement:
    """The advertisement of this, and of less."""
    return Advertisement(
        Constraint(name, Operator.EQ, value) for name, value in notification.items()
    )
