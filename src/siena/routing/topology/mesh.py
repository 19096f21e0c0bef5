"""The part of the network that may have cycles, as one broker sees it.

Tells the other brokers of the part which links this one has, learns theirs, and has the
trees along which everything spreads.  Link states go over links of the part only: what
lies beyond a gateway is not their business.
"""

from siena.messages import Interface, LinkState, Outbox
from siena.routing.topology.link_state import LinkStates
from siena.routing.topology.spreading import Trees, trees_of


class Mesh:
    """The links of this broker, the link states of all, and their trees."""

    def __init__(self, me: int, epoch: int) -> None:
        self._me = me
        self._epoch = epoch
        self._version = 0
        self._weights: dict[int, float] = {}
        self._states = LinkStates()
        self.trees: Trees = trees_of(frozenset())

    def preload(self, states: LinkStates) -> None:
        """Begin with what is known from a configuration, without asking a neighbour."""
        self._states = states.copy()
        if self._me in states:
            own = states[self._me]
            self._weights = dict(own.weights)
            _, self._version = own.version
        self.trees = self._states.trees()

    def join(self, neighbour: int, weight: float) -> Outbox:
        """A link more: the neighbour hears all that is known, the others of it."""
        others = list(self._weights)
        self._weights[neighbour] = weight
        news = self._announce()
        everything = [(neighbour, state) for state in self._states]
        return [*everything, *((other, news) for other in others)]

    def leave(self, neighbour: int) -> Outbox:
        """A link less."""
        del self._weights[neighbour]
        news = self._announce()
        return [(other, news) for other in self._weights]

    def learn(self, state: LinkState, source: Interface) -> Outbox:
        """Hand on what is news."""
        if not self._states.learn(state):
            return []
        self.trees = self._states.trees()
        return [(other, state) for other in self._weights if other != source]

    def _announce(self) -> LinkState:
        self._version += 1
        weights = tuple(sorted(self._weights.items()))
        news = LinkState(self._me, (self._epoch, self._version), weights)
        self._states.learn(news)
        self.trees = self._states.trees()
        return news
