"""Server-sent events: what a broker says to a subscriber, as text.

A notification is an event without a name, so that ``onmessage`` of a page gets it; all
else has one: ``settled``, ``found``, ``lost``, ``err``.  That of a durable subscription
has its offset for an ``id``.
"""

import msgspec

from siena.protocol.data_frames import unpack_found
from siena.protocol.durable.reading import unpack_deliver
from siena.protocol.frames import Op, pack
from siena.protocol.text.output import told_in_lines
from siena.protocol.text.transcripts import Transcript

HEARTBEAT = b": still here\n\n"


class Events(Transcript):
    r"""Frames of a broker as events.

    >>> from siena.protocol.control_frames import Lost
    >>> from siena.block import encode
    >>> from siena.protocol.data_frames import pack_msg
    >>> from siena.protocol.text.transcripts import BlockTexts
    >>> Events(BlockTexts()).write(pack_msg([1], encode({"x": 1})) + Lost(3).pack())
    b'data: {"x":1}\n\nevent: lost\ndata: {"siena":"LOST","count":3}\n\n'
    """

    behind = end = b"\n\n"

    def before(self, subscriptions: bytes) -> bytes:  # noqa: ARG002 -- which, is not said
        """What an event says before its notification."""
        return b"data: "

    def other(self, op: int, body: bytes) -> bytes:
        """The event of any other frame; it has a name."""
        if op == Op.DELIVER:
            delivery = unpack_deliver(body)
            text = self._blocks.json(delivery.block)
            return b"id: %d\ndata: %b\n\n" % (delivery.offset, text)
        if op == Op.FOUND:
            texts = [
                msgspec.Raw(self._blocks.json(b)) for b in unpack_found(body).blocks
            ]
            return b"event: found\ndata: %b\n\n" % msgspec.json.encode(texts)
        line = told_in_lines(pack(op, body))  # which ends with the end of the line
        return b"event: %b\ndata: %b\n" % (Op(op).name.lower().encode(), line)
