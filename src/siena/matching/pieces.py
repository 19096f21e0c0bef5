"""Many interests at once: made into pieces anywhere, and joined to one table.

To read a filter takes longer than to do anything else with it, and what is read is
Python's.  So a piece is made wherever there is a processor, and it is arrays from then
on: joining pieces costs a look at each *distinct* constraint, and nothing for a filter.
:meth:`~siena.matching.table.ForwardingTable.add` one by one is the slow twin.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.engine.columns import ANY, CONTAINED, STRING, Columns, Snapshot
from siena.matching.engine.operands import Texts, texts_of
from siena.matching.matcher import filters_of
from siena.model import Filter, Predicate

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]


class Piece(NamedTuple):
    """Interests as numbers; those that own rows count from 0.

    It is made of arrays alone, and goes from process to process as a pickle.
    """

    rows: Snapshot
    spellings: Texts  # of each constraint
    always: Ints  # interests with a filter that matches everything
    interests: int


def make_piece(interests: Iterable[Filter | Predicate]) -> Piece:
    """The interests, in their order.

    Cost: about 10 µs each, and what it takes to read them.
    """
    columns = Columns()
    always: list[int] = []
    count = 0
    for interest in interests:
        filters = filters_of(interest)
        for f in filters:
            if f.constraints:
                columns.add(f, count)
        if not all(f.constraints for f in filters):
            always.append(count)
        count += 1
    rows = columns.snapshot()
    spellings = columns.spelled(rows.numbers)
    return Piece(rows, spellings, np.array(always, np.int32), count)


def join_pieces(pieces: Sequence[Piece]) -> Piece:
    """All interests of all pieces, in their order; each constraint once."""
    if len(pieces) == 1:
        return pieces[0]
    constraints, names, strings = _Numbers(), _Numbers(), _Numbers()
    parts: list[Snapshot] = []
    always: list[Ints] = []
    interests = 0
    for piece in pieces:
        rows = piece.rows
        to_name = names.enter(texts_of(rows.names))
        to_string = strings.enter(texts_of(rows.strings))
        before = len(constraints.of)
        to_constraint = constraints.enter(texts_of(piece.spellings))
        new = np.flatnonzero(to_constraint >= before)
        texts = (rows.dimension >= STRING) & (rows.dimension <= CONTAINED)
        texts &= rows.kind != ANY
        whole, upper = rows.whole.copy(), rows.upper.copy()
        whole[texts] = to_string[whole[texts]]
        ends = texts & (upper >= 0)
        upper[ends] = to_string[upper[ends]]
        parts.append(
            rows._replace(
                offsets=np.diff(rows.offsets),
                members=to_constraint[rows.members],
                owners=rows.owners + np.int32(interests),
                name=to_name[rows.name][new],
                dimension=rows.dimension[new],
                kind=rows.kind[new],
                closed=rows.closed[new],
                whole=whole[new],
                rest=rows.rest[new],
                upper=upper[new],
            )
        )
        always.append(piece.always + np.int32(interests))
        interests += piece.interests
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Snapshot._fields
        if name not in {"offsets", "numbers", "names", "strings"}
    }
    rows = Snapshot(
        **joined,
        offsets=_offsets(np.concatenate([part.offsets for part in parts])),
        numbers=np.arange(len(constraints.of), dtype=np.int32),
        names=names.texts(),
        strings=strings.texts(),
    )
    return Piece(rows, constraints.texts(), np.concatenate(always), interests)


def pick(piece: Piece, which: Ints) -> Piece:
    """Interests of a piece in another order, some of them perhaps several times."""
    if len(which) == piece.interests and bool((which[1:] > which[:-1]).all()):
        return piece  # each once, in their order
    rows = piece.rows
    sizes = np.bincount(rows.owners, minlength=piece.interests)
    starts = _offsets(sizes)
    chosen = _ranges(starts[which], sizes[which])
    owners = np.repeat(np.arange(len(which), dtype=np.int32), sizes[which])
    lengths = np.diff(rows.offsets)[chosen]
    matches_all = np.zeros(piece.interests, np.bool_)
    matches_all[piece.always] = True
    picked = rows._replace(
        offsets=_offsets(lengths),
        members=rows.members[_ranges(rows.offsets[chosen], lengths)],
        owners=owners,
    )
    always = np.flatnonzero(matches_all[which]).astype(np.int32)
    return Piece(picked, piece.spellings, always, len(which))


class _Numbers:
    """Distinct strings in the order in which they came."""

    def __init__(self) -> None:
        self.of: dict[bytes, int] = {}

    def enter(self, texts: list[bytes]) -> Ints:
        """The number of each, new or not; new ones ascend."""
        of = self.of
        found = (of.setdefault(text, len(of)) for text in texts)
        return np.fromiter(found, np.int32, len(texts))

    def texts(self) -> Texts:
        """The strings themselves."""
        sizes = np.fromiter(map(len, self.of), np.int64, len(self.of))
        pool = np.frombuffer(b"".join(self.of) or b"\0", np.uint8)
        return Texts(pool, _offsets(sizes))


def _offsets(sizes: Longs) -> Longs:
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def _ranges(starts: Longs, sizes: Longs) -> Longs:
    """The numbers ``start, start + 1, …`` of each range, one behind the other."""
    ends = _offsets(sizes)
    found: Longs = np.repeat(starts - ends[:-1], sizes) + np.arange(ends[-1])
    return found


def with_several(owners: Ints, always: Ints) -> int:
    """How many interests have several filters: rows, or one that matches everything."""
    filters = np.bincount(np.concatenate([owners, always]))
    return int(np.count_nonzero(filters > 1))
