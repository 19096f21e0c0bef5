"""Known filters: what is above and below one that is in the poset, without a search.

Most questions are about filters that are there, spelled as they are there, or about one
that has just gone: their links lead to all that covers them and all that they cover.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Generic

from siena.algebra.poset.shelf import F, Node

Links = Callable[[Node[F]], set[Node[F]]]


class Known(Generic[F]):
    """The nodes of a poset by their filters, and the one that left it last.

    ``above`` and ``below`` answer ``None`` where only a search can tell.
    """

    __slots__ = ("_gone", "_nodes")

    def __init__(self) -> None:
        self._nodes: dict[F, Node[F]] = {}
        # Until the next change its links still lead to what was above and below.
        self._gone: Node[F] | None = None

    def get(self, f: F) -> Node[F] | None:
        """The node whose filter is spelled like this."""
        return self._nodes.get(f)

    def enter(self, node: Node[F]) -> None:
        """A node more."""
        self._nodes[node.filter] = node
        self._gone = None

    def leave(self, node: Node[F]) -> None:
        """A node less, whose own links are as they were."""
        del self._nodes[node.filter]
        self._gone = node

    def above(self, f: F) -> set[Node[F]] | None:
        """All nodes that cover the filter, its own included."""
        return self._closure(f, attrgetter("predecessors"))

    def below(self, f: F) -> set[Node[F]] | None:
        """All nodes that the filter covers, its own included."""
        return self._closure(f, attrgetter("successors"))

    def _closure(self, f: F, links: Links[F]) -> set[Node[F]] | None:
        node = self._nodes.get(f)
        if node is not None:
            found = {node}
        elif self._gone is not None and self._gone.filter == f:
            node, found = self._gone, set()
        else:
            return None
        waiting = list(links(node))
        found |= links(node)
        while waiting:
            fresh = links(waiting.pop()) - found
            found |= fresh
            waiting += fresh
        return found
