"""What a broker knows about the links of a network that may have cycles.

Every broker tells all others which links it has, whenever that changes, with a version;
each keeps the newest of each broker, and hands on what was news.  A link counts while
both of its ends say that they have it: one that crashed cannot say so any more, the
other can.
"""

from collections.abc import Iterable, Iterator

from siena.messages import LinkState
from siena.routing.topology.spreading import Trees, trees_of


class LinkStates:
    """The newest link state of each broker.

    >>> states = LinkStates()
    >>> states.learn(LinkState(1, (0, 1), ((2, 5.0),)))
    True
    >>> states.learn(LinkState(2, (0, 3), ((1, 5.0),)))
    True
    >>> states.trees().parent(1, 2)
    1
    >>> states.learn(LinkState(2, (0, 2), ()))  # older than what is known
    False
    """

    def __init__(self, states: Iterable[LinkState] = ()) -> None:
        self._newest: dict[int, LinkState] = {}
        self._trees: Trees | None = None
        for state in states:
            self.learn(state)

    def __iter__(self) -> Iterator[LinkState]:
        return iter(self._newest[broker] for broker in sorted(self._newest))

    def __getitem__(self, broker: int) -> LinkState:
        return self._newest[broker]

    def __contains__(self, broker: int) -> bool:
        return broker in self._newest

    def copy(self) -> "LinkStates":
        """The same, for another who will learn other things."""
        other = LinkStates()
        other._newest = self._newest.copy()
        other._trees = self._trees
        return other

    def learn(self, state: LinkState) -> bool:
        """Whether this is news."""
        known = self._newest.get(state.broker)
        if known is not None and known.version >= state.version:
            return False
        self._newest[state.broker] = state
        self._trees = None
        return True

    def trees(self) -> Trees:
        """The trees of the network as it is known."""
        if self._trees is None:
            self._trees = self._grown()
        return self._trees

    def _grown(self) -> Trees:
        weights = {b: dict(state.weights) for b, state in self._newest.items()}
        return trees_of(
            frozenset(
                (a, b, max(weight, weights[b][a]))
                for a, found in weights.items()
                for b, weight in found.items()
                if a < b and a in weights.get(b, {})
            )
        )
