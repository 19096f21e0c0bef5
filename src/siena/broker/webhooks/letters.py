"""Letters: what is sent to a handler at once."""

from collections.abc import Iterator

import msgspec

from siena.block import decode
from siena.broker.webhooks.limits import LETTER_MAX
from siena.lang.json_text import Json
from siena.lang.notification_form import notification_to_json
from siena.protocol.control_frames import Lost, unpack
from siena.protocol.data_frames import unpack_found, unpack_msg
from siena.protocol.frames import Op, Splitter

Form = dict[str, Json]


class Letter(msgspec.Struct):
    """Notifications for an identity, and how many it has missed."""

    identity: str
    broker: str
    notifications: list[Form] = msgspec.field(default_factory=list)
    sequences: list[list[Form]] = msgspec.field(default_factory=list)
    lost: int = 0
    # Of a durable subscription: its name, where these stand, and for which time.
    durable: str | msgspec.UnsetType = msgspec.UNSET
    offsets: list[int] | msgspec.UnsetType = msgspec.UNSET
    attempt: int | msgspec.UnsetType = msgspec.UNSET

    def __len__(self) -> int:
        return len(self.notifications) + len(self.sequences)


def letters_of(frames: bytes, identity: str, broker: str) -> Iterator[Letter]:
    """Frames of a broker as letters that are not too long.

    >>> from siena.block import encode
    >>> from siena.protocol.data_frames import pack_msg
    >>> frames = pack_msg([1], encode({"x": 1})) + Lost(3).pack()
    >>> [(letter.notifications, letter.lost) for letter in letters_of(frames, "a", "b")]
    [([{'x': 1}], 3)]
    """
    letter = Letter(identity, broker)
    for op, body in Splitter().feed(frames):
        if op == Op.MSG:
            letter.notifications.append(form_of(unpack_msg(body).block))
        elif op == Op.FOUND:
            letter.sequences.append([*map(form_of, unpack_found(body).blocks)])
        elif op == Op.LOST:
            said = unpack(op, body)
            assert isinstance(said, Lost)
            letter.lost += said.count
        if len(letter) >= LETTER_MAX:
            yield letter
            letter = Letter(identity, broker)
    if len(letter) or letter.lost:
        yield letter


def form_of(block: bytes) -> Form:
    """The notification of a block, as JSON has it."""
    return notification_to_json(decode(block))
