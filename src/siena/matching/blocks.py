"""Blocks: notifications as bytes, as they travel and as the engine reads them.

A block is a msgpack map from names to strings, integers, floats, booleans and times
(msgpack's own timestamp).  Many blocks stand back to back in one buffer, with offsets.
"""

from collections.abc import Iterable, Mapping

import msgspec
import numpy as np
import numpy.typing as npt

from siena.errors import InvalidNotificationError
from siena.model import Notification, Value

_ENCODER = msgspec.msgpack.Encoder()


def encode(notification: Mapping[str, Value]) -> bytes:
    """The block of a notification.

    >>> encode({"x": 1}).hex(" ")
    '81 a1 78 01'

    Raises:
        InvalidNotificationError: if it has a value that has no bytes.
    """
    try:
        return _ENCODER.encode(dict(notification))
    except (UnicodeEncodeError, OverflowError, TypeError) as error:
        Notification(notification)  # which says better what is wrong
        raise InvalidNotificationError(str(error)) from None


def encode_all(
    notifications: Iterable[Mapping[str, Value]],
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Blocks back to back, and where each begins and the last one ends."""
    blocks = [encode(notification) for notification in notifications]
    offsets = np.zeros(len(blocks) + 1, np.int64)
    np.cumsum([len(block) for block in blocks], out=offsets[1:])
    return b"".join(blocks), offsets


# The one reason that no kernel gives: a text was to become a block, and did not.
NOT_JSON = 12

# What the kernel says of a bad block, in words.
BLOCK_ERRORS: dict[int, str] = {
    1: "it ends too early",
    2: "something stands behind its end",
    3: "it is not a map",
    4: "it has a value with values inside",
    5: "it has a value of another type",
    6: "a name occurs twice",
    7: "a string is not UTF-8",
    8: "a float is not finite",
    9: "a number or time is out of range",
    10: "it has too many attributes",
    11: "it, a name or a string is too long",
    NOT_JSON: "it is not a notification in its JSON form",
}
