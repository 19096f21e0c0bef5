"""What is kept is its owner's: names, batches, web hooks, and what a restart keeps."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from prometheus_client import generate_latest

from broker.access import Guarded, guarded
from broker.people import PEOPLE, NamedBroker, access, named
from siena.block import decode, encode
from siena.broker.access.credentials import load_credentials, save_credentials
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.broker import Broker
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.metrics import registry_of
from siena.broker.inspect import counters
from siena.broker.settings import Log, Settings
from siena.broker.webhooks.mapping import Handlers
from siena.client.tokens import new_token
from siena.protocol.control_frames import (
    Done,
    Error,
    GrantChanged,
    Settled,
    Subscribe,
)
from siena.protocol.durable.reading import (
    Ack,
    DurableDelivery,
    DurableSubscribe,
    unpack_deliver,
)
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import GRANTS
from siena.protocol.log_frames import (
    Batch,
    Commit,
    Extent,
    Log as LogBody,
    Part,
    Stage,
    Taken,
)
from wire import Wire, connect, until

ROLES: dict[str, dict[str, Any]] = {
    "ann": {"publish": "user = ann", "subscribe": "level < 5", "hold": True},
    "bob": {"publish": "[]", "subscribe": "level < 9", "hold": True},
    "eve": {"subscribe": "level < 5", "beyond": "refuse"},
    "root": {"publish": "[]", "subscribe": "[]", "inspect": "[]", "hold": True},
}


@asynccontextmanager
async def logging(
    folder: Path, **roles: dict[str, Any]
) -> AsyncIterator[tuple[NamedBroker, Settings]]:
    settings = Settings(
        listen=("127.0.0.1:0",),
        access=access(**{**ROLES, **roles}),
        log=Log(path=str(folder / "log")),
    )
    async with named(settings) as broker:
        yield broker, settings


async def both(broker: NamedBroker, one: str, other: str) -> tuple[Wire, Wire]:
    return await connect(broker, name=one), await connect(broker, name=other)


async def told(wire: Wire) -> Error:
    answer = await wire.next()
    assert isinstance(answer, Error), answer
    return answer


async def delivered(wire: Wire) -> list[int]:
    """The levels of durable deliveries that come before the answer to a PING."""
    wire.send(pack(Op.PING, b"sync"))
    found = []
    while (frame := await wire.frame()).op != Op.PONG:
        if frame.op == Op.DELIVER:
            came: DurableDelivery = unpack_deliver(frame.body)
            found.append(decode(came.block)["level"])
    return found  # type: ignore[return-value]


# --- Names in the log -----------------------------------------------------------------


async def test_a_reader_is_that_of_its_owner(tmp_path: Path) -> None:
    async with logging(tmp_path) as (broker, _):
        ann, bob = await both(broker, "ann", "bob")
        ann.publish({"user": "ann"}, {"user": "ann"})
        await ann.sync()
        ann.send(Commit("reader", 1))
        assert await ann.next() == Done(Op.COMMIT)
        bob.send(LogBody("reader"))
        assert await bob.next() == Extent(0, 2, None)
        bob.send(Commit("reader", None))  # his own, which there is not
        assert await bob.next() == Done(Op.COMMIT)
        ann.send(LogBody("reader"))
        assert await ann.next() == Extent(0, 2, 1)


async def test_a_query_is_that_of_its_owner(tmp_path: Path) -> None:
    async with logging(tmp_path) as (broker, _):
        ann, bob = await both(broker, "ann", "bob")
        bob.send(Batch("query", 1_000, []))  # so that nothing of hers would be new
        assert await bob.next() == Taken("query", 1_000, True, 0)
        part = bytes(16)
        ann.send(Stage(part, 0, [encode({"user": "ann"})]))
        await ann.next()
        ann.send(Batch("query", 0, [Part(part, 1)]))
        assert await ann.next() == Taken("query", 0, True, 1)


async def test_what_was_staged_under_another_grant_is_staged_again(
    tmp_path: Path,
) -> None:
    async with logging(tmp_path) as (broker, settings):
        ann, bob = await both(broker, "ann", "bob")
        part, forged = bytes(16), encode({"user": "eve"})
        bob.send(Stage(part, 0, [forged]))
        await bob.next()
        ann.send(Batch("query", 0, [Part(part, 1)]))  # what bob may say
        assert (await told(ann)).fault == 123
        bob.send(Stage(part, 0, [forged]))
        await bob.next()
        less = access(**{**ROLES, "bob": {"publish": "user = bob"}})
        broker.reload(replace(settings, access=less))
        bob.send(Batch("query", 0, [Part(part, 1)]))
        assert (await told(bob)).fault == 123
        bob.send(Stage(part, 0, [forged]))
        assert (await told(bob)).fault == 110
        assert broker.state.counters.publications == 0


# --- Durable subscriptions ------------------------------------------------------------


async def test_a_durable_subscription_brings_what_is_granted_when_it_is_sent(
    tmp_path: Path,
) -> None:
    async with logging(tmp_path) as (broker, settings):
        root = await connect(broker, name="root")
        ann = await connect(broker, name="ann", features=(GRANTS,))
        ann.send(DurableSubscribe(1, "level > 1", "d"))
        assert await ann.next() == Settled(1, "level < 5 and level > 1")
        root.publish(*({"level": n} for n in range(8)))
        await root.sync()
        await until(lambda: broker.log_service.durable.durables(1)[0]["under_way"])
        assert await delivered(ann) == [2, 3, 4]
        less = access(**{**ROLES, "ann": {"subscribe": "level < 3"}})
        broker.reload(replace(settings, access=less))
        root.publish(*({"level": n} for n in range(8)))
        await root.sync()
        assert await ann.next() == GrantChanged(1, "level < 3 and level > 1")
        assert await delivered(ann) == [2]
        # What was not acknowledged comes again to whoever reads: of that, what it may.
        ann.close()
        await until(lambda: not broker.log_service.durable.durables(1)[0]["readers"])
        again = await connect(broker, name="ann")
        again.send(DurableSubscribe(1, "level > 1", "d"))
        await until(lambda: broker.log_service.durable.durables(1)[0]["under_way"])
        assert await delivered(again) == [2, 2]


async def test_what_two_owners_call_the_same_is_one_series(tmp_path: Path) -> None:
    async with logging(tmp_path) as (broker, _):
        wires = await both(broker, "ann", "bob")
        for wire in wires:
            wire.send(DurableSubscribe(1, "level any", "d"))
            assert isinstance(await wire.next(), Settled)
        lines = [li for li in seen_by(broker, LOCAL) if 'name="d"' in li]
        assert 'siena_durable_readers{name="d"} 2.0' in lines
        assert len(lines) == len({line.partition(" ")[0] for line in lines})


async def test_metrics_name_what_their_viewer_may_know(tmp_path: Path) -> None:
    """Found: who may see metrics saw the names of others' subscriptions, and roles."""
    async with logging(tmp_path) as (broker, _):
        ann, bob = await both(broker, "ann", "bob")
        for wire, name in ((ann, "of ann"), (bob, "of bob")):
            wire.send(DurableSubscribe(1, "level any", name))
            assert isinstance(await wire.next(), Settled)
        for who in ("ann", "bob"):
            broker.state.gate.refuse(Principal(who, (who,)), "publish", "x = 1")
        for who, other in (("ann", "bob"), ("bob", "ann")):
            lines = seen_by(broker, Principal(who, (who,)))
            assert f'siena_durable_readers{{name="of {who}"}} 1.0' in lines
            assert 'siena_durable_readers{name="(others)"} 1.0' in lines
            own = f'siena_refusals_total{{roles="{who}",verb="publish"}} 1.0'
            assert own in lines
            others = 'siena_refusals_total{roles="(others)",verb="publish"} 1.0'
            assert others in lines
            assert not [li for li in lines if f"of {other}" in li]
            assert not [li for li in lines if f'roles="{other}"' in li]
            sight = broker.state.gate.sight(Principal(who, (who,)))
            shown = counters(broker, 100, sight)["refusals"]
            assert shown == [
                {"verb": "publish", "roles": roles, "count": 1}
                for roles in ((who, "(others)") if who == "ann" else ("(others)", who))
            ]


