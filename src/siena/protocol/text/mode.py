"""The line mode as frames: what a person types becomes what a program would have sent.

So whoever cuts and answers frames can talk to people without a second way of doing
anything: what :meth:`LineMode.hear` makes of lines is handled like what programs send,
without a preface, and whatever is sent goes through :meth:`LineMode.speak`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from siena.protocol.control_frames import Connect
from siena.protocol.error_codes import ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.limits import LINE_BYTES_MAX
from siena.protocol.text.output import error_line, told_in_lines
from siena.protocol.text.requests import Publication, Quit, Reply, Request, Requests
from siena.protocol.text.splitter import LineSplitter


class Asked(NamedTuple):
    """Frames, as a program would have sent them."""

    frames: bytes


class LineMode:
    r"""One person.

    >>> person = LineMode()
    >>> connect, asked = person.hear(b"ping a\n")
    >>> asked.frames.hex(" ")
    '02 00 00 00 07 61'
    >>> person.speak(bytes.fromhex("02 00 00 00 08 61"))
    b'{"siena":"PONG","data":"a"}\n'
    >>> [type(heard).__name__ for heard in person.hear(b"sub x >\nquit\n")]
    ['Reply', 'Quit']
    """

    def __init__(self, limit: int = LINE_BYTES_MAX) -> None:
        self._lines = LineSplitter(limit)
        self._requests = Requests()

    @property
    def pending(self) -> int:
        """How many bytes of a line that has not ended have come."""
        return self._lines.pending

    def hear(self, data: bytes) -> Iterator[Asked | Reply | Quit]:
        """What follows from bytes, in order; nothing is to be heard after Quit."""
        frames: list[bytes] = []
        for request in self._read(data):
            match request:
                case Reply() | ProtocolError() | Quit():
                    if frames:
                        yield Asked(b"".join(frames))
                        frames.clear()
                    yield from _at_once(request)
                case Connect():
                    # For itself: until it is known who this is, limits are lower.
                    yield Asked(request.pack())
                case Publication(block):
                    frames.append(pack(Op.PUB, block))
                case _:
                    frames.append(request.pack())
        if frames:
            yield Asked(b"".join(frames))

    def speak(self, frames: bytes) -> bytes:
        """Frames that a program would have got, as lines."""
        return told_in_lines(frames)

    def _read(self, data: bytes) -> Iterator[Request]:
        try:
            for line in self._lines.feed(data):
                yield from self._requests.read(line)
        except ProtocolError as error:
            yield error


def _at_once(request: Reply | ProtocolError | Quit) -> Iterator[Reply | Quit]:
    """What can be said without asking anybody."""
    if isinstance(request, ProtocolError):
        yield Reply(error_line(request))
        if request.fault.closes:
            yield Quit()
    else:
        yield request
