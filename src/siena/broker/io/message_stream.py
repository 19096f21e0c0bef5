"""A stream of bytes that travels in messages, such as those of a WebSocket.

Where a message ends says nothing: it is cut wherever it is long enough.  So a
connection need not know of messages; it has a transport that puts its bytes into them,
and is handed those that came as if the loop had read them.
"""

import asyncio
from collections.abc import Iterable, Iterator

# A message is no longer: proxies keep a whole one before they send it on.
MESSAGE_BYTES_MAX = 256 * 1024
# What both ends say to be sure that the other means the same by its messages.
SUBPROTOCOL = "siena"


def messages(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """All bytes of some pieces, in as few messages as there can be.

    >>> parts = [b"ab", bytes(MESSAGE_BYTES_MAX), b"c"]
    >>> [len(each) for each in messages(parts)] == [MESSAGE_BYTES_MAX, 3]
    True
    >>> list(messages([]))
    []
    """
    data = memoryview(b"".join(pieces))
    for start in range(0, len(data), MESSAGE_BYTES_MAX):
        yield bytes(data[start : start + MESSAGE_BYTES_MAX])


def fill(connection: asyncio.BufferedProtocol, data: memoryview) -> int:
    """Hand a connection what has come, as a loop does; how many bytes it had room for.

    What is left is for later: it may not want to be handed more now.
    """
    room = memoryview(connection.get_buffer(len(data)))
    size = min(len(room), len(data))
    room[:size] = data[:size]
    connection.buffer_updated(size)
    return size
