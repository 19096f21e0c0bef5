"""A rebuild: everything in one engine, made elsewhere while others match."""

import secrets
from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt

from siena.matching.engine import Engine
from siena.matching.layout import lay_out
from siena.matching.tiers import Tiers


class Rebuild:
    """Work for another thread, handed out by a table's ``rebuild``."""

    def __init__(
        self,
        lock: AbstractContextManager[object],
        tiers: Tiers,
        end: int,
        gone: npt.NDArray[np.uint8],
        left_out: int,
    ) -> None:
        self._lock = lock
        self._tiers = tiers
        self._end = end
        self.gone = gone.copy()
        """What had been removed when the work was handed out."""
        self.left_out = left_out
        """How many of those the engines of that time still knew."""
        self.engine: Engine | None = None
        """What came of it."""

    def run(self) -> None:
        """Compile, while matching and changes go on.

        Most of it leaves the GIL to others, and all but the beginning the table's lock.
        """
        with self._lock:
            snapshot = self._tiers.columns.snapshot(0, self._end, self.gone)
        sample = self._tiers.sample
        self.engine = Engine(lay_out(snapshot, secrets.randbits(62), sample=sample))
