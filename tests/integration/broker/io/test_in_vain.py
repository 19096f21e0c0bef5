"""Who publishes what nobody wants is read in slices, while others are served."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.data.batch import Source
from siena.broker.data.publish_batch import REFUSALS_MAX
from siena.broker.io.connection import Connection
from siena.broker.io.shares import WHILE_SECONDS
from siena.broker.limits import HERE_BYTES_MIN, VAIN_BYTES_MIN, VAIN_SLICE_BYTES
from siena.broker.settings import Settings
from siena.clock import SystemClock
from siena.protocol.control_frames import Error
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from wire import Wire, connect, hang_up

FRAME = pack(Op.PUB, encode({"unwanted": 1, "text": "x" * 80}))
# Far more than is read before it is known to be in vain.
MANY = 4 * 1024 * 1024 // len(FRAME)


class Hands(SystemClock):
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def elapsed(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
async def broker(clock: Hands) -> AsyncIterator[Broker]:
    broker = Broker(Settings(listen=("127.0.0.1:0",)), clock=clock)
    await broker.start()
    yield broker
    hang_up()
    await broker.drain()


@pytest.fixture
def taken(broker: Broker) -> list[int]:
    """How much was in the room, each time that it was looked at there."""
    sizes: list[int] = []
    process: Callable[[Connection], bool] = broker.process_in_place

    def watch(connection: Connection) -> bool:
        assert connection._here is not None
        sizes.append(len(connection._here))
        return process(connection)

    broker.process_in_place = watch
    return sizes


async def publish(broker: Broker, wire: Wire) -> None:
    """Publish very much, and wait until all of it was looked at."""
    wire.send(FRAME * MANY)
    async with asyncio.timeout(30):
        await wire.sync()
    assert broker.state.counters.publications % MANY == 0


async def test_it_is_read_in_slices_while_others_are_served(
    broker: Broker, clock: Hands, taken: list[int]
) -> None:
    liar = await connect(broker)
    broker.state.shares.serve(0.01, clock.seconds)
    await publish(broker, liar)
    later = taken[VAIN_BYTES_MIN // HERE_BYTES_MIN :]
    assert later
    # With what was left of the frame before.
    assert max(later) < VAIN_SLICE_BYTES + len(FRAME)


async def test_it_is_read_as_fast_as_it_comes_when_there_are_no_others(
    broker: Broker, clock: Hands, taken: list[int]
) -> None:
    liar = await connect(broker)
    broker.state.shares.serve(0.01, clock.seconds)
    clock.seconds += 3 * WHILE_SECONDS  # they have gone
    await publish(broker, liar)
    assert max(taken) > VAIN_SLICE_BYTES + len(FRAME)
    # And it is none of those that others wait for.
    assert not broker.state.shares.is_serving()


async def test_who_publishes_what_is_wanted_is_never_cut_short(
    broker: Broker, clock: Hands, taken: list[int]
) -> None:
    reader = await connect(broker)
    await reader.subscribe(1, "unwanted = 1")
    publisher = await connect(broker)
    broker.state.shares.serve(0.01, clock.seconds)

    async def read() -> None:
        for _ in range(MANY):
            assert isinstance(await reader.next(), Delivery)

    async with asyncio.TaskGroup() as group:
        group.create_task(read())
        await publish(broker, publisher)
    assert max(taken) > VAIN_SLICE_BYTES + len(FRAME)


async def test_many_who_publish_in_vain_have_one_slice_together(
    broker: Broker, clock: Hands
) -> None:
    """However many connections it has, all of a liar are read from in turns."""
    liars = [await connect(broker) for _ in range(3)]
    broker.state.shares.serve(0.01, clock.seconds)
    loop, is_over = asyncio.get_running_loop(), asyncio.Event()
    reads, rounds = [0], [0]
    later: Callable[[Connection], None] = broker.read_later

    def watch(connection: Connection) -> None:
        reads[0] += 1
        later(connection)

    def count() -> None:
        rounds[0] += 1
        if not is_over.is_set():
            loop.call_soon(count)

    broker.read_later = watch
    loop.call_soon(count)
    async with asyncio.TaskGroup() as group:
        for liar in liars:
            group.create_task(publish_all(liar))
    is_over.set()
    assert reads[0] > len(liars)
    assert reads[0] <= rounds[0] + len(liars)


async def publish_all(wire: Wire) -> None:
    wire.send(FRAME * MANY)
    async with asyncio.timeout(30):
        await wire.sync()


async def test_bad_blocks_that_come_together_are_refused_together(
    broker: Broker, clock: Hands
) -> None:
    """To tell of each would hold the loop for seconds."""
    liar = await connect(broker)
    count = 10_000
    work = broker.state.accounts.of_stranger("127.0.0.1").work
    assert work is not None
    good = broker.publications.publish

    def takes_long(source: Source, frames: memoryview) -> int:
        clock.seconds += 0.01
        return good(source, frames)

    broker.publications.publish = takes_long  # type: ignore[method-assign]
    before = work.left
    liar.send(pack(Op.PUB, b"\xc1") * count)
    answers = await liar.sync()
    errors = [each for each in answers if isinstance(each, Error)]
    assert errors == answers
    assert {each.fault for each in errors} == {Fault.BAD_NOTIFICATION.number}
    assert REFUSALS_MAX < len(errors) < count // 10
    assert "that came with it" in errors[REFUSALS_MAX].text
    assert broker.state.counters.rejected == count
    assert work.left < before  # it pays for that
