"""Changes to a poset, as it tells them."""

from collections.abc import Iterable
from typing import Generic, NamedTuple

from siena.algebra.poset.shelf import F, Node


class Change(NamedTuple, Generic[F]):
    """What ``add`` or ``remove`` did.

    ``filter`` is the one that stands in the poset: the first of its equals that
    came.  ``changed`` says whether the poset gained or lost it; the links are the
    immediate ones that it has, or had.
    """

    filter: F
    changed: bool
    predecessors: frozenset[F]
    successors: frozenset[F]


def change_of(node: Node[F], *, changed: bool) -> Change[F]:
    """What happened to a node."""
    return Change(
        node.filter,
        changed,
        filters_of(node.predecessors),
        filters_of(node.successors),
    )


def filters_of(nodes: Iterable[Node[F]]) -> frozenset[F]:
    """The filters of nodes."""
    return frozenset(node.filter for node in nodes)
