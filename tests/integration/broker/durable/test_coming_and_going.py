"""Durable subscriptions that are forgotten, and numbers that are used at once."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from broker.logs import kept_in, publish
from siena.broker.broker import Broker
from siena.broker.durable.limits import FOUND_MAX
from siena.protocol.control_frames import Done, Error, Settled, Unsubscribe
from siena.protocol.durable.reading import (
    Ack,
    DurableSubscribe,
    Forget,
    unpack_deliver,
)
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from wire import Wire, connect, hang_up, serving, until

COUNT = FOUND_MAX + 500  # more than is looked for at once
CREDIT = FOUND_MAX // 2


async def offsets_of(wire: Wire, number: int, count: int) -> list[int]:
    """So many offsets that come under a number."""
    found: list[int] = []
    while len(found) < count:
        op, body = await wire.frame()
        if op == Op.DELIVER:
            delivery = unpack_deliver(body)
            found += [delivery.offset] * (delivery.number == number)
    return found


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
async def test_one_that_is_forgotten_takes_no_others_along(
    tmp_path: Path, names: tuple[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """It is looked for no more, and those that rode with it get the rest."""
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        await publish(broker, COUNT)
        for number, name in enumerate(names):
            wire.send(DurableSubscribe(number, "[]", name, "all", credit=CREDIT))
            assert len(await offsets_of(wire, number, CREDIT)) == CREDIT
        with caplog.at_level(logging.ERROR):
            # Both want more now; one of them is forgotten before it is looked for.
            acks = [Ack(number, [], FOUND_MAX).pack() for number in (0, 1)]
            wire.send(b"".join([*acks, Forget(names[0]).pack()]))
            rest = await offsets_of(wire, 1, COUNT - FOUND_MAX)
            assert rest == [*range(FOUND_MAX, COUNT)]
            await asyncio.sleep(0.05)
        assert not caplog.records


async def test_a_number_is_taken_from_when_it_is_asked_for(tmp_path: Path) -> None:
    """Also as long as the disk has not the durable subscription."""
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        twice = [DurableSubscribe(7, "[]", name).pack() for name in ("one", "two")]
        wire.send(b"".join(twice))
        told = [await wire.next(), await wire.next()]
        [error] = [each for each in told if isinstance(each, Error)]
        assert (error.fault, error.number) == (Fault.NUMBER_TAKEN.number, 7)
        reading = broker.log_service.durable.reading
        assert reading is not None
        assert len(reading._members) == 1
        wire.close()
        await until(lambda: not reading._members)
        assert not reading._readers


async def test_one_that_is_left_before_the_disk_has_it_is_not_read(
    tmp_path: Path,
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        asked = DurableSubscribe(7, "[]", "one").pack(), Unsubscribe(7).pack()
        wire.send(b"".join(asked))
        told = await wire.next()
        assert isinstance(told, Done)
        assert (told.request, told.number) == (Op.UNSUB, 7)
        # The number is free again, and what was made is there.
        wire.send(DurableSubscribe(7, "[]", "one"))
        assert isinstance(await wire.next(), Settled)
        assert broker.log_service.durable.count == 1
        reading = broker.log_service.durable.reading
        assert reading is not None
        assert len(reading._members) == 1


class Asking:
    """A loop of which a client asks a broker something at the first server there is."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._loop = asyncio.get_running_loop()
        self.found: list[object] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._loop, name)

    async def create_server(
        self,
        *args: Any,  # noqa: ANN401 -- as a loop has it
        **more: Any,  # noqa: ANN401
    ) -> asyncio.Server:
        server: asyncio.Server = await self._loop.create_server(*args, **more)
        if not self.found:
            wire = await connect(self._broker)
            wire.send(DurableSubscribe(1, "n any", "d"))
            self.found.append(await wire.next())
            self.found += await offsets_of(wire, 1, 1)
        return server


async def test_who_comes_while_a_broker_begins_to_listen_finds_what_there_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the first of two addresses, before the second is there."""
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        wire.send(DurableSubscribe(1, "[]", "d", "all"))
        assert isinstance(await wire.next(), Settled)
        await publish(broker, 1)
    two = ("127.0.0.1:0", "127.0.0.1:0")
    broker = Broker(structs.replace(kept_in(tmp_path), listen=two))
    loop = Asking(broker)
    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "get_running_loop", lambda: loop)
        await broker.start()
    await broker.drain()
    hang_up()
    assert loop.found == [Settled(1), 0]
