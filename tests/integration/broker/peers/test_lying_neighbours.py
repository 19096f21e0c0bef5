"""A neighbour that lies takes no more than its quotas, and is let in ever later."""

import asyncio

import pytest
from msgspec.structs import replace

from broker.people import access, named
from broker.rogue import EPOCH, link
from siena.block import encode
from siena.broker.access.quotas import Quotas
from siena.broker.ids import number_of
from siena.broker.peers import bounds
from siena.broker.settings import Settings
from siena.messages import Stamp
from siena.protocol.control_frames import Connect, Digest, Error, Peer, Tell, Welcome
from siena.protocol.data_frames import Forwarded, pack_forward
from siena.protocol.handshake import PREFACE
from wire import connect, open_wire, serving, until

LOCAL = Settings(listen=("127.0.0.1:0",), accept_peers=True)


def announced(number: int) -> Tell:
    return Tell("subscribe", [f"x = {number}", None])


async def test_it_announces_no_more_than_its_quota() -> None:
    quotas = Quotas(announcements=10)
    async with serving(replace(LOCAL, quotas=quotas)) as broker:
        liar = await link(broker)
        for number in range(12):
            liar.send(announced(number))
        refused = await liar.next()
        assert isinstance(refused, Error)
        assert refused.fault == 215
        assert "quota announcements" in refused.text
        await until(lambda: not broker.state.links)
        assert broker.state.accounts.refusals == {"announcements": 1}
        assert not list(broker.state.router.tables.filters)


async def test_what_it_announces_again_and_again_is_held_once() -> None:
    async with serving(replace(LOCAL, quotas=Quotas(announcements=3))) as broker:
        liar = await link(broker)
        for _ in range(1_000):
            liar.send(Tell("subscribe", ["[]", None]))
        assert await liar.sync() == []
        assert len(list(broker.state.router.tables.filters)) == 1


async def test_without_memory_nothing_more_is_announced() -> None:
    async with serving(replace(LOCAL, quotas=Quotas(memory_bytes=1))) as broker:
        liar = await link(broker)
        liar.send(announced(1))
        refused = await liar.next()
        assert isinstance(refused, Error)
        assert "quota memory_bytes" in refused.text


async def test_whose_digests_never_agree_is_let_in_later_and_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bounds, "WAIT_SECONDS", 30.0)
    async with serving(LOCAL) as broker:
        other = await link(broker, name="honest")
        liar = await link(broker)
        liar.send(Digest(7, b"?" * 16))
        await until(lambda: broker.state.counters.repaired == 1)
        again = await open_wire(broker)
        peer = Peer(number_of("rogue"), EPOCH, "peer")
        again.send(PREFACE + Connect(1, name="rogue", peer=peer).pack())
        refused = await again.next()
        assert isinstance(refused, Error)
        assert refused.fault == 209
        assert "its links had to be ended; again in" in refused.text
        # Others are not concerned.
        await link(broker, name="another")
        assert await other.sync() == []


async def test_who_was_wrong_once_comes_back_soon() -> None:
    async with serving(LOCAL) as broker:
        liar = await link(broker)
        liar.send(Digest(7, b"?" * 16))
        await until(lambda: broker.state.counters.repaired == 1)
        async with asyncio.timeout(10):
            while True:
                again = await open_wire(broker)
                peer = Peer(number_of("rogue"), EPOCH, "peer")
                again.send(PREFACE + Connect(1, name="rogue", peer=peer).pack())
                if isinstance(await again.next(), Welcome):
                    break


async def test_who_brings_more_than_its_quota_is_read_more_slowly() -> None:
    quotas = Quotas(publications_second=50)
    async with serving(replace(LOCAL, quotas=quotas)) as broker:
        liar = await link(broker)
        frames = b""
        for number in range(60):
            stamp = Stamp(number_of("rogue"), EPOCH, number)
            one = Forwarded(stamp, stamp.broker, 1.0, 9, 0, encode({"x": 1}))
            frames += pack_forward(one)
        liar.send(frames)
        await liar.sync()
        assert broker.state.counters.received == 60
        assert broker.state.accounts.refusals["publications"] >= 1


async def test_what_it_tells_costs_it_its_share_and_not_that_of_others() -> None:
    quotas = Quotas(work_seconds=1e-9, work_share=1e-9)
    async with serving(replace(LOCAL, quotas=quotas)) as broker:
        honest = await connect(broker)
        liar = await link(broker)
        refusals = broker.state.accounts.refusals
        for number in range(10_000):
            liar.send(announced(number))
            await honest.sync()
            if refusals["work_share"]:
                break
        liar.send(announced(-1))
        for _ in range(20):
            await honest.sync()
        # When nobody else is there it is heard again.
        wanted = number + 2
        await until(lambda: broker.state.counters.router_in == wanted)


async def test_what_it_brings_in_vain_is_drawn_from_its_account_and_the_rest_not() -> (
    None
):
    async with serving(LOCAL) as broker:
        liar = await link(broker)
        rogue = number_of("rogue")
        work = broker.state.accounts.of(f"broker {rogue}").work
        assert work is not None
        await liar.sync()
        before = work.left
        own = Stamp(rogue, EPOCH, 1)
        liar.send(pack_forward(Forwarded(own, rogue, 1.0, 9, 0, encode({"x": 1}))))
        await liar.sync()
        assert work.left == before
        of_others = Stamp(broker.state.router.me, 1, 1)
        for stamp in (own, of_others):  # once more, and one that it may not bring
            before = work.left
            one = Forwarded(stamp, rogue, 1.0, 9, 0, encode({"x": 1}))
            liar.send(pack_forward(one) * 100)
            await liar.sync()
            assert work.left < before + work.rate  # drawn, and filled a little


async def test_the_first_of_each_broker_is_drawn_from_an_account() -> None:
    """A neighbour invented a broker for each notification, at the cost of others."""
    async with serving(LOCAL) as broker:
        liar = await link(broker)
        work = broker.state.accounts.of(f"broker {number_of('rogue')}").work
        assert work is not None
        await liar.sync()
        stamps = [Stamp(number, 1, 1) for number in range(1_000, 1_100)]
        again = [stamp._replace(number=2) for stamp in stamps]
        for brought, is_drawn in ((stamps, True), (again, False)):
            before = work.left
            liar.send(
                b"".join(
                    pack_forward(Forwarded(s, s.broker, 1.0, 9, 0, encode({"x": 1})))
                    for s in brought
                )
            )
            await liar.sync()
            assert (work.left != before) is is_drawn
        assert broker.state.counters.misplaced == 0


async def test_a_number_stays_with_whoever_came_with_it() -> None:
    """Found: a stranger that says peer claims the number of another broker."""
    peers = {"peer": {"import": "[]", "export": "[]"}}
    settings = replace(LOCAL, access=access(ann=peers, root=peers))
    async with named(settings) as broker:
        peer = Peer(number_of("victim"), EPOCH, "peer")
        first = await open_wire(broker)
        first.send(PREFACE + Connect(1, name="ann", peer=peer).pack())
        assert isinstance(await first.next(), Welcome)
        thief = await open_wire(broker)
        thief.send(PREFACE + Connect(1, name="root", peer=peer).pack())
        refused = await thief.next()
        assert isinstance(refused, Error)
        assert refused.fault == 209
        assert "another identity has come with this number" in refused.text
        assert await first.sync() == []
