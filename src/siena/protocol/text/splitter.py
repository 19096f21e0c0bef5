"""Lines, cut out of a stream of bytes: the greeting, and all that people type."""

from collections.abc import Iterator

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import LINE_BYTES_MAX


class LineSplitter:
    r"""Cuts a stream into lines, however it was chopped on its way.

    >>> lines = LineSplitter(limit=10)
    >>> list(lines.feed(b"ab")), list(lines.feed(b"c\r\nd"))
    ([], [b'abc'])
    """

    def __init__(self, limit: int = LINE_BYTES_MAX) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in these bytes, without their ends.

        Raises:
            ProtocolError: if one is too long; the stream ends there.
        """
        *ended, rest = data.split(b"\n")
        for line in ended:
            whole = bytes(self._rest) + line if self._rest else line
            self._rest.clear()
            self._check(len(whole))
            yield whole.removesuffix(b"\r")
        self._rest += rest
        self._check(len(self._rest))

    @property
    def pending(self) -> int:
        """How many bytes of a line that has not ended have come."""
        return len(self._rest)

    def clear(self) -> None:
        """Forget what has not ended."""
        self._rest.clear()

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise ProtocolError(
                Fault.TOO_LONG, f"a line has at most {self._limit} bytes"
            )
