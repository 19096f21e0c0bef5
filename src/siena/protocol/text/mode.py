"""The text mode as events: what a person types becomes what a program would have sent.

So a broker carries out the same, and in the same order; publications in a row are one
run here, too.
"""

from collections.abc import Iterator

from siena.protocol.control_frames import Body
from siena.protocol.data_frames import too_long
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.protocol.frames import Op
from siena.protocol.pings import Ping
from siena.protocol.text.requests import Publication, Quit, Reply, Request, Requests
from siena.protocol.text.splitter import LineSplitter

Typed = Body | PublishRun | Ping | Reply | Quit | ProtocolError


class TextMode:
    r"""The lines of one person.

    >>> person = TextMode(LineSplitter(), block_bytes=100)
    >>> connect, run, ping = person.read(b"pub x=1\npub x=2\nping a\n")
    >>> run.total, ping
    (2, Ping(data=b'a'))
    >>> [type(event).__name__ for event in person.read(b"sub x >\nquit\n")]
    ['ProtocolError', 'Quit']
    """

    def __init__(self, lines: LineSplitter, block_bytes: int) -> None:
        self._lines = lines
        self._block_bytes = block_bytes
        self._requests = Requests()

    def read(self, data: bytes) -> Iterator[Typed]:
        """What follows from bytes, in order; nothing follows a fault that closes."""
        blocks: list[bytes] = []
        for request in self._requested(data):
            event: Typed
            if not isinstance(request, Publication):
                event = request
            elif len(request.block) > self._block_bytes:
                event = too_long(request.block, self._block_bytes, Op.PUB)
            else:
                blocks.append(request.block)
                continue
            if blocks:
                yield run_of(blocks)
                blocks = []
            yield event
        if blocks:
            yield run_of(blocks)

    def _requested(self, data: bytes) -> Iterator[Request]:
        try:
            for line in self._lines.feed(data):
                yield from self._requests.read(line)
        except ProtocolError as error:
            yield error
