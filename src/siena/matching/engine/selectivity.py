"""How likely constraints are to hold, so that filters are stored where few look.

A wrong answer here costs time, never a match.
"""

import numpy as np
import numpy.typing as npt

from siena.matching.engine.arena import Arena
from siena.matching.engine.checking.codes import BEYOND
from siena.matching.engine.columns import (
    BAND,
    CONTAINED,
    EQ,
    GT,
    LT,
    NE,
    RANK_MAX,
    REVERSED,
    STRING,
    SUBSTRING,
    Snapshot,
)
from siena.matching.engine.engine import Engine, Recorded
from siena.matching.engine.intervals import Table
from siena.matching.engine.operands import gathered, texts_of
from siena.matching.engine.ranks import Arrays, Ints, Longs
from siena.matching.input.buffers import encode_all
from siena.matching.sample import Sample

Floats = npt.NDArray[np.float64]

# A guess weighs as much as this many notifications of the sample.
GUESS_WEIGHT = 8.0
# Operands of which it is asked what they contain, and how many bytes each has at most.
ECHOES_MAX = 2_048
ECHO_BYTES_MAX = 256
# Of a name with few operands they say little: as if there were so many more.
ECHO_WEIGHT = 20.0


def guess(table: Table, members: Ints) -> Floats:
    """A guess from the filters alone.

    What filters often name and compare with, notifications are taken to contain often.
    """
    name, kind = table.name, table.kind
    uses, uses_of_name, presence = _uses(table, members)
    # An operand is as likely to be the value as its share among the operands.
    share = (uses + 1.0) / (uses_of_name + 20.0)
    highest = np.maximum(2, _highest(table))
    reach = np.clip(table.last / highest, 0.05, 1.0)
    start = np.clip(1.0 - table.first / highest, 0.05, 1.0)
    width = np.clip((table.last - table.first + 1) / highest, 0.001, 1.0)
    found = np.select(
        [*(kind == k for k in (EQ, LT, GT, NE, BAND)), kind <= SUBSTRING],
        [share, reach, start, np.full(len(name), 0.97), width, 2.0 * share],
        1.0,
    )
    return np.asarray(presence * np.minimum(found, 1.0))


def _uses(table: Table, members: Ints) -> tuple[Floats, Floats, Floats]:
    """Of each constraint how many filters have it, and its name; how often that is."""
    uses = np.bincount(members, minlength=len(table.name)).astype(np.float64)
    total = np.bincount(table.name, weights=uses).astype(np.float64)
    uses_of_name = total[table.name]
    return uses, uses_of_name, uses_of_name / max(1.0, uses_of_name.max(initial=0.0))


def echo(table: Table, members: Ints, arrays: Arrays, snapshot: Snapshot) -> Floats:
    """A guess, raised where the operands of a name contain each other.

    Filters name programs and paths, and what most of these end with or contain, as in
    ``ends with .exe``, most values will, however few filters ask for it.
    """
    guessed = guess(table, members)
    blocks, offsets, names = _echoes(snapshot)
    try:
        found = _hits(table, arrays, blocks, offsets)
    except ValueError:  # more is in them than there is room for
        return guessed
    total = np.bincount(names, minlength=table.name.max(initial=0) + 1)[table.name]
    # One of them may be the constraint's own operand, which says nothing.
    share = np.maximum(found - 1.0, 0.0) / (total + ECHO_WEIGHT)
    is_text = table.kind <= SUBSTRING
    presence = _uses(table, members)[2]
    return np.minimum(guessed + np.where(is_text, share * presence, 0.0), 1.0)


