"""How two brokers agree on a link: one asks, and the other confirms or refuses.

There is a link from then on, at either end; what follows from that is not decided here.
"""

from collections.abc import Callable
from dataclasses import replace

from siena.messages import (
    Interface,
    Message,
    Outbox,
    PeerConfirm,
    PeerConnect,
    PeerRefuse,
    Side,
)

# Whether a broker that asks may be a neighbour, on that side of ours.
Accepts = Callable[[int, Side], bool]


class Linking:
    """Links that one broker has asked for, and that it is asked for.

    >>> linked = []
    >>> def link(number, asked):
    ...     linked.append((number, asked.side))
    ...     return []
    >>> linking = Linking(link, is_taken=lambda number: number in dict(linked))
    >>> linking.connected(PeerConnect(Side.MASTER), 2)
    [(2, PeerConfirm())]
    >>> linking.connected(PeerConnect(Side.MASTER), 2)
    [(2, PeerRefuse(reason='there is a link already'))]
    >>> [(to, _)] = linking.ask(3, PeerConnect(Side.PEER))
    >>> to, linking.is_answer(PeerConfirm(), 3), linking.is_answer(PeerConfirm(), 4)
    (3, True, False)
    >>> linking.confirmed(PeerConfirm(), 3), [side.value for _, side in linked]
    ([], ['child', 'peer'])

    Args:
        link: called when there is a link, with what it is to be; what follows.
        is_taken: whether a broker is a neighbour already, or not forgotten yet.
        accepts: which others may be neighbours; without it, all may.
    """

    def __init__(
        self,
        link: Callable[[int, PeerConnect], Outbox],
        is_taken: Callable[[int], bool],
        accepts: Accepts | None = None,
    ) -> None:
        self._link = link
        self._is_taken = is_taken
        self._accepts = accepts
        self._asked: dict[int, PeerConnect] = {}

    def ask(self, number: int, asked: PeerConnect) -> Outbox:
        """Ask a broker for a link."""
        self._asked[number] = asked
        return [(number, asked)]

    def is_answer(self, message: Message, source: int) -> bool:
        """Whether a message answers what a broker was asked."""
        return isinstance(message, (PeerConfirm, PeerRefuse)) and source in self._asked

    def connected(self, message: PeerConnect, source: Interface) -> Outbox:
        """A broker asks for a link."""
        assert isinstance(source, int), "clients do not connect as peers"
        side = message.side.opposite
        if self._is_taken(source):
            return [(source, PeerRefuse("there is a link already"))]
        if self._accepts is not None and not self._accepts(source, side):
            return [(source, PeerRefuse("the link would close a cycle"))]
        linked = self._link(source, replace(message, side=side))
        return [(source, PeerConfirm()), *linked]

    def confirmed(self, _message: PeerConfirm, source: Interface) -> Outbox:
        """A broker that was asked agrees."""
        assert isinstance(source, int)
        return self._link(source, self._asked.pop(source))

    def refused(self, _message: PeerRefuse, source: Interface) -> Outbox:
        """It does not."""
        assert isinstance(source, int)
        del self._asked[source]
        return []
