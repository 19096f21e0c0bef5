"""Architectures: what the brokers of a shape take each other for.

What does not fit is refused here, before any broker is made: a cycle where there must
be none, a hierarchy that follows advertisements, a hybrid without roles.
"""

from typing import Literal, get_args

from siena.errors import SienaError
from siena.messages import Side
from siena.routing.options import Options
from siena.sim.shapes import Edge, Shape

Architecture = Literal["centralised", "hierarchical", "acyclic", "general", "hybrid"]


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


def edges_of(shape: Shape, architecture: Architecture, options: Options) -> list[Edge]:
    """The links to make, each with what its first end takes the other for."""
    if options.is_advertising and architecture in {"centralised", "hierarchical"}:
        raise SienaError(
            f"a {architecture} network does not forward advertisements",
            hint="use --forwarding subscription",
        )
    if architecture == "centralised":
        return []
    if architecture == "hybrid":
        return _with_roles(shape, options)
    if architecture == "general":
        return [Edge(e.one, e.other, e.weight, Side.MESH) for e in shape.edges]
    if shape.cycle is not None:
        one, other = shape.cycle.ends
        raise SienaError(f"the link between {one} and {other} closes a cycle")
    if architecture == "acyclic":
        return [Edge(e.one, e.other, e.weight, Side.PEER) for e in shape.edges]
    return _towards_the_root(shape)


def _towards_the_root(shape: Shape) -> list[Edge]:
    root = shape.brokers[0]
    parents = shape.parents(root)
    unreached = set(shape.brokers) - parents.keys() - {root}
    if unreached:
        raise SienaError(f"broker {min(unreached)} is not below {root}")
    weights = {edge.ends: edge.weight for edge in shape.edges}
    return [
        Edge(
            child, parent, weights[min(child, parent), max(child, parent)], Side.MASTER
        )
        for child, parent in sorted(parents.items())
    ]


def _with_roles(shape: Shape, options: Options) -> list[Edge]:
    masters: dict[int, int] = {}
    for edge in shape.edges:
        one, other = edge.ends
        if edge.side is None:
            raise SienaError(
                f"the link between {one} and {other} has no role",
                hint="a hybrid network needs a file with roles",
            )
        if edge.side is Side.MASTER:
            if options.is_advertising:
                raise SienaError("a hierarchy does not forward advertisements")
            if edge.one in masters:
                raise SienaError(f"broker {edge.one} has two masters")
            masters[edge.one] = edge.other
    _check_contracted(shape)
    return list(shape.edges)


def _check_contracted(shape: Shape) -> None:
    """With each mesh taken for one broker, there must be no cycle."""
    leader = {b: b for b in shape.brokers}

    def find(broker: int) -> int:
        while leader[broker] != broker:
            broker = leader[broker]
        return broker

    for edge in shape.edges:
        if edge.side is Side.MESH:
            leader[find(edge.one)] = find(edge.other)
    for edge in shape.edges:
        if edge.side is not Side.MESH:
            one, other = find(edge.one), find(edge.other)
            if one == other:
                ends = "{} and {}".format(*edge.ends)
                raise SienaError(f"the link between {ends} closes a cycle")
            leader[one] = other
