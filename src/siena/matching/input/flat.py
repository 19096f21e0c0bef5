"""Notifications as columns of numbers: what stands before any matching.

Names become the numbers that a kernel has for them, and those that no filter has are
left out.  Values are numbers of 64 bits; strings stand back to back beside them.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.algebra.keys import key_of
from siena.errors import LimitError
from siena.model import Kind, Value
from siena.model.limits import ATTRIBUTES_MAX

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Kinds of values; the kernel has the same numbers.
SIGNED, FLOATING, BOOLEAN, TEXT, TIME = 0, 2, 3, 4, 8


class Flat(NamedTuple):
    """The attributes of notification ``m`` are ``starts[m]`` to ``starts[m + 1]``.

    Of a float the value is its bits, of a string the number of its text, of a time its
    microseconds.
    """

    names: Ints
    kinds: Ints
    values: Longs
    starts: Longs


def flatten(
    notifications: Iterable[Mapping[str, Value]],
    find_names: Callable[[Sequence[bytes]], Sequence[int]],
) -> tuple[Flat, Longs, npt.NDArray[np.uint8]]:
    """The notifications, and where each text begins among all texts.

    >>> flat, offsets, texts = flatten([{"x": 7, "y": "abc", "z": 0}], lambda _: [4])
    >>> flat.names.tolist(), flat.kinds.tolist(), flat.values.tolist()
    ([4, 4, 4], [0, 4, 0], [7, 0, 0])
    >>> offsets.tolist(), bytes(texts[:3])
    ([0, 3], b'abc')

    Raises:
        LimitError: if a notification has too many attributes.
    """
    numbers: dict[str, int] = {}
    texts: dict[str, int] = {}
    names, kinds, values, starts = [], [], [], [0]
    for notification in notifications:
        if len(notification) > ATTRIBUTES_MAX:
            raise LimitError("ATTRIBUTES_MAX", ATTRIBUTES_MAX, "attributes")
        for name, value in notification.items():
            if name not in numbers:
                (numbers[name],) = find_names([name.encode()])
            if numbers[name] < 0:
                continue
            kind, number = _number(value, texts)
            names.append(numbers[name])
            kinds.append(kind)
            values.append(number)
        starts.append(len(names))
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    joined = np.frombuffer(b"".join([*encoded, b"\0"]), np.uint8)
    # One more place, so that each array has a first one.
    flat = Flat(
        np.array([*names, 0], np.int32)[: max(1, len(names))],
        np.array([*kinds, 0], np.int32)[: max(1, len(names))],
        np.array([*values, 0], np.int64)[: max(1, len(names))],
        np.array(starts, np.int64),
    )
    return flat, offsets, joined


def _number(value: Value, texts: dict[str, int]) -> tuple[int, int]:
    match value:
        case str():
            return TEXT, texts.setdefault(value, len(texts))
        case bool():
            return BOOLEAN, int(value)
        case int():
            return SIGNED, value
        case float():
            return FLOATING, struct.unpack("<q", struct.pack("<d", value))[0]
        case _:
            return TIME, key_of(value, Kind.TIME)
