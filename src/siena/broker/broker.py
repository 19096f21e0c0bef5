"""The broker: listens, and brings its parts together.

::

    connections ── tick ──▶ publish batch ──▶ exchange ──▶ connections
         │                        └──▶ forwarder ──▶ links, monitors, mailboxes
         └── requests ──▶ router ──▶ state.post ──▶ connections, links

Why one module: the front has a few lines for each of its parts, and no part but itself
knows them all.
"""

import asyncio

# What Python and NumPy import when it is first needed, by the first thread and the
# first publication: by then there may be no file left to open.
import concurrent.futures.thread  # noqa: F401 -- see above
import contextlib
import logging
import socket
from collections.abc import Callable
from dataclasses import replace as replace_address
from functools import partial
from importlib.metadata import version
from itertools import count
from pathlib import Path

import numpy.ma  # noqa: F401 -- see above
from msgspec.structs import replace

import siena.lang.expression.parser  # noqa: F401 -- see above
from siena.broker.access.authenticator import Authenticator
from siena.broker.access.certificates import Certificates
from siena.broker.access.leases import Leases
from siena.broker.access.opening import make_gate, read_roles
from siena.broker.clients.cancelling import Cancelling
from siena.broker.clients.client import Client, Handshake
from siena.broker.clients.entrance import Entrance
from siena.broker.clients.granting import Granting
from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.clients.remembered import Remembered
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.data.table_compactor import TableCompactor
from siena.broker.ids import number_of
from siena.broker.inspect import look
from siena.broker.io.connection import Connection
from siena.broker.io.listen import check_listening, listen, raise_file_limit
from siena.broker.io.stalls import StallWatch
from siena.broker.io.tick import Tick
from siena.broker.limits import DRAIN_SECONDS_MAX, FILES_KEPT, HANDSHAKE_SECONDS_MAX
from siena.broker.log.service import LogService
from siena.broker.peers.callers import Callers
from siena.broker.peers.destination import read_destination
from siena.broker.peers.gaps import Gaps
from siena.broker.peers.handoff_tasks import HandoffTasks
from siena.broker.peers.link import Link
from siena.broker.peers.links import Links
from siena.broker.peers.pulse import pulse_feature
from siena.broker.settings import Settings
from siena.broker.state import BrokerState
from siena.broker.workers.socket_passing import pass_socket
from siena.broker.workers.worker import Worker, hub_feature
from siena.clock import Clock, SystemClock
from siena.errors import SienaError
from siena.messages import Side
from siena.protocol.address import Address, read_address
from siena.protocol.control_frames import Connect, Look
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import (
    ADVERTISED,
    AUTH,
    CLOSED,
    COVERED,
    EXACT,
    GAPS,
    GRANTS,
    JOINT,
    PREFACE,
    RESIDUAL,
    RUNS,
    TOKEN,
    WANTING,
    Info,
)
from siena.protocol.limits import URLS_MAX
from siena.protocol.text.output import Lines
from siena.protocol.text.transcripts import BlockTexts
from siena.routing.router import Router

log = logging.getLogger("siena.broker")

# Connections that wait to be accepted.
BACKLOG = 1_024


