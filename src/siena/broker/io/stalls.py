"""Stalled connections: those that have sent half of something, and then nothing.

What has come of a frame is kept until the rest comes.  Who never sends the rest would
have it kept for ever; so all connections are looked at now and then, some at a time.
"""

import asyncio
from collections.abc import Collection

from siena.broker.io.connection import Connection
from siena.protocol.error_codes import Fault, ProtocolError

# So long nothing may come in the middle of a frame or a line; at most twice that.
STALLED_SECONDS = 60.0
# Connections that are looked at before others have their turn: well below 1 ms.
LOOKED_AT_MAX = 1_000


class StallWatch:
    """Looks at the connections of a broker, again and again.

    Ownership: the caller of :meth:`start` calls :meth:`stop`.
    """

    def __init__(self, connections: Collection[Connection]) -> None:
        self._connections = connections
        self._left: list[Connection] = []
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Look, now and again and again."""
        self._look()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        if not self._left:
            self._left = list(self._connections)
        seen, self._left = self._left[:LOOKED_AT_MAX], self._left[LOOKED_AT_MAX:]
        for connection in seen:
            if connection.has_stalled():
                text = f"half of something came, and nothing in {STALLED_SECONDS:g} s"
                connection.fail(ProtocolError(Fault.TIMED_OUT, text))
        seconds = 0.01 if self._left else STALLED_SECONDS
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._look)
