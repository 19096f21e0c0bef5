"""Shapes of networks: chains, stars, rings, trees, and what a file describes.

Brokers are numbered from 1.  A shape says who is linked to whom, what a message over
the link costs, and in a file also what the two take each other for.
"""

import math
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from siena.errors import SienaError
from siena.lang.json_text import Json, read_json
from siena.messages import Side
from siena.routing.topology import Topology, Weight

# Far more than fit into a simulation.
BROKERS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class Edge:
    """A link: the first takes the second for ``side``, where a file says so."""

    one: int
    other: int
    weight: float = 1
    side: Side | None = None

    @property
    def ends(self) -> tuple[int, int]:
        """The smaller end first."""
        return min(self.one, self.other), max(self.one, self.other)


@dataclass(frozen=True, slots=True)
class Shape:
    """Brokers and the links between them.

    >>> chain(3).neighbours(2)
    [1, 3]
    >>> parse_shape("tree:2x2").is_acyclic, parse_shape("ring:4").is_acyclic
    (True, False)
    """

    brokers: tuple[int, ...]
    edges: tuple[Edge, ...]

    def neighbours(self, broker: int) -> list[int]:
        """The brokers at the other ends of its links."""
        ends = (e.ends for e in self.edges)
        return sorted(a if b == broker else b for a, b in ends if broker in {a, b})

    @property
    def is_acyclic(self) -> bool:
        """Whether there is at most one way between any two brokers."""
        return self.cycle is None

    @property
    def cycle(self) -> Edge | None:
        """The first link that closes a cycle."""
        leader = {b: b for b in self.brokers}
        for edge in self.edges:
            one, other = _find(leader, edge.one), _find(leader, edge.other)
            if one == other:
                return edge
            leader[one] = other
        return None

    def parents(self, root: int = 1) -> dict[int, int]:
        """Of each broker the next on its way to the root, in an acyclic shape."""
        found: dict[int, int] = {}
        reached = [root]
        adjacent: dict[int, list[int]] = {b: [] for b in self.brokers}
        for edge in self.edges:
            adjacent[edge.one].append(edge.other)
            adjacent[edge.other].append(edge.one)
        for broker in reached:
            for neighbour in sorted(adjacent[broker]):
                if neighbour != root and neighbour not in found:
                    found[neighbour] = broker
                    reached.append(neighbour)
        return found


def chain(brokers: int) -> Shape:
    """One after the other."""
    return _linked(brokers, ((n, n + 1) for n in range(1, brokers)))


def star(brokers: int) -> Shape:
    """Broker 1 in the middle of all others."""
    return _linked(brokers, ((1, n) for n in range(2, brokers + 1)))


def ring(brokers: int) -> Shape:
    """A chain whose ends are linked too; of two brokers there is no ring."""
    if brokers < 3:
        return chain(brokers)
    links = [(n, n + 1) for n in range(1, brokers)]
    return _linked(brokers, [*links, (1, brokers)])


