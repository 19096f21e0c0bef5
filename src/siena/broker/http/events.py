"""Server-sent events: what a broker says to a subscriber, as text.

A notification is an event without a name, so that ``onmessage`` of a page gets it; all
else has one: ``settled``, ``found``, ``lost``, ``err``.
"""

from collections.abc import Iterator

import msgspec

from siena.block import decode
from siena.broker.http.limits import STREAM_BYTES_AT_ONCE
from siena.lang.json_text import Json
from siena.lang.notification_form import notification_to_json
from siena.protocol.data_frames import unpack_found, unpack_msg
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.text.output import told_in_lines

HEARTBEAT = b": still here\n\n"


def events_of(frames: bytes) -> Iterator[bytes]:
    r"""Frames of a broker as events, some at a time.

    >>> from siena.protocol.control_frames import Lost
    >>> from siena.block import encode
    >>> from siena.protocol.data_frames import pack_msg
    >>> list(events_of(pack_msg([1], encode({"x": 1})) + Lost(3).pack()))
    [b'data: {"x":1}\n\nevent: lost\ndata: {"siena":"LOST","count":3}\n\n']
    """
    parts: list[bytes] = []
    size = 0
    for op, body in Splitter().feed(frames):
        parts.append(_event(op, body))
        size += len(parts[-1])
        if size >= STREAM_BYTES_AT_ONCE:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


def _event(op: int, body: bytes) -> bytes:
    if op == Op.MSG:
        return b"data: %b\n\n" % msgspec.json.encode(_form(unpack_msg(body).block))
    if op == Op.FOUND:
        forms = [*map(_form, unpack_found(body).blocks)]
        return b"event: found\ndata: %b\n\n" % msgspec.json.encode(forms)
    line = told_in_lines(pack(op, body))  # which ends with the end of the line
    return b"event: %b\ndata: %b\n" % (Op(op).name.lower().encode(), line)


def _form(block: bytes) -> dict[str, Json]:
    return notification_to_json(decode(block))
