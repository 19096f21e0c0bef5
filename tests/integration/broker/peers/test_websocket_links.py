"""Links through WebSockets: the same messages, in networks with other links."""

import asyncio
import shutil
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as connect_ws
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.io.message_stream import MESSAGE_BYTES_MAX, SUBPROTOCOL
from siena.broker.peers.dialer import Dialer
from siena.broker.peers.link import Link as LinkToNeighbour
from siena.broker.settings import Limits, LinkSettings, Settings, Side
from siena.errors import SienaError
from siena.protocol.control_frames import Connect, Error, Peer, unpack
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.handshake import PREFACE, read_info
from wire import SECONDS_MAX, connect, serving, settings, until


@asynccontextmanager
async def http_side(broker: Broker, where: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """The HTTP side of a broker, and the address where others call it."""
    server = HttpServer(broker, where)
    await server.start()
    try:
        yield f"ws://{server.address.place}"
    finally:
        await server.drain()


@asynccontextmanager
async def mixed_chain(side: Side = "peer") -> AsyncIterator[list[Broker]]:
    """Three brokers; the second calls by a WebSocket, the third by a socket."""
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serving(settings("b0")))
        url = await stack.enter_async_context(http_side(first))
        link = LinkSettings(url=url, side=side)
        second = await stack.enter_async_context(serving(settings("b1", link)))
        link = LinkSettings(url=second.addresses[0].url, side=side)
        third = await stack.enter_async_context(serving(settings("b2", link)))
        await until(lambda: len(second.state.links) == 2)
        yield [first, second, third]


def x(value: int) -> bytes:
    return encode({"x": value})


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_what_is_published_crosses_both_kinds_of_links(side: Side) -> None:
    async with mixed_chain(side) as brokers:
        subscriber, publisher = await connect(brokers[0]), await connect(brokers[2])
        await subscriber.subscribe(1, "x > 3")
        publisher.publish({"x": 1}, {"x": 5})
        assert await subscriber.next() == Delivery((1,), x(5))
        back, forth = await connect(brokers[2]), await connect(brokers[0])
        await back.subscribe(9, "x < 0")
        forth.publish({"x": -1})
        assert await back.next() == Delivery((9,), x(-1))


async def test_more_than_any_message_holds_arrives_in_order_and_whole() -> None:
    async with mixed_chain() as brokers:
        subscriber, publisher = await connect(brokers[2]), await connect(brokers[0])
        await subscriber.subscribe(1, "x >= 0")
        # Some megabytes, and each notification longer than a message.
        text = "a" * (MESSAGE_BYTES_MAX + 1)
        for number in range(8):
            publisher.publish({"x": number, "text": text})
        for number in range(8):
            wanted = encode({"x": number, "text": text})
            assert await subscriber.next() == Delivery((1,), wanted)
        # And many small ones, which travel together.
        publisher.publish(*({"x": number} for number in range(20_000)))
        for number in range(20_000):
            assert await subscriber.next() == Delivery((1,), x(number))


