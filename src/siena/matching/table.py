"""The forwarding table: from a notification to the interfaces that want it.

Filters come and go under traffic: what is added goes into a small engine, made anew in
no time (:mod:`siena.matching.tiers`); what is removed is marked, and left out the next
time its rows are compiled.  Either is in force for the next notification.

Reference:
    Carzaniga and Wolf, "Forwarding in a Content-Based Network", SIGCOMM 2003, for what
    a forwarding table is; how this one matches is ours.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.algebra.explanation import Reason, explain_matches
from siena.errors import LimitError
from siena.matching.blocks import encode_all
from siena.matching.engine import Engine, Matches
from siena.matching.joiner import ONLY_ONE_LABEL, Joiner
from siena.matching.kernels import COMPILED
from siena.matching.kernels.joining import turn
from siena.matching.matcher import UnknownFilterError, filters_of
from siena.matching.rebuilding import Rebuild
from siena.matching.tiers import Tiers
from siena.model import Filter, Predicate, Value

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# The share of removed filters at which everything is compiled without them.
GONE_SHARE_MAX = 0.5
# Interfaces that can be bits of one word.
MASK_BITS = 64
# Numbers of interests, which kernels keep in 32 bits.
INTERESTS_MAX = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a table holds, and what it costs."""

    filters: int
    interfaces: int
    removed: int
    tiers: tuple[int, ...]
    arena_bytes: int
    vocabulary_bytes: int
    compiled: bool


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one interface gets of a batch: notification by notification, and why."""

    interface: int
    messages: Ints  # the places of the notifications in the batch
    filters: Ints  # beside each the number of an interest that matches


class Wanted(NamedTuple):
    """Who wants each block of a batch: as in ``Matches``, with interfaces."""

    counts: Ints
    interfaces: Longs


class ForwardingTable:
    """Interests that come and go, and who wants a notification.

    >>> from siena.lang.parser import parse_filter, parse_predicate
    >>> table = ForwardingTable()
    >>> table.add(3, parse_filter("airline = UA and price < 500"))
    0
    >>> table.add(5, parse_predicate("dest = DEN or dest = MIL"))
    1
    >>> sorted(table.match({"airline": "UA", "price": 449, "dest": "DEN"}))
    [3, 5]
    >>> table.remove(1)
    >>> table.match_filters({"airline": "UA", "price": 449, "dest": "DEN"})
    [0]

    Threads may match at the same time, and one of them may change the table.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._interests: dict[int, tuple[int, Filter | Predicate]] = {}
        self._tiers = Tiers()
        # How many interests have ever been added: the next number.
        self._count = 0
        # Interfaces are labelled 0, 1, 2, … as they come; of each interest its label.
        self._labels: dict[int, int] = {}
        self._label_of = np.zeros(64, np.int32)
        # Filters without constraints match everything; no engine needs to be asked.
        self._always: set[int] = set()
        # Interests of several filters may be found more than once.
        self._several = 0
        # Of each interest whether it was removed; and of how many an engine knows.
        self._gone = np.zeros(64, np.uint8)
        self._still_there = 0
        self._rebuild: Rebuild | None = None
        self._joiners: list[Joiner] = []

    def __len__(self) -> int:
        return len(self._interests)

    # --- Changes ------------------------------------------------------------------

    def add(self, interface: int, interest: Filter | Predicate, /) -> int:
        """Add an interest; its number is 0, 1, 2, …, and is never given again.

        Raises:
            LimitError: if there are no numbers left.
        """
        filters = filters_of(interest)
        with self._lock:
            number = self._count
            if number == INTERESTS_MAX:
                raise LimitError("INTERESTS_MAX", INTERESTS_MAX, "interests")
            if number == len(self._gone):
                self._gone = np.concatenate([self._gone, np.zeros_like(self._gone)])
                self._label_of = np.concatenate([self._label_of] * 2)
            self._label_of[number] = self._labels.setdefault(
                interface, len(self._labels)
            )
            self._count += 1
            self._interests[number] = (interface, interest)
            self._several += len(filters) > 1
            for f in filters:
                if f.constraints:
                    self._tiers.columns.add(f, number)
                else:
                    self._always.add(number)
        return number

    def remove(self, number: int, /) -> None:
        """Remove an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        with self._lock:
            if number not in self._interests:
                raise UnknownFilterError(number)
            _, interest = self._interests.pop(number)
            self._several -= len(filters_of(interest)) > 1
            self._always.discard(number)
            self._gone[number] = 1
            self._still_there += 1
            if self._still_there > 64 + GONE_SHARE_MAX * len(self._interests):
                self._consolidate()

    def consolidate(self) -> None:
        """Compile everything into one engine, without what was removed.

        Whoever cannot wait for it runs a :meth:`rebuild` elsewhere.
        """
        with self._lock:
            self._consolidate()

    def _consolidate(self) -> None:
        self._tiers.merge(self._gone)
        self._still_there = 0
        self._rebuild = None

    def rebuild(self) -> Rebuild:
        """Work that makes one engine of all that is there now.

        Run it in a thread, and matching and changes go on meanwhile; then
        :meth:`adopt` it.  A newer one takes the place of an older.
        """
        with self._lock:
            end = self._tiers.seal()
            self._rebuild = Rebuild(
                self._lock, self._tiers, end, self._gone, self._still_there
            )
            return self._rebuild

    def adopt(self, rebuild: Rebuild, /) -> bool:
        """Put a finished rebuild in its place; false if it is out of date.

        Raises:
            ValueError: if it has not run.
        """
        if rebuild.engine is None:
            raise ValueError("the rebuild has not run")
        with self._lock:
            if rebuild is not self._rebuild:
                return False
            self._tiers.adopt(rebuild.engine, rebuild.gone)
            self._still_there -= rebuild.left_out
            self._rebuild = None
            return True

    # --- Matching -----------------------------------------------------------------

    def match(
        self,
        notification: Mapping[str, Value],
        /,
        allowed: Collection[int] | None = None,
    ) -> frozenset[int]:
        """The interfaces that want the notification, of those that are allowed.

        With ``allowed`` this is the papers' ``CBF(m, B, T)``: the broadcast function
        says where a notification may go, the table who wants it.
        """
        found = self.match_interfaces(*encode_all([notification]), allowed=allowed)
        return frozenset(found.interfaces.tolist())

    def match_filters(self, notification: Mapping[str, Value], /) -> list[int]:
        """The numbers of the interests that match, each once and in ascending order."""
        return sorted(self.match_batch([notification]).filters.tolist())

    def match_batch(self, notifications: Iterable[Mapping[str, Value]], /) -> Matches:
        """What matches each of many notifications."""
        return self.match_buffer(*encode_all(notifications))

    def match_buffer(
        self, blocks: bytes | memoryview, offsets: Longs, /, out: Ints | None = None
    ) -> Matches:
        """What matches each of many blocks that stand back to back in a buffer.

        A block that is bad has a count below zero, whose meaning is in
        :data:`siena.matching.blocks.BLOCK_ERRORS`; the others are matched all the same.
        With ``out``, matches are written there while there is room.
        """
        # All at once: engines of before a rebuild still know what was removed.
        with self._lock:
            engines = self._tiers.engines(self._gone)
            always = sorted(self._always)
            is_direct = not (self._still_there or always or self._several)
        if len(engines) == 1 and is_direct:
            return engines[0].match(blocks, offsets, out)
        parts = [e.match(blocks, offsets) for e in engines]
        return self._join(parts, ONLY_ONE_LABEL, always)

    def match_interfaces(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        /,
        allowed: Collection[int] | None = None,
    ) -> Wanted:
        """The interfaces that want each block, each once, of those that are allowed.

        With at most 64 interfaces they are bits all the way, and nothing is looked at
        for an interface that is known to match, or not allowed.
        """
        # All at once: whoever changes the table meanwhile may bring a new interface.
        with self._lock:
            interfaces = np.fromiter(self._labels, np.int64, len(self._labels))
            as_masks = len(interfaces) <= MASK_BITS and not self._still_there
            always = sorted(self._always)
            if as_masks:
                engines = self._tiers.mask_engines(self._gone, self._label_of)
            else:
                engines = self._tiers.engines(self._gone)
        is_open = np.ones(len(interfaces), np.bool_)
        if allowed is not None:
            is_open = np.isin(interfaces, np.fromiter(allowed, np.int64))
        if as_masks:
            found = self._match_masks(engines, blocks, offsets, is_open, always)
        else:
            parts = [e.match(blocks, offsets) for e in engines]
            found = self._join(parts, self._label_of, always)
            found = _restricted(found, is_open)
        return Wanted(found.counts, interfaces[found.filters])

    def _match_masks(
        self,
        engines: list[Engine],
        blocks: bytes | memoryview,
        offsets: Longs,
        is_open: Bools,
        usual: list[int],
    ) -> Matches:
        wanted = sum(1 << label for label in np.flatnonzero(is_open).tolist())
        always = {int(self._label_of[number]) for number in usual}
        mask = np.uint64(sum(1 << label for label in always) & wanted)
        found = np.full(len(offsets) - 1, mask, np.uint64)
        bad = np.zeros(len(offsets) - 1, np.int32)
        for engine in engines:
            bad, masks = engine.match_masks(blocks, offsets, wanted)
            found |= masks
        found[bad < 0] = 0
        bits = found[:, None] >> np.arange(len(is_open), dtype=np.uint64)
        rows, labels = np.nonzero(bits & np.uint64(1))
        counts = np.bincount(rows, minlength=len(found)).astype(np.int32)
        return Matches(np.where(bad < 0, bad, counts), labels.astype(np.int32))

    def match_by_interface(
        self, blocks: bytes | memoryview, offsets: Longs, /
    ) -> list[Delivery]:
        """For each interface that wants something: what, and because of which interest.

        What a broker writes to a connection stands together.
        """
        matches = self.match_buffer(blocks, offsets)
        labels = self._label_of
        sizes = np.bincount(labels[matches.filters], minlength=len(self._labels))
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        messages, numbers = np.empty((2, len(matches.filters)), np.int32)
        turn(
            matches.counts, matches.filters, labels, ends[:-1].copy(), messages, numbers
        )
        return [
            Delivery(interface, messages[start:end], numbers[start:end])
            for interface, start, end in zip(
                self._labels, ends[:-1].tolist(), ends[1:].tolist(), strict=True
            )
            if start < end
        ]

    def interface(self, number: int, /) -> int:
        """The interface of an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        if number not in self._interests:
            raise UnknownFilterError(number)
        return self._interests[number][0]

    def explain(
        self, notification: Mapping[str, Value], number: int, /
    ) -> list[Reason]:
        """Why an interest matches a notification or not, constraint by constraint.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        if number not in self._interests:
            raise UnknownFilterError(number)
        return explain_matches(self._interests[number][1], notification)

    def stats(self) -> Statistics:
        """What the table holds, and what it costs."""
        engines = self._engines()
        return Statistics(
            filters=len(self),
            interfaces=len({interface for interface, _ in self._interests.values()}),
            removed=self._still_there,
            tiers=tuple(len(tier) for tier in self._tiers if len(tier)),
            arena_bytes=sum(engine.nbytes for engine in engines),
            vocabulary_bytes=sum(engine.vocabulary_nbytes for engine in engines),
            compiled=COMPILED,
        )

    def _engines(self) -> list[Engine]:
        with self._lock:
            return self._tiers.engines(self._gone)

    def _join(self, parts: list[Matches], labels: Ints, always: list[int]) -> Matches:
        try:
            joiner = self._joiners.pop()
        except IndexError:
            joiner = Joiner()
        joined = joiner.join(parts, always, self._gone, labels)
        self._joiners.append(joiner)
        return joined


def _restricted(found: Matches, is_open: Bools) -> Matches:
    """The matches whose labels are open."""
    if is_open.all():
        return found
    stays = is_open[found.filters]
    messages = np.repeat(np.arange(len(found.counts)), np.maximum(found.counts, 0))
    counts = np.bincount(messages[stays], minlength=len(found.counts))
    return Matches(
        np.where(found.counts < 0, found.counts, counts).astype(np.int32),
        found.filters[stays],
    )
