"""Columns: the filters of a table as numbers, from which engines are made.

Each distinct constraint has a number, and each row, a filter, is a list of them.
Rows are only ever added; the ones that are gone are left out when an engine is made.
"""

import secrets
from array import array
from collections.abc import Iterable

import numpy as np

from siena.matching.layout import lay_out
from siena.matching.vocabulary import Arrays
from siena.model import Constraint, Filter


class Columns:
    """Filters, row by row, each with the owner that a match of it reports."""

    def __init__(self) -> None:
        # The number of each distinct constraint.
        self.numbers: dict[Constraint, int] = {}
        # Row r has the constraints members[offsets[r] : offsets[r + 1]].
        self.offsets = array("q", [0])
        self.members = array("i")
        self.owners = array("i")

    def __len__(self) -> int:
        return len(self.owners)

    def add(self, f: Filter, owner: int) -> None:
        """Add a row; a filter without constraints is nothing for an engine."""
        assert f.constraints
        self.members.extend(map(self._number, f.constraints))
        self.offsets.append(len(self.members))
        self.owners.append(owner)

    def extend(self, other: "Columns") -> None:
        """Add all rows of other columns."""
        numbers = [self._number(constraint) for constraint in other.numbers]
        start = len(self.members)
        self.members.extend(numbers[member] for member in other.members)
        self.offsets.extend(start + offset for offset in other.offsets[1:])
        self.owners.extend(other.owners)

    def _number(self, constraint: Constraint) -> int:
        return self.numbers.setdefault(constraint, len(self.numbers))

    def lay_out(self, gone: Iterable[int] = ()) -> Arrays:
        """The arrays of an engine for all rows but those of owners that are gone."""
        offsets = np.frombuffer(self.offsets, np.int64)
        members = np.frombuffer(self.members, np.int32) if self.members else _EMPTY
        owners = np.frombuffer(self.owners, np.int32) if self.owners else _EMPTY
        distinct = list(self.numbers)
        dropped = np.fromiter(gone, np.int32)
        if len(dropped):
            stays = ~np.isin(owners, dropped)
            sizes = np.diff(offsets)
            members = members[np.repeat(stays, sizes)]
            owners = owners[stays]
            offsets = np.concatenate([[0], np.cumsum(sizes[stays])]).astype(np.int64)
            # Constraints that nobody has any more would only make the ranks longer.
            used, renumbered = np.unique(members, return_inverse=True)
            members = renumbered.astype(np.int32)
            distinct = [distinct[number] for number in used]
        # A seed of its own for each table: nobody can prepare names that collide.
        seed = secrets.randbits(63)
        return lay_out(distinct, offsets, members, owners, seed)


_EMPTY = np.empty(0, np.int32)
