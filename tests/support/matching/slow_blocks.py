"""A slow, obvious reader of blocks: the twin of what the engine's kernel reads."""

import math
from datetime import UTC, datetime, timedelta

from siena.errors import SienaError
from siena.model import Notification, Value
from siena.model.limits import ATTRIBUTES_MAX

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class BadBlockError(Exception):
    """The block is not a notification."""


class Reader:
    """The bytes of a block, and how far they have been read."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.at = 0

    def take(self, size: int) -> bytes:
        taken = self.block[self.at : self.at + size]
        if len(taken) < size:
            raise BadBlockError("truncated")
        self.at += size
        return taken

    def number(self, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(self.take(size), "big", signed=signed)

    def string(self, head: int) -> str:
        if 0xA0 <= head <= 0xBF:
            size = head & 0x1F
        elif 0xD9 <= head <= 0xDB:
            size = self.number(1 << (head - 0xD9))
        else:
            raise BadBlockError("not a string")
        try:
            return self.take(size).decode()
        except UnicodeDecodeError:
            raise BadBlockError("not UTF-8") from None

    def value(self) -> Value:
        head = self.number(1)
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 0x100
        if head in (0xC2, 0xC3):
            return head == 0xC3
        if 0xCC <= head <= 0xCF:
            return self.number(1 << (head - 0xCC))
        if 0xD0 <= head <= 0xD3:
            return self.number(1 << (head - 0xD0), signed=True)
        if head in (0xCA, 0xCB):
            return self.real(4 if head == 0xCA else 8)
        if head in (0xC7, 0xD6, 0xD7):
            return self.time(head)
        return self.string(head)

    def real(self, size: int) -> float:
        # Not with struct, as the kernel's twin does it: from the definition.
        digits, width = (23, 8) if size == 4 else (52, 11)
        bits = self.number(size)
        sign = -1.0 if bits >> (8 * size - 1) else 1.0
        exponent = bits >> digits & ((1 << width) - 1)
        fraction = bits & ((1 << digits) - 1)
        bias = (1 << (width - 1)) - 1
        if exponent == (1 << width) - 1:
            raise BadBlockError("not finite")
        if exponent:
            fraction += 1 << digits
        return sign * math.ldexp(fraction, max(exponent, 1) - bias - digits)

    def time(self, head: int) -> datetime:
        size = {0xC7: 12, 0xD6: 4, 0xD7: 8}[head]
        if head == 0xC7 and self.number(1) != 12:
            raise BadBlockError("not a time")
        if self.number(1) != 0xFF:
            raise BadBlockError("not a time")
        nanoseconds = 0
        if size == 4:
            seconds = self.number(4)
        elif size == 8:
            both = self.number(8)
            nanoseconds, seconds = both >> 34, both & ((1 << 34) - 1)
        else:
            nanoseconds, seconds = self.number(4), self.number(8, signed=True)
        if nanoseconds > 999_999_999:
            raise BadBlockError("out of range")
        try:
            return EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
        except OverflowError:
            raise BadBlockError("out of range") from None


def read_block(block: bytes) -> Notification:
    """The notification of a block."""
    reader = Reader(block)
    head = reader.number(1)
    if 0x80 <= head <= 0x8F:
        count = head & 0x0F
    elif head in (0xDE, 0xDF):
        count = reader.number(2 if head == 0xDE else 4)
    else:
        raise BadBlockError("not a map")
    if count > ATTRIBUTES_MAX:
        raise BadBlockError("too many")
    pairs = []
    for _ in range(count):
        name = reader.string(reader.number(1))
        pairs.append((name, reader.value()))
    if reader.at != len(block):
        raise BadBlockError("trailing")
    try:
        return Notification(pairs)
    except SienaError as error:
        raise BadBlockError(str(error)) from None
