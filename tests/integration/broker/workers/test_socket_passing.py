"""Connections with an identity go to the hub, wherever they came in."""

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.io.listen import listen
from siena.broker.settings import LinkSettings, Settings
from siena.broker.workers.socket_passing import SocketReceiver, pass_socket
from siena.broker.workers.worker import Worker
from siena.protocol.address import Address
from siena.protocol.control_frames import Connect, Resume, Subscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE
from wire import connect, hang_up, until


def x(value: int) -> bytes:
    return encode({"x": value})


SETTINGS = Settings(listen=("127.0.0.1:0",))


@asynccontextmanager
async def workers() -> AsyncIterator[tuple[Broker, Broker]]:
    """The hub, and another worker; each at a port of its own."""
    with listen(Address("127.0.0.1", 0), is_shared=True) as reserved:
        address = Address(*reserved.getsockname()[:2])
        # The name of a Unix socket may not be long.
        with tempfile.TemporaryDirectory() as folder:
            one = Worker(0, address, "the secret", Path(folder) / "hub")
            hub = Broker(replace(SETTINGS, name="w"), worker=one)
            await hub.start()
            receiver = SocketReceiver(one.sockets, hub)
            told = replace(SETTINGS, name="w#1", links=(LinkSettings(url=address.url),))
            other = Broker(told, worker=one._replace(number=1))
            await other.start()
            try:
                await until(lambda: len(hub.state.links) == len(other.state.links) == 1)
                yield hub, other
            finally:
                await receiver.stop()
                await other.drain()
                await hub.drain()
                hang_up()


async def test_an_identity_is_served_by_the_hub() -> None:
    async with workers() as (hub, other):
        ann = await connect(other, identity="ann")
        assert ann.info.broker == "w#1"
        assert ann.welcome is not None
        assert ann.welcome.broker == hub.state.router.me
        await ann.subscribe(1, "x any")
        publisher = await connect(other)
        publisher.publish({"x": 1})
        assert await ann.next() == Delivery((1,), x(1))
        ann.close()
        await until(lambda: hub.state.identities["ann"].sink is None)
        publisher.publish({"x": 2})
        await publisher.sync()
        again = await connect(hub, identity="ann")
        again.send(Resume())
        assert await again.next() == Delivery((1,), x(2))
        assert not other.state.identities


async def test_what_was_sent_behind_connect_comes_along() -> None:
    async with workers() as (_, other):
        reader, writer = await asyncio.open_connection(*other.addresses[0].pair)
        await reader.readline()
        hello = PREFACE + Connect(1, identity="ann").pack()
        asked = Subscribe(1, "x any").pack() + pack(Op.PING, b"a")
        writer.write(hello + asked + pack(Op.PING, b"b")[:3])
        came = b""
        while pack(Op.PONG, b"a") not in came:
            came += await reader.read(1_000)
        writer.write(pack(Op.PING, b"b")[3:])
        while pack(Op.PONG, b"b") not in came:
            came += await reader.read(1_000)
        writer.close()


async def test_a_stranger_does_not_become_a_worker() -> None:
    """The hub takes links of its own workers, and no others unless it is told to."""
    async with workers() as (hub, _):
        stranger = Broker(
            replace(SETTINGS, name="s", links=(LinkSettings(url=hub.addresses[0].url),))
        )
        await stranger.start()
        try:
            before = hub.state.counters.faults
            await until(lambda: hub.state.counters.faults > before)
            assert not stranger.state.links
            assert len(hub.state.links) == 1
        finally:
            await stranger.drain()


async def test_where_nothing_is_taken_over_the_connection_ends(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        with pytest.raises(FileNotFoundError):
            await pass_socket(tmp_path / "none", ours, b"")
        assert theirs.recv(1) == b""


class Refusing:
    """Takes nothing over."""

    async def adopt(self, connection: socket.socket, data: bytes) -> None:
        raise AssertionError(connection, data)


async def test_half_a_message_passes_no_socket() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hub"
        receiver = SocketReceiver(path, Refusing())
        for sent in (b"", b"\x01\x00\x00\x00"):
            reader, writer = await asyncio.open_unix_connection(path)
            writer.write(sent)
            writer.write_eof()
            assert await reader.read() == b""
            writer.close()
        await receiver.stop()
