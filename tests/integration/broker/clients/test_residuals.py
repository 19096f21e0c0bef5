"""What filters cannot say: decided at the edge, and nowhere else."""

import pytest

import siena
import siena.testing
from http_wire import subscribed, web
from siena.block import encode
from siena.broker.log.filter_cache import RecordFilter
from siena.client.client import Client
from siena.errors import SienaError
from siena.protocol.control_frames import (
    Done,
    Error,
    Move,
    Subscribe,
    Suspend,
    Unsubscribe,
)
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.protocol.handshake import RESIDUAL
from wire import chain, connect, serving, settings, until

CROSSED = "bid < ask AND symbol LIKE 'D%'"
TEXT = "number ask any and number bid any, if bid < ask"


def quote(bid: int, ask: int) -> bytes:
    return encode({"bid": bid, "ask": ask})


def test_a_selector_that_compares_two_attributes_is_decided_by_the_broker() -> None:
    with siena.testing.broker() as broker, siena.connect(broker.url) as client:
        crossed = client.subscribe(CROSSED, dialect="sql").settled()
        plain = client.subscribe("symbol >* D").settled()
        client.publish(bid=1, ask=2, symbol="DIS")
        client.publish(bid=3, ask=2, symbol="DIS")
        client.publish(bid=1, ask=2, symbol="KO")
        client.publish(bid=1, symbol="DIS")
        client.publish(bid=4, ask=5, symbol="DX")
        got = [crossed.get(timeout_s=10) for _ in range(2)]
        assert [each["bid"] for each in got] == [1, 4]
        assert len([plain.get(timeout_s=10) for _ in range(4)]) == 4


async def test_links_carry_the_covering_predicate() -> None:
    async with chain(2) as (edge, other):
        wire, publisher = await connect(edge), await connect(other)
        await wire.subscribe(1, TEXT)
        told = [str(f) for f in other.state.router.tables.filters]
        assert told == ["number ask any and number bid any"]
        publisher.publish(
            {"bid": 2, "ask": 1}, {"bid": 1}, {"bid": 1, "ask": 2}, {"bid": 3, "ask": 9}
        )
        got = [await wire.next(), await wire.next()]
        assert got == [Delivery((1,), quote(1, 2)), Delivery((1,), quote(3, 9))]
        assert other.state.counters.forwarded == 3


async def test_for_who_is_away_only_what_it_lets_through_is_kept_and_moves() -> None:
    async with chain(2) as (old, new):
        wire, publisher = await connect(old, identity="ann"), await connect(old)
        await wire.subscribe(1, TEXT)
        wire.send(Suspend(100))
        await wire.sync()
        wire.close()
        publisher.publish({"bid": 2, "ask": 1}, {"bid": 1, "ask": 2})
        await publisher.sync()
        moved = await connect(new, identity="ann")
        moved.send(Move(old.addresses[0].url))
        got = []
        while not isinstance(came := await moved.next(), Done):
            if isinstance(came, Delivery):
                got.append(came.block)
        assert got == [quote(1, 2)]
        await until(lambda: "ann" not in old.state.identities)
        publisher.publish({"bid": 5, "ask": 1}, {"bid": 5, "ask": 6})
        assert await moved.next() == Delivery((1,), quote(5, 6))


async def test_it_ends_like_any_other_and_its_number_is_free_again() -> None:
    async with serving(settings("a")) as broker:
        wire, publisher = await connect(broker), await connect(broker)
        await wire.subscribe(1, TEXT)
        wire.send(Unsubscribe(1))
        assert await wire.next() == Done(Op.UNSUB, 1)
        assert len(broker.state.exchange) == 0
        await wire.subscribe(1, "bid any")
        publisher.publish({"bid": 2, "ask": 1})
        assert await wire.next() == Delivery((1,), quote(2, 1))


async def test_a_residual_that_cannot_be_read_is_refused_with_the_place() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker)
        wire.send(Subscribe(1, "x any, if x <"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_INTEREST.number
        assert error.position == 13


async def test_over_http_a_filter_may_be_in_another_language() -> None:
    async with web() as (_, _, client):
        async with subscribed(client, CROSSED, dialect="sql") as events:
            quotes = [{"bid": 3, "ask": 2}, {"bid": 1, "ask": 2}]
            said = [{**each, "symbol": "DIS"} for each in quotes]
            await client.post("/publish", json=said)
            assert await events.next() == ("message", said[1])
        bad = {"filter": "x <", "dialect": "sql"}
        refused = await client.get("/subscribe", params=bad)
        assert refused.status_code == 400
        assert refused.json()["column"] == 4


def test_the_log_is_read_with_a_residual() -> None:
    blocks = [quote(1, 2), quote(2, 1), encode({"bid": 1})]
    assert RecordFilter(TEXT).counts(blocks) == [1, 0, 0]


def test_an_older_broker_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    features = Client.features

    def older(client: Client) -> tuple[str, ...]:
        known = features.fget(client)  # type: ignore[attr-defined]
        return tuple(f for f in known if f != RESIDUAL)

    monkeypatch.setattr(Client, "features", property(older))
    with siena.testing.broker() as broker, siena.connect(broker.url) as client:
        with pytest.raises(SienaError, match=r"knows no residuals.*wider filter"):
            client.subscribe(CROSSED, dialect="sql")
        client.subscribe("x > 3 AND y IS NULL", dialect="sql").settled()