def seen_by(broker: Broker, principal: Principal) -> list[str]:
    """The metrics of a broker, as one principal sees them."""
    entry = InProcessEntry(broker)
    sight = broker.state.gate.sight(principal)
    registry = registry_of(entry, Handlers(entry), sight)
    return generate_latest(registry).decode().splitlines()


async def test_a_durable_subscription_to_more_is_refused_where_roles_say_so(
    tmp_path: Path,
) -> None:
    async with logging(tmp_path) as (broker, _):
        eve = await connect(broker, name="eve")
        eve.send(DurableSubscribe(1, "level > 1", "d"))
        error = await told(eve)
        assert (error.fault, error.number) == (110, 1)
        assert "level = 5" in error.text
        assert broker.log_service.durable.count == 0


async def test_a_new_durable_subscription_needs_a_role_that_may_hold(
    tmp_path: Path,
) -> None:
    """It keeps the log, and in the end lets publishers wait, as COMMIT does."""
    reader = {"subscribe": "level < 5"}
    async with logging(tmp_path, eve=reader) as (broker, settings):
        eve = await connect(broker, name="eve")
        eve.send(DurableSubscribe(1, "level > 1", "d"))
        error = await told(eve)
        assert (error.fault, error.number) == (110, 1)
        assert "hold" in error.text
        assert broker.log_service.durable.count == 0
        may = access(**{**ROLES, "eve": {**reader, "hold": True}})
        broker.reload(replace(settings, access=may))
        eve.send(DurableSubscribe(1, "level > 1", "d"))
        assert await eve.next() == Settled(1, "level < 5 and level > 1")
        # What is there, is read on, whatever has become of the role.
        broker.reload(settings)
        eve.close()
        again = await connect(broker, name="eve")
        again.send(DurableSubscribe(1, "level > 1", "d"))
        assert await again.next() == Settled(1, "level < 5 and level > 1")


