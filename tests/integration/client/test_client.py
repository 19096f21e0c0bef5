"""The asyncio client over real sockets, against a real broker."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import assert_type

import pytest
from msgspec import structs

import siena
from siena import Notification, parse_filter, parse_pattern, testing
from siena.client import Subscription
from siena.client.core.reading import BATCH
from siena.errors import (
    ConnectionLostError,
    FilterSyntaxError,
    InvalidNotificationError,
    LimitError,
    NoBrokerError,
    NoReplyError,
    OverflowedError,
    RequestRefusedError,
    ServiceError,
    SienaError,
)
from siena.protocol.error_codes import Fault

# Whoever waits longer than this waits in vain.
SECONDS = 10.0


async def test_what_is_wanted_arrives_and_nothing_else(url: str) -> None:
    async with siena.connect(url) as client:
        wanted = await client.subscribe("symbol = DIS and change < 0").settled()
        await client.publish(symbol="DIS", change=4)
        await client.publish({"symbol": "DIS"}, change=-4)
        await client.publish(Notification(symbol="MSFT", change=-1))
        assert await wanted.get(SECONDS) == Notification(symbol="DIS", change=-4)
        await client.flush()
        assert wanted.waiting == 0


async def test_every_kind_of_value_arrives_as_it_was(url: str) -> None:
    sent = Notification(
        [("a name", "ünïcode"), ("number", -(2**63))],
        float=1e300,
        flag=False,
        when=datetime(2026, 11, 15, 2, 40, 3, 999_999, UTC),
        zero=0.0,
    )
    async with siena.connect(url) as client:
        everything = await client.subscribe(parse_filter("flag any")).settled()
        await client.publish(sent)
        assert await everything.get(SECONDS) == sent


async def test_iteration_yields_in_order_and_ends_with_the_client(url: str) -> None:
    async with siena.connect(url) as client, siena.connect(url) as other:
        numbers = await client.subscribe("order any").settled()
        count = await other.publish_many({"order": i} for i in range(5_000))
        assert count == 5_000
        await other.flush()
        await client.flush()
        await client.close()
        assert [n["order"] async for n in numbers] == list(range(5_000))


async def test_patterns_give_tuples(url: str) -> None:
    async with siena.connect(url) as client:
        text = await client.subscribe("step = 1 then step = 2").settled()
        value = await client.subscribe(parse_pattern("step = 2")).settled()
        await client.publish_many([{"step": 1}, {"step": 2}])
        one, two = Notification(step=1), Notification(step=2)
        assert await text.get(SECONDS) == (one, two)
        assert await value.get(SECONDS) == (two,)


async def test_one_publication_serves_all_subscriptions_of_a_connection(
    url: str,
) -> None:
    async with siena.connect(url) as client:
        subscriptions = [client.subscribe(f"shared >= {i}") for i in range(3)]
        for subscription in subscriptions:
            await subscription.settled()
        await client.publish(shared=1)
        await client.flush()
        assert [s.waiting for s in subscriptions] == [1, 1, 0]


async def test_a_closed_subscription_gets_nothing_more(url: str) -> None:
    async with siena.connect(url) as client:
        async with client.subscribe("closed any") as subscription:
            await client.publish(closed=1)
            await client.flush()
            assert subscription.waiting == 1
        await client.publish(closed=2)
        await client.flush()
        assert [n async for n in subscription] == []
        with pytest.raises(ConnectionLostError, match="ended"):
            await subscription.get(SECONDS)


async def test_a_forgotten_subscription_ends(url: str) -> None:
    async with siena.connect(url) as client:
        subscription = await client.subscribe("forgotten any").settled()
        assert len(client._session.interests) == 1
        del subscription
        await client.flush()
        assert len(client._session.interests) == 0


@pytest.mark.parametrize(
    ("overflow", "kept"), [("drop newest", [0, 1]), ("drop oldest", [3, 4])]
)
async def test_a_bound_by_count_drops_and_counts(
    url: str, overflow: str, kept: list[int]
) -> None:
    async with siena.connect(url) as client:
        few = client.subscribe("few any", count_max=2, overflow=overflow)  # type: ignore[call-overload]
        await few.settled()
        await client.publish_many({"few": i} for i in range(5))
        await client.flush()
        assert [n["few"] for n in await few.get_many()] == kept
        assert few.lost == 3


async def test_a_bound_by_bytes_can_end_a_subscription(url: str) -> None:
    async with siena.connect(url) as client:
        small = client.subscribe("big any", bytes_max=1_000, overflow="error")
        await small.settled()
        await client.publish_many({"big": "x" * 400} for _ in range(5))
        await client.flush()
        assert len([await small.get(), await small.get()]) == 2
        with pytest.raises(OverflowedError, match="1000 bytes"):
            await small.get()
        assert small.lost == 1
        assert not client._session.interests
        await client.flush()  # the client lives


async def test_quenching_follows_subscribers(url: str) -> None:
    async with siena.connect(url) as publisher, siena.connect(url) as subscriber:
        advertising = await publisher.advertise("quote any, volume > 10").settled()
        assert advertising.quenched
        states = advertising.states()
        assert await anext(states) is True
        wanted = subscriber.subscribe("quote = DIS")
        async with asyncio.timeout(SECONDS):
            await advertising.wanted()
            assert await anext(states) is False
            await wanted.close()
            assert await anext(states) is True
        await advertising.close()
        assert [state async for state in states] == []


async def test_a_filter_ends_the_subscriptions_that_it_covers(url: str) -> None:
    async with siena.connect(url) as client:
        narrow = await client.subscribe("covered > 5").settled()
        wide = await client.subscribe("covered > 0").settled()
        await client.publish(covered=6)
        await client.flush()
        assert await client.unsubscribe("covered > 1") == [narrow.number]
        await client.publish(covered=7)
        await client.flush()
        # What had come can be read, and then it ends.
        assert [n["covered"] async for n in narrow] == [6]
        assert [n["covered"] for n in await wide.get_many(timeout_s=SECONDS)] == [6, 7]
        assert await client.unsubscribe(parse_pattern("covered any then x any")) == []
        assert await client.unsubscribe("[]") == [wide.number]
        assert not client._session.interests
        await narrow.close()  # nothing is left to do


async def test_an_advertisement_takes_back_those_that_it_covers(url: str) -> None:
    async with siena.connect(url) as client:
        taken = await client.advertise("retracted > 5").settled()
        kept = await client.advertise("retracted any").settled()
        states = taken.states()
        assert await anext(states) is True
        assert await client.unadvertise("retracted > 1") == [taken.number]
        with pytest.raises(ConnectionLostError, match="taken back"):
            await anext(states)
        assert kept.quenched


async def test_a_broker_that_does_not_know_covered_is_not_asked(url: str) -> None:
    async with siena.connect(url) as client:
        assert client._reconnector.info is not None
        old = structs.replace(client._reconnector.info, features=())
        client._reconnector.info = old
        with pytest.raises(SienaError, match="does not know"):
            await client.unsubscribe("x any")
        await client.flush()


async def test_a_question_gets_its_own_reply(url: str) -> None:
    async with siena.connect(url) as server, siena.connect(url) as client:
        questions = await server.subscribe("what = double").settled()

        async def serve() -> None:
            async for question in questions:
                await server.reply(question, result=2 * int(str(question["x"])))

        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(serve())
            replies = await asyncio.gather(
                *(client.request(what="double", x=x) for x in range(20))
            )
            serving.cancel()
        assert [reply["result"] for reply in replies] == [2 * x for x in range(20)]


async def test_a_question_that_nobody_answers_ends_in_time(url: str) -> None:
    async with siena.connect(url) as client:
        _silent = await client.subscribe("what = nothing").settled()
        with pytest.raises(NoReplyError, match="within"):
            await client.request(what="nothing", timeout_s=0.05)


async def test_a_question_that_nobody_wants_ends_at_once(url: str) -> None:
    async with siena.connect(url) as client:
        async with asyncio.timeout(SECONDS):
            with pytest.raises(NoReplyError, match="nobody responds"):
                await client.request(what="nothing", timeout_s=100 * SECONDS)
        await client.flush()
        assert not client._session.advertisements


async def test_a_question_is_advertised_where_that_has_to_be() -> None:
    with testing.broker(routing={"forwarding": "advertisement"}) as broker:
        async with siena.connect(broker.url) as server, siena.connect(broker.url) as me:
            await server.advertise("hour any, correlation any").settled()
            questions = await server.subscribe("what = time").settled()
            async with asyncio.TaskGroup() as tasks:
                asking = tasks.create_task(me.request(what="time", timeout_s=SECONDS))
                await server.reply(await questions.get(SECONDS), hour=7)
            assert asking.result()["hour"] == 7


async def test_bad_input_is_refused_here_and_costs_nothing(url: str) -> None:
    async with siena.connect(url) as client:
        with pytest.raises(FilterSyntaxError):
            client.subscribe("price <> 3")
        with pytest.raises(InvalidNotificationError):
            await client.publish(price=float("nan"))
        with pytest.raises(LimitError, match="block_bytes"):
            await client.publish(a="x" * 600_000, b="y" * 600_000)
        with pytest.raises(InvalidNotificationError):
            await client.publish_many([{"good": 1}, {"bad": None}])  # type: ignore[dict-item]
        with pytest.raises(SienaError, match="at least one"):
            client.subscribe("x any", count_max=0)
        await client.flush()
        assert client.reconnects == 0


async def test_those_before_a_bad_one_are_published(url: str) -> None:
    async with siena.connect(url) as client:
        good = await client.subscribe("good any").settled()
        with pytest.raises(InvalidNotificationError):
            await client.publish_many([{"good": 1}, {"bad": None}])  # type: ignore[dict-item]
        assert await good.get(SECONDS) == Notification(good=1)


async def test_a_stream_is_published_as_it_comes(url: str) -> None:
    async def stream() -> AsyncIterator[dict[str, siena.Value]]:
        for i in range(3):
            yield {"streamed": i}
        raise ZeroDivisionError

    async with siena.connect(url) as client:
        wanted = await client.subscribe("streamed any").settled()
        with pytest.raises(ZeroDivisionError):
            await client.publish_many(stream())
        assert [(await wanted.get(SECONDS))["streamed"] for _ in range(3)] == [0, 1, 2]


async def test_nobody_there_says_how_to_start_one() -> None:
    with pytest.raises(NoBrokerError) as caught:
        async with siena.connect("siena://127.0.0.1:1"):
            raise AssertionError("nobody listens there")
    message = "no broker answers at siena://127.0.0.1:1 (start one with: siena serve)"
    assert str(caught.value) == message


@contextlib.asynccontextmanager
async def stranger(greeting: bytes, *, hangs_up: bool) -> AsyncIterator[str]:
    """A server that is no broker: its address."""
    gone = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        if not hangs_up:
            await reader.read()
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        gone.set()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"siena://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await gone.wait()


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"{}\n", b"", b"\xff" * 64]
)
async def test_a_server_of_another_kind_is_no_broker(greeting: bytes) -> None:
    async with stranger(greeting, hangs_up=True) as url:
        with pytest.raises(NoBrokerError, match="no broker answers at"):
            async with siena.connect(url):
                raise AssertionError("that is no broker")


async def test_a_silent_server_is_left_in_time() -> None:
    async with stranger(b"", hangs_up=False) as url:
        with pytest.raises(NoBrokerError, match=r"within 0\.1 s"):
            async with siena.connect(url, connect_s=0.1):
                raise AssertionError("it has said nothing")


async def test_draining_lets_readers_finish(url: str) -> None:
    async with siena.connect(url) as client, siena.connect(url) as other:
        subscription = await client.subscribe("drained any").settled()
        await other.publish_many({"drained": i} for i in range(2_000))
        await other.flush()

        async def read() -> list[object]:
            found: list[object] = []
            async for n in subscription:
                found.append(n["drained"])
                await asyncio.sleep(0)
            return found

        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(read())
            await client.drain()
            assert not client.is_connected
        assert reading.result() == list(range(2_000))
        with pytest.raises(ConnectionLostError, match="closed"):
            await client.publish(late=True)


async def test_leaving_the_block_flushes(url: str) -> None:
    async with siena.connect(url) as reader:
        everything = await reader.subscribe("left any").settled()
        async with siena.connect(url) as client:
            await client.publish(left=1)
        await reader.flush()
        assert everything.waiting == 1


async def test_an_error_in_the_block_comes_out_as_it_is(url: str) -> None:
    with pytest.raises(ZeroDivisionError):
        async with siena.connect(url) as client:
            await client.publish(x=1 / 0)


async def test_what_the_broker_has_against_a_publication_comes_with_the_flush() -> None:
    with testing.broker(routing={"forwarding": "advertisement"}) as broker:
        async with siena.connect(broker.url) as client:
            wanted = await client.subscribe("x any").settled()
            await client.publish(x=1)
            with pytest.raises(RequestRefusedError) as caught:
                await client.flush()
            assert caught.value.fault == Fault.NOT_ADVERTISED.number
            await client.flush()  # said once
            await client.advertise("x any").settled()
            await client.publish(x=2)
            assert (await wanted.get(SECONDS))["x"] == 2


async def test_a_full_broker_says_so() -> None:
    with testing.broker(limits={"connections": 1}) as broker:
        async with siena.connect(broker.url):
            with pytest.raises(ServiceError, match=r"more than 1 connections.*208"):
                async with siena.connect(broker.url):
                    raise AssertionError("there is no room")


async def test_a_token_is_for_brokers_that_ask_for_one(url: str) -> None:
    """Whoever trusts in it must not be let in with everybody else, unnoticed."""
    with pytest.raises(ServiceError, match="asks for no token"):
        async with siena.connect(url, token="secret"):  # noqa: S106 -- none
            raise AssertionError("it lets in everybody")


def test_tls_is_for_addresses_that_say_so(url: str) -> None:
    context = ssl.create_default_context()
    with pytest.raises(SienaError, match="is not encrypted"):
        siena.connect(url, tls=context)
    siena.connect(url.replace("siena:", "sienas:"), tls=context)


async def test_what_is_no_interest_is_refused_before_it_is_sent(url: str) -> None:
    async with siena.connect(url) as client:
        for wrong in (None, 7, ["x any"], siena.Advertisement()):
            with pytest.raises(SienaError, match="an interest is a text, a Filter"):
                client.subscribe(wrong)  # type: ignore[call-overload]
            with pytest.raises(SienaError, match="an interest is a text, a Filter"):
                await client.unsubscribe(wrong)  # type: ignore[arg-type]
        with pytest.raises(SienaError, match="an advertisement is a text"):
            client.advertise(None)  # type: ignore[arg-type]
        await client.flush()


async def test_a_text_is_a_filter_to_type_checkers_and_patterns_have_their_own(
    url: str,
) -> None:
    async with siena.connect(url) as client:
        plain = await client.subscribe("typed any").settled()
        assert_type(plain, Subscription[Notification])
        steps = await client.subscribe_pattern("typed = 1 then typed = 2").settled()
        assert_type(steps, Subscription[tuple[Notification, ...]])
        single = await client.subscribe_pattern("typed = 2").settled()
        await client.publish_many([{"typed": 1}, {"typed": 2}])
        one, two = Notification(typed=1), Notification(typed=2)
        assert await steps.get(SECONDS) == (one, two)
        assert await single.get(SECONDS) == (two,)
        assert [await plain.get(SECONDS) for _ in range(2)] == [one, two]


async def test_many_are_taken_up_to_a_bound_and_the_rest_next_time(url: str) -> None:
    async with siena.connect(url) as client:
        wanted = await client.subscribe("many any").settled()
        await client.publish_many({"many": n} for n in range(BATCH + 5))
        await client.flush()
        assert len(await wanted.get_many()) == BATCH
        assert len(await wanted.get_many(3)) == 3
        assert len(await wanted.get_many()) == 2


async def test_tls_is_not_taken_for_granted(url: str) -> None:
    with pytest.raises(NoBrokerError, match="no TLS with sienas://"):
        async with siena.connect(url.replace("siena:", "sienas:")):
            raise AssertionError("it talks no TLS")
