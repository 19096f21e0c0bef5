"""Operands without objects, as columns hold them.

Strings are bytes one behind the other, and where each begins; numbers are two parts,
which the kernels compare exactly, whatever the kind.  What stands in columns is
numbered, and numbered anew where only some of it is wanted.
"""

import math
from array import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.model.values import INTEGER_MAX, INTEGER_MIN

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Items that are copied at once: less than a millisecond.
_PIECE = 65_536


class Texts(NamedTuple):
    """Strings, one behind the other: where each begins, and the last one ends."""

    pool: npt.NDArray[np.uint8]
    starts: Longs


def texts_of(texts: Texts) -> list[bytes]:
    """The strings themselves."""
    pool = texts.pool.tobytes()
    starts = texts.starts.tolist()
    return [pool[start:end] for start, end in pairwise(starts)]


def gathered(texts: Texts, which: Ints) -> Texts:
    """Some of the strings, in this order, as copies."""
    sizes = texts.starts[which + 1] - texts.starts[which]
    ends = np.zeros(len(which) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    at = np.repeat(texts.starts[which] - ends[:-1], sizes) + np.arange(ends[-1])
    pool = texts.pool[at]
    # A kernel wants at least one byte to point at.
    return Texts(pool if len(pool) else np.zeros(1, np.uint8), ends)


class Strings:
    """Distinct strings of bytes, numbered, one behind the other."""

    def __init__(self, texts: Texts | None = None) -> None:
        self._numbers: dict[bytes, int] = {}
        self.pool = bytearray()
        self.starts = array("q", [0])
        if texts is not None:
            self.pool += texts.pool[: texts.starts[-1]].tobytes()
            self.starts = array("q", texts.starts.tobytes())

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[bytes]:
        return (bytes(self.pool[i:j]) for i, j in pairwise(self.starts))

    def number(self, text: bytes) -> int:
        """The number of a string, new or not."""
        count = len(self.starts) - 1
        if len(self._numbers) < count:
            self.know()
        number = self._numbers.setdefault(text, count)
        if number == count:
            self.pool += text
            self.starts.append(len(self.pool))
        return number

    def know(self) -> None:
        """Be ready to number strings, if those that are here came from elsewhere."""
        if len(self._numbers) < len(self):
            own = Texts(np.array(self.pool, np.uint8), np.array(self.starts))
            self._numbers = {t: n for n, t in enumerate(texts_of(own))}

    def copy(self) -> Callable[[], "Strings"]:
        """What copies these strings, as ``Columns.copy`` does columns."""
        pool, starts, size, end = self.pool, self.starts, len(self.pool), len(self) + 1

        def make() -> Strings:
            made = Strings()
            made.starts.pop()
            extend(made.pool, pool, size)
            extend(made.starts, starts, end)
            return made

        return make

    def some(self, numbers: Ints) -> Texts:
        """Some of the strings, in this order."""
        pool = np.frombuffer(self.pool or b"\0", np.uint8)
        return gathered(Texts(pool, np.frombuffer(self.starts, np.int64)), numbers)


def successor(text: bytes) -> bytes:
    """The least bytes above all that begin with the text.

    No byte of UTF-8 is the last byte there is, so the last can be counted up.
    """
    return text[:-1] + bytes([text[-1] + 1])


def extend(made: Any, column: Any, end: int) -> None:  # noqa: ANN401 -- or bytes
    """Append the first items of a column, so few at a time that no reader waits."""
    for start in range(0, end, _PIECE):
        made.extend(column[start : min(end, start + _PIECE)])


def some(column: "array[int] | array[float]", which: Ints) -> npt.NDArray[Any]:
    """Some items of a column, as a copy: while a view is held it could not grow."""
    if not len(which):
        return np.empty(0, column.typecode)
    return np.frombuffer(column, column.typecode)[which]


def numbered_anew(numbers: Ints, bound: int) -> tuple[Ints, Ints]:
    """The distinct numbers, all below a bound, and each as its place among them."""
    if len(numbers) * 8 < bound:
        found, inverse = np.unique(numbers, return_inverse=True)
        return found.astype(np.int32), inverse.astype(np.int32)
    # So many that it is cheaper to mark them than to sort them.
    marks = np.zeros(bound, np.bool_)
    marks[numbers] = True
    places = np.cumsum(marks, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(marks).astype(np.int32), places[numbers]


def split(value: float) -> tuple[int, float]:
    """A number as a whole part and a rest, which compare as the number does.

    Every integer of 64 bits and every double has such a pair, exactly; what is
    beyond 64 bits keeps itself as its rest.  The whole part is that towards zero: what
    is left of a small number is then the number itself, and nothing is rounded.

    >>> split(2.75), split(-1.25), split(-1e-20), split(2**53 + 1)
    ((2, 0.75), (-1, -0.25), (0, -1e-20), (9007199254740993, 0.0))
    """
    if isinstance(value, int):
        return value, 0.0
    if value >= 2.0**63:
        return INTEGER_MAX, value
    if value < -(2.0**63):
        return INTEGER_MIN, value
    whole = math.trunc(value)
    return whole, value - whole
