"""What a broker says, as lines of JSON for the line mode.

Each line is an object; ``siena`` says what it is, with the name of the operation.
"""

import struct
from typing import Any

import msgspec

from siena.errors import Place
from siena.protocol.control_frames import Body, Done, Ended, Error, Welcome, unpack
from siena.protocol.data_frames import unpack_found
from siena.protocol.durable.reading import unpack_deliver
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.text.transcripts import BlockTexts, Transcript


class Lines(Transcript):
    r"""What a broker says, a line for each frame.

    >>> from siena.protocol.data_frames import pack_msg
    >>> Lines(BlockTexts()).deliveries(pack_msg([1, 7], bytes.fromhex("81 a1 78 01")))
    b'{"siena":"MSG","subscriptions":[1,7],"notification":{"x":1}}\n'
    """

    behind, end = b"}\n", b"\n"

    def before(self, subscriptions: bytes) -> bytes:
        """What a line says before its notification."""
        numbers = struct.unpack(f"<{len(subscriptions) // 4}I", subscriptions)
        wanted = ",".join(map(str, numbers))
        return b'{"siena":"MSG","subscriptions":[%b],"notification":' % wanted.encode()

    def other(self, op: int, body: bytes) -> bytes:
        """The line of any other frame."""
        match op:
            case Op.FOUND:
                subscription, blocks = unpack_found(body)
                forms = [msgspec.Raw(self._blocks.json(block)) for block in blocks]
                found = {"subscription": subscription, "notifications": forms}
                return _encode("FOUND", found)
            case Op.DELIVER:
                number, offset, time, attempt, block = unpack_deliver(body)
                form = msgspec.Raw(self._blocks.json(block))
                told = {"number": number, "offset": offset, "time": time}
                more = {"attempt": attempt, "notification": form}
                return _encode("DELIVER", told | more)
            case Op.PING | Op.PONG:
                return _encode(Op(op).name, {"data": body.decode(errors="replace")})
            case _:
                return _line_of_body(unpack(op, body))


def told_in_lines(frames: bytes) -> bytes:
    r"""Frames of a broker, complete ones, as lines.

    >>> from siena.protocol.control_frames import Lost, Settled
    >>> told_in_lines(Settled(1).pack() + Lost(3).pack())
    b'{"siena":"SETTLED","number":1}\n{"siena":"LOST","count":3}\n'
    """
    return Lines(BlockTexts()).write(frames)


def error_line(error: ProtocolError) -> bytes:
    """A fault as a line, with a caret under its place."""
    return _encode("ERR", _error_fields(Error.of(error), error.place))


def _line_of_body(said: Body) -> bytes:
    if isinstance(said, Welcome):
        return b""  # a person was welcomed by the greeting
    if isinstance(said, Error):
        return _encode("ERR", _error_fields(said, None))
    fields = msgspec.structs.asdict(said)
    if isinstance(said, Done | Ended):
        fields["request"] = _name_of(said.request)
    return _encode(said.op.name, fields)


def _error_fields(error: Error, place: Place | None) -> dict[str, Any]:
    return {
        "error": error.fault,
        "name": _fault_name(error.fault),
        "text": error.text,
        "closes": error.closes,
        "request": None if error.request is None else _name_of(error.request),
        "number": error.number,
        "column": error.position + 1 if error.position is not None else None,
        "pointer": place.pointer().split("\n") if place else None,
    }


def _fault_name(number: int) -> str | None:
    try:
        return Fault.of(number).name
    except ValueError:
        return None


def _name_of(op: int) -> str | int:
    try:
        return Op(op).name
    except ValueError:
        return op


def _encode(siena: str, fields: dict[str, Any]) -> bytes:
    said = {name: value for name, value in fields.items() if value not in (None, ())}
    return msgspec.json.encode({"siena": siena, **said}) + b"\n"
