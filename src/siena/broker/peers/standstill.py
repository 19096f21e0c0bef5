"""A standstill: a neighbour that takes nothing at all is waited for no longer.

Those who publish for a neighbour that is slow wait for it, so that a flood does not end
its link.  But one that is frozen, or behind one that is, would let all publishers wait
until it is known to be dead: no local client waits for a far one.  So a publisher that
waits for a link over which nothing has gone for a second goes on.  What is for it then
adds up to its bound, and the link breaks, if it does not come to itself before.
"""

import asyncio

from siena.broker.io.connection import Connection

# So long publishers wait for a neighbour that takes nothing.
STALL_SECONDS = 1.0


class Standstill:
    """Looks whether anything goes over a link that is full.

    Ownership: of a timer, until :meth:`end`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_stalled = False
        self._passed = 0
        self._timer: asyncio.TimerHandle | None = None

    def lets_wait(self) -> bool:
        """The link is full: whether those who publish for it are to wait."""
        if self._timer is None:
            self._look_again()
        return not self._is_stalled

    def _look_again(self) -> None:
        self._passed = self._connection.passed
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(STALL_SECONDS, self._look)

    def _look(self) -> None:
        self._timer = None
        connection = self._connection
        if connection.is_closing:
            return
        self._is_stalled = connection.passed == self._passed and connection.waiting > 0
        if self._is_stalled:
            connection.let_go()
        if self._is_stalled or connection.holds:
            self._look_again()

    def end(self) -> None:
        """The link has gone."""
        if self._timer is not None:
            self._timer.cancel()
