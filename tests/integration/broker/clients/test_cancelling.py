"""Ending all subscriptions, or advertisements, that one filter covers."""

import pytest

from conformance.kit import Case, each
from siena.block import encode
from siena.broker.clients import cancelling
from siena.protocol.control_frames import (
    Advertise,
    Ended,
    Error,
    Quench,
    Resume,
    Subscribe,
    UnadvertiseCovered,
    UnsubscribeCovered,
)
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from wire import connect, serving


@each("unsubscription", "unsubscribes")
async def test_over_the_wire_an_unsubscription_cancels_what_it_covers(
    case: Case,
) -> None:
    texts = dict(enumerate(case["subscriptions"], start=1))
    async with serving() as broker:
        wire = await connect(broker)
        for number, text in texts.items():
            await wire.subscribe(number, text)
        wire.send(UnsubscribeCovered(case["unsubscribe"]))
        (ended,) = await wire.sync()
        assert isinstance(ended, Ended)
        assert ended.request == Op.UNSUB_COVERED
        left = [text for number, text in texts.items() if number not in ended.numbers]
        assert left == case["remaining"]
        (session,) = broker.state.sessions.values()
        assert session.interests.keys() == texts.keys() - set(ended.numbers)


async def test_what_others_asked_for_stays() -> None:
    async with serving() as broker:
        one, other = await connect(broker), await connect(broker)
        await one.subscribe(1, "x > 3")
        await one.subscribe(2, "x > 3 or y any")
        await other.subscribe(1, "x > 3")
        one.send(UnsubscribeCovered("x any"))
        one.publish({"x": 4}, {"y": 1})
        assert await one.sync() == [
            Ended(Op.UNSUB_COVERED, [1]),
            Delivery((2,), encode({"x": 4})),
            Delivery((2,), encode({"y": 1})),
        ]
        assert await other.sync() == [Delivery((1,), encode({"x": 4}))]


async def test_an_identity_ends_what_it_asked_for_over_another_connection() -> None:
    async with serving() as broker:
        before = await connect(broker, identity="ann")
        await before.subscribe(7, "x > 3")
        before.close()
        again = await connect(broker, identity="ann")
        again.send(Resume())
        await again.sync()
        again.send(UnsubscribeCovered("[]"))
        assert await again.sync() == [Ended(Op.UNSUB_COVERED, [7])]
        assert len(broker.state.exchange) == 0


async def test_advertisements_end_in_the_same_way() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        for number, text in ((1, "integer x > 3"), (2, "x any"), (3, "y any")):
            wire.send(Advertise(number, text))
            assert isinstance(await wire.next(), Quench)
        wire.send(UnadvertiseCovered("integer x > 4"))
        wire.send(UnadvertiseCovered("x any"))
        assert await wire.sync() == [
            Ended(Op.UNADV_COVERED, []),
            Ended(Op.UNADV_COVERED, [1, 2]),
        ]
        assert broker.state.counters.advertisements_now == 1


async def test_what_cannot_be_read_or_compared_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x = 1 or x = 2")
        await wire.subscribe(2, "x = 3")
        wire.send(UnsubscribeCovered("x >"))
        wire.send(UnadvertiseCovered("x any or y any"))
        monkeypatch.setattr(cancelling, "COMPARISONS_MAX", 5)
        wire.send(UnsubscribeCovered("x = 1 or x = 2"))
        refused = await wire.sync()
        assert [e.fault for e in refused if isinstance(e, Error)] == [
            Fault.BAD_INTEREST.number,
            Fault.BAD_ADVERTISEMENT.number,
            Fault.TOO_MANY.number,
        ]
        wire.send(UnsubscribeCovered("x = 3"))  # three comparisons
        assert await wire.sync() == [Ended(Op.UNSUB_COVERED, [2])]
        wire.send(Subscribe(2, "x = 4"))  # the number is free again
        assert await wire.next()
