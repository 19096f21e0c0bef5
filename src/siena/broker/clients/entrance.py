"""The entrance: connections wait here until it is known who they are.

Most are known at once.  A password takes a while, and so does every failure; meanwhile
nothing else of the connection is looked at, and the loop serves the others.
"""

import asyncio
from collections.abc import Callable

from siena.broker.access.authenticator import Authenticator, Shown
from siena.broker.io.backpressure import Held
from siena.broker.io.connection import Connection
from siena.protocol.control_frames import Connect
from siena.protocol.error_codes import ProtocolError
from siena.protocol.frames import Op


class Entrance:
    """Where connections wait.

    Ownership: one task for each that waits; :meth:`stop` ends them.
    """

    def __init__(self, access: Authenticator, count_fault: Callable[[], None]) -> None:
        self._access = access
        self._count_fault = count_fault
        self._tasks: set[asyncio.Task[None]] = set()
        self.holds: set[Held] = set()
        """The connections that wait."""

    def ask(
        self, connection: Connection, body: Connect, then: Callable[[], None]
    ) -> None:
        """Find out who a connection is, give it that principal, and go on.

        Raises:
            ProtocolError: of ``then``, if it was known at once.
        """
        shown = Shown(body.token, connection.certificate, connection.address)
        principal = self._access.at_once(shown)
        if principal is not None:
            connection.principal = principal
            then()
            return
        connection.is_undecided = True
        connection.hold(self)
        loop = asyncio.get_running_loop()
        task = loop.create_task(self._decide(connection, shown, then))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Find out nothing any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _decide(
        self, connection: Connection, shown: Shown, then: Callable[[], None]
    ) -> None:
        try:
            connection.principal = await self._access.check(shown)
            if not connection.is_closing:  # it may have left meanwhile
                then()
        except ProtocolError as error:
            error.request = Op.CONNECT
            if not connection.is_closing:
                self._count_fault()
                connection.fail(error)
        finally:
            connection.is_undecided = False
            connection.release(self)
            self.holds.discard(connection)
