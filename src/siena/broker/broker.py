"""The broker: listens, and brings its parts together.

::

    connections ── turn ──▶ publications ──▶ exchange ──▶ connections
         │                        └──▶ onward ──▶ links, monitors, kept
         └── requests ──▶ router ──▶ core.post ──▶ connections, links
"""

import asyncio
import logging
import socket
from collections.abc import Callable
from importlib.metadata import version
from itertools import count

from siena.broker.addresses import Address, read_address
from siena.broker.clients import Client, Stranger
from siena.broker.connection import Connection
from siena.broker.core import Core
from siena.broker.limits import CONNECT_SECONDS_MAX, DRAIN_SECONDS_MAX
from siena.broker.naming import number_of
from siena.broker.publications import Publications
from siena.broker.requests import Requests
from siena.broker.session import Session
from siena.broker.settings import Settings
from siena.broker.turn import Turn
from siena.clock import Clock, SystemClock
from siena.errors import SienaError
from siena.protocol.bodies import Connect
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.greeting import Info
from siena.routing.options import Options
from siena.routing.router import Router

log = logging.getLogger("siena.broker")

# Connections that wait to be accepted.
BACKLOG = 1_024


class Broker:
    """One broker.

    Ownership: whoever calls :meth:`start` calls :meth:`drain` in the end; in between
    everything happens in the loop that ``start`` was called in.
    """

    def __init__(
        self,
        settings: Settings = Settings(),  # noqa: B008 -- frozen
        *,
        clock: Clock | None = None,
    ) -> None:
        self.settings = settings
        self.addresses: list[Address] = []
        self.name = ""
        self._clock = clock or SystemClock()
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._numbers = count(1)
        self._is_draining = False

    # --- Beginning and end ----------------------------------------------------------

    async def start(self) -> None:
        """Listen, and serve from now on.

        Raises:
            SienaError: if it may not, or cannot, listen there.
        """
        sockets = [_listen(a) for a in map(read_address, self.settings.listen)]
        self.addresses = [Address(*s.getsockname()[:2]) for s in sockets]
        self.name = self.settings.name or str(self.addresses[0])
        epoch = self._clock.nanoseconds()
        router = Router(number_of(self.name), Options(quench=True), epoch=epoch)
        self.core = Core(self.settings, self._clock, router)
        self.publications = Publications(self.core)
        self.requests = Requests(self.core)
        loop = asyncio.get_running_loop()
        turn = Turn(self.core, self.publications, loop)
        self.came, self.wrote = turn.came, turn.wrote
        self._info = Info(
            broker=self.name,
            number=router.me,
            epoch=epoch,
            software=f"siena {version('siena-pubsub')}",
        ).line()
        for each in sockets:
            server = await loop.create_server(self._accept, sock=each, backlog=BACKLOG)
            self._servers.append(server)

    async def drain(self) -> None:
        """Accept nobody any more, send what is left, and say good-bye."""
        self._is_draining = True
        for server in self._servers:
            server.close()
        farewell = ProtocolError(Fault.DRAINING, "this broker ends")
        for connection in list(self._connections):
            connection.fail(farewell)
        waited = 0.0
        while self._connections and waited < DRAIN_SECONDS_MAX:
            await asyncio.sleep(0.01)
            waited += 0.01
        await asyncio.sleep(0)

    # --- What connections need ------------------------------------------------------

    came: Callable[[Connection], None]
    wrote: Callable[[Connection], None]

    def blocked(self, connection: Connection) -> None:
        """Let those wait who publish for somebody who is full."""
        for source in self.publications.publishers:
            if isinstance(source, Connection) and source.neighbour is None:
                source.hold(connection)

    def opened(self, connection: Connection) -> None:
        """Greet whoever has connected."""
        counters = self.core.counters
        self._connections.add(connection)
        counters.connections += 1
        counters.connections_now += 1
        connection.role = Stranger(connection, self)
        connection.reply(self._info)
        if self._is_draining:
            connection.fail(ProtocolError(Fault.DRAINING, "this broker ends"))
        elif len(self._connections) > self.settings.connections_max:
            counters.connections_refused += 1
            most = self.settings.connections_max
            text = f"more than {most} connections"
            connection.fail(ProtocolError(Fault.TOO_MANY_CONNECTIONS, text))
        else:
            loop = asyncio.get_running_loop()
            loop.call_later(CONNECT_SECONDS_MAX, self._expect, connection)

    def closed(self, connection: Connection) -> None:
        """Forget whoever has gone."""
        self._connections.discard(connection)
        self.core.counters.connections_now -= 1

    def connect(self, connection: Connection, body: Connect) -> None:
        """Make a stranger a client."""
        session = Session(next(self._numbers), name=body.name, sink=connection)
        self.core.sessions[session.number] = session
        connection.outbox.policy = body.policy
        client = Client(
            connection, session, self.core, self.publications, self.requests
        )
        connection.role = client
        client.welcome(resumed=False)

    def _accept(self) -> Connection:
        return Connection(self, self.settings.output_bytes_max)

    def _expect(self, connection: Connection) -> None:
        if isinstance(connection.role, Stranger) and not connection.is_closing:
            text = f"no CONNECT in {CONNECT_SECONDS_MAX:g} seconds"
            connection.fail(ProtocolError(Fault.TIMED_OUT, text))


def _listen(address: Address) -> socket.socket:
    """A socket that listens there.

    Raises:
        SienaError: if that is not possible.
    """
    try:
        family, kind, _, _, place = socket.getaddrinfo(
            *address, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind)
    except OSError as error:
        raise SienaError(f"cannot listen at {address}: {error.strerror}") from None
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
    except OSError as error:
        found.close()
        raise SienaError(f"cannot listen at {address}: {error.strerror}") from None
    return found
