"""A call: one attempt to link to another broker.

::

    connect ──▶ INFO ──▶ CONNECT with our number ──▶ WELCOME ──▶ the link is up
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

from siena.broker.access.principal import LOCAL, Principal
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.io.host import ConnectionHost
from siena.broker.peers.callers import Callers, token_of
from siena.broker.peers.destination import Destination, read_destination
from siena.broker.peers.link import Link, Other
from siena.broker.peers.pulse import pulse_feature, pulse_of
from siena.broker.settings import LinkSettings
from siena.broker.state import BrokerState
from siena.broker.workers.worker import Worker, hub_of
from siena.errors import SienaError
from siena.messages import PeerConfirm, PeerRefuse, Side
from siena.protocol.address import Address
from siena.protocol.control_frames import Connect, Error, Peer, Welcome
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import (
    CLOSED,
    EXACT,
    GAPS,
    JOINT,
    PREFACE,
    RELAY,
    RUNS,
    UNASSURED,
    VERSIONS,
    Info,
)
from siena.protocol.states import Event

# How long it may take until the other broker has said who it is.
CALL_SECONDS_MAX = 10.0
# And then until it has said yes or no: one with many interests has much to prepare, and
# would begin anew at every call.
ANSWER_SECONDS_MAX = 60.0


class Switchboard(Protocol):
    """Who makes calls, and takes the links that come of them."""

    state: BrokerState
    publications: PublishBatch
    host: ConnectionHost
    name: str
    urls: list[str]
    callers: Callers
    worker: Worker | None
    calling: dict[int, "Dialer"]

    @property
    def is_relaying(self) -> bool:
        """Whether it stores what is acknowledged."""
        ...

    def greeted(self, settings: LinkSettings, number: int) -> None:
        """A broker that is called has said who it is."""
        ...

    def up(self, link: Link) -> None:
        """A link stands."""
        ...

    def down(self, link: Link) -> None:
        """A link has gone."""
        ...


class Dialer:
    """One attempt to link to a broker, and the link that comes of it."""

    neighbour: int | None = None

    def __init__(
        self,
        links: Switchboard,
        settings: LinkSettings,
        redirected: Address | None = None,
    ) -> None:
        self._links = links
        self._settings = settings
        self._greeted = asyncio.Event()
        self._answered = asyncio.Event()
        self._ended = asyncio.Event()
        self._why = "it hangs up"
        self._connection: Connection | None = None
        self._number: int | None = None
        self._name = ""
        self._takes_runs = False
        self._hears_gaps = False
        self._is_relaying = False
        self._hears_unassured = False
        self._pulse_seconds: float | None = None
        self._hears_jointly = False
        self.was_linked = False
        self._where = (
            Destination(redirected) if redirected else read_destination(settings.url)
        )
        self.redirected: Address | None = None
        """Where to call instead, if we were told so."""

    async def attempt(self) -> None:
        """Call, and return when there is no link, or none any more.

        Raises:
            OSError: if nothing listens there, or does not answer in time.
            SienaError: if it says no, or is no broker.
        """
        links = self._links
        limit = links.state.settings.limits.output_bytes
        connection = Connection(links.host, limit, is_calling=True)
        connection.role = self
        self._connection = connection
        is_connected = False
        try:
            async with _within(CALL_SECONDS_MAX, "it says nothing"):
                await self._where.connect(connection, links.callers.certificates)
                is_connected = True
                await self._greeted.wait()
            async with _within(ANSWER_SECONDS_MAX, "it says neither yes nor no"):
                await self._answered.wait()
            await self._ended.wait()
        finally:
            if is_connected:
                connection.close()
                self._give_up("it was not waited for")
        if not self.was_linked and self.redirected is None:
            raise SienaError(self._why)

    def abandon(self) -> None:
        """Let the other broker's own call come first."""
        assert self._connection is not None
        self._connection.close()
        self._give_up("abandoned")

    # --- As the role of its connection ----------------------------------------------

    def handle(self, event: Event) -> None:
        """What the broker says that was called: who it is, and then yes or no."""
        match event:
            case Info():
                self._hear(event)
            case Welcome():
                self._welcomed(event)
            case _:
                assert isinstance(event, Error)
                raise self._refused(event.text)

    def _hear(self, info: Info) -> None:
        self._greeted.set()
        links = self._links
        assert self._connection is not None
        try:
            links.callers.recognise(self._connection, self._settings)
        except ProtocolError as error:
            raise self._refused(error.message) from None
        router = links.state.router
        hub = hub_of(info.features, self._where.address.host)
        # Only the hub serves HTTP.
        if self._where.path is None and hub not in {None, self._where.address}:
            self.redirected = hub
            raise self._refused(f"the hub of its workers is {hub}")
        if info.number == router.me:
            raise self._refused("this is that very broker")
        links.greeted(self._settings, info.number)
        if info.number in links.state.links or info.number in links.calling:
            raise self._refused("there is a link already")
        if info.number in router.leaving:
            raise self._refused("what it wanted before is still being forgotten")
        self._number, self._name = info.number, info.broker
        self._takes_runs = RUNS in info.features
        self._hears_gaps = GAPS in info.features
        self._is_relaying = links.is_relaying and RELAY in info.features
        self._pulse_seconds = pulse_of(info.features)
        self._hears_jointly, self._hears_unassured = (
            feature in info.features for feature in (JOINT, UNASSURED)
        )
        links.calling[info.number] = self
        side, weight = Side(self._settings.side), self._settings.weight
        is_exact, is_closed = EXACT in info.features, CLOSED in info.features
        router.connect(info.number, side, weight, exact=is_exact, closed=is_closed)
        features = [
            EXACT,
            CLOSED,
            RUNS,
            GAPS,
            JOINT,
            pulse_feature(links.state.settings.pulse_seconds),
            *((RELAY, UNASSURED) if links.is_relaying else ()),
        ]
        peer = Peer(
            router.me,
            router.epoch,
            side.value,
            weight,
            links.urls,
            features,
        )
        worker = links.worker
        is_to_hub = worker is not None and self._where.address == worker.hub
        if worker is not None and is_to_hub:
            token: str | None = worker.secret
            self._connection.principal = LOCAL
        else:
            token = self._token()
        body = Connect(VERSIONS[1], name=links.name, peer=peer, token=token)
        self._connection.reply(PREFACE + body.pack())

    def _token(self) -> str | None:
        try:
            return token_of(self._settings, self._where.address)
        except SienaError as error:
            raise self._refused(str(error)) from None

    def _refused(self, why: str) -> ProtocolError:
        self._why = why
        return ProtocolError(Fault.PEER_REFUSED, why)

    def _welcomed(self, body: Welcome) -> None:
        number = self._number
        assert number is not None, "it was greeted"
        links = self._links
        del links.calling[number]
        self._number = None
        self.was_linked = True
        self._answered.set()
        assert self._connection is not None
        side = Side(self._settings.side)
        urls = self._where.urls
        other = Other(
            number,
            self._name,
            body.epoch,
            side,
            "us",
            urls,
            self._takes_runs,
            self._hears_gaps,
            self._is_relaying,
            self._pulse_seconds,
            self._hears_jointly,
            self._is_relaying and self._hears_unassured,
        )
        link = Link(
            links.state, links.publications, self._connection, other, self._gone
        )
        if self._settings.role is not None:
            self._connection.principal = Principal(
                self._name, roles=(self._settings.role,)
            )
        link.permit()
        links.up(link)
        links.state.post(links.state.router.handle(PeerConfirm(), number))

    def gone(self) -> None:
        """It came to nothing."""
        self._give_up("the connection has ended")

    def _gone(self, link: Link) -> None:
        self._links.down(link)
        self._ended.set()

    def _give_up(self, why: str) -> None:
        if self._number is not None and self._links.calling.get(self._number) is self:
            del self._links.calling[self._number]
            self._links.state.router.handle(PeerRefuse(why), self._number)
        self._number = None
        self._greeted.set()
        self._answered.set()
        self._ended.set()


@asynccontextmanager
async def _within(seconds: float, what: str) -> AsyncIterator[None]:
    """Do not wait for longer, and say then what the other broker does."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise TimeoutError(f"{what} in {seconds:g} s") from None
