"""The forwarding table: from a notification to the interfaces that want it.

Filters come and go under traffic: what is added goes into a small engine, made anew in
no time (:mod:`siena.matching.engine.tiers`); what is removed is marked, and left out
the next time its rows are compiled.  Either is in force for the next notification.
Who wants what is found by a :mod:`~siena.matching.view` of the table.

Why one module: one class, whose changes, answers and files share its lock and numbers.

Reference:
    Carzaniga and Wolf, "Forwarding in a Content-Based Network", SIGCOMM 2003, for what
    a forwarding table is; how this one matches is ours.
"""

from collections.abc import Collection, Iterable, Mapping
from math import inf
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
import numpy.typing as npt

from siena.algebra.explanation import Reason, explain_matches
from siena.block import BLOCK_ERRORS, Refusal, encode
from siena.errors import InvalidNotificationError, LimitError
from siena.matching.answers import Delivery, Statistics, Wanted
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine, Matches
from siena.matching.engine.linear_tier import TESTED_MAX
from siena.matching.engine.rebuilding import Rebuild
from siena.matching.engine.table_file import StoredTable, read, write
from siena.matching.engine.tiers import Tiers
from siena.matching.input.arrow import read_batch, read_texts
from siena.matching.input.arrow_interface import ArrowSource
from siena.matching.input.buffers import encode_all
from siena.matching.input.json_rows import encode_texts
from siena.matching.kernels import COMPILED
from siena.matching.labels import Labels, with_room
from siena.matching.matcher import UnknownFilterError, filters_of
from siena.matching.pieces import Piece, with_several
from siena.matching.view import Joiner, View
from siena.model import Filter, Kind, Predicate, Value

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Interfaces that can be bits of one word.
MASK_BITS = 64
# The share of removed filters at which everything is compiled without them.
GONE_SHARE_MAX = 0.5
# What a table compiles on the spot, if somebody rebuilds it: a few milliseconds.
MERGED_ROWS_MAX = 4_096
# Tables of so few rows are compiled whole, once as much was asked as would be tested in
# a loop: to make one engine takes hardly longer than another, and two are asked twice.
WHOLE_ROWS_MAX = 256
# Numbers of interests, which kernels keep in 32 bits.
INTERESTS_MAX = 2**31 - 1


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
        self._tiers = Tiers()
        # How many interests have ever been added: the next number.
        self._count = 0
        # And how many of them are still held.
        self._held = 0
        self._labels = Labels()
        # Filters without constraints match everything; no engine needs to be asked.
        self._always: set[int] = set()
        # How many interests have several rows, and may be found more than once.
        self._several = 0
        # Of each interest whether it was removed; and of how many an engine knows.
        self._gone = np.zeros(64, np.uint8)
        self._still_there = 0
        self._gone_share_max = GONE_SHARE_MAX
        self._rebuild: Rebuild | None = None
        self._joiners: list[Joiner] = []
        # How many messages it was asked about since it changed, while it is small.
        self._asked = 0
        # The view of a table that rests; whoever changes the table forgets it.
        self._at_rest: View | None = None
        self.note: bytes | memoryview = b""
        """Bytes of the owner's that go with the table into its file."""

    def __len__(self) -> int:
        return self._held

    # --- Changes ------------------------------------------------------------------

    def add(self, interface: int, interest: Filter | Predicate, /) -> int:
        """Add an interest; its number is 0, 1, 2, …, and is never given again.

        Raises:
            LimitError: if there are no numbers left.
        """
        filters = filters_of(interest)
        with self._lock:
            self._at_rest = None
            self._asked = 0
            number = self._count
            if number == INTERESTS_MAX:
                raise LimitError("INTERESTS_MAX", INTERESTS_MAX, "interests")
            self._labels.enter(number, interface)
            if number >= len(self._gone):
                self._gone = with_room(self._gone, number)
            self._count += 1
            self._held += 1
            for f in filters:
                if f.constraints:
                    self._tiers.columns.add(f, number)
                else:
                    self._always.add(number)
            self._several += len(filters) > 1
        return number

    def remove(self, number: int, /) -> None:
        """Remove an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        with self._lock:
            self._at_rest = None
            self._asked = 0
            self._check(number)
            rows = len(self._tiers.columns.rows(number))
            self._several -= rows + (number in self._always) > 1
            self._always.discard(number)
            self._gone = with_room(self._gone, number)
            self._gone[number] = 1
            self._held -= 1
            self._still_there += 1
            if self._still_there > 64 + self._gone_share_max * self._held:
                self._consolidate()

    def consolidate(self) -> None:
        """Compile everything into one engine, without what was removed.

        A caller that cannot wait for it runs a :meth:`rebuild` elsewhere.
        """
        with self._lock:
            self._consolidate()

    def _consolidate(self) -> None:
        self._at_rest = None
        self._tiers.merge(self._gone)
        self._still_there = 0
        self._rebuild = None

    def leave_to_rebuilds(self) -> None:
        """Compile nothing large on the spot: the owner rebuilds now and then."""
        with self._lock:
            self._tiers.merged_max = MERGED_ROWS_MAX
            self._gone_share_max = inf

    def expect(self, notifications: Iterable[Mapping[str, Value]], /) -> None:
        """Lay filters out for traffic like these, as if it had come already.

        It changes no answer.  What is compiled from now on finds faster what these are
        like; they count until others have been matched, and only the last few hundred.

        Raises:
            InvalidNotificationError: if one has a value that none can have.
        """
        for notification in notifications:
            self._tiers.sample.keep(encode(notification))

    @property
    def at_rest(self) -> View | None:
        """Its view if all is compiled, so that the next batch costs what others do."""
        return self._at_rest

    @property
    def is_scattered(self) -> bool:
        """Whether a rebuild would leave fewer engines, or less of what was removed."""
        with self._lock:
            self._tiers.settle()
            return self._tiers.is_scattered or self._still_there > 0

    def rebuild(self) -> Rebuild:
        """Work that makes one engine of all that is there now.

        Run it in a thread, and matching and changes go on meanwhile; then
        :meth:`adopt` it.  A newer one takes the place of an older.
        """
        with self._lock:
            self._at_rest = None
            end = self._tiers.seal()
            self._rebuild = Rebuild(
                self._tiers.columns.copy(end),
                self._tiers.sample,
                self._gone,
                self._still_there,
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
            self._at_rest = None
            self._tiers.adopt(rebuild.engine, rebuild.columns)
            self._still_there -= rebuild.left_out
            self._rebuild = None
            return True

    @classmethod
    def of_piece(cls, piece: Piece, /) -> Self:
        """A table of many interests at once, each on an interface of its own number.

        As :meth:`add` one by one, without a thing to do for each.

        Raises:
            LimitError: if there are more than there are numbers.
        """
        if piece.interests > INTERESTS_MAX:
            raise LimitError("INTERESTS_MAX", INTERESTS_MAX, "interests")
        table = cls()
        table._tiers = Tiers(Columns(piece.rows, piece.spellings))
        table._count = table._held = piece.interests
        each = np.arange(piece.interests)
        table._labels = Labels(each, each.astype(np.int32))
        table._always = set(piece.always.tolist())
        table._several = with_several(piece.rows.owners, piece.always)
        table._gone = np.zeros(max(64, piece.interests), np.uint8)
        return table

    # --- Answers ------------------------------------------------------------------

    def match(
        self,
        notification: Mapping[str, Value],
        /,
        allowed: Collection[int] | None = None,
    ) -> frozenset[int]:
        """The interfaces that want the notification, of those that are allowed.

        With ``allowed`` this is the papers' ``CBF(m, B, T)``: the broadcast function
        says where a notification may go, the table who wants it.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        found = self.match_interfaces(*encode_all([notification]), allowed=allowed)
        _require_good(found.counts)
        return frozenset(found.interfaces.tolist())

    def match_filters(self, notification: Mapping[str, Value], /) -> list[int]:
        """The numbers of the interests that match, each once and in ascending order.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        found = self.match_batch([notification])
        _require_good(found.counts)
        return sorted(found.filters.tolist())

    def match_batch(self, notifications: Iterable[Mapping[str, Value]], /) -> Matches:
        """What matches each of many notifications.

        Raises:
            InvalidNotificationError: if one has a value that has no bytes.
        """
        return self.match_buffer(*encode_all(notifications))

    def match_buffer(
        self, blocks: bytes | memoryview, offsets: Longs, /, out: Ints | None = None
    ) -> Matches:
        """What matches each of many blocks that stand back to back in a buffer.

        A block that is bad has a count below zero, whose meaning is in
        :data:`siena.block.BLOCK_ERRORS`; the others are matched all the same.
        With ``out``, matches are written there while there is room.
        """
        found = self._view(len(offsets) - 1).match(blocks, offsets, out)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return found

    def view(self, messages: int) -> View:
        """All that matching needs, for so many messages.

        For those who ask engines again and again, and :meth:`see` what they have asked.
        """
        return self._at_rest or self._view(messages)

    def see(self, block: bytes) -> None:
        """Remember a good block: the table is laid out for such ones one day."""
        self._tiers.sample.keep(block)

    def match_arrow(
        self,
        batch: ArrowSource,
        /,
        *,
        json: str | None = None,
        labels: Ints | None = None,
    ) -> Matches:
        """What matches each row of an Arrow record batch, as of a block.

        A batch is whatever has ``__arrow_c_array__``.  Its columns are attributes,
        absent where they are null (:mod:`siena.matching.input.arrow` has the types); or
        ``json`` names a column in which each row is a notification in its JSON form.
        With ``labels``, see :meth:`match_labels`.

        Raises:
            TypeError: if it is no record batch, or a column has a type that no value
                has.
            ValueError: if two columns have one name, there is no column ``json``, or
                labels are not as they must be.
        """
        if json is not None:
            blocks, offsets, bad = encode_texts(read_texts(batch, json))
            if labels is None:
                found = self.match_buffer(blocks, offsets)
            else:
                found = self.match_labels(blocks, offsets, labels)
            # What the engine does not accept was no notification in the first place.
            bad |= found.counts < 0
            return Matches(
                np.where(bad, -Refusal.NOT_JSON, found.counts), found.filters
            )
        rows = read_batch(batch)
        return self._view().match_rows(rows, labels)

    def match_labels(
        self, blocks: bytes | memoryview, offsets: Longs, labels: Ints, /
    ) -> Matches:
        """As :meth:`match_buffer`, with the labels of interests, each once per block.

        ``labels[n]`` stands for interest ``n``, and is below the number of interests:
        whose an interest is, in whatever sense the caller has in mind.

        Raises:
            ValueError: if there are fewer labels than interests, or one is too high.
        """
        found = self._view(len(offsets) - 1).match_labels(blocks, offsets, labels)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return found

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
        view = self._view(len(offsets) - 1, bits=MASK_BITS)
        found = view.match_interfaces(blocks, offsets, allowed)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return found

    def match_by_interface(
        self, blocks: bytes | memoryview, offsets: Longs, /
    ) -> list[Delivery]:
        """For each interface that wants something: what, and because of which interest.

        What a broker writes to a connection stands together.
        """
        view = self._view(len(offsets) - 1)
        found = view.match(blocks, offsets)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return view.by_interface(found)

    def engine(self, *, as_masks: bool = False) -> Engine:
        """The engine of a table that was consolidated, made if there is none yet.

        For those who measure: the engine alone gives the answers of
        :meth:`match_buffer`, and :meth:`Engine.encode` and :meth:`Engine.cursor` are
        there too.  With ``as_masks`` the one that finds up to 64 interfaces as bits.

        Raises:
            ValueError: if one engine does not know everything: call
                :meth:`consolidate` first; there may be no predicates of several
                filters, and no filters without constraints.
        """
        view = self._view(bits=MASK_BITS if as_masks else 0)
        is_all = len(view.engines) == 1 and view.is_plain and not len(view.always)
        if not is_all or view.as_masks != as_masks:
            raise ValueError("one engine does not know all that is in this table")
        return view.engines[0]

    # --- Facts ---------------------------------------------------------------------

    def interface(self, number: int, /) -> int:
        """The interface of an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        self._check(number)
        return self._labels.interface(number)

    def attributes(self) -> list[str]:
        """The names that interests are about, of removed ones perhaps too; sorted."""
        with self._lock:
            return sorted(self._tiers.columns.attributes())

    def compared(self) -> dict[str, frozenset[Kind]]:
        """The same names, and whether they are compared with strings, numbers or times.

        >>> from siena.lang.parser import parse_predicate
        >>> table = ForwardingTable()
        >>> table.add(0, parse_predicate("x > 1 or x = big or ok = true"))
        0
        >>> {name: sorted(k.word for k in ks) for name, ks in table.compared().items()}
        {'ok': [], 'x': ['number', 'string']}
        """
        with self._lock:
            return dict(sorted(self._tiers.columns.compared().items()))

    def explain(
        self, notification: Mapping[str, Value], number: int, /
    ) -> list[Reason]:
        """Why an interest matches a notification or not, constraint by constraint.

        A predicate of one filter is explained as the filter.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        filters = self.filters(number)
        interest = filters[0] if len(filters) == 1 else Predicate(filters)
        return explain_matches(interest, notification)

    def filters(self, number: int, /) -> tuple[Filter, ...]:
        """The filters of an interest, of which one has to match.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        with self._lock:
            self._check(number)
            columns = self._tiers.columns
            filters = [columns.filter(row) for row in columns.rows(number)]
        if number in self._always:
            filters.append(Filter())
        return tuple(filters)

    def stats(self) -> Statistics:
        """What the table holds, and what it costs."""
        engines = self._view().engines
        held = self._gone[: self._count] == 0
        labels = self._labels.of[: self._count][held]
        return Statistics(
            filters=len(self),
            interfaces=len(np.unique(labels)),
            removed=self._still_there,
            tiers=tuple(len(tier) for tier in self._tiers if len(tier)),
            arena_bytes=sum(engine.nbytes for engine in engines),
            vocabulary_bytes=sum(engine.vocabulary_nbytes for engine in engines),
            compiled=COMPILED,
        )

    # --- Files --------------------------------------------------------------------

    def save(self, path: str | PathLike[str], /) -> str:
        """Compile everything into one engine, and store it in a file.

        What comes back is the SHA-256 of the contents: a good name for the file.  It
        replaces another file at once, and who has mapped that keeps it.
        """
        with self._lock:
            if self._still_there or not self._tiers.is_one:
                self._consolidate()
            (engine,), _ = self._tiers.engines(self._gone)
            rows = self._tiers.columns.snapshot()
            table = StoredTable(
                engine=engine.arrays,
                rows=rows,
                spellings=self._tiers.columns.spelled(rows.numbers),
                interfaces=self._labels.interfaces.copy(),
                labels=self._labels.of.copy(),
                gone=self._gone.copy(),
                always=np.array(sorted(self._always), np.int32),
                note=np.frombuffer(self.note, np.uint8),
                interests=self._count,
                several=self._several,
            )
        return write(Path(path), table)

    @classmethod
    def load(cls, path: str | PathLike[str], /, *, verify: bool = True) -> Self:
        """The table of a file, which is mapped and shared with others that do the same.

        Nothing is made for each filter; what a change needs is copied when the first
        one comes.  ``verify`` reads the whole file once; without it
        only the directory is checked, and the file is trusted as code is.  The file may
        be replaced, but not be written to, while it is mapped.

        Raises:
            TableFileError: if it is another file, damaged, or newer than this version.
        """
        stored = read(Path(path), verify=verify)
        table = cls()
        columns = Columns(stored.rows, stored.spellings)
        table._tiers = Tiers(columns, Engine(stored.engine))
        table._count = stored.interests
        table._held = stored.interests - int(np.count_nonzero(stored.gone))
        table._labels = Labels(stored.interfaces, stored.labels)
        table._always = set(stored.always.tolist())
        # What the file says of it leaves out `[] or …`, of which engines have a part.
        table._several = with_several(stored.rows.owners, stored.always)
        table._gone = stored.gone
        table.note = stored.note.data
        return table

    # --- What all of these need ---------------------------------------------------

    def _check(self, number: int) -> None:
        if not 0 <= number < self._count or self._gone[number]:
            raise UnknownFilterError(number)

    def _view(self, messages: int | None = None, *, bits: int = 0) -> View:
        """All that matching needs, as it is at one time.

        With a number of messages, the last few rows may be left to a loop; with bits,
        engines answer with masks if there are no more interfaces than that.
        """
        at_rest = self._at_rest
        if at_rest is not None and bits == 0:
            return at_rest
        with self._lock:
            is_whole = self._make_whole(messages or 0)
            labels = self._labels
            as_masks = bits > 0 and len(labels) <= bits and not self._still_there
            # What is found before it has been tested has a number, and no bit; there
            # are checks if there ever were, until the table is compacted.
            as_masks = as_masks and not self._tiers.columns.has_checks
            if as_masks:
                found = self._tiers.mask_engines(self._gone, labels.of, messages)
            else:
                found = self._tiers.engines(self._gone, messages)
            view = View(
                engines=found[0],
                fresh=found[1],
                as_masks=as_masks,
                always=np.array(sorted(self._always), np.int32),
                is_plain=not (self._still_there or self._several),
                interfaces=labels.interfaces,
                labels=labels.of,
                gone=self._gone,
                interests=self._count,
                is_scattered=self._tiers.is_scattered or self._still_there > 0,
                joiners=self._joiners,
            )
            if bits == 0 and view.fresh is None and is_whole:
                self._at_rest = view
            return view

    def _make_whole(self, messages: int) -> bool:
        """Compile a small table whole, if it is time; false if it still is to be."""
        tiers = self._tiers
        if len(tiers.columns) > WHOLE_ROWS_MAX:
            return True
        tiers.settle()
        if not (self._still_there or tiers.is_scattered):
            return True
        self._asked += messages
        if self._asked * max(1, tiers.fresh_rows) <= TESTED_MAX:
            return False
        self._consolidate()
        return True


def _require_good(counts: Ints) -> None:
    reason = -int(counts[0])
    if reason > 0:
        raise InvalidNotificationError(f"no notification: {BLOCK_ERRORS[reason]}")
