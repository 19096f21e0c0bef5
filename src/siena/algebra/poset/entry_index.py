"""The entrance to a poset: with which of its roots a notification begins.

A filter that asks for ``symbol = DIS`` need not be shown a notification about another
symbol.  So roots with an equality stand under one of theirs, and a notification looks
under its own attributes; all other roots are tested always, and so is every
advertisement, which asks for no attribute.

What stands under a value may still be of another kind: ``1``, ``1.0`` and ``true`` are
one key of a dictionary.  Nothing is taken from here without being tested.
"""

from collections.abc import Iterable, Mapping
from typing import Generic

from siena.algebra.poset.shelf import F, Node
from siena.model import Advertisement, Filter, Operator, Value


class Entrance(Generic[F]):
    """The roots of a poset of filters, by their equalities.

    >>> from siena.lang.parser import parse_filter as parse
    >>> texts = ("symbol = DIS and price < 10", "symbol = MSFT", "price < 5")
    >>> entrance = Entrance(Node(parse(text), {}) for text in texts)
    >>> [str(node.filter) for node in entrance.candidates({"symbol": "DIS"})]
    ['price < 5', 'price < 10 and symbol = DIS']

    Cost: to make one, all roots; so it is made at the first question after a change.
    """

    __slots__ = ("_always", "_by_value")

    def __init__(self, roots: Iterable[Node[F]]) -> None:
        self._always: list[Node[F]] = []
        self._by_value: dict[tuple[str, Value | None], list[Node[F]]] = {}
        for root in roots:
            key = _equality(root.filter)
            if key is None:
                self._always.append(root)
            else:
                self._by_value.setdefault(key, []).append(root)

    def match(self, notification: Mapping[str, Value]) -> list[F]:
        """The filters that match, from the roots downward."""
        attributes = dict(notification.items())  # quicker to ask, over and over
        queue = self.candidates(attributes)
        seen = set(queue)
        found: list[F] = []
        while queue:
            node = queue.pop()
            if _selects(node.filter, attributes):
                found.append(node.filter)
                fresh = node.successors - seen
                seen |= fresh
                queue += fresh
        return found

    def candidates(self, notification: Mapping[str, Value]) -> list[Node[F]]:
        """All roots that may match, each once."""
        found = self._always.copy()
        for attribute in notification.items():
            found += self._by_value.get(attribute, ())
        return found


def _equality(f: Filter | Advertisement) -> tuple[str, Value | None] | None:
    """An attribute that a notification must have, if the filter says so."""
    if isinstance(f, Filter):
        for name, operator, _, value in f.constraints:
            if operator is Operator.EQ:
                return name, value
    return None


def _selects(f: Filter | Advertisement, notification: Mapping[str, Value]) -> bool:
    if isinstance(f, Filter):
        return f.matches(notification)
    return f.admits(notification)
