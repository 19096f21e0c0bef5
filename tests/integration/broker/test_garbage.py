"""What a broker has done with is gone at once, without a collection of garbage."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from siena.broker.io.connection import Connection
from siena.broker.memory import spare_what_stays
from siena.protocol.control_frames import Unsubscribe
from wire import connect, serving, until


@pytest.fixture
def uncollected() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
async def test_connections_are_in_no_circles() -> None:
    async with serving() as broker:
        gone: list[weakref.ref[object]] = []
        for number in range(3):
            wire = await connect(broker, **({"identity": "ann"} if number else {}))
            await wire.subscribe(1, "x > 3")
            await wire.subscribe(2, "x > 3 then y any")
            wire.send(Unsubscribe(2))
            wire.publish({"x": 1})
            await wire.sync()
            (connection,) = broker._connections
            assert isinstance(connection, Connection)
            gone += [weakref.ref(connection), weakref.ref(connection.role)]
            del connection
            wire.close()
            await until(lambda: not broker._connections)
        await until(lambda: not any(each() for each in gone))


def test_what_stays_is_set_aside() -> None:
    thresholds, callbacks = gc.get_threshold(), list(gc.callbacks)
    try:
        spare_what_stays()
        held = [[] for _ in range(1_000)]  # type: ignore[var-annotated]
        before = gc.get_freeze_count()
        gc.collect()
        assert gc.get_freeze_count() >= before + len(held)
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks[:] = callbacks
        gc.unfreeze()
