"""What all bodies are: msgpack arrays of their fields, and the kinds of fields."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta, Struct

from siena.protocol.frames import Op, pack
from siena.protocol.limits import NAME_CHARACTERS_MAX, NUMBER_MAX

Number = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
Count = Annotated[int, Meta(ge=0)]

_ENCODER = msgspec.msgpack.Encoder()


class Body(Struct, frozen=True, array_like=True):
    """The fields of one operation."""

    op: ClassVar[Op]

    def pack(self) -> bytes:
        """The frame.

        >>> from siena.protocol.bodies import Unsubscribe
        >>> Unsubscribe(7).pack().hex(" ")
        '03 00 00 00 04 91 07'
        """
        return pack(self.op, _ENCODER.encode(self))
