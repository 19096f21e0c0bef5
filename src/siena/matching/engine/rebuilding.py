"""A rebuild: everything in one engine, made elsewhere while others match."""

import secrets
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.sample import Sample


class Rebuild:
    """Work for another thread, handed out by a table's ``rebuild``."""

    def __init__(
        self,
        copy: Callable[[], Columns],
        sample: Sample,
        gone: npt.NDArray[np.uint8],
        left_out: int,
    ) -> None:
        self._copy = copy
        self._sample = sample
        self._gone = gone.copy()
        self.left_out = left_out
        """How many of the removed the engines still knew when it was handed out."""
        self.engine: Engine | None = None
        """What came of it."""
        self.columns = Columns()
        """The rows that it is made of: those that were there and not gone."""

    def run(self) -> None:
        """Compile, while matching and changes go on.

        Most of it leaves the GIL to others, and all of it the table's lock.
        """
        self.columns = self._copy()
        if self._gone.any():
            self.columns.drop(self._gone)
        self.columns = self.columns.compact()
        rows = self.columns.snapshot()
        self.engine = Engine(lay_out(rows, secrets.randbits(62), sample=self._sample))
