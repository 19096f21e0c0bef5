"""The broker: listens, and brings its parts together.

::

    connections ── turn ──▶ publications ──▶ exchange ──▶ connections
         │                        └──▶ onward ──▶ links, monitors, kept
         └── requests ──▶ router ──▶ core.post ──▶ connections, links
"""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from itertools import count

from msgspec.structs import replace

from siena.broker.addresses import Address, read_address
from siena.broker.clients import Client, Stranger
from siena.broker.connection import Connection
from siena.broker.core import Core
from siena.broker.guest import Guest
from siena.broker.limits import DRAIN_SECONDS_MAX, FILES_KEPT, HANDSHAKE_SECONDS_MAX
from siena.broker.link import Link
from siena.broker.links import Links
from siena.broker.listening import check_listening, listen, raise_file_limit
from siena.broker.log.desk import Desk
from siena.broker.moving import Moving
from siena.broker.naming import number_of
from siena.broker.publications import Publications
from siena.broker.requests import Requests
from siena.broker.session import Session
from siena.broker.settings import Settings
from siena.broker.snapshots import look
from siena.broker.turn import Turn
from siena.broker.upkeep import Upkeep
from siena.broker.worker import Worker, hub_feature
from siena.clock import Clock, SystemClock
from siena.messages import Side
from siena.protocol.bodies import Connect, Look
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.greeting import Info
from siena.protocol.limits import URLS_MAX
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
        worker: Worker | None = None,
    ) -> None:
        self.settings = settings
        self._worker = worker
        self.addresses: list[Address] = []
        self.name = ""
        self._clock = clock or SystemClock()
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._numbers = count(1)
        self._is_draining = False
        self._connections_max = 0

    # --- Beginning and end ----------------------------------------------------------

    async def start(self) -> None:
        """Listen, and serve from now on.

        Raises:
            SienaError: if it may not, or cannot, listen there.
        """
        addresses = [read_address(text) for text in self.settings.listen]
        for link in self.settings.links:  # said now rather than at the first call
            read_address(link.url)
        check_listening(addresses, insecure=self.settings.insecure_listen)
        self._connections_max = min(
            self.settings.limits.connections, raise_file_limit() - FILES_KEPT
        )
        is_shared = self._worker is not None
        sockets = [listen(address, is_shared=is_shared) for address in addresses]
        if self._worker is not None:  # where the other workers, and neighbours, call
            sockets.append(listen(Address(addresses[0].host, 0)))
        self.addresses = [Address(*s.getsockname()[:2]) for s in sockets]
        self.name = self.settings.name or str(self.addresses[0])
        epoch = self._clock.nanoseconds()
        router = Router(
            number_of(self.name), self.settings.routing.options(), epoch=epoch
        )
        self.core = Core(self.settings, self._clock, router, self.name)
        self.publications = Publications(self.core)
        self.requests = Requests(self.core)
        self.requests.add(Look, partial(look, self))
        self.moving = Moving(self.core, self.requests)
        try:
            self.desk = Desk(self.core, self.publications, self.requests)
        except BaseException:
            for each in sockets:
                each.close()
            raise
        self.links = Links(
            self.core, self.publications, self.requests.briefing, self, self.name
        )
        self.links.urls = [each.url for each in self.addresses[:URLS_MAX]]
        loop = asyncio.get_running_loop()
        turn = Turn(self.core, self.publications, loop)
        self.came, self.came_here, self.wrote = turn.came, turn.came_here, turn.wrote
        self.room = turn.room
        self._info = Info(
            broker=self.name,
            number=router.me,
            epoch=epoch,
            software=f"siena {version('siena-pubsub')}",
            features=self._features(),
        ).line()
        for each in sockets:
            server = await loop.create_server(self._accept, sock=each, backlog=BACKLOG)
            self._servers.append(server)
        self.links.call(self.settings.links)
        self.desk.start()
        self.upkeep = Upkeep(self.core.exchange)

    def _features(self) -> tuple[str, ...]:
        """Whether there is a log; where brokers are to call, if that is not here."""
        if self._worker is None:
            return self.desk.features
        return hub_feature(self._worker.hub or self.addresses[-1])

    async def drain(self) -> None:
        """Accept nobody any more, send what is left, and say good-bye."""
        self._is_draining = True
        for server in self._servers:
            server.close()
        await self.links.stop()
        await self.moving.stop()
        await self.upkeep.stop()
        farewell = ProtocolError(Fault.DRAINING, "this broker ends")
        for connection in list(self._connections):
            connection.fail(farewell)
        waited = 0.0
        while self._connections and waited < DRAIN_SECONDS_MAX:
            await asyncio.sleep(0.01)
            waited += 0.01
        await asyncio.sleep(0)
        await self.desk.close()

    def reload(self, settings: Settings) -> list[str]:
        """Take over what can change while it serves; the names of what cannot."""
        for link in settings.links:
            read_address(link.url)
        now = self.settings
        changeable = {
            name: getattr(settings, name)
            for name in (
                "limits",
                "links",
                "digest_seconds",
                "accept_peers",
                "handlers",
            )
        }
        self.settings = self.core.settings = replace(now, **changeable)
        self._connections_max = min(
            settings.limits.connections, raise_file_limit() - FILES_KEPT
        )
        self.links.call(settings.links)
        names = settings.__struct_fields__
        return [
            name
            for name in names
            if getattr(settings, name) != getattr(self.settings, name)
        ]

    def snapshot(self) -> dict[str, object]:
        """What there is to know, as plain structures."""
        core, router = self.core, self.core.router
        return {
            "broker": self.name,
            "number": router.me,
            "epoch": router.epoch,
            "urls": [address.url for address in self.addresses],
            "counters": core.counters.snapshot(),
            "links": [link.snapshot() for link in core.links.values()],
            "sessions": len(core.sessions),
            "away": sum(s.sink is None for s in core.sessions.values()),
            "filters": len(router.tables.filters),
            "advertisements": len(router.tables.advertisements),
            **({"log": self.desk.journal.snapshot()} if self.desk.journal else {}),
        }

    # --- What connections need ------------------------------------------------------

    came: Callable[[Connection], None]
    wrote: Callable[[Connection], None]

    def route(self) -> None:
        """Route what has been published so far."""
        self.publications.flush()

    def blocked(self, connection: Connection) -> None:
        """Let those wait who publish for somebody who is full."""
        link = connection.role if isinstance(connection.role, Link) else None
        # For a client no neighbour waits, and in a mesh neighbours could wait for each
        # other for ever.
        is_for_all = link is not None and link.side is not Side.MESH
        for source in self.publications.publishers:
            if is_for_all or source.neighbour is None:
                source.hold(connection)

    def opened(self, connection: Connection) -> None:
        """Greet whoever has connected."""
        counters = self.core.counters
        self._connections.add(connection)
        counters.connections_now += 1
        if connection.role is not None:  # we have called
            return
        counters.connections += 1
        connection.role = Stranger(connection, self)
        connection.greet(self._info)
        if self._is_draining:
            connection.fail(ProtocolError(Fault.DRAINING, "this broker ends"))
        elif len(self._connections) > self._connections_max:
            counters.connections_refused += 1
            most = self._connections_max
            text = f"more than {most} connections"
            connection.fail(ProtocolError(Fault.TOO_MANY_CONNECTIONS, text))
        else:
            loop = asyncio.get_running_loop()
            connection.handshake = loop.call_later(
                HANDSHAKE_SECONDS_MAX, self._expect, connection
            )

    def closed(self, connection: Connection) -> None:
        """Forget whoever has gone."""
        self._connections.discard(connection)
        self.core.counters.connections_now -= 1

    def connect(self, connection: Connection, body: Connect) -> None:
        """Make a stranger a client, or a neighbour."""
        if body.peer is not None:
            self.publications.flush()  # what an older link of theirs has brought
            self.links.accept(connection, body, body.peer)
            return
        client, is_known = self.admit(connection, body)
        connection.role = client
        connection.welcomed()
        client.welcome(resumed=is_known)

    def admit(self, who: Connection | Guest, body: Connect) -> tuple[Client, bool]:
        """A client from now on; and whether something was kept for it."""
        session = self._session(body)
        is_known = session.sink is None and session.number in self.core.sessions
        session.name, session.sink = body.name, who
        self.core.sessions[session.number] = session
        who.outbox.policy = body.policy
        client = Client(
            who, session, self.core, self.publications, self.requests, self.moving
        )
        return client, is_known

    def _session(self, body: Connect) -> Session:
        """The session of an identity, or a new one."""
        if body.identity and self._worker is not None:
            raise ProtocolError(
                Fault.BAD_CONNECT,
                "identities are not kept by a broker with several workers",
            )
        identities = self.core.identities
        known = identities.get(body.identity) if body.identity else None
        if known is None:
            known = Session(next(self._numbers), body.identity)
            if body.identity:
                identities[body.identity] = known
        elif known.sink is not None:
            raise ProtocolError(
                Fault.IDENTITY_TAKEN, f"{body.identity!r} is connected already"
            )
        return known

    def _accept(self) -> Connection:
        return Connection(self, self.settings.limits.output_bytes)

    def _expect(self, connection: Connection) -> None:
        if isinstance(connection.role, Stranger) and not connection.is_closing:
            text = f"no CONNECT in {HANDSHAKE_SECONDS_MAX:g} seconds"
            connection.fail(ProtocolError(Fault.TIMED_OUT, text))
