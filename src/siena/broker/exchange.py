"""The exchange: from the publications of all connections to what each of them gets.

This is the obvious form: it asks the forwarding table and lays out one frame after the
other.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.table import ForwardingTable
from siena.model import Filter, Predicate
from siena.protocol.deliveries import pack_msg

# An interface that is no plain connection: a neighbour's number, a monitor's (below 0),
# or the name of a party.
Key = int | str
Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]


class Routed(NamedTuple):
    """What follows from some publications."""

    out: list[tuple[int, bytes, int]]
    """For each connection that gets any: MSG frames back to back, and how many."""
    bad: list[tuple[int, int]]
    """Which blocks are bad, and why: :data:`siena.matching.blocks.BLOCK_ERRORS`."""
    others: list[tuple[Key, Ints]]
    """Who else wants which blocks; each block once, in ascending order."""


class Exchange:
    """Who wants what, and what they get.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.matching.blocks import encode_all
    >>> exchange = Exchange()
    >>> exchange.subscribe(7, 1, parse("x > 3"))
    >>> exchange.watch(-1, parse("x > 4"))
    >>> routed = exchange.route(*encode_all([{"x": 4}, {"x": 5}]))
    >>> [(connection, count) for connection, _, count in routed.out]
    [(7, 2)]
    >>> routed.others
    [(-1, array([1], dtype=int32))]
    """

    def __init__(self) -> None:
        self._table = ForwardingTable()
        # Of each interest whose it is, and of each party its interest.
        self._owners: dict[int, tuple[int, int] | Key] = {}
        self._parties: dict[int, dict[int, int]] = {}
        self._watched: dict[tuple[Key, Filter], int] = {}

    def __len__(self) -> int:
        return len(self._table)

    def subscribe(
        self, connection: int, number: int, interest: Filter | Predicate
    ) -> None:
        """A connection wants something, under a number that it does not use yet."""
        added = self._table.add(0, interest)
        self._owners[added] = connection, number
        numbers = self._parties.setdefault(connection, {})
        assert number not in numbers, "taken"
        numbers[number] = added

    def unsubscribe(self, connection: int, number: int) -> None:
        """A connection wants nothing under this number any more."""
        numbers = self._parties[connection]
        self._drop(numbers.pop(number))
        if not numbers:
            del self._parties[connection]

    def forget(self, connection: int) -> None:
        """A connection wants nothing any more."""
        for added in self._parties.pop(connection, {}).values():
            self._drop(added)

    def watch(self, key: Key, interest: Filter) -> None:
        """Somebody who is no plain connection wants something."""
        added = self._watched[key, interest] = self._table.add(0, interest)
        self._owners[added] = key

    def unwatch(self, key: Key, interest: Filter) -> None:
        """And no longer wants it."""
        self._drop(self._watched.pop((key, interest)))

    def route(self, blocks: bytes, offsets: Longs) -> Routed:
        """What everybody gets of some blocks, which stand back to back."""
        counts, filters = self._table.match_buffer(blocks, offsets)
        frames: dict[int, list[bytes]] = {}
        bad: list[tuple[int, int]] = []
        others: dict[Key, list[int]] = {}
        at, found, ends = 0, filters.tolist(), offsets.tolist()
        for index, count in enumerate(counts.tolist()):
            if count < 0:
                bad.append((index, -count))
                continue
            wanted: dict[int, list[int]] = {}
            for owner in {self._owners[f] for f in found[at : at + count]}:
                if isinstance(owner, tuple):
                    wanted.setdefault(owner[0], []).append(owner[1])
                else:
                    others.setdefault(owner, []).append(index)
            at += count
            block = blocks[ends[index] : ends[index + 1]]
            for connection, numbers in wanted.items():
                frame = pack_msg(sorted(numbers), block)
                frames.setdefault(connection, []).append(frame)
        return Routed(
            [(c, b"".join(parts), len(parts)) for c, parts in frames.items()],
            bad,
            [(key, np.array(indices, np.int32)) for key, indices in others.items()],
        )

    def _drop(self, added: int) -> None:
        self._table.remove(added)
        del self._owners[added]
