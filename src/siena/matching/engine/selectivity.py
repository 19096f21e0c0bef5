"""How likely constraints are to hold, so that filters are stored where few look.

A wrong answer here costs time, never a match.
"""

import numpy as np
import numpy.typing as npt

from siena.matching.engine.arena import Arena
from siena.matching.engine.columns import (
    BAND,
    CONTAINED,
    EQ,
    GT,
    LT,
    NE,
    RANK_MAX,
    SUBSTRING,
)
from siena.matching.engine.engine import Engine, Recorded
from siena.matching.engine.intervals import Table
from siena.matching.engine.ranks import Arrays, Ints
from siena.matching.sample import Sample

Floats = npt.NDArray[np.float64]

# A guess weighs as much as this many notifications of the sample.
GUESS_WEIGHT = 8.0


def guess(table: Table, members: Ints) -> Floats:
    """A guess from the filters alone.

    What filters often name and compare with, notifications are taken to contain often.
    """
    name, kind = table.name, table.kind
    uses = np.bincount(members, minlength=len(name)).astype(np.float64)
    uses_of_name = np.bincount(name, weights=uses)[name] if len(name) else uses
    presence = uses_of_name / max(1.0, uses_of_name.max(initial=0.0))
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


def learn(guessed: Floats, table: Table, arrays: Arrays, sample: Sample) -> Floats:
    """The guess, corrected by how often each constraint holds in a sample."""
    blocks, offsets = sample.blocks()
    total = len(offsets) - 1
    read = _reader(arrays).record(blocks, offsets)
    dimension, rank = _coordinates(read)
    order = np.lexsort((rank, dimension))
    keys = dimension[order] * _STRIDE + rank[order]
    base = table.dimension * _STRIDE
    inside = np.searchsorted(keys, base + table.last, "right")
    inside -= np.searchsorted(keys, base + table.first, "left")
    present = np.searchsorted(keys, base + _STRIDE) - np.searchsorted(keys, base)
    hits = np.where(table.negated > 0, present - inside, inside).astype(np.float64)
    # What a value contains is no interval: only whether it is there is known.
    contained = table.dimension & 7 == CONTAINED
    hits[contained] = (guessed * present)[contained]
    return (hits + GUESS_WEIGHT * guessed) / (total + GUESS_WEIGHT)


_STRIDE = np.int64(2**32)


def _reader(arrays: Arrays) -> Engine:
    """An engine that holds no filter, but ranks values as the one to come will."""
    names = int(arrays["header"][2])
    empty = np.empty(0, np.int32)
    table = Table(*(empty for _ in Table._fields))
    arena = Arena(table, np.zeros(1, np.int64), empty, empty, names, as_masks=False)
    return Engine({**arrays, **arena.arrays()})


def _coordinates(read: Recorded) -> tuple[npt.NDArray[np.int64], Ints]:
    """Dimension and rank of all coordinates of a tape; its form is in the kernel."""
    dimensions, ranks = [], []
    for start in read.starts[:-1].tolist():
        count = int(read.tape[start])
        rows = read.tape[start + 3 : start + 3 + 9 * count].reshape(-1, 9)
        found = 8 * rows[:, :1].astype(np.int64) + np.arange(8)
        is_set = rows[:, 1:] >= 0
        dimensions.append(found[is_set])
        ranks.append(rows[:, 1:][is_set])
    return np.concatenate(dimensions), np.concatenate(ranks)


def _highest(table: Table) -> Ints:
    """The highest rank that occurs on the dimension of each constraint."""
    ranks = np.where(table.last < RANK_MAX, table.last, table.first)
    highest = np.zeros(table.dimension.max(initial=0) + 1, np.int32)
    np.maximum.at(highest, table.dimension, ranks)
    return np.asarray(highest[table.dimension])
