"""Two routers in one process, and interests on their way through both.

Each interest is parsed, registered and settled at the first router, as a broker does
it, and announced to the second in the frames that brokers exchange; only sockets and
the exchange are missing.  Then all of them are cancelled again, or one interest comes
that covers everything, and goes: what it covered has to be told anew.
"""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import log
from time import process_time
from typing import NamedTuple, TypeVar

from siena.bench.network.shapes import Shape, texts
from siena.lang.parser import parse_interest
from siena.messages import (
    Message,
    Outbox,
    Party,
    PeerConfirm,
    PeerConnect,
    Settle,
    Settled,
    Side,
    Subscribe,
    Unsubscribe,
)
from siena.model import Filter
from siena.protocol.control_frames import Tell, unpack
from siena.protocol.frames import HEAD_BYTES, Op
from siena.protocol.peer_messages import decode, pack_tell
from siena.routing.router import Router

T = TypeVar("T")

FIRST, SECOND = 1, 2
# The measurements of one run are so many equal parts of it.
PARTS = 10
# What is said to make a link goes over no link yet.
_UNSENT = (PeerConnect, PeerConfirm)


class Row(NamedTuple):
    """What interests of one shape cost, in microseconds for each of the two routers."""

    shape: str
    interests: int
    told: int
    first: float  # of the first tenth
    last: float  # of the last
    uncovered: float  # each that is told again, when what covered it goes
    cancelled: float

    @property
    def growth(self) -> float:
        """The power of their number with which one more costs more.

        >>> round(Row("", 1000, 0, 10.0, 100.0, 0.0, 0.0).growth, 2)
        0.78
        """
        # A tenth stands for its middle.
        return log(self.last / self.first) / log(2 * PARTS - 1)


class Pair:
    """Two routers, a client of the first, and what is on its way.

    >>> pair = Pair()
    >>> pair.subscribe(1, "x > 3")
    >>> pair.settled, len(pair.routers[SECOND].tables.filters)
    (1, 1)
    """

    def __init__(self) -> None:
        self.routers = {number: Router(number) for number in (FIRST, SECOND)}
        self.settled = 0
        self._carry(FIRST, self.routers[FIRST].connect(SECOND, Side.PEER))

    @property
    def told(self) -> int:
        """How much the second was told."""
        return len(self.routers[FIRST].tables.neighbours[SECOND].filters.told)

    def subscribe(self, number: int, text: str) -> None:
        """Let the client want something, and know when it is in force."""
        interest, party = parse_interest(text), Party("c", number)
        self._ask(Subscribe(interest), party)
        self._ask(Settle(interest, number), party)

    def unsubscribe(self, number: int) -> None:
        """Let the client want it no longer."""
        self._ask(Unsubscribe(Filter()), Party("c", number))

    def _ask(self, message: Message, party: Party) -> None:
        self._carry(FIRST, self.routers[FIRST].handle(message, party))

    def _carry(self, source: int, out: Outbox) -> None:
        """Let messages arrive, and what follows from them."""
        waiting = deque((source, to, message) for to, message in out)
        while waiting:
            sender, to, message = waiting.popleft()
            if isinstance(to, int):
                arrived = self.routers[to].handle(_over_the_wire(message), sender)
                waiting.extend((to, *each) for each in arrived)
            elif isinstance(message, Settled):
                self.settled += 1


def measure(shape: Shape, interests: int, seed: int) -> Row:
    """Let so many interests of a shape come, be covered and uncovered, and go.

    Without the collector, as in a broker, which keeps it from all that lasts.
    """
    gc.collect()
    gc.disable()
    try:
        return _measured(shape, interests, seed)
    finally:
        gc.enable()


def _measured(shape: Shape, interests: int, seed: int) -> Row:
    pair = Pair()
    costs = [
        _timed(part, lambda each: pair.subscribe(*each))
        for part in _parts(enumerate(texts(shape, interests, seed)), interests)
    ]
    assert pair.settled == interests, "something never settled"
    told, everything = pair.told, interests
    begin = process_time()
    pair.subscribe(everything, "[]")
    pair.unsubscribe(everything)
    uncovered = (process_time() - begin) / max(told, 1) / 2 * 1e6
    assert pair.told == told, "something is not told again"
    cancelled = _timed(list(range(interests)), pair.unsubscribe)
    assert not pair.told, "something is still told"
    return Row(shape, interests, told, costs[0], costs[-1], uncovered, cancelled)


def _timed(items: Sequence[T], act: Callable[[T], None]) -> float:
    """Microseconds of the processor for each item and router."""
    begin = process_time()
    for item in items:
        act(item)
    return (process_time() - begin) / len(items) / 2 * 1e6


def _over_the_wire(message: Message) -> Message:
    if isinstance(message, _UNSENT):
        return message
    body = unpack(Op.TELL, pack_tell(message)[HEAD_BYTES:])
    assert isinstance(body, Tell)
    return decode(body)


def _parts(
    items: Iterable[tuple[int, str]], count: int
) -> Iterator[list[tuple[int, str]]]:
    """The items in as many parts as are measured, each listed beforehand."""
    remaining = iter(items)
    size = -(-count // PARTS)
    while part := list(islice(remaining, size)):
        yield part
