"""The receive buffer: what came over a connection and is not complete yet."""


class ReceiveBuffer:
    """Bytes in the pieces in which they came, joined when there are enough of them.

    >>> received = ReceiveBuffer()
    >>> received.keep(b"ab", needed=4)
    >>> received.put(b"c")
    >>> received.is_enough, received.rest
    (False, b'abc')
    >>> received.put(b"de")
    >>> received.is_enough, received.take(), received.size
    (True, b'abcde', 0)
    """

    __slots__ = ("_parts", "needed", "size")

    def __init__(self) -> None:
        self.size = 0
        """How many bytes are waiting."""
        self.needed = 1
        """Below this many there is no use in looking at them."""
        self._parts: list[bytes] = []

    def put(self, data: bytes) -> None:
        """Put aside what came."""
        self._parts.append(data)
        self.size += len(data)

    @property
    def is_enough(self) -> bool:
        """Whether it is worth while to look at what is waiting."""
        return self.size >= self.needed

    @property
    def rest(self) -> bytes:
        """What is waiting; it goes on doing so."""
        if len(self._parts) > 1:
            self._parts = [b"".join(self._parts)]
        return self._parts[0] if self._parts else b""

    def take(self) -> bytes:
        """What was waiting."""
        parts, self._parts, self.size = self._parts, [], 0
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def keep(self, rest: bytes, needed: int) -> None:
        """Let wait what is not complete, until there are so many bytes of it."""
        self.needed = needed
        if rest:
            self.put(rest)

    def clear(self) -> None:
        """Forget what was waiting."""
        self._parts.clear()
        self.size = 0
