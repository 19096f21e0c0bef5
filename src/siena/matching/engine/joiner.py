"""What several engines found, put together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from siena.matching.engine.engine import Matches
from siena.matching.kernels.join import join

Ints = npt.NDArray[np.int32]

# Instead of labels: every filter is its own.
ONLY_ONE_LABEL = np.zeros(1, np.int32)
# Serials begin anew before they leave 32 bits.
_SERIAL_MAX = 2**31 - 1


class Joiner:
    """Joins matches, for one thread at a time."""

    def __init__(self) -> None:
        self._stamps = np.zeros(0, np.int32)
        self._serial = 1

    def join(
        self,
        parts: Sequence[Matches],
        always: Sequence[int],
        gone: npt.NDArray[np.uint8],
        labels: Ints,
    ) -> Matches:
        """The matches of all parts and ``always``, each once, but what is gone.

        Instead of filters, their labels; see :data:`ONLY_ONE_LABEL`.
        """
        messages = len(parts[0].counts)
        if len(self._stamps) < len(gone) or self._serial + messages > _SERIAL_MAX:
            self._stamps = np.zeros(len(gone), np.int32)
            self._serial = 1
        filters = np.concatenate([*(part.filters for part in parts), [0]])
        sizes = [len(part.filters) for part in parts]
        starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
        out = np.empty(len(filters) + len(always) * messages + 1, np.int32)
        counts = np.zeros(messages, np.int32)
        found = join(
            np.stack([part.counts for part in parts]),
            starts,
            filters.astype(np.int32),
            np.array([*always, 0], np.int32),
            gone,
            labels,
            self._stamps,
            self._serial,
            out,
            counts,
        )
        self._serial += messages
        return Matches(counts, out[:found])