class Broker:
    """One broker.

    Ownership: the caller of :meth:`start` calls :meth:`drain` in the end; in between
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
        self._is_empty = asyncio.Event()
        self._numbers = count(1)
        self._is_draining = False
        self.block_texts = BlockTexts()
        """The JSON of what was delivered last, for all who read it."""
        self.lines = Lines(self.block_texts)
        """What is delivered as lines."""
        self._connections_max = 0
        self._file_number_max = 0
        self._remembered: Remembered | None = None
        self._passing: set[asyncio.Task[None]] = set()

    # --- Beginning and end ----------------------------------------------------------

    async def start(self) -> None:
        """Listen, and serve from now on.

        Raises:
            SienaError: if it may not, or cannot, listen there.
        """
        addresses = [read_address(text) for text in self.settings.listen]
        for link in self.settings.links:  # said now rather than at the first call
            read_destination(link.url)
        self._begin_access(addresses)
        self._limit_connections()
        is_shared = self._worker is not None
        sockets = [listen(address, is_shared=is_shared) for address in addresses]
        self.addresses = [
            replace_address(a, host=s.getsockname()[0], port=s.getsockname()[1])
            for s, a in zip(sockets, addresses, strict=True)
        ]
        if self._worker is not None and self._worker.is_hub:
            # Where the other workers, and neighbours, call.
            sockets.append(listen(self._worker.hub, is_shared=True))
        self.name = self.settings.name or self.addresses[0].place
        epoch = self._clock.nanoseconds()
        router = Router(
            number_of(self.name),
            self.settings.routing.options(),
            epoch=epoch,
            flat=True,
            sliced=True,
        )
        self.state = BrokerState(
            self.settings,
            self._clock,
            router,
            self.name,
            gate=make_gate(self.settings, self._clock),
            counters=self._counters,
        )
        self.access.audit = self.leases.audit = self.state.gate.audit
        self.publications = PublishBatch(self.state)
        self.requests = Requests(self.state)
        self.requests.add(Look, partial(look, self))
        Cancelling(self.state, self.requests)
        self.granting = Granting(self.state, self.publications, self.requests)
        self.handoff_tasks = HandoffTasks(self.state, self.certificates)
        try:
            self.log_service = LogService(self.state, self.publications, self.requests)
        except BaseException:
            for each in sockets:
                each.close()
            raise
        self.links = Links(
            self.state,
            self.publications,
            self,
            self.name,
            Callers(self.access, self.certificates),
            self._worker,
        )
        self.links.urls = [each.url for each in self.addresses[:URLS_MAX]]
        tick = Tick(self.state, self.publications, asyncio.get_running_loop())
        self.on_readable, self.recv_buffer = tick.on_readable, tick.recv_buffer
        self.schedule_flush = tick.schedule_flush
        self.process_in_place = tick.process_in_place
        self.read_later, self.is_serving = tick.read_later, self.state.shares.is_serving
        self._info = Info(
            broker=self.name,
            number=router.me,
            epoch=epoch,
            software=f"siena {version('siena-pubsub')}",
            features=self._features(),
        ).line()
        self._take_up()
        self.log_service.start()  # before anything can be asked of it
        await self._listen(sockets)
        self.links.call(self.settings.links)
        self.table_compactor = TableCompactor(
            self.state.exchange, self.state.shares.rebuild
        )
        self.state.shares.on_scattered = self.table_compactor.lose

    async def _listen(self, sockets: list[socket.socket]) -> None:
        """Accept connections; at which of them with TLS, the addresses say."""
        loop = asyncio.get_running_loop()
        for at, each in enumerate(sockets):
            # The last may be where other workers call.
            is_secure = at < len(self.addresses) and self.addresses[at].is_secure
            secure = self.certificates.server if is_secure else None
            server = await loop.create_server(
                self.accept, sock=each, backlog=BACKLOG, ssl=secure
            )
            self._servers.append(server)
        self.access.start()
        self.stalls = StallWatch(self._connections)
        self.stalls.start()

    def _take_up(self) -> None:
        """Let identities be known that were when the broker ended, and tell of gaps."""
        self.links.gaps = gaps = Gaps(self.state, self.requests)
        relaying = self.log_service.durable.relaying
        if relaying is not None and self._worker is None:
            self.links.relaying = relaying
            relaying.tell_gap = gaps.tell_beyond
        journal, path = self.log_service.journal, self.settings.log.path
        if journal is not None and path is not None:
            self._remembered = Remembered(self.state, journal, Path(path))
            self._remembered.take_up(self._numbers)
            journal.on_tick = self._remembered.write

    def _begin_access(self, addresses: list[Address]) -> None:
        """Read who may come, and with which certificate they are received.

        Raises:
            SienaError: if a file is wrong, or it may not listen there.
        """
        settings = self.settings
        read_roles(settings)  # before anything is opened
        tls = settings.tls and settings.tls.of(settings.name or "")
        self.certificates = Certificates(tls)
        self._counters = Counters()
        self.access = Authenticator(settings.access, self._clock, self._counters)
        self.leases = Leases(self._clock)
        self.entrance = Entrance(self.access, self.count_fault)
        if tls is None and any(address.is_secure for address in addresses):
            hint = "[tls] in the settings names them; siena cert makes some"
            raise SienaError("sienas:// needs a certificate and its key", hint=hint)
        check_listening(
            addresses,
            insecure=settings.insecure_listen,
            is_asking=self.access.has_identities,
        )

    def _features(self) -> tuple[str, ...]:
        """What clients can ask for here, and must; where brokers are to call."""
        is_advertising = self.state.router.options.is_advertising
        known = (
            COVERED,
            EXACT,
            CLOSED,
            RESIDUAL,
            RUNS,
            GAPS,
            JOINT,
            pulse_feature(self.settings.pulse_seconds),
            GRANTS,
            WANTING,
        )
        features = (*known, *((ADVERTISED,) if is_advertising else ()))
        features = (*features, *((TOKEN, AUTH) if self.access.is_asking else ()))
        if self._worker is None:
            return (*features, *self.log_service.features)
        return (*features, *hub_feature(self._worker.hub))

    async def drain(self) -> None:
        """Accept no connection any more, send what is left, and say good-bye."""
        self._is_draining = True
        for server in self._servers:
            server.close()
        await self.links.stop()
        self.stalls.stop()
        await self.entrance.stop()
        self.access.stop()
        await self.handoff_tasks.stop()
        await self.table_compactor.stop()
        farewell = ProtocolError(Fault.DRAINING, "this broker ends")
        for connection in list(self._connections):
            connection.fail(farewell)
        if self._connections:
            self._is_empty.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._is_empty.wait(), DRAIN_SECONDS_MAX)
        await asyncio.sleep(0)
        if self._remembered is not None:
            self._remembered.close()
        await self.log_service.close()
        self.state.gate.audit.close()

    def reload(self, settings: Settings) -> list[str]:
        """Take over what can change while it serves; the names of what cannot.

        Raises:
            SienaError: if something is wrong with them, and then nothing has changed.
            OSError: if a file that they name cannot be read; likewise.
        """
        audit, now = self.state.gate.audit, self.settings
        try:
            for link in settings.links:
                read_destination(link.url)
            roles = read_roles(settings)
            access = self.access.prepare(settings.access)
            self.certificates.reload(settings.tls and settings.tls.of(now.name or ""))
        except (SienaError, OSError) as error:
            audit.write("reload refused", None, why=str(error))
            raise
        audit.write("reloaded", None)
        self.access.reload(access)
        self.leases.renew(self.access)
        self.links.renew()
        changeable = {
            name: getattr(settings, name)
            for name in (
                "limits",
                "links",
                "digest_seconds",
                "settle_seconds",
                "accept_peers",
                "handlers",
                "quotas",
                "access",
                *(("tls",) if (now.tls and settings.tls) else ()),
            )
        }
        self.settings = self.state.settings = replace(now, **changeable)
        self.state.accounts.quotas = settings.quotas
        self.granting.reload(roles)
        self._limit_connections()
        self.links.call(settings.links)
        self.log_service.resume()
        names = settings.__struct_fields__
        return [
            name
            for name in names
            if getattr(settings, name) != getattr(self.settings, name)
        ]

    def snapshot(self) -> dict[str, object]:
        """What there is to know, as plain structures."""
        state, router = self.state, self.state.router
        return {
            "broker": self.name,
            # As texts: beyond 2^53 many readers of JSON damage numbers.
            "number": str(router.me),
            "epoch": str(router.epoch),
            "urls": [address.url for address in self.addresses],
            "counters": state.counters.snapshot(),
            "refusals": state.gate.snapshot(),
            "quota_refusals": dict(state.accounts.refusals),
            "links": [link.snapshot() for link in state.links.values()],
            "sessions": len(state.sessions),
            "away": sum(s.sink is None for s in state.sessions.values()),
            "filters": len(router.tables.filters),
            "advertisements": len(router.tables.advertisements),
            **(
                {"log": self.log_service.journal.snapshot()}
                if self.log_service.journal
                else {}
            ),
        }

    def wanted_links(self) -> list[dict[str, object]]:
        """The links that it was told to have, and of those that are not up why."""
        return self.links.wanted()

    # --- What connections need ------------------------------------------------------

    on_readable: Callable[[Connection], None]
    schedule_flush: Callable[[Connection], None]

    def elapsed(self) -> float:
        """Seconds, to measure how long a connection is looked at."""
        return self._clock.elapsed()

    def keeps_waiting(self, connection: Connection) -> bool:
        """Let a connection wait, if it has asked for too much; whether it must."""
        account = connection.account
        return account is not None and self.state.shares.keeps_waiting(
            account, connection
        )

    def charge(self, connection: Connection, seconds: float) -> None:
        """Draw what it took to read requests, or what is in vain."""
        if connection.account is not None:
            sender = None if connection.is_closing else connection
            if sender is None:  # what it has left behind is no reason to wait for long
                seconds = min(seconds, self.settings.quotas.work_seconds)
            self.state.shares.work(
                connection.account,
                sender,
                seconds,
                is_service=connection.neighbour is None,
            )

    def serve(self, seconds: float) -> None:
        """Count what it took to do what no account is drawn for."""
        self.state.shares.serve(seconds, self._clock.elapsed())

    def route(self) -> None:
        """Route what has been published so far."""
        self.publications.flush()

    def as_lines(self, deliveries: bytes) -> bytes:
        """Their lines, written once for all who read them."""
        return self.lines.deliveries(deliveries)

    def count_fault(self) -> None:
        """An error is sent."""
        self.state.counters.faults += 1

    def blocked(self, connection: Connection) -> None:
        """Let those wait who publish for a reader that is full."""
        link = connection.role if isinstance(connection.role, Link) else None
        # For a client no neighbour waits, and in a mesh neighbours could wait for each
        # other for ever.
        is_for_all = link is not None and link.side is not Side.MESH
        if link is not None and not link.standstill.lets_wait():
            return
        for source in self.publications.publishers:
            if is_for_all or source.neighbour is None:
                source.hold(connection)
        seconds = self.settings.quotas.block_seconds
        if link is None and seconds and connection.patience is None:
            loop = asyncio.get_running_loop()
            connection.patience = loop.call_later(
                seconds, connection.lose_patience, self.state.accounts
            )

    def opened(self, connection: Connection) -> None:
        """Greet the other end of a new connection."""
        counters = self.state.counters
        self._connections.add(connection)
        counters.connections_now += 1
        if connection.role is not None:  # we have called
            return
        counters.connections += 1
        connection.account = self.state.accounts.of_stranger(connection.host)
        connection.asked_at = self._clock.elapsed()
        connection.role = Handshake(connection, self)
        if not connection.is_greeted:
            connection.greet(self._info)
        if self._is_draining:
            connection.fail(ProtocolError(Fault.DRAINING, "this broker ends"))
        elif not self._has_room(connection):
            counters.connections_refused += 1
            text = f"more than {self._connections_max} connections, or too many files"
            connection.fail(ProtocolError(Fault.TOO_MANY_CONNECTIONS, text))
        else:
            loop = asyncio.get_running_loop()
            connection.handshake = loop.call_later(
                HANDSHAKE_SECONDS_MAX, self._expect, connection
            )

    def _limit_connections(self) -> None:
        files_max = raise_file_limit()
        # The system gives the lowest number that is free: one above this says that
        # hardly any are left, for whatever the others are used.
        self._file_number_max = files_max - FILES_KEPT
        self._connections_max = min(
            self.settings.limits.connections, self._file_number_max
        )

    def _has_room(self, connection: Connection) -> bool:
        return (
            len(self._connections) <= self._connections_max
            and connection.file_number < self._file_number_max
        )

    def closed(self, connection: Connection) -> None:
        """Forget a connection that has gone."""
        self._connections.discard(connection)
        if not self._connections:
            self._is_empty.set()
        self.leases.end(connection)
        self.state.counters.connections_now -= 1

    def connect(self, connection: Connection, body: Connect) -> None:
        """Find out who a stranger is, and make it a client, or a neighbour."""
        worker = self._worker
        is_elsewhere = worker is not None and not worker.is_hub
        if worker is not None and is_elsewhere and body.identity and not body.peer:
            self._pass_socket(connection, body, worker)  # who it is, is found out there
        elif self.links.is_of_ours(body):
            self._connected(connection, body)
        else:
            then = partial(self._connected, connection, body)
            self.entrance.ask(connection, body, then)

    def _connected(self, connection: Connection, body: Connect) -> None:
        """Make a client, or a neighbour, of one that is known."""
        if body.peer is not None:
            self.publications.flush()  # what an older link of theirs has brought
            self.links.accept(connection, body, body.peer)
            self.leases.begin(connection)
            return
        client, is_known = self.admit(connection, body)
        connection.become(client, publisher=client)
        client.welcome(resumed=is_known)

    def _pass_socket(
        self, connection: Connection, body: Connect, worker: Worker
    ) -> None:
        """Let the hub serve one with an identity: what is kept for it is there."""
        data = PREFACE + body.pack() + connection.conversation.behind_connect
        task = asyncio.get_running_loop().create_task(
            pass_socket(worker.sockets, connection.detach(), data)
        )
        self._passing.add(task)
        task.add_done_callback(self._passed)

    def _passed(self, task: asyncio.Task[None]) -> None:
        self._passing.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:  # its client has lost the connection, and comes again
            log.warning("a connection could not be handed over: %s", error)

    async def adopt(self, connection: socket.socket, data: bytes) -> None:
        """Serve a connection of another worker, of which this has been read."""
        adopted = Connection(self, self.settings.limits.output_bytes, is_greeted=True)
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(lambda: adopted, connection)
        adopted.put(data)

    def admit(
        self, who: Connection | InProcessClient, body: Connect
    ) -> tuple[Client, bool]:
        """A client from now on; and whether something was kept for it.

        Raises:
            ProtocolError: if it wants an identity that it may not have.
        """
        if body.identity and not who.principal.owns(body.identity):
            shown, fault = repr(body.identity[:80]), Fault.IDENTITY_REFUSED
            raise self.state.gate.refuse(who.principal, "own", shown, fault=fault)
        self.granting.check(who.principal, body.policy)
        session = self._session(body)
        is_known = session.sink is None and session.number in self.state.sessions
        session.name, session.sink = body.name, who
        session.principal, session.token = who.principal, body.token
        session.hears_of_grants = GRANTS in body.features
        self.leases.begin(who, session)
        self.state.sessions[session.number] = session
        self.granting.begin(session, is_known=is_known)
        who.outbox.policy = body.policy
        client = Client(
            who,
            session,
            self.state,
            self.publications,
            self.requests,
            self.handoff_tasks,
        )
        return client, is_known

    def _session(self, body: Connect) -> Session:
        """The session of an identity, or a new one."""
        identities = self.state.identities
        known = identities.get(body.identity) if body.identity else None
        if known is None:
            known = Session(
                next(self._numbers), self.state.router.registrations, body.identity
            )
            if body.identity:
                identities[body.identity] = known
        elif known.sink is not None:
            raise ProtocolError(
                Fault.IDENTITY_TAKEN, f"{body.identity!r} is connected already"
            )
        return known

    def accept(self) -> Connection:
        """A connection for those who come, whatever brings them."""
        return Connection(self, self.settings.limits.output_bytes)

    def _expect(self, connection: Connection) -> None:
        if connection.conversation.handshaking and not connection.is_closing:
            text = f"no CONNECT in {HANDSHAKE_SECONDS_MAX:g} seconds"
            connection.fail(ProtocolError(Fault.TIMED_OUT, text))
