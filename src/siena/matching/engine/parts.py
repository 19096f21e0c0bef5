"""Parts: filters that stand together, sorted by one constraint each.

Where many filters have come the same way, through an equality or a pair of names, the
next constraint of each says whether it is worth reading at all.  Those whose next
constraint is of one form and on one dimension are sorted by it, so that the kernel
finds by a search the few that can match (:mod:`siena.matching.kernels.match`).
"""

from typing import NamedTuple

import numpy as np

from siena.matching.engine.columns import (
    ANY,
    BAND,
    CONTAINED,
    EQ,
    GT,
    LT,
    PREFIX,
    SUFFIX,
)
from siena.matching.engine.intervals import Table
from siena.matching.engine.ranks import Ints, Longs

# Up to this many filters are tested one by one rather than searched for.
FEW = 16
# Forms of constraints; the kernels have the same numbers.
RISING, FALLING, EQUAL, BANDED = range(4)
# A tag: the dimension, the form, how wide bands are, how many constraints follow.
FORM_SHIFT, WIDTH_SHIFT, REST_MAX = 18, 13, 2**13 - 1
NO_TAG = -1


class Parts(NamedTuple):
    """What is needed to say which filters are sorted together, and by what."""

    table: Table
    offsets: Longs
    members: Ints

    def of(self, which: Longs, runs: Longs, *, skipped: int) -> tuple[Longs, Ints]:
        """The tags and keys of some filters, each by its constraint behind ``skipped``.

        Filters that are few of a tag within a run have none, and those without a run.
        """
        first, end = self.offsets[which] + skipped, self.offsets[which + 1]
        runs = np.where(first < end, runs, -1)
        at = self.members[np.minimum(first, len(self.members) - 1)]
        t = self.table
        kind, low, high = t.kind[at], t.first[at], t.last[at]
        form = _FORMS[kind]
        rest = end - first - 1
        fits = (form >= 0) & (runs >= 0) & (rest <= REST_MAX)
        # One constraint more is tested as an interval, which a substring is not.
        after = self.members[np.minimum(first + 1, len(self.members) - 1)]
        fits &= (rest != 1) | (t.dimension[after] & 7 != CONTAINED)
        # Bands of about the same width: no wide one makes the search look further.
        width = np.where(form == BANDED, _half_bits(high - low), 0)
        tag = t.dimension[at].astype(np.int64) * (4 << FORM_SHIFT)
        tag += (form.astype(np.int64) << FORM_SHIFT) + (width << WIDTH_SHIFT) + rest
        tag = _common(np.where(fits, tag, NO_TAG), runs)
        return tag, np.stack([np.where(form == FALLING, -high, low), high], 1)


# The form of each kind of constraints, or -1: unequal and contained is no interval.
_FORMS = np.full(9, -1, np.int32)
_FORMS[[GT, ANY]] = RISING
_FORMS[LT] = FALLING
_FORMS[EQ] = EQUAL
_FORMS[[BAND, PREFIX, SUFFIX]] = BANDED


def _half_bits(width: Ints) -> Longs:
    """Half as many as there are bits in each width."""
    return ((np.frexp(width.astype(np.float64))[1] + 1) // 2).astype(np.int64)


def _common(tags: Longs, runs: Longs) -> Longs:
    """The tags, or none where few filters of the run have it."""
    order = np.lexsort((tags, runs))
    changed = np.ones(len(order), np.bool_)
    changed[1:] = np.diff(tags[order]) != 0
    changed[1:] |= np.diff(runs[order]) != 0
    sizes = np.diff(np.append(np.flatnonzero(changed), len(order)))
    common = np.empty(len(tags), np.int64)
    common[order] = np.where(np.repeat(sizes, sizes) > FEW, tags[order], NO_TAG)
    return common