class Proxy:
    """Copies bytes both ways between those who connect to it and a server."""

    def __init__(self, place: str) -> None:
        self._host, _, self._port = place.partition(":")
        self.is_open = asyncio.Event()
        self.is_open.set()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        there = await asyncio.open_connection(self._host, int(self._port))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._copy(reader, there[1]))
            tasks.create_task(self._copy(there[0], writer))

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(65_536):
            await self.is_open.wait()
            writer.write(data)
            await writer.drain()
        writer.close()

    @asynccontextmanager
    async def running(self, secret: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        """Where it is called."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=secret)
        async with server:
            yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("towards", ["the caller", "the called"])
async def test_a_link_that_is_stuck_holds_those_who_publish_and_loses_nothing(
    towards: str,
) -> None:
    # The smallest output that there may be: a few messages fill it.
    limits = Limits(output_bytes=1024 * 1024)
    told = Settings(listen=("127.0.0.1:0",), accept_peers=True, limits=limits)
    async with AsyncExitStack() as stack:
        called = await stack.enter_async_context(serving(told))
        url = await stack.enter_async_context(http_side(called))
        proxy = Proxy(url.removeprefix("ws://"))
        place = await stack.enter_async_context(proxy.running())
        caller = await stack.enter_async_context(
            serving(told.linked_to([{"url": f"ws://{place}"}]))
        )
        await until(lambda: caller.state.links and called.state.links)
        ends = (called, caller) if towards == "the caller" else (caller, called)
        publisher, subscriber = await connect(ends[0]), await connect(ends[1])
        await subscriber.subscribe(1, "x >= 0")
        proxy.is_open.clear()
        (link,) = ends[0].state.links.values()
        assert isinstance(link, LinkToNeighbour)
        count, text = 600, "a" * 50_000  # 30 MB through 1 MB
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_publish(publisher.writer, count, text))
            await until(lambda: link.connection.holds)
            proxy.is_open.set()
            for number in range(count):
                wanted = encode({"x": number, "text": text})
                assert await subscriber.next() == Delivery((1,), wanted)
        assert not link.connection.is_closing


async def _publish(writer: asyncio.StreamWriter, count: int, text: str) -> None:
    for number in range(count):
        writer.write(pack(Op.PUB, encode({"x": number, "text": text})))
        await writer.drain()


async def test_a_link_that_breaks_is_made_again_and_told_everything() -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serving(settings("b0")))
        async with http_side(first) as url:
            place = url.removeprefix("ws://")
            second = await stack.enter_async_context(
                serving(settings("b1", LinkSettings(url=url)))
            )
            await until(lambda: second.state.links)
            subscriber = await connect(first)
            await subscriber.subscribe(1, "x > 3")
        # The HTTP side has ended: so has the link, at both ends.
        await until(lambda: not second.state.links and not first.state.links)
        await subscriber.subscribe(2, "x > 4")
        async with http_side(first, place):
            await until(lambda: second.state.links and first.state.links)
            (link,) = second.state.links.values()
            await until(lambda: link.snapshot()["interests"] == 1)  # one covers both
            publisher = await connect(second)
            publisher.publish({"x": 5})
            assert await subscriber.next() == Delivery((1, 2), x(5))


async def test_a_caller_that_goes_is_forgotten_at_once() -> None:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(serving(settings("b0")))
        url = await stack.enter_async_context(http_side(first))
        async with serving(settings("b1", LinkSettings(url=url))) as second:
            await until(lambda: first.state.links)
            subscriber = await connect(second)
            await subscriber.subscribe(1, "x > 3")
            assert first.state.router.tables.filters
        await until(lambda: not first.state.links)
        assert not first.state.router.tables.filters


async def attempt(caller: Broker, url: str) -> None:
    """One call of a broker, as its links make it."""
    async with asyncio.timeout(SECONDS_MAX):
        await Dialer(caller.links, LinkSettings(url=url)).attempt()


async def test_no_link_comes_of_a_call_where_none_is_accepted() -> None:
    told = Settings(listen=("127.0.0.1:0",))
    async with AsyncExitStack() as stack:
        called = await stack.enter_async_context(serving(told))
        caller = await stack.enter_async_context(serving(settings("b1")))
        async with http_side(called) as url:
            with pytest.raises(SienaError, match="--accept-peers"):
                await attempt(caller, url)
            assert not called.state.links
            assert called.state.counters.faults == 1
            # And why is said in the words that a socket has.
            async with connect_ws(
                f"{url}/link", subprotocols=[Subprotocol(SUBPROTOCOL)], proxy=None
            ) as socket:
                info = await socket.recv()
                assert isinstance(info, bytes)
                assert read_info(info).number == called.state.router.me
                peer = Peer(77, 1, "peer")
                await socket.send(PREFACE + Connect(1, name="b7", peer=peer).pack())
                answer = await socket.recv()
                assert isinstance(answer, bytes)
                (frame,) = Splitter().feed(answer)
                error = unpack(frame.op, frame.body)
                assert isinstance(error, Error)
                assert error.fault == Fault.PEER_REFUSED.number
                assert "--accept-peers" in error.text


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/nothing", "answers 403"),
        ("/ws", "has WebSockets, but none for links"),
        ("/healthz", "answers 403"),
    ],
)
async def test_what_is_no_link_says_so(path: str, why: str) -> None:
    async with AsyncExitStack() as stack:
        called = await stack.enter_async_context(serving())
        caller = await stack.enter_async_context(serving(settings("b1")))
        async with http_side(called) as url:
            with pytest.raises(SienaError, match=f"{path} {why}"):
                await attempt(caller, url + path)


async def test_a_server_that_hangs_up_is_no_link() -> None:
    async with serving(settings("b1")) as caller:

        async def hang_up(
            _: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            writer.close()

        server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(SienaError, match="hangs up"):
                await attempt(caller, f"ws://127.0.0.1:{port}")


async def test_who_does_not_name_the_protocol_is_refused() -> None:
    async with serving() as called, http_side(called) as url:
        with pytest.raises(InvalidStatus):
            async with connect_ws(f"{url}/link", proxy=None):
                pass


async def test_a_native_client_may_come_through_a_proxy_too() -> None:
    async with (
        serving() as called,
        http_side(called) as url,
        connect_ws(
            f"{url}/link", subprotocols=[Subprotocol(SUBPROTOCOL)], proxy=None
        ) as socket,
    ):
        await socket.recv()
        # Cut anywhere: where a message ends says nothing.
        for byte in PREFACE + Connect(1, name="me").pack():
            await socket.send(bytes([byte]))
        answer = await socket.recv()
        assert isinstance(answer, bytes)
        (frame,) = Splitter().feed(answer)
        assert frame.op == Op.WELCOME


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the key")
async def test_a_link_may_be_encrypted_on_its_way_to_a_proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = await asyncio.create_subprocess_exec(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"),
        *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-keyout", str(key), "-out", str(certificate)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await made.wait() == 0
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with AsyncExitStack() as stack:
        called = await stack.enter_async_context(serving(settings("b0")))
        url = await stack.enter_async_context(http_side(called))
        proxy = Proxy(url.removeprefix("ws://"))
        place = await stack.enter_async_context(proxy.running(context))
        secure = f"wss://{place}"
        async with serving(settings("b1", LinkSettings(url=secure))) as caller:
            await until(lambda: caller.state.links)
            subscriber, publisher = await connect(called), await connect(caller)
            await subscriber.subscribe(1, "x > 3")
            publisher.publish({"x": 5})
            assert await subscriber.next() == Delivery((1,), x(5))
