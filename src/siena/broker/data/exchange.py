"""The exchange: from the publications of all connections to what each of them gets.

One call of the dispatcher matches what has come and lays out all deliveries.  What it
must be equal to, one frame after the other, is in the tests.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from siena.block import BLOCK_BYTES_MAX
from siena.broker.data.licence_entries import LicenceEntries
from siena.matching.labels import with_room
from siena.matching.table import ForwardingTable
from siena.messages import Party
from siena.model import Filter, Predicate, Value
from siena.protocol.fast.delivery_writer import (
    LICENCE_SLOT,
    NO_SLOT,
    Dispatched,
    Dispatcher,
    Flags,
)
from siena.protocol.fast.split_frames import Octets

# An interface that is no plain connection: a neighbour's number, a monitor's (below 0),
# or the party of a client that is away.
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
    """Which blocks are bad, and why: :data:`siena.block.BLOCK_ERRORS`."""
    others: list[tuple[Key, Ints]]
    """Who else wants which blocks; each block once, in ascending order."""
    allowed: Flags | None = None
    """Of each block whether its source may publish it; None if all may."""
    licence_matches: int = 0
    """How often a block was found to match a filter of a licence, of any source."""


class Exchange:
    """Who wants what, and what they get.

    >>> from siena.protocol.fast.split_frames import run_of
    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.block import encode
    >>> exchange = Exchange()
    >>> exchange.subscribe(7, 1, parse("x > 3"))
    0
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
        self.watchers: list[Callable[[], None]] = []
        """Called whenever what is wanted changes."""
        self.compiling: Callable[[Callable[[], bool]], AbstractContextManager[None]]
        self.compiling = lambda _is_at_rest: nullcontext()
        """In which the first batches after such changes are matched; it is told how
        to find out whether that was all."""
        self.scattered: Callable[[], AbstractContextManager[None]] = nullcontext
        """In which others are matched, by several engines, until one is made of all."""
        # Of each connection its slot and of each slot its connection, and how many
        # interests it has; slots are small, and given again.
        self._slots: dict[int, int] = {}
        self._connections: list[int] = []
        self._interests_of: list[int] = []
        self._free: list[int] = []
        # The interests of all others; those of connections are in the registrations.
        self._watched: dict[Key, dict[Filter, int]] = {}
        # Those others have places of their own, and so have connections, by their
        # numbers as texts, while they are away; of each interest the place.
        self._others: list[Key] = []
        self._places: dict[Key, int] = {}
        self._interests_at: list[int] = []
        self._free_places: list[int] = []
        self._place_of = np.zeros(64, np.int32)
        # Interests that say what may be published, and are no one's.
        self._licences = LicenceEntries(self._dispatcher, self._changed)

    def _changed(self) -> None:
        for watcher in self.watchers:
            watcher()

    def __len__(self) -> int:
        return len(self._dispatcher.table)

    @property
    def table(self) -> ForwardingTable:
        """The interests of all."""
        return self._dispatcher.table

    def subscribe(
        self,
        connection: int,
        number: int,
        interest: Filter | Predicate,
        *,
        is_away: bool = False,
    ) -> int:
        """A connection wants something, under a number that it does not use yet.

        Returns the interest's entry in the table, by which it is unsubscribed.
        """
        slot = self._slots.get(connection)
        if slot is None:
            slot = self._slots[connection] = self._take_slot(connection)
        self._changed()
        added = self._dispatcher.add(
            interest, slot=NO_SLOT if is_away else slot, number=number
        )
        self._interests_of[slot] += 1
        if is_away:
            self._put_one(added, str(connection))
        return added

    def unsubscribe(self, connection: int, entry: int) -> None:
        """A connection no longer wants what has this entry."""
        slot = self._slots[connection]
        self._changed()
        self._dispatcher.remove(entry)
        if str(connection) in self._places:
            self._take_away(str(connection), 1)
        self._interests_of[slot] -= 1
        if not self._interests_of[slot]:
            self._free.append(self._slots.pop(connection))

    def suspend(self, connection: int, entries: list[int]) -> None:
        """A connection is away: what is for it is for its parties, one by one.

        ``entries`` are those of all that it wants.  Nothing is matched otherwise than
        before, so this is soon done.
        """
        if entries and str(connection) not in self._places:
            added = np.array(entries, np.int32)
            self._dispatcher.assign(added, NO_SLOT)
            self._put(added, str(connection))

    def resume(self, connection: int, entries: list[int]) -> None:
        """It is here again, with all that it wants."""
        if str(connection) in self._places:
            added = np.array(entries, np.int32)
            self._dispatcher.assign(added, self._slots[connection])
            self._take_away(str(connection), len(added))

    def watch(self, key: Key, interest: Filter) -> None:
        """A neighbour, a monitor or an absent client's party wants something."""
        self._changed()
        watched = self._watched.get(key)
        if watched is None:
            watched = self._watched[key] = {}
        added = watched[interest] = self._dispatcher.add(interest)
        self._put_one(added, key)

    def _put_one(self, added: int, key: Key) -> None:
        """Give an interest the place of a key."""
        if added >= len(self._place_of):
            self._place_of = with_room(self._place_of, added)
        place = self._place_of[added] = self._take_place(key)
        self._interests_at[place] += 1

    def _put(self, added: npt.NDArray[np.integer[Any]], key: Key) -> None:
        """Give some interests the place of a key."""
        most = int(added.max())
        if most >= len(self._place_of):
            self._place_of = with_room(self._place_of, most)
        place = self._place_of[added] = self._take_place(key)
        self._interests_at[place] += len(added)

    def _take_away(self, key: Key, count: int) -> None:
        """So many interests have their place no longer; the last gives it up."""
        place = self._places[key]
        self._interests_at[place] -= count
        if not self._interests_at[place]:
            del self._places[key]
            self._free_places.append(place)

    def is_watched(self, key: Key, interest: Filter) -> bool:
        """Whether it wants this already."""
        return interest in self._watched.get(key, ())

    def watched_by(self, key: Key) -> list[Filter]:
        """All that a neighbour, a monitor or a party wants."""
        return list(self._watched.get(key, ()))

    def unwatch(self, key: Key, interest: Filter) -> None:
        """And no longer wants it."""
        self._changed()
        watched = self._watched[key]
        self._dispatcher.remove(watched.pop(interest))
        if not watched:
            del self._watched[key]
        self._take_away(key, 1)

    def license(self, predicate: Predicate) -> int:
        """Find out from now on what is within a predicate; the number of that."""
        return self._licences.add(predicate)

    def unlicense(self, number: int) -> None:
        """And no longer."""
        self._licences.remove(number)

    def route(
        self, frames: Octets, start: int, end: int, licence: int | Ints | None = None
    ) -> Routed:
        """What all interfaces get of the publications that stand at the beginning.

        With the number of a ``licence`` for all, or of one for each (below 0: for
        none), it says which of them are within it.
        """
        table = self.table
        view = table.at_rest
        if view is None:
            with self.compiling(lambda: table.at_rest is not None):
                return self._route(frames, start, end, licence)
        if not view.is_scattered:  # most often
            return self._route(frames, start, end, licence)
        with self.scattered():
            return self._route(frames, start, end, licence)

    def _route(
        self, frames: Octets, start: int, end: int, licence: int | Ints | None
    ) -> Routed:
        allowed: Flags | None = None
        if licence is None:
            found = self._dispatcher.dispatch(frames, start, end, BLOCK_BYTES_MAX)
        else:
            found, allowed = self._dispatch(frames, start, end, licence)
        if allowed is not None and licence is not None:
            refused = np.broadcast_to(np.int32(licence), allowed.shape)[~allowed]
            # Perhaps for a filter that no publication has needed so far.
            if self._licences.complete(set(refused.tolist())):
                found, allowed = self._dispatch(frames, start, end, licence)
        connections = self._connections
        out = [(connections[slot], data, n) for slot, data, n in found.batches]
        others: list[tuple[Key, Ints]] = []
        if len(found.other_messages):
            others = self._wanted(found.other_messages, found.other_interests)
        return Routed(
            found.total, found.end, out, found.bad, others, allowed, found.licensed
        )

    def _dispatch(
        self, frames: Octets, start: int, end: int, licence: int | Ints
    ) -> tuple[Dispatched, Flags | None]:
        """Match, and say what is within its licence; None if all is."""
        if isinstance(licence, int):
            self._licences.mark(licence)
        found = self._dispatcher.dispatch(frames, start, end, BLOCK_BYTES_MAX)
        is_one = isinstance(licence, int)
        if is_one and found.within + len(found.bad) == found.total:
            return found, None
        return found, self._licences.judge(licence, found.total)

    def wanting(
        self, notification: Mapping[str, Value]
    ) -> Iterator[tuple[Key, list[int]]]:
        """Who wants a notification, each for which entries; parties come last."""
        with self.compiling(lambda: self.table.at_rest is not None):
            entries = np.array(self.table.match_filters(notification), np.int32)
        slots = self._dispatcher.slots_of(entries)
        others = entries[slots == NO_SLOT]
        for place, which in _groups(self._place_of.take(others)) if len(others) else ():
            key, of_key = self._others[place], others[which].tolist()
            if isinstance(key, (int, Party)):
                yield key, of_key
            else:
                for party, entry in zip(
                    self._parties(key, of_key), of_key, strict=True
                ):
                    yield party, [entry]
        is_here = (slots != NO_SLOT) & (slots != LICENCE_SLOT)
        for entry, slot in zip(
            entries[is_here].tolist(), slots[is_here].tolist(), strict=True
        ):
            (party,) = self._parties(str(self._connections[slot]), [entry])
            yield party, [entry]

    def _parties(self, client: str, entries: list[int]) -> list[Party]:
        """Under which of its numbers a client wants what has these entries."""
        numbers = self._dispatcher.numbers_of(np.array(entries, np.int32))
        return [Party(client, number) for number in numbers.tolist()]

    def others_of(
        self, blocks: bytes | memoryview, bounds: npt.NDArray[np.int64]
    ) -> list[tuple[Key, Ints]]:
        """Who but connections wants which of some blocks that stand back to back.

        For those that were routed before, and go on later.
        """
        found = self.table.match_buffer(blocks, bounds)
        interests = found.filters
        counts = np.maximum(found.counts, 0)
        messages = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
        is_other = self._dispatcher.slots_of(interests) == NO_SLOT
        messages, interests = messages[is_other], interests[is_other]
        return self._wanted(messages, interests) if len(messages) else []

    def _wanted(self, messages: Ints, interests: Ints) -> list[tuple[Key, Ints]]:
        """Who wants which messages, which come in order, once for each interest."""
        places = self._place_of.take(interests)
        if (places == places[0]).all():  # one neighbour, most of the time
            return self._keys_at(int(places[0]), messages, interests)
        found: list[tuple[Key, Ints]] = []
        for place, which in _groups(places):
            found += self._keys_at(place, messages[which], interests[which])
        return found

    def _keys_at(
        self, place: int, messages: Ints, interests: Ints
    ) -> list[tuple[Key, Ints]]:
        """Who has a place: one, or of a connection that is away its parties."""
        key = self._others[place]
        if isinstance(key, (int, Party)):
            return [(key, _once(messages))]
        numbers = self._dispatcher.numbers_of(interests)
        return [
            (Party(key, number), _once(messages[which]))
            for number, which in _groups(numbers)
        ]

    def _take_place(self, key: Key) -> int:
        place = self._places.get(key)
        if place is not None:
            return place
        if self._free_places:
            place = self._free_places.pop()
            self._others[place] = key
        else:
            place = len(self._others)
            self._others.append(key)
            self._interests_at.append(0)
        self._places[key] = place
        return place

    def _take_slot(self, connection: int) -> int:
        if self._free:
            slot = self._free.pop()
            self._connections[slot] = connection
            return slot
        self._connections.append(connection)
        self._interests_of.append(0)
        return len(self._connections) - 1


def _groups(values: npt.NDArray[Any]) -> list[tuple[int, npt.NDArray[np.intp]]]:
    """Each value, and where it stands, in order."""
    order = np.argsort(values, kind="stable")
    sorted_ = values[order]
    bounds = np.flatnonzero(sorted_[1:] != sorted_[:-1]) + 1
    firsts = sorted_[np.concatenate(([0], bounds))].tolist()
    return list(zip(firsts, np.split(order, bounds), strict=True))


def _once(messages: Ints) -> Ints:
    """Each of these once; those that are equal follow each other."""
    is_new = messages[1:] != messages[:-1]
    if is_new.all():
        return messages.copy()
    return messages[np.concatenate(([True], is_new))]
