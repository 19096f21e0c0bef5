"""What a forwarding table holds: interests that come and go, on file and in engines.

Filters come and go under traffic: what is added goes into a small engine, made anew in
no time (:mod:`siena.matching.engine.tiers`); what is removed is marked, and left out
the next time its rows are compiled.  Either is in force for the next notification.
"""

from collections.abc import Mapping
from math import inf
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from siena.algebra.explanation import Reason, explain_matches
from siena.errors import LimitError
from siena.matching.answers import Statistics
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.linear_tier import LinearTier
from siena.matching.engine.rebuilding import Rebuild
from siena.matching.engine.table_file import StoredTable, read, write
from siena.matching.engine.tiers import Tiers
from siena.matching.kernels import COMPILED
from siena.matching.labels import Labels, with_room
from siena.matching.matcher import UnknownFilterError, filters_of
from siena.matching.pieces import Piece
from siena.model import Filter, Kind, Predicate, Value

# The share of removed filters at which everything is compiled without them.
GONE_SHARE_MAX = 0.5
# What a table compiles on the spot, if somebody rebuilds it: a few milliseconds.
MERGED_ROWS_MAX = 4_096
# Numbers of interests, which kernels keep in 32 bits.
INTERESTS_MAX = 2**31 - 1


class View(NamedTuple):
    """A table at one time: whoever changes it meanwhile does not disturb."""

    engines: list[Engine]
    fresh: LinearTier | None
    as_masks: bool
    always: list[int]
    # Whether engines find each interest that matches once, and no other.
    is_plain: bool
    interfaces: npt.NDArray[np.int64]
    labels: npt.NDArray[np.int32]


class Holding:
    """Interests under numbers, of which one thread at a time may change some.

    :class:`~siena.matching.table.ForwardingTable` is this, and finds what matches.
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
            number = self._count
            if number == INTERESTS_MAX:
                raise LimitError("INTERESTS_MAX", INTERESTS_MAX, "interests")
            self._labels.enter(number, interface)
            self._gone = with_room(self._gone, number)
            self._count += 1
            self._held += 1
            rows = [f for f in filters if f.constraints]
            for f in rows:
                self._tiers.columns.add(f, number)
            self._several += len(rows) > 1
            if len(rows) < len(filters):
                self._always.add(number)
        return number

    def remove(self, number: int, /) -> None:
        """Remove an interest.

        Raises:
            UnknownFilterError: if there is none under this number.
        """
        with self._lock:
            self._at_rest = None
            self._check(number)
            self._several -= len(self._tiers.columns.rows(number)) > 1
            self._always.discard(number)
            self._gone = with_room(self._gone, number)
            self._gone[number] = 1
            self._held -= 1
            self._still_there += 1
            if self._still_there > 64 + self._gone_share_max * self._held:
                self._consolidate()

    def consolidate(self) -> None:
        """Compile everything into one engine, without what was removed.

        Whoever cannot wait for it runs a :meth:`rebuild` elsewhere.
        """
        with self._lock:
            self._consolidate()

    def _consolidate(self) -> None:
        self._at_rest = None
        self._tiers.merge(self._gone)
        self._still_there = 0
        self._rebuild = None

    def leave_to_rebuilds(self) -> None:
        """Compile nothing large on the spot: somebody rebuilds now and then."""
        with self._lock:
            self._tiers.merged_max = MERGED_ROWS_MAX
            self._gone_share_max = inf

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
        table._several = int(np.count_nonzero(np.bincount(piece.rows.owners) > 1))
        table._gone = np.zeros(max(64, piece.interests), np.uint8)
        return table

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
        >>> table = Holding()
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
        with self._lock:
            self._check(number)
            columns = self._tiers.columns
            filters = [columns.filter(row) for row in columns.rows(number)]
        if number in self._always:
            filters.append(Filter())
        interest = filters[0] if len(filters) == 1 else Predicate(filters)
        return explain_matches(interest, notification)

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
        table._several = stored.several
        table._gone = stored.gone
        table.note = stored.note.data
        return table

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
                always=sorted(self._always),
                is_plain=not (self._still_there or self._always or self._several),
                interfaces=labels.interfaces,
                labels=labels.of,
            )
            if bits == 0 and view.fresh is None:
                self._at_rest = view
            return view
