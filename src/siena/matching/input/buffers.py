"""Buffers: many blocks back to back, and where each begins and ends."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from siena.block import Attributes, encode


def encode_all(
    notifications: Iterable[Attributes],
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The blocks of notifications, back to back, and their offsets.

    >>> blocks, offsets = encode_all([{"x": 1}, {}])
    >>> blocks.hex(" "), offsets.tolist()
    ('81 a1 78 01 80', [0, 4, 5])
    """
    return join([encode(notification) for notification in notifications])


def join(blocks: Sequence[bytes]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Blocks back to back, and where each begins and the last one ends."""
    offsets = np.zeros(len(blocks) + 1, np.int64)
    np.cumsum([len(block) for block in blocks], out=offsets[1:])
    return b"".join(blocks), offsets
