"""What a broker says, as lines of JSON for the line mode.

Each line is an object; ``siena`` says what it is, with the name of the operation.
"""

from typing import Any

import msgspec

from siena.block import decode
from siena.errors import Place
from siena.lang import notification_to_json
from siena.lang.json_text import Json
from siena.protocol.control_frames import Body, Done, Ended, Error, Welcome, unpack
from siena.protocol.data_frames import unpack_found, unpack_msg
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, Splitter


def told_in_lines(frames: bytes) -> bytes:
    r"""Frames of a broker, complete ones, as lines.

    >>> from siena.protocol.control_frames import Lost, Settled
    >>> told_in_lines(Settled(1).pack() + Lost(3).pack())
    b'{"siena":"SETTLED","number":1}\n{"siena":"LOST","count":3}\n'
    """
    splitter = Splitter()
    lines = [_line(op, body) for op, body in splitter.feed(frames)]
    assert not splitter.pending, "half a frame"
    return b"".join(lines)


def error_line(error: ProtocolError) -> bytes:
    """A fault as a line, with a caret under its place."""
    return _encode("ERR", _error_fields(Error.of(error), error.place))


def _line(op: int, body: bytes) -> bytes:
    match op:
        case Op.MSG:
            subscriptions, block = unpack_msg(body)
            wanted = {"subscriptions": subscriptions, "notification": _form(block)}
            return _encode("MSG", wanted)
        case Op.FOUND:
            subscription, blocks = unpack_found(body)
            found = {
                "subscription": subscription,
                "notifications": [*map(_form, blocks)],
            }
            return _encode("FOUND", found)
        case Op.PING | Op.PONG:
            return _encode(Op(op).name, {"data": body.decode(errors="replace")})
        case _:
            return _line_of_body(unpack(op, body))


def _line_of_body(said: Body) -> bytes:
    if isinstance(said, Welcome):
        return b""  # a person was welcomed by the greeting
    if isinstance(said, Error):
        return _encode("ERR", _error_fields(said, None))
    fields = msgspec.structs.asdict(said)
    if isinstance(said, Done | Ended):
        fields["request"] = _name_of(said.request)
    return _encode(said.op.name, fields)


def _form(block: bytes) -> dict[str, Json]:
    return notification_to_json(decode(block))


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
    said = {name: value for name, value in fields.items() if value is not None}
    return msgspec.json.encode({"siena": siena, **said}) + b"\n"
