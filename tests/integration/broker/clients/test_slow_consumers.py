"""A subscriber that does not read costs its own messages only."""

import asyncio
from collections.abc import AsyncIterator, Mapping

from siena.broker.broker import Broker
from siena.broker.settings import Limits, Settings
from siena.model import Value
from siena.protocol.control_frames import Error, Lost
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from wire import Wire, connect, serving, until

SMALL = Settings(listen=("127.0.0.1:0",), limits=Limits(output_bytes=2**20))
# Far more than the bound and all that the system keeps for a socket.
MANY = 120
BIG = "x" * 100_000


def notifications(count: int) -> list[Mapping[str, Value]]:
    return [{"n": n, "filling": BIG} for n in range(count)]


async def publish(wire: Wire, count: int) -> None:
    """Publish, turn by turn, whoever may read it."""
    for notification in notifications(count):
        wire.publish(notification)
        await wire.writer.drain()
    await wire.sync()


async def slow(broker: Broker, policy: str) -> Wire:
    wire = await connect(broker, policy=policy)
    await wire.subscribe(1, "n any")
    # Its own side takes little and then stops the other.
    wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
    return wire


def read_on(wire: Wire) -> None:
    wire.writer.transport.resume_reading()  # type: ignore[attr-defined]


async def everything(wire: Wire) -> AsyncIterator[object]:
    try:
        while True:
            yield await wire.next()
    except (EOFError, ConnectionError):
        return


async def test_what_is_too_much_is_dropped_and_counted() -> None:
    async with serving(SMALL) as broker:
        wire, other = await slow(broker, "drop"), await connect(broker)
        quick = await connect(broker)
        await quick.subscribe(1, "n any")
        for notification in notifications(MANY):
            other.publish(notification)
            await other.sync()
            assert len(await quick.sync()) == 1
        read_on(wire)
        got, lost = 0, 0
        async with asyncio.timeout(10):
            while got + lost < MANY:
                came = await wire.next()
                if isinstance(came, Lost):
                    lost += came.count
                else:
                    assert isinstance(came, Delivery)
                    assert not lost, "the newest are dropped"
                    got += 1
        assert lost > 0
        assert broker.state.counters.lost == lost
        other.publish({"n": -1})
        assert isinstance(await wire.next(), Delivery)


async def test_who_would_rather_be_cut_off_is() -> None:
    async with serving(SMALL) as broker:
        wire, other = await slow(broker, "disconnect"), await connect(broker)
        await publish(other, MANY)
        read_on(wire)
        got = [came async for came in everything(wire)]
        assert len(got) < MANY
        assert isinstance(got[-1], Error)
        assert got[-1].fault == Fault.TOO_SLOW.number


async def test_publishers_wait_for_who_must_have_everything() -> None:
    async with serving(SMALL) as broker:
        wire, other = await slow(broker, "block"), await connect(broker)
        other.publish({"n": -1})
        await other.sync()
        task = asyncio.get_running_loop().create_task(publish(other, MANY))
        await until(lambda: broker.state.counters.deliveries > 5)
        await asyncio.sleep(0.1)
        assert not task.done()
        read_on(wire)
        got = [await wire.next() for _ in range(MANY + 1)]
        assert all(isinstance(came, Delivery) for came in got)
        await task
        assert broker.state.counters.lost == 0
