"""What a forwarding table answers: who wants what, and what the table costs."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.engine.engine import Matches

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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


def restricted(found: Matches, is_open: Bools) -> Matches:
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


def without(found: Matches, blocks: Collection[int], reason: int) -> Matches:
    """The same, with some blocks bad for a reason, unless they are bad already.

    >>> found = Matches(np.array([1, 2, -3, 1]), np.array([7, 7, 8, 9]))
    >>> without(found, [1, 2], 5)
    Matches(counts=array([ 1, -5, -3,  1]), filters=array([7, 9]))
    """
    if not blocks:
        return found
    counts = found.counts
    is_bad = np.zeros(len(counts), np.bool_)
    is_bad[list(blocks)] = True
    kept = np.repeat(~is_bad, np.maximum(counts, 0))
    return Matches(
        np.where(is_bad & (counts >= 0), -reason, counts).astype(counts.dtype),
        found.filters[: len(kept)][kept],
    )
