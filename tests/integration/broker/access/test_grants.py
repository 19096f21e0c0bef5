"""Grants at a broker: what is not granted does not pass, whatever way it comes."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from broker.people import PEOPLE, NamedBroker, access, named
from siena.block import decode, encode
from siena.broker.settings import AuditLog, Log, Settings
from siena.errors import SienaError
from siena.model import Value
from siena.protocol.control_frames import (
    Advertise,
    Done,
    Ended,
    Error,
    GrantChanged,
    Look,
    Quench,
    Resume,
    Seen,
    Settled,
    Subscribe,
    Unsubscribe,
    UnsubscribeCovered,
)
from siena.protocol.data_frames import Delivery, FoundSequence, pack_traced
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.protocol.handshake import GRANTS, WANTING
from siena.protocol.log_frames import Entries, Read, Stage
from wire import Wire, connect, open_wire, until

ROLES: dict[str, dict[str, Any]] = {
    "ann": {"publish": "user = ${identity}", "subscribe": "level < 5"},
    "bob": {"subscribe": "level < 9", "beyond": "refuse", "inspect": "what = links"},
    "eve": {},
    "root": {"publish": "[]", "subscribe": "[]", "inspect": "[]", "hold": True},
}
SETTINGS = Settings(listen=("127.0.0.1:0",), access=access(**ROLES))


def refusals(broker: NamedBroker) -> dict[tuple[str, str], int]:
    return dict(broker.state.gate.refusals)


async def told(wire: Wire) -> Error:
    answer = await wire.next()
    assert isinstance(answer, Error), answer
    return answer


async def heard(wire: Wire) -> list[dict[str, Any]]:
    return [
        dict(decode(came.block))
        for came in await wire.sync()
        if isinstance(came, Delivery)
    ]


# --- Publishing -----------------------------------------------------------------------


async def test_of_a_run_what_is_granted_goes_on_and_the_rest_is_answered_once() -> None:
    async with named(SETTINGS) as broker:
        root = await connect(broker, name="root")
        await root.subscribe(1, "[]")
        ann = await connect(broker, name="ann")
        ann.publish(*({"user": "ann" if n % 3 else "bob", "n": n} for n in range(300)))
        errors = await ann.sync()
        assert [error.fault for error in errors if isinstance(error, Error)] == [110]
        assert "user = bob, and 99 more" in str(errors[0])
        wanted = [{"user": "ann", "n": n} for n in range(300) if n % 3]
        assert await heard(root) == wanted
        assert refusals(broker) == {("publish", "ann"): 100}
        assert broker.state.counters.publications == 200
        assert broker.state.counters.rejected == 100


async def test_who_may_publish_nothing_publishes_nothing() -> None:
    async with named(SETTINGS) as broker:
        root = await connect(broker, name="root")
        await root.subscribe(1, "[]")
        for name in ("eve", "bob"):
            wire = await connect(broker, name=name)
            wire.publish({"user": name})
            [error] = await wire.sync()
            assert isinstance(error, Error)
            assert error.fault == Fault.FORBIDDEN.number
        assert await heard(root) == []


async def test_a_large_buffer_is_decided_where_it_came() -> None:
    async with named(SETTINGS) as broker:
        root = await connect(broker, name="root")
        await root.subscribe(1, "n = 7 or user = bob")
        ann = await connect(broker, name="ann")
        many: list[dict[str, Value]] = [
            {"user": "ann", "n": n, "text": "x" * 50} for n in range(5_000)
        ]
        many[4_000] = {"user": "bob", "n": 0}
        ann.publish(*many)
        assert len(await ann.sync()) == 1
        assert [n["n"] for n in await heard(root)] == [7]


async def test_what_is_no_notification_is_not_taken_for_what_is_not_granted() -> None:
    async with named(SETTINGS) as broker:
        ann = await connect(broker, name="ann")
        ann.send(b"\x03\x00\x00\x00\x02\xff\xff")
        ann.publish({"user": "ann"}, {"user": "bob"})
        faults = [error.fault for error in await ann.sync() if isinstance(error, Error)]
        assert sorted(faults) == [100, 110]


async def test_a_traced_publication_needs_both_grants() -> None:
    async with named(SETTINGS) as broker:
        ann = await connect(broker, name="ann")
        ann.send(pack_traced(1, encode({"user": "bob"})))
        assert (await told(ann)).text.startswith("publish is not granted")
        ann.send(pack_traced(1, encode({"user": "ann"})))
        assert (await told(ann)).text.startswith("inspect is not granted: what = trace")


async def test_an_advertisement_is_covered_or_refused_with_a_witness() -> None:
    async with named(SETTINGS) as broker:
        ann = await connect(broker, name="ann")
        ann.send(Advertise(1, "user = ann, integer n any"))
        assert isinstance(await ann.next(), Quench)
        ann.send(Advertise(2, "user in (ann, bob)"))
        error = await told(ann)
        assert (error.fault, error.number) == (110, 2)
        assert "user = bob" in error.text


async def test_lines_are_granted_no_more_than_frames() -> None:
    async with named(SETTINGS) as broker:
        broker.others = PEOPLE["ann"]
        wire = await open_wire(broker)
        root = await connect(broker, name="root")
        await root.subscribe(1, "[]")
        wire.writer.write(b"sub level > 3\npub user = ann\npub user = bob\nping\n")
        lines = [json.loads(await wire.reader.readline()) for _ in range(3)]
        assert lines[0] == {
            "siena": "SETTLED",
            "number": 1,
            "in_force": "level < 5 and level > 3",
        }
        assert {line.get("error") for line in lines} >= {110}
        assert await heard(root) == [{"user": "ann"}]


# --- Subscribing ----------------------------------------------------------------------


async def test_a_subscription_is_narrowed_and_settled_says_so() -> None:
    async with named(SETTINGS) as broker:
        ann, root = (
            await connect(broker, name="ann"),
            await connect(broker, name="root"),
        )
        ann.send(Subscribe(1, "level > 2"))
        assert await ann.next() == Settled(1, "level < 5 and level > 2")
        ann.send(Subscribe(2, "level = 4"))
        assert await ann.next() == Settled(2)
        root.publish(*({"level": n} for n in range(10)))
        await root.sync()
        assert [n["level"] for n in await heard(ann)] == [3, 4]


async def test_a_subscription_is_known_as_it_was_asked_for() -> None:
    async with named(SETTINGS) as broker:
        ann = await connect(broker, name="ann")
        ann.send(Subscribe(1, "level > 2"))
        ann.send(Subscribe(1, "level > 2"))
        assert [await ann.next() for _ in range(2)] == [
            Settled(1, "level < 5 and level > 2")
        ] * 2
        ann.send(UnsubscribeCovered("level > 1 and level < 6"))
        assert await ann.next() == Ended(Op.UNSUB_COVERED, [])
        ann.send(UnsubscribeCovered("level > 1"))
        assert await ann.next() == Ended(Op.UNSUB_COVERED, [1])
        ann.send(Subscribe(1, "level > 3"))
        await ann.next()
        ann.send(Unsubscribe(1))
        assert await ann.next() == Done(Op.UNSUB, 1)


async def test_who_is_refused_hears_why_and_who_is_within_is_not() -> None:
    async with named(SETTINGS) as broker:
        bob = await connect(broker, name="bob")
        bob.send(Subscribe(1, "level > 3"))
        error = await told(bob)
        assert (error.fault, error.number) == (110, 1)
        assert "level = 9" in error.text
        await bob.subscribe(1, "level > 3 and level < 9")
        assert refusals(broker) == {("subscribe", "bob"): 1}


async def test_nothing_is_in_force_of_what_is_not_granted() -> None:
    async with named(SETTINGS) as broker:
        eve, root = (
            await connect(broker, name="eve"),
            await connect(broker, name="root"),
        )
        eve.send(Subscribe(1, "[]"))
        assert await eve.next() == Settled(1, "not []")
        eve.send(Subscribe(2, "level = 1 then level = 2"))
        assert await eve.next() == Settled(2, "not []")
        root.publish({"level": 1}, {"level": 2})
        await root.sync()
        assert await eve.sync() == []


async def test_a_pattern_is_granted_step_by_step() -> None:
    async with named(SETTINGS) as broker:
        ann, root = (
            await connect(broker, name="ann"),
            await connect(broker, name="root"),
        )
        ann.send(Subscribe(1, "level > 2 then level > 3"))
        answer = await ann.next()
        assert isinstance(answer, Settled)
        assert answer.in_force == "level < 5 and level > 2 then level < 5 and level > 3"
        root.publish({"level": 7}, {"level": 3}, {"level": 8}, {"level": 4})
        await root.sync()
        [found] = await ann.sync()
        assert isinstance(found, FoundSequence)
        assert [decode(block)["level"] for block in found.blocks] == [3, 4]


async def test_where_a_conjunction_is_too_large_each_delivery_is_looked_at() -> None:
    wide = " or ".join(f"level = {n} and a{n} any" for n in range(300))
    roles = {**ROLES, "ann": {"subscribe": wide}}
    async with named(replace(SETTINGS, access=access(**roles))) as broker:
        ann, root = (
            await connect(broker, name="ann"),
            await connect(broker, name="root"),
        )
        ann.send(Subscribe(1, "x = 1 or y = 1"))
        answer = await ann.next()
        assert isinstance(answer, Settled)
        assert str(answer.in_force).endswith("within what is granted")
        root.publish({"x": 1, "level": 3, "a3": 0}, {"x": 1, "level": 3, "a4": 0})
        root.publish({"y": 1, "x": 1, "level": 4, "a4": 0}, {"level": 5, "a5": 0})
        await root.sync()
        assert [n["level"] for n in await heard(ann)] == [3, 4]
        ann.send(Unsubscribe(1))
        assert await ann.next() == Done(Op.UNSUB, 1)


# --- Looking, and the log -------------------------------------------------------------


async def test_what_may_be_looked_at() -> None:
    async with named(SETTINGS) as broker:
        bob = await connect(broker, name="bob")
        bob.send(Look("links"))
        assert isinstance(await bob.next(), Seen)
        bob.send(Look("sessions"))
        assert (await told(bob)).text == "inspect is not granted: what = sessions"


async def test_who_wants_something_is_said_as_far_as_one_could_subscribe() -> None:
    roles = {
        **ROLES,
        "bob": {"subscribe": "level < 4", "inspect": "[]"},
        "eve": {"subscribe": "[]"},
    }
    async with named(replace(SETTINGS, access=access(**roles))) as broker:
        root = await connect(broker, name="root")
        await root.subscribe(1, "level = 3")
        await root.subscribe(2, "level > 2")
        session = root.welcome.session if root.welcome else 0

        async def seen(name: str) -> list[tuple[str, str]]:
            wire = await connect(broker, name=name)
            wire.send(Look(WANTING, 9, encode({"level": 3})))
            answer = await wire.next()
            assert isinstance(answer, Seen), answer
            return [(one["who"], one["text"]) for one in answer.seen["wanting"]]

        mine = [
            (f"client {session}/1", "level = 3"),
            (f"client {session}/2", "level > 2"),
        ]
        assert await seen("root") == mine
        assert await seen("bob") == [("another client", "level = 3")]
        eve = await connect(broker, name="eve")
        eve.send(Look(WANTING, 9, encode({"level": 3})))
        assert (await told(eve)).text == "inspect is not granted: what = tables"


async def test_the_log_is_read_and_staged_within_the_grant(tmp_path: Path) -> None:
    settings = replace(SETTINGS, log=Log(path=str(tmp_path / "log")))
    async with named(settings) as broker:
        root, ann = (
            await connect(broker, name="root"),
            await connect(broker, name="ann"),
        )
        root.publish(*({"level": n} for n in range(10)))
        await root.sync()
        ann.send(Read("level > 2", 0))
        answer = await ann.next()
        assert isinstance(answer, Entries)
        assert [decode(entry.block)["level"] for entry in answer.entries] == [3, 4]
        assert answer.next == 10
        part = bytes(16)
        ann.send(Stage(part, 0, [encode({"user": "ann"}), encode({"user": "bob"})]))
        assert (await told(ann)).fault == 110
        ann.send(Stage(part, 0, [encode({"user": "ann"})]))
        assert isinstance(await ann.next(), Done)


async def test_the_log_is_read_with_a_residual_where_more_is_refused(
    tmp_path: Path,
) -> None:
    settings = replace(SETTINGS, log=Log(path=str(tmp_path / "log")))
    async with named(settings) as broker:
        root, bob = (
            await connect(broker, name="root"),
            await connect(broker, name="bob"),
        )
        root.publish(*({"level": n, "x": n, "y": 5} for n in range(10)))
        await root.sync()
        bob.send(Read("level < 9 and x any and y any, if x > y", 0))
        answer = await bob.next()
        assert isinstance(answer, Entries)
        assert [decode(entry.block)["level"] for entry in answer.entries] == [6, 7, 8]
        bob.send(Read("x any and y any, if x > y", 0))
        assert "subscribe is not granted" in (await told(bob)).text


# --- Roles that change ----------------------------------------------------------------


async def test_a_grant_that_changes_counts_at_once_and_is_heard_of() -> None:
    async with named(SETTINGS) as broker:
        root = await connect(broker, name="root")
        ann = await connect(broker, name="ann", features=(GRANTS,))
        old = await connect(broker, name="ann")  # of the version before
        for wire in (ann, old):
            wire.send(Subscribe(1, "level > 2"))
            await wire.next()
        for role, in_force, levels in (
            ({"subscribe": "level < 4"}, "level < 4 and level > 2", [3]),
            ({"subscribe": "[]"}, "level > 2", [3, 4, 5, 6, 7]),
            ({}, "not []", []),
        ):
            broker.reload(replace(SETTINGS, access=access(**{**ROLES, "ann": role})))
            root.publish(*({"level": n} for n in range(8)))
            await root.sync()
            first, *rest = await ann.sync()
            assert first == GrantChanged(1, in_force)
            found = [decode(c.block)["level"] for c in rest if isinstance(c, Delivery)]
            assert found == levels
            assert [n["level"] for n in await heard(old)] == levels
            ann.publish({"user": "ann"})
            assert len(await ann.sync()) == 1  # nor may it publish any more


async def test_roles_that_are_wrong_change_nothing() -> None:
    async with named(SETTINGS) as broker:
        wrong = access(ann={"publish": "[]"}, bob={"publish": "x >"})
        with pytest.raises(SienaError, match="role bob, publish, column 4"):
            broker.reload(replace(SETTINGS, access=wrong))
        ann = await connect(broker, name="ann")
        ann.publish({"user": "bob"})
        assert len(await ann.sync()) == 1


async def test_what_was_kept_is_compared_with_what_is_granted_when_it_is_sent() -> None:
    async with named(SETTINGS) as broker:
        root = await connect(broker, name="root")
        ann = await connect(broker, name="ann", identity="ann")
        ann.send(Subscribe(1, "level > 2"))
        await ann.next()
        ann.close()
        await until(lambda: broker.state.identities["ann"].sink is None)
        root.publish(*({"level": n} for n in range(8)))
        await root.sync()
        less = access(**{**ROLES, "ann": {"subscribe": "level < 4"}})
        broker.reload(replace(SETTINGS, access=less))
        ann = await connect(broker, name="ann", identity="ann")
        ann.send(Resume())
        assert [n["level"] for n in await heard(ann)] == [3]


async def test_what_is_refused_and_changed_is_written_down(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    settings = replace(SETTINGS, audit=AuditLog(path=str(path)))
    async with named(settings) as broker:
        ann = await connect(broker, name="ann")
        for _ in range(20):
            ann.publish({"user": "bob"})
            await ann.sync()
        broker.reload(replace(settings, access=access(other={})))
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    refused = [line for line in lines if line["event"] == "refused"]
    assert 1 <= len(refused) < 20
    assert refused[0]["identity"] == "ann"
    assert refused[0]["verb"] == "publish"
    assert lines[-1]["event"] == "grants changed"
