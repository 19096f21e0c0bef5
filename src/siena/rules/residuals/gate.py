"""The gate before residuals: which candidates may hold, by one look at each event."""

from collections.abc import Iterable, Sequence

import numpy as np

from siena.matching.texts import Bools, Longs, Octets, Sightings, Sought, TextFinder


class Gate:
    """Lets candidates through to their residuals, all but those that cannot hold.

    It is asked about a batch of events in steps: which rows it has to see, what they
    are, and then which candidates remain.

    >>> from siena.matching.input.buffers import encode_all
    >>> gate = Gate([None, Sought(frozenset({"evil"}))])
    >>> data, offsets = encode_all([{"x": "Evil!"}, {"x": "good"}])
    >>> rows, numbers = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> gate.of_blocks(data, offsets, rows, numbers).tolist()
    [True, True, True, False]
    """

    def __init__(self, wanted: Sequence[Sought | None]) -> None:
        self._finder = TextFinder(wanted)

    def of_blocks(
        self, data: bytes | memoryview, offsets: Longs, rows: Longs, numbers: Longs
    ) -> Bools:
        """Whether the residual of each candidate may hold of its block."""
        looked_at = self.looked_at(rows, numbers)
        seen = self._finder.sightings(len(offsets) - 1)
        self._finder.look(data, offsets, looked_at, seen, are_blocks=True)
        return self._finder.may_be(seen, rows, numbers)

    def of_columns(
        self,
        count: int,
        columns: Iterable[tuple[Octets, Longs] | None],
        rows: Longs,
        numbers: Longs,
    ) -> Bools:
        """The same of rows of columns: strings and their offsets, or none of those."""
        looked_at = self.looked_at(rows, numbers)
        seen = self._finder.sightings(count)
        for column in columns:
            self._see(column, looked_at, seen)
        return self._finder.may_be(seen, rows, numbers)

    def looked_at(self, rows: Longs, numbers: Longs) -> Longs:
        """The rows with a candidate that depends on what is in them; rows ascend."""
        some = rows[self._finder.is_known[numbers]]
        return some[np.diff(some, prepend=-1) > 0]

    def _see(
        self, column: tuple[Octets, Longs] | None, rows: Longs, seen: Sightings
    ) -> None:
        if column is None:
            seen.flags[:] |= 1
        else:
            self._finder.look(*column, rows, seen, are_blocks=False)