def tree(branching: int, depth: int) -> Shape:
    """Broker 1 on top, each with ``branching`` below it, ``depth`` times."""
    count = sum(branching**level for level in range(depth + 1))
    if count > BROKERS_MAX:
        raise SienaError(f"a tree of {count:,} brokers is too large")
    links = (((n - 2) // branching + 1, n) for n in range(2, count + 1))
    return _linked(count, links)


def random_tree(brokers: int, seed: int) -> Shape:
    """A tree that grows at random places, with weights from 1 to 10.

    >>> random_tree(4, 1) == random_tree(4, 1)
    True
    """
    rng = random.Random(f"{seed}/tree")
    edges = tuple(
        Edge(rng.randint(1, n - 1), n, rng.randint(1, 10))
        for n in range(2, brokers + 1)
    )
    return Shape(tuple(range(1, brokers + 1)), edges)


def shape_of(topology: Topology) -> Shape:
    """A topology as a shape: its brokers keep their numbers, and have no sides.

    >>> from siena.sim.topologies.drawn import waxman
    >>> len(shape_of(waxman(100, seed=7)).edges)
    197
    """
    edges = (Edge(one, other, _plain(w)) for one, other, w in topology.links)
    return Shape(topology.brokers, tuple(edges))


def _plain(weight: Weight) -> float:
    return weight if isinstance(weight, int) else float(weight)


def spanning_tree(shape: Shape) -> Shape:
    """The tree of least weight that has all brokers, as far as they are connected.

    >>> [edge.ends for edge in spanning_tree(ring(4)).edges]
    [(1, 2), (1, 4), (2, 3)]
    """
    leader = {b: b for b in shape.brokers}
    kept = []
    for edge in sorted(shape.edges, key=lambda e: (e.weight, e.ends)):
        one, other = _find(leader, edge.one), _find(leader, edge.other)
        if one != other:
            leader[one] = other
            kept.append(edge)
    return Shape(shape.brokers, tuple(kept))


def parse_shape(text: str) -> Shape:
    """The shape of a word such as ``chain:4``, ``star:5``, ``ring:4`` or ``tree:3x2``.

    >>> [edge.ends for edge in parse_shape("star:3").edges]
    [(1, 2), (1, 3)]
    >>> parse_shape("blob:3")
    Traceback (most recent call last):
    siena.errors.SienaError: 'blob:3' is not a shape
    (chain:N, star:N, ring:N or tree:BxD)
    """
    if found := re.fullmatch(r"(chain|star|ring):([1-9]\d{0,4})", text):
        make = {"chain": chain, "star": star, "ring": ring}[found[1]]
        return make(int(found[2]))
    if found := re.fullmatch(r"tree:([1-9]\d{0,2})x(\d{1,2})", text):
        return tree(int(found[1]), int(found[2]))
    hint = "chain:N, star:N, ring:N or tree:BxD"
    raise SienaError(f"{text!r} is not a shape", hint=hint)


def read_shape(text: str) -> Shape:
    """The shape that a file describes: a JSON object with a list of links.

    >>> shape = read_shape('{"links": [[1, 2], {"from": 3, "to": 2, "role": "mesh"}]}')
    >>> shape.brokers, shape.edges[1].side
    ((1, 2, 3), <Side.MESH: 'mesh'>)
    """
    form = read_json(text)
    links = form.get("links") if isinstance(form, dict) else None
    if not isinstance(links, list):
        raise SienaError('a topology is {"links": [[1, 2], …]}')
    edges: dict[tuple[int, int], Edge] = {}
    for number, link in enumerate(links, start=1):
        try:
            edge = _edge(link, edges)
        except SienaError as error:
            raise error.about(f"link {number}") from None
        edges[edge.ends] = edge
    brokers = {b for ends in edges for b in ends} or {1}
    return Shape(tuple(sorted(brokers)), tuple(edges.values()))


def _edge(link: Json, known: Mapping[tuple[int, int], Edge]) -> Edge:
    if isinstance(link, list):
        names = ("from", "to", "weight", "role")
        link = dict(zip(names, link, strict=False)) if 2 <= len(link) <= 4 else None
    if not isinstance(link, dict) or not link.keys() <= {
        "from",
        "to",
        "weight",
        "role",
    }:
        raise SienaError('a link is [1, 2], or has "from", "to", "weight", "role"')
    one, other = _broker(link, "from"), _broker(link, "to")
    if one == other:
        raise SienaError(f"broker {one} is linked to itself")
    if (min(one, other), max(one, other)) in known:
        raise SienaError(f"brokers {one} and {other} are linked twice")
    return Edge(one, other, _weight(link.get("weight", 1)), _role(link.get("role")))


def _broker(link: Mapping[str, Json], name: str) -> int:
    value = link.get(name)
    if type(value) is not int or not 1 <= value <= BROKERS_MAX:
        raise SienaError(f"a broker is a number from 1, not {value!r}")
    return value


def _weight(value: Json) -> float:
    if type(value) not in {int, float}:
        raise SienaError(f"a weight is a number, not {value!r}")
    assert isinstance(value, (int, float))
    if not (value > 0 and math.isfinite(value)):
        raise SienaError(f"a weight is greater than 0, not {value!r}")
    return value


def _role(value: Json) -> Side | None:
    if value is None:
        return None
    if value not in {"master", "peer", "mesh"}:
        raise SienaError(f"a role is master, peer or mesh, not {value!r}")
    return Side(value)


def _linked(brokers: int, links: Iterable[tuple[int, int]]) -> Shape:
    edges = tuple(Edge(one, other) for one, other in links)
    return Shape(tuple(range(1, brokers + 1)), edges)


def _find(leader: dict[int, int], broker: int) -> int:
    while leader[broker] != broker:
        leader[broker] = leader[leader[broker]]  # so that the next search is short
        broker = leader[broker]
    return broker
