"""The forwarding table: from a notification to the interfaces that want it.

*Theory of operation.*  Filters are compiled into engines, and engines never change.
So a new filter goes into a small tier, which is compiled anew in no time; when a tier
is full it is poured into the next, larger one.  A filter that is removed is only
marked, and left out the next time its tier is compiled.  What is added or removed is
in force for the next notification.

Reference:
    Carzaniga and Wolf, "Forwarding in a Content-Based Network", SIGCOMM 2003, for what
    a forwarding table is; how this one matches is ours.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from siena.algebra.explanation import Reason, explain_matches
from siena.matching.blocks import encode, encode_all
from siena.matching.columns import Columns
from siena.matching.engine import Engine, Matches
from siena.matching.kernels import COMPILED
from siena.matching.matcher import UnknownFilterError, filters_of
from siena.model import Filter, Predicate, Value

Longs = npt.NDArray[np.int64]

# How many filters a tier takes before it is poured into the next; the last takes all.
TIER_FILTERS = (64, 4_096)
# The share of removed filters at which the last tier is compiled without them.
GONE_SHARE_MAX = 0.25


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a table holds, and what it costs."""

    filters: int
    interfaces: int
    removed: int
    tiers: tuple[int, ...]
    arena_bytes: int
    compiled: bool


@dataclass(slots=True)
class _Tier:
    columns: Columns = field(default_factory=Columns)
    engine: Engine | None = None

    def compiled(self, gone: Iterable[int]) -> Engine:
        if self.engine is None:
            self.engine = Engine(self.columns.lay_out(gone))
        return self.engine


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

    Threads may match at the same time; changes are for one thread at a time.
    """

    def __init__(self) -> None:
        self._interests: dict[int, tuple[int, Filter | Predicate]] = {}
        self._next = 0
        # Filters without constraints match everything; no engine needs to be asked.
        self._always: set[int] = set()
        # Interests of several filters may be found more than once.
        self._several = 0
        self._gone: set[int] = set()
        self._tiers = [_Tier() for _ in (*TIER_FILTERS, None)]

    def __len__(self) -> int:
        return len(self._interests)

    def add(self, interface: int, interest: Filter | Predicate, /) -> int:
        """Add an interest; its number is 0, 1, 2, …, and is never given again."""
        number = self._next
        self._next += 1
        self._interests[number] = (interface, interest)
        filters = filters_of(interest)
        self._several += len(filters) > 1
        for f in filters:
            if f.constraints:
                self._tiers[0].columns.add(f, number)
            else:
                self._always.add(number)
        self._tiers[0].engine = None
        self._pour()
        return number

    def remove(self, number: int, /) -> None:
        """Remove an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        if number not in self._interests:
            raise UnknownFilterError(number)
        _, interest = self._interests.pop(number)
        self._several -= len(filters_of(interest)) > 1
        self._always.discard(number)
        self._gone.add(number)
        if len(self._gone) > 64 + GONE_SHARE_MAX * len(self._interests):
            self.consolidate()

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
        found = (self._interests[n][0] for n in self._found(encode(notification)))
        if allowed is None:
            return frozenset(found)
        return frozenset(found).intersection(allowed)

    def match_filters(self, notification: Mapping[str, Value], /) -> list[int]:
        """The numbers of the interests that match, each once and in ascending order."""
        return sorted(self._found(encode(notification)))

    def match_batch(self, notifications: Iterable[Mapping[str, Value]], /) -> Matches:
        """What matches each of many notifications."""
        return self.match_buffer(*encode_all(notifications))

    def match_buffer(self, blocks: bytes | memoryview, offsets: Longs, /) -> Matches:
        """What matches each of many blocks that stand back to back in a buffer.

        A block that is bad has a count below zero, whose meaning is in
        :data:`siena.matching.layout.BLOCK_ERRORS`; the others are matched all the same.
        """
        parts = [e.match(blocks, offsets) for e in self._engines()]
        if len(parts) == 1 and not (self._gone or self._always or self._several):
            return parts[0]
        return self._joined(parts)

    def explain(
        self, notification: Mapping[str, Value], number: int, /
    ) -> list[Reason]:
        """Why an interest matches a notification or not, constraint by constraint."""
        if number not in self._interests:
            raise UnknownFilterError(number)
        return explain_matches(self._interests[number][1], notification)

    def consolidate(self) -> None:
        """Compile everything into one engine, without what was removed."""
        last = _Tier()
        for number, (_, interest) in self._interests.items():
            for f in filters_of(interest):
                if f.constraints:
                    last.columns.add(f, number)
        self._tiers = [*(_Tier() for _ in TIER_FILTERS), last]
        self._gone = set()

    def stats(self) -> Statistics:
        """What the table holds, and what it costs."""
        return Statistics(
            filters=len(self),
            interfaces=len({interface for interface, _ in self._interests.values()}),
            removed=len(self._gone),
            tiers=tuple(len(tier.columns) for tier in self._tiers),
            arena_bytes=sum(engine.nbytes for engine in self._engines()),
            compiled=COMPILED,
        )

    def _pour(self) -> None:
        """Empty the tiers that are full into the next."""
        for i, room in enumerate(TIER_FILTERS):
            tier, below = self._tiers[i], self._tiers[i + 1]
            if len(tier.columns) <= room:
                return
            below.columns.extend(tier.columns)
            below.engine = None
            self._tiers[i] = _Tier()

    def _engines(self) -> list[Engine]:
        engines = [t.compiled(self._gone) for t in self._tiers if len(t.columns)]
        # An empty engine still says which blocks are bad.
        return engines or [self._tiers[0].compiled(())]

    def _found(self, block: bytes) -> set[int]:
        offsets = np.array([0, len(block)], np.int64)
        found = set(self._always)
        for engine in self._engines():
            matches = engine.match(block, offsets)
            assert matches.counts[0] >= 0, "a notification makes a good block"
            found.update(matches.filters.tolist())
        return found - self._gone

    def _joined(self, parts: list[Matches]) -> Matches:
        """The matches of all tiers, each once, without what was removed."""
        counts = parts[0].counts
        bad = counts < 0
        blocks = np.arange(len(counts), dtype=np.int64)
        keys = [
            np.repeat(blocks, np.maximum(part.counts, 0)) << 32 | part.filters
            for part in parts
        ]
        always = np.fromiter(self._always, np.int64)
        keys.append((blocks[~bad, None] << 32 | always[None, :]).ravel())
        found = np.unique(np.concatenate(keys))
        filters = (found & 0xFFFFFFFF).astype(np.int32)
        if self._gone:
            stays = ~np.isin(filters, np.fromiter(self._gone, np.int32))
            found, filters = found[stays], filters[stays]
        joined = np.bincount(found >> 32, minlength=len(counts)).astype(np.int32)
        return Matches(np.where(bad, counts, joined).astype(np.int32), filters)
