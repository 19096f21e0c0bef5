"""An identity moves from one broker to another, over real sockets."""

from collections.abc import Callable

import pytest

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.settings import Limits, Settings, Side as SideName
from siena.messages import PeerConnect, PeerDisconnect, Release, Side
from siena.protocol.control_frames import (
    Done,
    Error,
    Lost,
    Move,
    Resume,
    Settled,
    Subscribe,
    Suspend,
)
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.protocol.peer_messages import pack_tell
from wire import Wire, chain, connect, serving, settings, until


def x(value: int) -> bytes:
    return encode({"x": value})


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_what_was_kept_comes_along_once_and_in_order(side: SideName) -> None:
    async with chain(3, side) as brokers:
        wire, other = (
            await connect(brokers[0], identity="ann"),
            await connect(brokers[1]),
        )
        await wire.subscribe(1, "x > 0")
        wire.send(Suspend(100))
        await wire.sync()
        wire.close()
        other.publish({"x": 1}, {"x": 2})
        await other.sync()
        await until(lambda: brokers[0].state.counters.received >= 2)
        moved = await connect(brokers[2], identity="ann")
        assert moved.welcome is not None
        assert not moved.welcome.resumed
        moved.send(Move(brokers[0].addresses[0].url))
        for value in range(3, 30):
            other.publish({"x": value})
            await other.sync()
        got: list[Delivery] = []
        while not isinstance(came := await moved.next(), Done):
            if isinstance(came, Delivery):
                got.append(came)
        other.publish({"x": 100})
        while not got or got[-1].block != x(100):
            came = await moved.next()
            assert isinstance(came, Delivery)
            got.append(came)
        assert [d.block for d in got] == [x(v) for v in [*range(1, 30), 100]]
        assert {d.subscriptions for d in got} == {(1,)}
        await until(lambda: "ann" not in brokers[0].state.identities)
        assert not brokers[0].state.router.tables.filters.held_by("1/1")


async def test_what_was_not_kept_is_counted() -> None:
    async with chain(2) as (old, new):
        wire, other = await connect(old, identity="ann"), await connect(old)
        await wire.subscribe(1, "x > 0")
        wire.send(Suspend(1))
        await wire.sync()
        wire.close()
        other.publish({"x": 1}, {"x": 2}, {"x": 3})
        await other.sync()
        moved = await connect(new, identity="ann")
        moved.send(Suspend(10))
        moved.send(Subscribe(1, "x > 0"))
        moved.send(Move(old.addresses[0].url))
        wanted = [Done(Op.SUSPEND), Settled(1), Delivery((1,), x(1)), Lost(2)]
        assert [await moved.next() for _ in range(5)] == [*wanted, Done(Op.MOVE)]


