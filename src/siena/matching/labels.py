"""Labels: the interfaces of a table as 0, 1, 2, …, and which interest has which.

Kernels know interfaces only by their labels.  All is in arrays, so that a table from a
file needs no object for each interest.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
T = TypeVar("T", bound=np.generic)
Longs = npt.NDArray[np.int64]


class Labels:
    """The label of each interest, and the interface of each label.

    >>> labels = Labels()
    >>> labels.enter(0, 70), labels.enter(1, 80), labels.enter(2, 70)
    (0, 1, 0)
    >>> labels.interfaces, labels.interface(2)
    (array([70, 80]), 70)
    """

    def __init__(self, interfaces: Longs | None = None, of: Ints | None = None) -> None:
        self._interfaces = np.zeros(16, np.int64) if interfaces is None else interfaces
        self._count = 0 if interfaces is None else len(interfaces)
        self.of = np.zeros(64, np.int32) if of is None else of
        """Of each interest its label, with room for more."""
        # Made when the first is entered: a table from a file may never be changed.
        self._labels: dict[int, int] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def interfaces(self) -> Longs:
        """The interfaces in the order of their labels."""
        return self._interfaces[: self._count]

    def interface(self, number: int) -> int:
        """The interface of an interest."""
        return int(self._interfaces[self.of[number]])

    def enter(self, number: int, interface: int) -> int:
        """Give an interest the label of its interface, new or not."""
        if self._labels is None:
            known = self.interfaces.tolist()
            self._labels = {one: label for label, one in enumerate(known)}
            self.of = with_room(self.of, number)  # that may be written to
        label = self._labels.get(interface)
        if label is None:
            label = self._count
            self._interfaces = with_room(self._interfaces, label)
            self._interfaces[label] = interface
            self._labels[interface] = label
            self._count += 1
        if number >= len(self.of):
            self.of = with_room(self.of, number)
        self.of[number] = label
        return label


def with_room(column: npt.NDArray[T], place: int) -> npt.NDArray[T]:
    """The column, or a longer copy in which there is this place.

    A column from a file, which must not be written to, is copied as well.

    >>> len(with_room(np.zeros(64, np.int32), 2_007))
    2008
    """
    if place >= len(column):
        size = max(64, 2 * len(column), place + 1)
        return np.concatenate([column, np.zeros(size - len(column), column.dtype)])
    return column if column.flags.writeable else column.copy()