async def test_a_narrowed_token_does_not_answer_for_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Principal("ann", ("ann",), caveats=("level = 1",))
    monkeypatch.setitem(PEOPLE, "page", page)
    async with logging(tmp_path) as (broker, _):
        ann, root = await both(broker, "ann", "root")
        ann.send(DurableSubscribe(1, "level any", "d"))
        assert await ann.next() == Settled(1, "level < 5")
        ann.close()
        root.publish({"level": 3})
        await root.sync()
        stolen = await connect(broker, name="page")
        stolen.send(DurableSubscribe(1, "level any", "d"))
        assert (await told(stolen)).fault == 110  # or the 3 would count as answered
        stolen.send(Ack(1, [0]))
        assert (await told(stolen)).fault == 104
        again = await connect(broker, name="ann")
        again.send(DurableSubscribe(1, "level any", "d"))
        await until(lambda: broker.log_service.durable.durables(1)[0]["under_way"])
        assert await delivered(again) == [3]


# --- Identities -----------------------------------------------------------------------


async def test_what_was_asked_for_outlives_the_broker(tmp_path: Path) -> None:
    async with logging(tmp_path) as (broker, _):
        ann = await connect(broker, name="ann", identity="ann")
        ann.send(Subscribe(1, "level > 2"))
        assert await ann.next() == Settled(1, "level < 5 and level > 2")
        ann.close()
        await until(lambda: broker.state.identities["ann"].sink is None)
        root = await connect(broker, name="root")
        root.publish(*({"level": n} for n in range(10)))
        await root.sync()
    more = {"subscribe": "level < 7", "publish": "[]"}
    async with logging(tmp_path, ann=more) as (broker, _):
        ann = await connect(broker, name="ann", identity="ann")
        ann.send(Subscribe(1, "level > 2"))  # as clients do that come again
        came = await ann.sync()
        assert Settled(1, "level < 7 and level > 2") in came
        assert not [said for said in came if isinstance(said, Error)]


async def test_a_web_hook_has_what_its_last_credential_grants(tmp_path: Path) -> None:
    def hook(handler: str) -> dict[str, object]:
        return {"handler": f"http://127.0.0.1:9/{handler}", "subscriptions": ["y any"]}

    async with guarded(tmp_path) as found:
        lesser = _another_of_ann(found)
        answers = [
            await found.client.put(
                "/api/identities/ann",
                headers={"authorization": f"Bearer {token}"},
                json=hook("in"),
            )
            for token in (found.tokens["good"], lesser)
        ]
        assert [answer.status_code for answer in answers] == [200, 403]
        assert answers[1].json()["error"] == 110
        session = found.broker.state.identities["ann"]
        assert session.principal.roles == ("all",)  # nothing has changed
        answer = await found.client.put(
            "/api/identities/ann",
            headers={"authorization": f"Bearer {lesser}"},
            json={**hook("in"), "subscriptions": ["x = 1"]},
        )
        assert answer.is_success
        assert session.principal.roles == ("less",)


def _another_of_ann(found: Guarded) -> str:
    """A token of the same identity, with the role that grants less."""
    token = new_token()
    known = load_credentials(found.file)
    save_credentials(found.file, known.with_token(token, "ann", ("less",), made_at=0.0))
    found.broker.reload(found.broker.settings)
    return token.text
