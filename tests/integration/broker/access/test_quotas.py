"""Quotas at a broker: each has a name, is refused with a number, and is counted."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from broker.people import PEOPLE, access, named
from siena.broker.access.quotas import Quotas, memory_of_machine
from siena.broker.settings import Limits, Log, Settings
from siena.protocol.control_frames import Connect, Error, Settled, Subscribe
from siena.protocol.handshake import PREFACE
from siena.protocol.log_frames import Commit
from wire import chain, connect, open_wire, serving, until

LOCAL = Settings(listen=("127.0.0.1:0",))
ROLES: dict[str, dict[str, Any]] = {
    "ann": {"publish": "[]", "subscribe": "[]"},
    "root": {"publish": "[]", "subscribe": "[]", "hold": True},
}


@pytest.mark.parametrize(
    ("quotas", "interests", "name"),
    [
        (Quotas(subscriptions=1), ["x = 1", "x = 2"], "subscriptions"),
        (Quotas(filters=3), ["x = 1 or x = 2", "x = 3 or x = 4"], "filters"),
        (Quotas(interest_characters=20), ["x = 1", f"x = {'a' * 30}"], "interest"),
        (Quotas(patterns=1), ["x = 1 then x = 2", "x = 3 then x = 4"], "patterns"),
        (
            Quotas(pattern_steps=3),
            ["x = 1 then x = 2", "x = 3 then x = 4"],
            "pattern_steps",
        ),
        (Quotas(memory_bytes=1), ["x = 1"], "memory_bytes"),
    ],
)
async def test_what_is_more_than_a_quota_is_refused_by_its_name(
    quotas: Quotas, interests: list[str], name: str
) -> None:
    async with serving(replace(LOCAL, quotas=quotas)) as broker:
        wire = await connect(broker)
        for number, interest in enumerate(interests, 1):
            wire.send(Subscribe(number, interest))
        answers = await wire.sync()
        assert all(isinstance(answer, Settled) for answer in answers[:-1])
        refused = answers[-1]
        assert isinstance(refused, Error)
        assert refused.fault == 111
        assert f"quota {name}" in refused.text
        counted = broker.snapshot()["quota_refusals"]
        assert isinstance(counted, dict)
        assert list(counted.values()) == [1]


async def test_who_has_worked_too_much_waits_and_others_do_not() -> None:
    quotas = Quotas(work_seconds=1e-9, work_share=1e-9)
    settings = replace(LOCAL, quotas=quotas, access=access(**ROLES))
    async with named(settings) as broker:
        ann, root = (
            await connect(broker, name="ann"),
            await connect(broker, name="root"),
        )
        refusals = broker.state.accounts.refusals
        while not refusals["work_share"]:  # ann waits while root is there
            await root.sync()
            ann.send(Subscribe(1, "x = 1"))
        ann.send(Subscribe(2, "x = 2"))
        await root.subscribe(1, "x = 1")
        # And when root is not, ann has lost nothing.
        answers = {await ann.next() for _ in range(2)}
        while Settled(2) not in answers:
            answers.add(await ann.next())
        assert answers == {Settled(1), Settled(2)}


async def test_an_identity_has_so_many_connections() -> None:
    settings = replace(LOCAL, quotas=Quotas(connections=1), access=access(**ROLES))
    async with named(settings) as broker:
        first = await connect(broker, name="ann")
        await connect(broker, name="root")
        second = await open_wire(broker)
        second.send(PREFACE + Connect(1, name="ann").pack())
        refused = await second.next()
        assert isinstance(refused, Error)
        assert refused.fault == 215
        first.close()
        await until(lambda: not broker.state.accounts.of("ann").connections)
        await connect(broker, name="ann")


async def test_who_publishes_too_fast_is_read_more_slowly_and_loses_nothing() -> None:
    settings = replace(LOCAL, quotas=Quotas(publications_second=1_000))
    async with serving(settings) as broker:
        wire = await connect(broker)
        wire.publish(*({"n": n} for n in range(1_100)))
        await wire.sync()
        wire.publish({"n": -1})  # only when the pause is over
        await wire.sync()
        assert broker.state.counters.publications == 1_101
        assert broker.state.accounts.refusals["publications"] >= 1


async def test_policy_block_needs_a_grant() -> None:
    async with named(replace(LOCAL, access=access(**ROLES))) as broker:
        await connect(broker, name="root", policy="block")
        wire = await open_wire(broker)
        wire.send(PREFACE + Connect(1, name="ann", policy="block").pack())
        refused = await wire.next()
        assert isinstance(refused, Error)
        assert "hold is not granted: policy block" in refused.text
        assert broker.state.gate.refusals == {("hold", "ann"): 1}


async def test_one_reader_stops_everybody_only_for_a_while() -> None:
    """Found: policy block, the filter [] and no reading held all publishers."""
    settings = replace(
        LOCAL,
        limits=Limits(output_bytes=1_048_576),
        quotas=Quotas(block_seconds=0.2),
    )
    async with serving(settings) as broker:
        stopping = await connect(broker, policy="block")
        await stopping.subscribe(1, "[]")
        stopping.writer.transport.pause_reading()  # type: ignore[attr-defined]
        publisher = await connect(broker)
        for _ in range(16):
            publisher.publish(*({"text": "x" * 10_000} for _ in range(100)))
        async with asyncio.timeout(10):
            await publisher.sync()
        assert broker.state.accounts.refusals["block_seconds"] == 1
        stopping.writer.transport.abort()  # or the broker would wait for it to read


async def test_commits_need_a_grant_and_have_so_many_names(tmp_path: Path) -> None:
    settings = replace(
        LOCAL,
        log=Log(path=str(tmp_path / "log")),
        quotas=Quotas(commits=2),
        access=access(**ROLES),
    )
    async with named(settings) as broker:
        ann, root = (
            await connect(broker, name="ann"),
            await connect(broker, name="root"),
        )
        ann.send(Commit("evil", 0))
        [refused] = await ann.sync()
        assert isinstance(refused, Error)
        assert refused.fault == 110
        for name in ("a", "b", "a", "c"):
            root.send(Commit(name, 0))
        answers = await root.sync()
        assert [isinstance(answer, Error) for answer in answers] == [0, 0, 0, 1]
        assert "quota commits" in str(answers[-1])
        assert PEOPLE["root"].identity == "root"


async def test_what_is_kept_for_all_has_one_ceiling() -> None:
    """Found: 250 absent identities and 9 MB of publications took 2.2 GB."""
    async with serving(replace(LOCAL, quotas=Quotas(kept_bytes=1_000_000))) as broker:
        for number in range(20):
            wire = await connect(broker, identity=f"i{number}")
            await wire.subscribe(1, "[]")
            wire.close()
        sessions = broker.state.identities
        await until(lambda: all(s.sink is None for s in sessions.values()))
        publisher = await connect(broker)
        for _ in range(10):
            publisher.publish(*({"text": "x" * 1_000} for _ in range(100)))
            await publisher.sync()
        boxes = [
            broker.state.router.mailboxes.find(s.client) for s in sessions.values()
        ]
        kept = sum(box.size for box in boxes if box is not None)
        assert kept < 10_000_000  # of 20 MB that were published for them
        assert broker.state.counters.lost > 0


@pytest.mark.parametrize(
    ("shape", "count"),
    [
        # Each of them was 8 to 40 s of processor, or gigabytes.
        (lambda n: f'x ends with "{n:012}"', 500),
        (lambda n: " or ".join(f"x = {j + 999 * n}" for j in range(999)), 2),
        (lambda n: " then ".join(f"x{j} = {n}" for j in range(64)), 5),
        (lambda n: f'x like "*{n}*{n * n}?*"', 100),
    ],
    ids=["suffixes", "products", "patterns", "like"],
)
async def test_what_was_an_attack_is_settled_and_others_are_answered(
    shape: Callable[[int], str], count: int
) -> None:
    async with chain(2) as (broker, _):
        attacker, other = await connect(broker), await connect(broker)
        for number in range(count):
            attacker.send(Subscribe(number, shape(number)))
        assert await other.sync() == []
        answers = [await attacker.next() for _ in range(count)]
        assert all(isinstance(answer, Settled) for answer in answers)


async def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    """Found: one pattern of 687 KB took 8 to 15 s."""
    async with serving(LOCAL) as broker:
        wire = await connect(broker)
        steps = (
            "(" + " or ".join(f"x{j} = {k}" for k in range(900)) + ")"
            for j in range(60)
        )
        wire.send(Subscribe(1, " then ".join(steps)))
        refused = await wire.next()
        assert isinstance(refused, Error)
        assert "quota interest_characters" in refused.text


async def test_unless_it_is_said_memory_has_a_ceiling() -> None:
    async with serving(LOCAL) as broker:
        ceiling = broker.state.accounts.most("memory_bytes")
        assert 0 < ceiling < memory_of_machine()
