"""The exchange: from the publications of all connections to what each of them gets.

One call of the dispatcher matches what has come and lays out all deliveries.  What it
must be equal to, one frame after the other, is in the tests.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from siena.matching.dispatch import Dispatcher, Octets
from siena.matching.table import ForwardingTable
from siena.model import Filter, Predicate
from siena.protocol.limits import BLOCK_BYTES_MAX

# An interface that is no plain connection: a neighbour's number, a monitor's (below 0),
# or the name of a party.
Key = int | str
Ints = npt.NDArray[np.int32]


class Routed(Struct, frozen=True):
    """What follows from some publications."""

    total: int
    """How many there were."""
    end: int
    """Where they ended."""
    out: list[tuple[int, bytes, int]]
    """For each connection that gets any: MSG frames back to back, and how many."""
    bad: list[tuple[int, int]]
    """Which blocks are bad, and why: :data:`siena.matching.blocks.BLOCK_ERRORS`."""
    others: list[tuple[Key, Ints]]
    """Who else wants which blocks; each block once, in ascending order."""


def _nobody_asks() -> None:
    pass


class Exchange:
    """Who wants what, and what they get.

    >>> from siena.protocol.fast.split_frames import run_of
    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.matching.blocks import encode
    >>> exchange = Exchange()
    >>> exchange.subscribe(7, 1, parse("x > 3"))
    >>> exchange.watch(-1, parse("x > 4"))
    >>> frames = run_of([encode({"x": 4}), encode({"x": 5})]).frames
    >>> routed = exchange.route(frames, 0, len(frames))
    >>> [(connection, count) for connection, _, count in routed.out]
    [(7, 2)]
    >>> routed.others
    [(-1, array([1], dtype=int32))]
    """

    def __init__(self) -> None:
        self._dispatcher = Dispatcher()
        self.on_change: Callable[[], None] = _nobody_asks
        """Called whenever somebody wants something else."""
        # Of each connection its slot and of each slot its connection; slots are small,
        # and given again.
        self._slots: dict[int, int] = {}
        self._connections: list[int] = []
        self._free: list[int] = []
        # Of each connection its interests by their numbers, and of all others theirs.
        self._parties: dict[int, dict[int, int]] = {}
        self._watched: dict[tuple[Key, Filter], int] = {}
        self._watchers: dict[int, Key] = {}

    def __len__(self) -> int:
        return len(self._dispatcher.table)

    @property
    def table(self) -> ForwardingTable:
        """The interests of all."""
        return self._dispatcher.table

    def subscribe(
        self, connection: int, number: int, interest: Filter | Predicate
    ) -> None:
        """A connection wants something, under a number that it does not use yet."""
        numbers = self._parties.get(connection)
        if numbers is None:
            numbers = self._parties[connection] = {}
            self._slots[connection] = self._take_slot(connection)
        assert number not in numbers, "taken"
        self.on_change()
        slot = self._slots[connection]
        numbers[number] = self._dispatcher.add(interest, slot=slot, number=number)

    def unsubscribe(self, connection: int, number: int) -> None:
        """A connection wants nothing under this number any more."""
        numbers = self._parties[connection]
        self.on_change()
        self._dispatcher.remove(numbers.pop(number))
        if not numbers:
            self._leave(connection)

    def forget(self, connection: int) -> None:
        """A connection wants nothing any more."""
        if connection in self._parties:
            self.on_change()
            for added in self._parties[connection].values():
                self._dispatcher.remove(added)
            self._leave(connection)

    def watch(self, key: Key, interest: Filter) -> None:
        """Somebody who is no plain connection wants something."""
        self.on_change()
        added = self._watched[key, interest] = self._dispatcher.add(interest)
        self._watchers[added] = key

    def unwatch(self, key: Key, interest: Filter) -> None:
        """And no longer wants it."""
        self.on_change()
        added = self._watched.pop((key, interest))
        self._dispatcher.remove(added)
        del self._watchers[added]

    def route(self, frames: Octets, start: int, end: int) -> Routed:
        """What everybody gets of the publications that stand at the beginning."""
        found = self._dispatcher.dispatch(frames, start, end, BLOCK_BYTES_MAX)
        connections = self._connections
        out = [(connections[slot], data, n) for slot, data, n in found.batches]
        others: list[tuple[Key, Ints]] = []
        if len(found.other_messages):
            others = self._others(found.other_messages, found.other_interests)
        return Routed(found.total, found.end, out, found.bad, others)

    def _others(self, messages: Ints, interests: Ints) -> list[tuple[Key, Ints]]:
        wanted: dict[Key, dict[int, None]] = {}
        for message, interest in zip(
            messages.tolist(), interests.tolist(), strict=True
        ):
            wanted.setdefault(self._watchers[interest], {})[message] = None
        return [(key, np.array([*found], np.int32)) for key, found in wanted.items()]

    def _take_slot(self, connection: int) -> int:
        if self._free:
            slot = self._free.pop()
            self._connections[slot] = connection
            return slot
        self._connections.append(connection)
        return len(self._connections) - 1

    def _leave(self, connection: int) -> None:
        del self._parties[connection]
        self._free.append(self._slots.pop(connection))
