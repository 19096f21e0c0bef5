"""The virtual loop and its network do what protocols may rely on."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from virtual.loop import BEGINNING, StuckError, VirtualClock, VirtualLoop
from virtual.network import HOST
from virtual.pipe import WINDOW_BYTES

Story = Callable[[VirtualLoop], Coroutine[Any, Any, None]]


def play(story: Story, seed: int = 1) -> VirtualLoop:
    loop = VirtualLoop(seed)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(story(loop))
    return loop


class Recorder(asyncio.Protocol):
    """Remembers what came, and when."""

    def __init__(self) -> None:
        self.came = b""
        self.times: list[float] = []
        self.calls: list[str] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.came += data
        self.times.append(asyncio.get_running_loop().time())

    def eof_received(self) -> bool | None:
        self.calls.append("end")
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self.calls.append(type(exc).__name__ if exc else "lost")

    def pause_writing(self) -> None:
        self.calls.append("pause")

    def resume_writing(self) -> None:
        self.calls.append("resume")


class Buffered(asyncio.BufferedProtocol):
    """Takes three bytes at a time."""

    def __init__(self) -> None:
        self.came = b""
        self._room = bytearray(3)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 -- always the same
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        self.came += self._room[:nbytes]


async def pair(loop: VirtualLoop, there: asyncio.BaseProtocol) -> tuple[Recorder, Any]:
    """A connection from host ``a`` to a protocol at host ``b``; and who listens."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    HOST.set("b")
    server = await loop.create_server(lambda: there, sock=bound)
    HOST.set("a")
    here = Recorder()
    port = bound.getsockname()[1]
    await loop.create_connection(lambda: here, "127.0.0.1", port)
    await asyncio.sleep(0.001)
    return here, server


def test_an_hour_passes_at_once() -> None:
    async def story(loop: VirtualLoop) -> None:
        clock = VirtualClock(loop)
        await asyncio.sleep(3_600)
        assert loop.time() == pytest.approx(3_600)
        assert clock.now() == pytest.approx(BEGINNING + 3_600)
        assert clock.nanoseconds() // 10**9 == BEGINNING + 3_600

    play(story)


def test_what_waits_for_ever_is_said_to_be_stuck() -> None:
    async def story(loop: VirtualLoop) -> None:
        await loop.create_future()

    with pytest.raises(StuckError):
        play(story)


def test_work_for_a_thread_is_done_at_once() -> None:
    async def story(loop: VirtualLoop) -> None:
        assert await asyncio.to_thread(lambda: 7) == 7
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)
        assert loop.time() == 0

    play(story)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_arrive_in_order_and_not_before_their_time(seed: int) -> None:
    async def story(loop: VirtualLoop) -> None:
        loop.network.delays["a", "b"] = 1, 2
        there = Recorder()
        here, server = await pair(loop, there)
        assert here.transport is not None
        begun = loop.time()
        for number in range(50):
            here.transport.write(b"%04d" % number)
        await asyncio.sleep(0.5)
        assert (there.times, loop.network.is_quiet) == ([], False)
        await asyncio.sleep(2)
        assert there.came == b"".join(b"%04d" % number for number in range(50))
        assert there.times[0] >= begun + 1
        assert there.times == sorted(there.times)
        assert len(there.times) > 50  # some were cut
        assert loop.network.is_quiet
        server.close()

    play(story, seed)


def test_buffers_are_filled_as_they_are_offered() -> None:
    async def story(loop: VirtualLoop) -> None:
        there = Buffered()
        here, server = await pair(loop, there)
        assert here.transport is not None
        here.transport.writelines([b"01234", b"56789"])
        await asyncio.sleep(0.001)
        assert there.came == b"0123456789"
        server.close()

    play(story)


def test_streams_talk_over_it() -> None:
    async def story(loop: VirtualLoop) -> None:
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))

        async def answer(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            writer.write((await reader.readline()).upper())
            writer.close()

        tasks: list[asyncio.Task[None]] = []

        def accepted() -> asyncio.StreamReaderProtocol:
            def begin(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                tasks.append(loop.create_task(answer(reader, writer)))

            return asyncio.StreamReaderProtocol(asyncio.StreamReader(), begin)

        server = await loop.create_server(accepted, sock=bound)
        reader, writer = await asyncio.open_connection(*bound.getsockname())
        writer.write(b"hello\n")
        assert await reader.read() == b"HELLO\n"
        writer.close()
        await asyncio.gather(*tasks)
        server.close()

    play(story)


def test_who_writes_too_much_is_told_to_wait() -> None:
    async def story(loop: VirtualLoop) -> None:
        there = Recorder()
        here, server = await pair(loop, there)
        assert here.transport is not None
        assert there.transport is not None
        there.transport.pause_reading()
        here.transport.set_write_buffer_limits(high=1_000, low=100)
        here.transport.write(bytes(WINDOW_BYTES + 1_000))
        await asyncio.sleep(1)
        assert here.calls == []
        here.transport.write(b"!")
        assert here.calls == ["pause"]
        assert here.transport.get_write_buffer_size() == 1_001
        there.transport.resume_reading()
        await asyncio.sleep(0.001)
        assert here.calls == ["pause", "resume"]
        assert len(there.came) == WINDOW_BYTES + 1_001
        server.close()

    play(story)


def test_who_closes_is_heard_to_the_end() -> None:
    async def story(loop: VirtualLoop) -> None:
        loop.network.delays["a", "b"] = 1, 1
        there = Recorder()
        here, server = await pair(loop, there)
        assert here.transport is not None
        here.transport.write(b"good-bye")
        here.transport.close()
        await asyncio.sleep(0.001)
        assert here.calls == ["lost"]
        assert there.calls == []
        await asyncio.sleep(2)
        assert there.came == b"good-bye"
        assert there.calls == ["end", "lost"]
        server.close()

    play(story)


def test_between_hosts_that_are_cut_off_nothing_arrives_until_they_are_healed() -> None:
    async def story(loop: VirtualLoop) -> None:
        there = Recorder()
        here, server = await pair(loop, there)
        assert here.transport is not None
        here.transport.write(b"never arrives")
        loop.network.cut("b", "a")
        await asyncio.sleep(0.001)
        assert there.came == b""
        assert here.calls == there.calls == ["ConnectionResetError"]
        assert loop.network.is_quiet
        with pytest.raises(ConnectionRefusedError):
            await loop.create_connection(Recorder, "127.0.0.1", server.port)
        loop.network.heal("a", "b")
        await loop.create_connection(lambda: here, "127.0.0.1", server.port)
        server.close()
        with pytest.raises(ConnectionRefusedError):
            await loop.create_connection(Recorder, "127.0.0.1", server.port)

    play(story)
