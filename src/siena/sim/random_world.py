"""Random worlds: everything about them follows from one seed.

The domains are tiny on purpose.  Filters over a large domain never touch each other,
and a world in which nobody covers or overlaps anybody asks nothing of a router.
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
    Value,
)
from siena.routing.options import Covering, Merging, Options, Paths
from siena.sim.architecture import Architecture
from siena.sim.shapes import Edge, Shape
from siena.sim.world import World

BROKERS_MAX = 8
CLIENTS = ("a", "b", "c", "d", "e", "f")

_NUMBERS = (0, 1, 2, 3)
_WORDS = ("a", "ab", "b", "ba")
_ON_NUMBERS = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT)
_ON_WORDS = (Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.GE, Operator.LT)


def random_world(rng: random.Random) -> World:
    """A world of any architecture, with any options that go with it."""
    architectures: list[Architecture] = [
        "hierarchical",
        "acyclic",
        "acyclic",
        "general",
    ]
    architecture = rng.choice([*architectures, "general", "hybrid", "centralised"])
    shape, has_masters = _shape(rng, architecture)
    options = _options(rng)
    if has_masters or architecture == "centralised":
        options = replace(options, forwarding="subscription")
    latency = rng.choice(((0.0, 0.0), (0.5, 1.5), (0.0, 5.0)))
    return World(
        shape, architecture, options, seed=rng.randrange(2**32), latency=latency
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


def _shape(rng: random.Random, architecture: Architecture) -> tuple[Shape, bool]:
    """A shape that fits, and whether it has masters."""
    if architecture == "hybrid":
        return _hybrid(rng)
    count = rng.randint(1, BROKERS_MAX)
    edges = [
        Edge(rng.randint(1, n - 1), n, rng.randint(1, 5)) for n in range(2, count + 1)
    ]
    if architecture == "general":
        edges += _more(rng, edges, range(1, count + 1))
    return Shape(
        tuple(range(1, count + 1)), tuple(edges)
    ), architecture == "hierarchical"


def _more(rng: random.Random, edges: list[Edge], brokers: range) -> list[Edge]:
    """Some links more, so that there are cycles."""
    linked = {edge.ends for edge in edges}
    pairs = [(a, b) for a in brokers for b in brokers if a < b and (a, b) not in linked]
    rng.shuffle(pairs)
    return [Edge(a, b, rng.randint(1, 5)) for a, b in pairs[: rng.randint(0, 4)]]


def _hybrid(rng: random.Random) -> tuple[Shape, bool]:
    """Hierarchies joined by a mesh, or meshes joined by peers."""
    clusters = [range(1, 4), range(4, 7), range(7, 9)][: rng.randint(2, 3)]
    has_masters = rng.random() < 0.5
    edges: list[Edge] = []
    for cluster in clusters:
        inside = [Edge(n, rng.randint(cluster[0], n - 1), 1) for n in cluster[1:]]
        if not has_masters:
            inside += _more(rng, inside, cluster)
        side = Side.MASTER if has_masters else Side.MESH
        edges += [replace(edge, side=side) for edge in inside]
    gateways = [
        cluster[0] if has_masters else rng.choice(cluster) for cluster in clusters
    ]
    outside = [Edge(gateways[0], gateway, 2) for gateway in gateways[1:]]
    if has_masters and len(gateways) == 3:
        outside.append(Edge(gateways[1], gateways[2], 1))  # a cycle on top
    side = Side.MESH if has_masters else Side.PEER
    edges += [replace(edge, side=side) for edge in outside]
    return Shape(tuple(range(1, clusters[-1][-1] + 1)), tuple(edges)), has_masters


# --- What clients say ---------------------------------------------------------------


def random_constraint(rng: random.Random) -> Constraint:
    """A condition on one of three names."""
    name = rng.choice("xys")
    if rng.random() < 0.1:
        return Constraint(name, Operator.ANY, None)
    if name == "s":
        return Constraint(name, rng.choice(_ON_WORDS), rng.choice(_WORDS))
    kind = Kind.INTEGER if rng.random() < 0.3 else None
    return Constraint(name, rng.choice(_ON_NUMBERS), rng.choice(_NUMBERS), kind)


def random_filter(rng: random.Random) -> Filter:
    """A filter of few constraints, often with two on one name."""
    return Filter(
        random_constraint(rng) for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3)))
    )


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
