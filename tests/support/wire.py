"""A client that knows nothing but frames, to look at what a broker really sends."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import structs

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.settings import LinkSettings, Routing, Settings, Side
from siena.model import Value
from siena.protocol.control_frames import Body, Connect, Subscribe, Welcome, unpack
from siena.protocol.data_frames import (
    Delivery,
    FoundSequence,
    unpack_found,
    unpack_msg,
)
from siena.protocol.frames import Frame, Op, Splitter, pack
from siena.protocol.handshake import PREFACE, Info, read_info

# A test that waits longer than this has failed; a broker answers at once.
SECONDS_MAX = 10

# What is to be closed at the end of a test.
_WRITERS: list[asyncio.StreamWriter] = []


class Wire:
    """One connection to a broker."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, info: Info
    ) -> None:
        self.reader = reader
        self.writer = writer
        self.info = info
        self.welcome: Welcome | None = None
        self._splitter = Splitter()
        self._frames: list[Frame] = []

    def send(self, data: bytes | Body) -> None:
        """Send bytes, or the frame of a body."""
        self.writer.write(data.pack() if isinstance(data, Body) else data)

    def publish(self, *notifications: Mapping[str, Value]) -> None:
        """Publish, all in one write."""
        self.send(b"".join(pack(Op.PUB, encode(n)) for n in notifications))

    async def frame(self) -> Frame:
        """The next frame."""
        while not self._frames:
            async with asyncio.timeout(SECONDS_MAX):
                data = await self.reader.read(65_536)
            if not data:
                raise EOFError
            self._frames += self._splitter.feed(data)
        return self._frames.pop(0)

    async def next(self) -> Body | Delivery | FoundSequence | bytes:
        """What the next frame says; of a PONG, what it brings back."""
        op, body = await self.frame()
        if op == Op.MSG:
            numbers, block = unpack_msg(body)
            return Delivery(tuple(sorted(numbers)), block)  # they may come in any order
        if op == Op.FOUND:
            return unpack_found(body)
        return body if op == Op.PONG else unpack(op, body)

    async def sync(self) -> list[Body | Delivery | FoundSequence | bytes]:
        """All that comes before the answer to a PING."""
        self.send(pack(Op.PING, b"sync"))
        found = []
        while (came := await self.next()) != b"sync":
            found.append(came)
        return found

    async def subscribe(self, number: int, interest: str) -> None:
        """Subscribe, and wait until it is settled."""
        self.send(Subscribe(number, interest))
        answer = await self.next()
        assert getattr(answer, "op", None) == Op.SETTLED, answer

    async def closed(self) -> bool:
        """Whether the broker closes the connection, and sends nothing before."""
        try:
            await self.frame()
        except (EOFError, ConnectionError):
            return True
        return False

    def close(self) -> None:
        """Hang up."""
        self.writer.close()


async def until(holds: Callable[[], object], seconds_max: float = SECONDS_MAX) -> None:
    """Wait for something that nobody tells us of."""
    async with asyncio.timeout(seconds_max):
        while not holds():  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.002)


async def open_wire(broker: Broker) -> Wire:
    """A connection on which nothing has been said but INFO."""
    address = broker.addresses[0]
    reader, writer = await asyncio.open_connection(*address.pair, limit=2**22)
    _WRITERS.append(writer)
    async with asyncio.timeout(SECONDS_MAX):
        return Wire(reader, writer, read_info(await reader.readline()))


async def connect(broker: Broker, **how: object) -> Wire:
    """A connection on which CONNECT has been answered."""
    wire = await open_wire(broker)
    wire.send(PREFACE + Connect(1, **how).pack())  # type: ignore[arg-type]
    welcome = await wire.next()
    assert isinstance(welcome, Welcome), welcome
    wire.welcome = welcome
    return wire


def hang_up() -> None:
    """Close all connections that were made since this was done last."""
    while _WRITERS:
        _WRITERS.pop().close()


@asynccontextmanager
async def serving(settings: Settings | None = None) -> AsyncIterator[Broker]:
    """A broker at a free port."""
    broker = Broker(settings or Settings(listen=("127.0.0.1:0",), accept_peers=True))
    await broker.start()
    try:
        yield broker
    finally:
        await broker.drain()
        hang_up()


def settings(name: str, *links: LinkSettings, digest_seconds: float = 30) -> Settings:
    """Of a broker at a free port."""
    return Settings(
        name=name,
        listen=("127.0.0.1:0",),
        accept_peers=True,
        links=links,
        digest_seconds=digest_seconds,
    )


@asynccontextmanager
async def chain(
    count: int,
    side: Side = "peer",
    digest_seconds: float = 30,
    routing: Routing = Routing(),  # noqa: B008 -- frozen
) -> AsyncIterator[Sequence[Broker]]:
    """Brokers of which each calls the one before it."""
    async with AsyncExitStack() as stack:
        brokers: list[Broker] = []
        for number in range(count):
            links = [
                LinkSettings(url=b.addresses[0].url, side=side) for b in brokers[-1:]
            ]
            told = settings(f"b{number}", *links, digest_seconds=digest_seconds)
            told = structs.replace(told, routing=routing)
            brokers.append(await stack.enter_async_context(serving(told)))
        await until(lambda: sum(len(b.state.links) for b in brokers) == 2 * (count - 1))
        yield brokers
