"""PING and PONG: the bytes of a PING come back, after all that came before.

So a PONG says that everything asked for before its PING has been carried out.
"""

from typing import NamedTuple

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.limits import PING_BYTES_MAX


class Ping(NamedTuple):
    """Send these bytes back."""

    data: bytes = b""

    def pack(self) -> bytes:
        """The frame."""
        return pack(Op.PING, self.data)

    def answer(self) -> "Pong":
        """What to send back."""
        return Pong(self.data)


class Pong(NamedTuple):
    """What a PING carried.

    >>> Ping(b"a").answer().pack().hex(" ")
    '02 00 00 00 08 61'
    """

    data: bytes = b""

    def pack(self) -> bytes:
        """The frame."""
        return pack(Op.PONG, self.data)


def unpack_ping(body: bytes) -> Ping:
    """What a PING frame says."""
    return Ping(_checked(body, Op.PING))


def unpack_pong(body: bytes) -> Pong:
    """What a PONG frame says."""
    return Pong(_checked(body, Op.PONG))


def _checked(body: bytes, op: Op) -> bytes:
    if len(body) > PING_BYTES_MAX:
        raise ProtocolError(
            Fault.BAD_REQUEST,
            f"a {op.name} carries at most {PING_BYTES_MAX} bytes, not {len(body)}",
            request=op,
        )
    return body
