"""Notifications as blocks, one at a time: what a client writes and reads.

A block is a msgpack map; :mod:`siena.matching.blocks` says which.  Brokers read blocks
by the thousand where they match them; this needs nothing but msgspec, so that a client
starts quickly.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from siena.errors import SienaError
from siena.model import Notification, Value
from siena.protocol.faults import Fault, ProtocolError

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(dict[str, Any])


def write_block(notification: Mapping[str, Value]) -> bytes:
    """The block of a notification.

    >>> write_block(Notification(x=1)).hex(" ")
    '81 a1 78 01'
    """
    return _ENCODER.encode(dict(notification))


def read_block(block: bytes) -> Notification:
    """The notification of a block.

    >>> read_block(bytes.fromhex("81 a1 78 01"))
    <Notification x = 1>
    >>> read_block(bytes.fromhex("81 a1 78"))
    Traceback (most recent call last):
    siena.protocol.faults.ProtocolError: not a notification: Input data was truncated \
(error 100)

    Raises:
        ProtocolError: if it is none.
    """
    try:
        return Notification(_DECODER.decode(block))
    except (msgspec.MsgspecError, ValueError, RecursionError, SienaError) as error:
        # A ValueError is a string that is not UTF-8.
        raise ProtocolError(
            Fault.BAD_NOTIFICATION, f"not a notification: {error}"
        ) from None
