"""ACKED_PUB frames as a broker takes them: a run of publications, where they came."""

from typing import NamedTuple

from siena.protocol.durable.receipts import ACKED_HEAD
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.limits import PUBLISHER_MAX, SEQUENCE_NUMBER_MAX


class AckedRun(NamedTuple):
    """Publications of which their publisher wants to know that they are stored."""

    publisher: int
    sequence: int  # of the first
    publications: PublishRun


def unpack_acked(body: bytes, block_bytes: int) -> AckedRun:
    """What an ACKED_PUB frame says.

    >>> from siena.protocol.durable.receipts import pack_acked
    >>> from siena.protocol.frames import Op, pack
    >>> run = unpack_acked(pack_acked(1, 2, 1, pack(Op.PUB, b"X"))[5:], 100)
    >>> run.publisher, run.sequence, run.publications.blocks()
    (1, 2, [b'X'])

    Raises:
        ProtocolError: if it is not as it should be.
    """
    if len(body) < ACKED_HEAD.size:
        raise _bad("that ends too early")
    publisher, sequence, count = ACKED_HEAD.unpack_from(body)
    if publisher > PUBLISHER_MAX or sequence + count > SEQUENCE_NUMBER_MAX:
        raise _bad("whose numbers are too great")
    start, size = ACKED_HEAD.size, len(body)
    found, end, _ = framing.cut(body, start, size, block_bytes + 1, block_bytes)
    if not count or found != count or end != size:
        raise _bad(f"of {count} publications, which it has not")
    return AckedRun(publisher, sequence, PublishRun(body, start, end, count))


def _bad(what: str) -> ProtocolError:
    return ProtocolError(Fault.BAD_FRAME, f"an ACKED_PUB frame {what}")