async def test_a_broker_is_not_made_to_call_anybody() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker, identity="ann")
        wire.send(Move("siena://192.0.2.1"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.NOT_ALLOWED.number
        wire.send(Move("siena://127.0.0.1:1"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_REQUEST.number
        assert error.request == Op.MOVE


async def test_without_an_identity_nobody_moves() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker)
        wire.send(Move("siena://127.0.0.1:1"))
        wire.send(Suspend())
        for error in await wire.sync():
            assert isinstance(error, Error)
            assert error.fault == Fault.BAD_REQUEST.number


async def leave_behind(old: Broker, *values: int) -> Wire:
    """Ann was here, and so much was kept for her; who published it."""
    wire, other = await connect(old, identity="ann"), await connect(old)
    await wire.subscribe(1, "x > 0")
    wire.close()
    await until(lambda: old.state.identities["ann"].sink is None)
    other.publish(*({"x": value} for value in values))
    await other.sync()
    return other


def kept(broker: Broker) -> int:
    session = broker.state.identities["ann"]
    mailbox = broker.state.router.mailboxes.find(session.client)
    return -1 if mailbox is None else len(mailbox.kept)


async def test_who_hangs_up_while_it_moves_leaves_nothing_behind() -> None:
    async with serving(settings("a")) as old, serving(settings("b")) as new:
        await leave_behind(old, 5)
        for _ in range(5):  # wherever the move may be
            moved = await connect(new, identity="ann")
            moved.send(Move(old.addresses[0].url))
            moved.close()
            await until(lambda: "ann" not in new.state.identities or kept(new) > 0)
            await until(lambda: not len(new.handoff_tasks))
        names = set(new.state.exchange._watched)
        sessions = new.state.sessions
        assert all(int(str(name).split("/")[0]) in sessions for name in names)
        other = await connect(new)
        await other.subscribe(9, "x > 0")
        other.publish({"x": 7})
        assert await other.sync() == [Delivery((9,), x(7))]
        again = await connect(new, identity="ann")
        again.send(Move(old.addresses[0].url))
        got = []
        while not isinstance(came := await again.next(), Done):
            got.append(came)
        assert got.count(Delivery((1,), x(5))) == 1


class Mute:
    """A neighbour of a router that never answers, until it is gone."""

    def __init__(self, broker: Broker) -> None:
        self.state = broker.state
        self.state.handle(PeerConnect(Side.PEER), 7)

    def settle(self) -> None:
        """All that it was asked is answered: it is not there any more."""
        self.state.handle(PeerDisconnect(), 7)


async def test_what_nobody_waits_for_any_more_is_not_handed_over() -> None:
    async with serving(settings("a")) as old:
        await leave_behind(old, 5)
        session = old.state.identities["ann"]
        wire = await connect(old, identity="ann")
        mute = Mute(old)
        wire.send(pack_tell(Release()))
        await until(lambda: session.client in old.state.router.clients._released)
        wire.close()
        await until(lambda: session.sink is None)
        back = await connect(old, identity="ann")
        mute.settle()
        assert kept(old) == 1
        back.send(Resume())
        assert [await back.next(), await back.next()] == [
            Delivery((1,), x(5)),
            Done(Op.RESUME),
        ]


@pytest.mark.parametrize("is_moved", [False, True])
async def test_all_that_was_kept_comes_however_small_the_output(
    is_moved: bool,  # noqa: FBT001 -- a parameter of the test
) -> None:
    limits = Limits(output_bytes=2**16)
    told = Settings(listen=("127.0.0.1:0",), limits=limits)
    async with serving(told) as old, serving(told) as new:
        other = await leave_behind(old)
        for value in range(1, 61):
            other.publish({"x": value, "filling": "x" * 100_000})
            await other.sync()
        back = await connect(new if is_moved else old, identity="ann")
        back.send(Move(old.addresses[0].url) if is_moved else Resume())
        got = 0
        while not isinstance(came := await back.next(), Done):
            got += isinstance(came, Delivery)
            assert not isinstance(came, Lost)
        assert got == 60


async def test_after_a_move_that_fails_all_is_as_before() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker, identity="ann")
        await wire.subscribe(1, "x > 0")
        wire.send(Move("siena://127.0.0.1:1"))
        assert isinstance(await wire.next(), Error)
        wire.publish({"x": 1})
        assert await wire.sync() == [Delivery((1,), x(1))]


async def test_while_it_moves_it_hears_what_else_is_settled() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker, identity="ann")
        await wire.subscribe(1, "x > 0")
        session = broker.state.identities["ann"]
        mute = Mute(broker)
        wire.send(pack_tell(Release()))
        await until(lambda: session.client in broker.state.router.clients._released)
        wire.send(Subscribe(2, "x > 1"))
        wire.send(Subscribe(1, "x > 0"))
        await until(lambda: 2 in session.interests)
        mute.settle()
        got = [await wire.next() for _ in range(3)]
        assert Settled(1) in got
        assert Settled(2) in got


async def test_what_it_got_before_it_moved_does_not_come_again() -> None:
    """A copy is on its way to the new broker, for another client, on a slow link."""
    async with chain(3) as (old, middle, new):
        ann, bob = await connect(old, identity="ann"), await connect(new)
        await ann.subscribe(1, "x > 0")
        await bob.subscribe(9, "x > 0")
        link = middle.state.links[new.state.router.me]
        other = await connect(middle)
        with pytest.MonkeyPatch.context() as patch:
            late: list[Callable[[], None]] = []  # all that the slow link carries
            for name in ("forward", "tell"):
                send = getattr(link, name)
                patch.setattr(
                    link, name, lambda *m, send=send: late.append(lambda: send(*m))
                )
            other.publish({"x": 1})
            assert await ann.next() == Delivery((1,), x(1))
            ann.close()
            await until(lambda: old.state.identities["ann"].sink is None)
            moved = await connect(new, identity="ann")
            moved.send(Move(old.addresses[0].url))
            await until(lambda: len(late) > 1)  # and the answer that waits behind it
        for send in late:
            send()
        assert await bob.next() == Delivery((9,), x(1))
        assert await moved.next() == Done(Op.MOVE)
        other.publish({"x": 2})
        assert await moved.next() == Delivery((1,), x(2))
