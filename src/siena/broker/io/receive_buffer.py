"""Hearing: what comes over a connection, until somebody understands it.

The first byte decides whether a program talks, in frames, or a person, in lines; lines
become the frames that a program would have sent.  A broker that we have called says a
line first.
"""

from collections.abc import Callable
from typing import Protocol

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun, cut
from siena.protocol.frames import (
    HEAD_BYTES,
    LENGTH,
    LENGTH_BYTES,
    Frame,
    check_length,
)
from siena.protocol.handshake import PREFACE
from siena.protocol.limits import CONNECT_BYTES_MAX, LINE_BYTES_MAX
from siena.protocol.text.mode import Asked, LineMode
from siena.protocol.text.requests import Reply


class Listener(Protocol):
    """Who is told what was heard."""

    @property
    def is_listening(self) -> bool:
        """Whether anybody wants to hear more."""
        ...

    def hear(self, piece: PublishRun | Frame) -> None:
        """Publications in a row, or another frame."""
        ...

    def talk_in_frames(self) -> None:
        """It is a program."""
        ...

    def say(self, line: bytes) -> None:
        """Answer a person, after what follows from lines before."""
        ...

    def leave(self) -> None:
        """A person has said good-bye."""
        ...


class ReceiveBuffer:
    """The bytes of one connection that were not understood yet, and in which mode.

    Args:
        on_info: hears the first line, if we are the one who has called.
    """

    def __init__(
        self, listener: Listener, on_info: Callable[[bytes], None] | None
    ) -> None:
        self.frame_bytes_max = CONNECT_BYTES_MAX
        """How long a frame may be; longer once it is known who this is."""
        self.size = 0
        """How many bytes are waiting."""
        self._listener = listener
        self._on_info = on_info
        self._parts: list[bytes] = []
        # Below this many there is no use in looking.
        self._needed = 1
        self._is_greeted = False
        self._lines: LineMode | None = None

    def put(self, data: bytes) -> None:
        """Put aside what came."""
        self._parts.append(data)
        self.size += len(data)

    @property
    def is_enough(self) -> bool:
        """Whether there is something to understand."""
        return self.size >= self._needed

    def read(self) -> int:
        """Hand on what is complete; how many bytes were looked at.

        Raises:
            ProtocolError: if something is wrong, after all that was right before it.
        """
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        size, self.size = self.size, 0
        rest = self._read(data)
        if rest:
            self.put(rest)
        return size

    @property
    def rest(self) -> bytes | None:
        """What waits to be read, if what comes behind it are frames."""
        if not self._is_greeted or self._lines is not None:
            return None
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        return self._parts[0] if self._parts else b""

    def read_here(self, data: memoryview, start: int) -> None:
        """Hand on what is complete of frames; what was the rest is among them.

        Raises:
            ProtocolError: if something is wrong, after all that was right before it.
        """
        self._parts.clear()
        self.size = 0
        left = len(data) - start
        if left >= HEAD_BYTES:
            needed = LENGTH_BYTES + LENGTH.unpack_from(data, start)[0]
            if left < needed <= self.frame_bytes_max:  # nothing but half a frame
                self._needed = needed
                self.put(bytes(data[start:]))
                return
        rest = self._read_frames(data, start)
        if rest:
            self.put(rest)

    def _read(self, data: bytes) -> bytes:
        """Hand on what is complete; the rest."""
        if self._on_info is not None:
            return self._read_info(data, self._on_info)
        if self._lines is not None:
            return self._read_lines(data, self._lines)
        if self._is_greeted:
            return self._read_frames(data)
        if data[:1] == PREFACE[:1]:
            self._listener.talk_in_frames()
            return self._read_preface(data)
        self._lines = LineMode()
        return self._read_lines(data, self._lines)

    def _read_info(self, data: bytes, on_info: Callable[[bytes], None]) -> bytes:
        line, end, rest = data.partition(b"\n")
        if not end:
            check_length(len(line), LINE_BYTES_MAX)
            self._needed = len(data) + 1
            return data
        self._on_info = None
        self._is_greeted = True
        self._listener.talk_in_frames()
        on_info(line)
        return self._read_frames(rest)

    def _read_preface(self, data: bytes) -> bytes:
        if not data.startswith(PREFACE[: len(data)]):
            raise ProtocolError(
                Fault.BAD_PREFACE, "what begins with 0x00 goes on with SIENA\\r\\n"
            )
        if len(data) < len(PREFACE):
            self._needed = len(PREFACE)
            return data
        self._is_greeted = True
        return self._read_frames(data[len(PREFACE) :])

    def _read_lines(self, data: bytes, lines: LineMode) -> bytes:
        for heard in lines.hear(data):
            if isinstance(heard, Asked):
                rest = self._read_frames(heard.frames)
                assert not rest, "half a frame"
            elif isinstance(heard, Reply):
                self._listener.say(heard.data)
            else:
                self._listener.leave()
            if not self._listener.is_listening:
                break
        self._needed = 1
        return b""

    def _read_frames(self, data: bytes | memoryview, at: int = 0) -> bytes:
        is_all = at == len(data)
        self._needed = HEAD_BYTES
        while not is_all:
            limit = self.frame_bytes_max
            _, at, self._needed, error, is_all = found = cut(data, limit, at)
            for piece in found.pieces:
                if not self._listener.is_listening:
                    return b""
                self._listener.hear(piece)
            if error is not None:
                if self.frame_bytes_max == limit:
                    raise error
                is_all = False  # it is known by now who this is, and they may say more
        return bytes(data[at:])
