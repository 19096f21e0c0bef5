"""Some items of columns, and numbers for them that leave none out."""

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]


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
