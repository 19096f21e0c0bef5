"""Architectures: what the brokers of a topology take each other for.

What does not fit is refused here, before any broker is made: a cycle where there must
be none, a hierarchy that follows advertisements, a hybrid without roles.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from siena.errors import SienaError
from siena.messages import Side
from siena.routing.options import Options
from siena.routing.topology.topology import Topology, Weight
from siena.routing.topology.trees import Components, tree_below

Architecture = Literal["centralised", "hierarchical", "acyclic", "general", "hybrid"]

# Of two linked brokers, what the first takes the second for.
Sides = Mapping[tuple[int, int], Side]


@dataclass(frozen=True, slots=True)
class Edge:
    """A link to make: the first broker takes the second for ``side``."""

    one: int
    other: int
    weight: float
    side: Side

    @property
    def ends(self) -> tuple[int, int]:
        """The smaller end first."""
        return min(self.one, self.other), max(self.one, self.other)


def as_architecture(text: str) -> Architecture:
    """The architecture of that name.

    >>> as_architecture("flat")
    Traceback (most recent call last):
    siena.errors.SienaError: 'flat' is not an architecture
    (centralised, hierarchical, acyclic, general, hybrid)
    """
    for name in get_args(Architecture):
        if name == text:
            found: Architecture = name
            return found
    hint = ", ".join(get_args(Architecture))
    raise SienaError(f"{text!r} is not an architecture", hint=hint)


def edges_of(
    topology: Topology, architecture: Architecture, options: Options, sides: Sides
) -> list[Edge]:
    """The links to make, each with what its first end takes the other for."""
    if topology.brokers[:1] == (0,):
        raise SienaError("brokers of a simulated network are numbered from 1, not 0")
    if options.is_advertising and architecture in {"centralised", "hierarchical"}:
        raise SienaError(
            f"a {architecture} network does not forward advertisements",
            hint="use --forwarding subscription",
        )
    if architecture == "centralised":
        return []
    if architecture == "hybrid":
        return _with_roles(topology, options, sides)
    if architecture == "general":
        return _all_alike(topology, Side.MESH)
    joined = Components()
    for one, other, _ in topology.links:
        if not joined.join(one, other):
            raise _closes_a_cycle(one, other)
    if architecture == "acyclic":
        return _all_alike(topology, Side.PEER)
    return _towards_the_root(topology)


def plain(weight: Weight) -> float:
    """A weight as routers are told of it; where they compare ways, they are exact."""
    return weight if isinstance(weight, int) else float(weight)


def _all_alike(topology: Topology, side: Side) -> list[Edge]:
    return [
        Edge(one, other, plain(weight), side) for one, other, weight in topology.links
    ]


def _towards_the_root(topology: Topology) -> list[Edge]:
    root = topology.brokers[0]
    parents = tree_below(topology, root).parents
    unreached = set(topology.brokers) - parents.keys() - {root}
    if unreached:
        raise SienaError(f"broker {min(unreached)} is not below {root}")
    return [
        Edge(child, parent, plain(topology.weight(child, parent)), Side.MASTER)
        for child, parent in sorted(parents.items())
    ]


def _with_roles(topology: Topology, options: Options, sides: Sides) -> list[Edge]:
    edges: list[Edge] = []
    masters: dict[int, int] = {}
    for one, other, weight in topology.links:
        here, there = (one, other) if (one, other) in sides else (other, one)
        side = sides.get((here, there))
        if side is None:
            raise SienaError(
                f"the link between {one} and {other} has no role",
                hint="a hybrid network needs a file with roles",
            )
        edges.append(Edge(here, there, plain(weight), side))
        if side is Side.MASTER:
            if options.is_advertising:
                raise SienaError("a hierarchy does not forward advertisements")
            if here in masters:
                raise SienaError(f"broker {here} has two masters")
            masters[here] = there
    _check_contracted(edges)
    return edges


def _check_contracted(edges: list[Edge]) -> None:
    """With each mesh taken for one broker, there must be no cycle."""
    joined = Components()
    for edge in edges:
        if edge.side is Side.MESH:
            joined.join(edge.one, edge.other)
    for edge in edges:
        if edge.side is not Side.MESH and not joined.join(edge.one, edge.other):
            raise _closes_a_cycle(*edge.ends)


def _closes_a_cycle(one: int, other: int) -> SienaError:
    return SienaError(
        f"the link between {one} and {other} closes a cycle",
        hint="the architecture general allows cycles",
    )
