"""The entrance to a poset: with which of its roots a notification begins.

A root that asks for ``symbol = DIS`` need not be shown a notification about another
symbol.  So roots with an equality stand under one of theirs, and a notification looks
under its own attributes; all other roots are tested always.

What stands under a value may still be of another kind: ``1``, ``1.0`` and ``true`` are
one key of a dictionary.  Nothing is taken from here without being tested.
"""

from collections.abc import Iterable, Mapping
from typing import Generic

from siena.algebra.shelf import F, Node
from siena.model import Operator, Value


class Entrance(Generic[F]):
    """The roots of a poset of filters, by their equalities.

    >>> from siena.lang.parser import parse_filter as parse
    >>> texts = ("symbol = DIS and price < 10", "symbol = MSFT", "price < 5")
    >>> entrance = Entrance(Node(parse(text), {}) for text in texts)
    >>> [str(node.filter) for node in entrance.candidates({"symbol": "DIS"})]
    ['price < 5', 'price < 10 and symbol = DIS']

    Cost: to make one, all roots; so it is made when somebody asks, after a change.
    """

    __slots__ = ("_always", "_by_value")

    def __init__(self, roots: Iterable[Node[F]]) -> None:
        self._always: list[Node[F]] = []
        self._by_value: dict[tuple[str, Value | None], list[Node[F]]] = {}
        for root in roots:
            for name, operator, _, value in root.filter.constraints:
                if operator is Operator.EQ:
                    self._by_value.setdefault((name, value), []).append(root)
                    break
            else:
                self._always.append(root)

    def candidates(self, notification: Mapping[str, Value]) -> list[Node[F]]:
        """All roots that may match, each once."""
        found = self._always.copy()
        for attribute in notification.items():
            found += self._by_value.get(attribute, ())
        return found