def _echoes(s: Snapshot) -> tuple[bytes, Longs, Ints]:
    """Notifications that have an operand each, as a value of its name; and the names.

    Those of many operands that are taken stand evenly among them.
    """
    is_text = (s.dimension >= STRING) & (s.dimension <= CONTAINED)
    is_text &= (s.kind <= SUBSTRING) | (s.kind >= BEYOND)
    which = np.flatnonzero(is_text)
    sizes = np.diff(s.strings.starts)[s.whole[which]]
    which = which[sizes <= ECHO_BYTES_MAX]
    step = max(1, -(-len(which) // ECHOES_MAX))
    which = which[::step]
    called = [name.decode() for name in texts_of(s.names)]
    texts = texts_of(gathered(s.strings, s.whole[which].astype(np.int32)))
    names = s.name[which]
    is_reversed = (s.dimension[which] == REVERSED).tolist()
    blocks, offsets = encode_all(
        {called[name]: (text[::-1] if is_turned else text).decode()}
        for name, text, is_turned in zip(
            names.tolist(), texts, is_reversed, strict=True
        )
    )
    return blocks, offsets, names


def learn(guessed: Floats, table: Table, arrays: Arrays, sample: Sample) -> Floats:
    """The guess, corrected by how often each constraint holds in a sample."""
    blocks, offsets = sample.blocks()
    total = len(offsets) - 1
    hits = _hits(table, arrays, blocks, offsets)
    return (hits + GUESS_WEIGHT * guessed) / (total + GUESS_WEIGHT)


def _hits(table: Table, arrays: Arrays, blocks: bytes, offsets: Longs) -> Floats:
    """Of how many notifications each constraint holds."""
    read = _reader(arrays).record(blocks, offsets)
    dimension, rank = _coordinates(read)
    order = np.lexsort((rank, dimension))
    keys = dimension[order] * _STRIDE + rank[order]
    base = table.dimension * _STRIDE
    inside = np.searchsorted(keys, base + table.last, "right")
    inside -= np.searchsorted(keys, base + table.first, "left")
    present = np.searchsorted(keys, base + _STRIDE) - np.searchsorted(keys, base)
    hits = np.where(table.negated > 0, present - inside, inside)
    return np.asarray(hits, np.float64)


_STRIDE = np.int64(2**32)


def _reader(arrays: Arrays) -> Engine:
    """An engine that holds no filter, but ranks values as the one to come will."""
    names = int(arrays["header"][2])
    empty = np.empty(0, np.int32)
    table = Table(*(empty for _ in Table._fields))
    arena = Arena(table, np.zeros(1, np.int64), empty, empty, names, as_masks=False)
    return Engine({**arrays, **arena.arrays()})


def _coordinates(read: Recorded) -> tuple[Longs, Ints]:
    """Dimension and rank of all coordinates of a tape; its form is in the kernel.

    In the place of a remembered value stand the operands that it contains.
    """
    dimensions, ranks = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for start in read.starts[:-1].tolist():
        count = int(read.tape[start])
        rows = read.tape[start + 3 : start + 3 + 9 * count].reshape(-1, 9)
        found = 8 * rows[:, :1].astype(np.int64) + np.arange(8)
        is_set = rows[:, 1:] >= 0
        is_set[:, CONTAINED] = False
        dimensions.append(found[is_set])
        ranks.append(rows[:, 1:][is_set])
        for name, entry in rows[rows[:, 1 + CONTAINED] >= 0][:, [0, 1 + CONTAINED]]:
            at = int(read.memory[16 * int(entry) + 6])
            operands = read.lists[at + 1 : at + 1 + int(read.lists[at])]
            ranks.append(operands)
            dimensions.append(np.full(len(operands), 8 * int(name) + CONTAINED))
    return np.concatenate(dimensions), np.concatenate(ranks)


def _highest(table: Table) -> Ints:
    """The highest rank that occurs on the dimension of each constraint."""
    ranks = np.where(table.last < RANK_MAX, table.last, table.first)
    highest = np.zeros(table.dimension.max(initial=0) + 1, np.int32)
    np.maximum.at(highest, table.dimension, ranks)
    return np.asarray(highest[table.dimension])
