"""Publications from other threads: gathered, and fetched by the loop in one go.

Waking the loop for each of them, and waiting for it, would cost a hundred times more
than the publication itself.
"""

import asyncio
import threading

from siena.client.core.publisher import Publisher
from siena.errors import ConnectionLostError

# What waits for the loop: as much as it writes in a few turns, for to wait for it costs
# two switches between threads.
PILE_BYTES_MAX = 524_288


class ThreadQueue:
    """A bounded pile of frames between any thread and the loop.

    What is on the pile when the connection breaks is lost, as what is in the socket.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, publisher: Publisher) -> None:
        self._loop = loop
        self._publisher = publisher
        self._lock = threading.Lock()
        self._pile: list[bytes] = []
        self._bytes = 0

    def offer(self, frame: bytes) -> bool:
        """Put it on the pile, unless there is no room or the pile is high.

        A caller that is refused asks the loop itself, which comes to that after the
        pile: the order stays.

        Raises:
            ConnectionLostError: if the loop has ended.
        """
        if not self._publisher.has_room:
            return False
        with self._lock:
            if self._bytes >= PILE_BYTES_MAX:
                return False
            is_first = not self._pile
            self._pile.append(frame)
            self._bytes += len(frame)
        if is_first:
            try:
                self._loop.call_soon_threadsafe(self._fetch)
            except RuntimeError:
                raise ConnectionLostError("the client is closed") from None
        return True

    def _fetch(self) -> None:
        with self._lock:
            pile, self._pile = self._pile, []
            self._bytes = 0
        # Even if the room has just gone: it is little, and it was accepted.
        self._publisher.send_anyway(b"".join(pile))
