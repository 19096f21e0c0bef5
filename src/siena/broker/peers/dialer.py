"""A call: one attempt to link to another broker.

::

    connect ──▶ INFO ──▶ CONNECT with our number ──▶ WELCOME ──▶ the link is up
"""

import asyncio
from typing import Protocol

from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.io.host import ConnectionHost
from siena.broker.peers.destination import Destination, read_destination
from siena.broker.peers.link import Link, Other
from siena.broker.settings import Link as LinkSettings
from siena.broker.state import BrokerState
from siena.broker.workers.worker import Worker, hub_of
from siena.messages import PeerConfirm, PeerRefuse, Side
from siena.protocol.address import Address
from siena.protocol.control_frames import Connect, Error, Peer, Welcome
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import EXACT, PREFACE, RUNS, VERSIONS, Info
from siena.protocol.states import Event

# How long it may take until somebody answers.
CALL_SECONDS_MAX = 10.0


class Switchboard(Protocol):
    """Who makes calls, and takes the links that come of them."""

    state: BrokerState
    publications: PublishBatch
    host: ConnectionHost
    name: str
    urls: list[str]
    worker: Worker | None
    calling: dict[int, "Dialer"]

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
        self._ended = asyncio.Event()
        self._connection: Connection | None = None
        self._number: int | None = None
        self._name = ""
        self._takes_runs = False
        self.was_linked = False
        self._where = (
            Destination(redirected) if redirected else read_destination(settings.url)
        )
        self.redirected: Address | None = None
        """Where to call instead, if we were told so."""

    async def attempt(self) -> None:
        """Call, and return when there is no link, or none any more.

        Raises:
            OSError: if nobody is there.
            SienaError: if it is somebody else.
        """
        links = self._links
        limit = links.state.settings.limits.output_bytes
        connection = Connection(links.host, limit, is_calling=True)
        connection.role = self
        self._connection = connection
        async with asyncio.timeout(CALL_SECONDS_MAX):
            await self._where.connect(connection)
        try:
            await self._ended.wait()
        finally:
            connection.close()

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
                self._greeted(event)
            case Welcome():
                self._welcomed(event)
            case _:
                assert isinstance(event, Error)
                raise ProtocolError(Fault.PEER_REFUSED, event.text)

    def _greeted(self, info: Info) -> None:
        links = self._links
        router = links.state.router
        hub = hub_of(info.features, self._where.address.host)
        # Only the hub serves HTTP.
        if self._where.path is None and hub not in {None, self._where.address}:
            self.redirected = hub
            raise ProtocolError(Fault.PEER_REFUSED, f"the hub of its workers is {hub}")
        if info.number == router.me:
            raise ProtocolError(Fault.PEER_REFUSED, "this is that very broker")
        if info.number in links.state.links or info.number in links.calling:
            raise ProtocolError(Fault.PEER_REFUSED, "there is a link already")
        self._number, self._name = info.number, info.broker
        self._takes_runs = RUNS in info.features
        links.calling[info.number] = self
        side, weight = Side(self._settings.side), self._settings.weight
        router.connect(info.number, side, weight, exact=EXACT in info.features)
        peer = Peer(
            router.me, router.epoch, side.value, weight, links.urls, [EXACT, RUNS]
        )
        worker = links.worker
        is_to_hub = worker is not None and self._where.address == worker.hub
        token = worker.secret if worker is not None and is_to_hub else None
        body = Connect(VERSIONS[1], name=links.name, peer=peer, token=token)
        assert self._connection is not None
        self._connection.reply(PREFACE + body.pack())

    def _welcomed(self, body: Welcome) -> None:
        number = self._number
        assert number is not None, "it was greeted"
        links = self._links
        del links.calling[number]
        self._number = None
        self.was_linked = True
        assert self._connection is not None
        side = Side(self._settings.side)
        urls = self._where.urls
        other = Other(
            number, self._name, body.epoch, side, "us", urls, self._takes_runs
        )
        link = Link(
            links.state, links.publications, self._connection, other, self._gone
        )
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
        self._ended.set()
