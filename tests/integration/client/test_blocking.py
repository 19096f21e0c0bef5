"""The client without ``await``: the same names, from any thread."""

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import assert_type

import pytest

import siena
from siena import Notification, testing
from siena.client import Advertising, Backoff, Client, Subscription, blocking
from siena.client.durable.subscription import DurableSubscription
from siena.errors import (
    ConnectionLostError,
    InvalidNotificationError,
    NoBrokerError,
    NoReplyError,
    SienaError,
)

SECONDS = 10.0


@pytest.mark.parametrize(
    ("with_await", "without"),
    [
        (Client, blocking.Client),
        (Subscription, blocking.Subscription),
        (Advertising, blocking.Advertising),
        (DurableSubscription, blocking.DurableSubscription),
    ],
)
def test_both_have_the_same_names(with_await: type, without: type) -> None:
    assert names(with_await) == names(without)


def names(kind: type) -> set[str]:
    return {n for n, _ in inspect.getmembers(kind) if not n.startswith("_")}


def test_what_is_wanted_arrives(url: str) -> None:
    with siena.connect(url) as client:
        assert client.is_connected
        assert client.url == url
        assert client.broker
        assert (client.reconnects, client.lost, client.resumed) == (0, 0, False)
        wanted = client.subscribe("symbol = DIS").settled()
        client.publish(symbol="DIS", price=1)
        assert client.try_publish({"symbol": "DIS"}, price=2)
        assert client.publish_many([{"symbol": "DIS", "price": 3}, {"x": 1}]) == 2
        client.flush()
        assert [n["price"] for n in wanted.within(0)] == [1, 2, 3]
        assert (wanted.interest, wanted.lost) == ("symbol = DIS", 0)


def test_iterations_end_in_time_or_with_the_subscription(url: str) -> None:
    with siena.connect(url) as client:
        with client.subscribe("i any") as subscription:
            for i in range(2_000):
                client.publish(i=i)
            found = []
            for n in subscription:
                found.append(n["i"])
                if n["i"] == 999:
                    break
            found += [n["i"] for n in subscription.get_many(500)]
            found.append(subscription.get(SECONDS)["i"])
            found += [n["i"] for n in subscription.within(0.2)]
            assert found == list(range(2_000))
            with pytest.raises(TimeoutError):
                subscription.get(0.01)
        assert list(subscription) == []
        with pytest.raises(ConnectionLostError):
            subscription.get()


def test_what_is_published_may_come_from_a_subscription(url: str) -> None:
    with siena.connect(url) as client:
        raw = client.subscribe("raw any").settled()
        cooked = client.subscribe("cooked any").settled()
        client.publish_many({"raw": i} for i in range(3))
        count = client.publish_many(
            {"cooked": 2 * int(str(n["raw"]))} for n in raw.within(0.2)
        )
        assert count == 3
        assert [cooked.get(SECONDS)["cooked"] for _ in range(3)] == [0, 2, 4]


def test_quench_states_are_seen(url: str) -> None:
    with siena.connect(url) as client, client.advertise("quote any") as advertising:
        states = advertising.states(SECONDS)
        assert next(states) is True
        wanted = client.subscribe("quote > 3")
        advertising.wanted(SECONDS)
        assert next(states) is False
        wanted.close()
        assert next(states) is True
        with pytest.raises(TimeoutError):
            advertising.wanted(0.01)


def test_a_question_gets_a_reply(url: str) -> None:
    with siena.connect(url) as server, siena.connect(url) as client:
        questions = server.subscribe("what = time").settled()

        def serve() -> None:
            server.reply(questions.get(SECONDS), hour=7)

        with ThreadPoolExecutor(1) as pool:
            serving = pool.submit(serve)
            assert client.request(what="time")["hour"] == 7
            serving.result()
        with pytest.raises(NoReplyError):
            client.request(what="nothing", timeout_s=0.01)


def test_many_threads_share_a_client(url: str) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("thread any").settled()

        def work(thread: int) -> None:
            for i in range(300):
                client.publish(thread=thread, i=i)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        client.flush()
        found = list(wanted.within(0))
        for thread in range(4):
            order = [n["i"] for n in found if n["thread"] == thread]
            assert order == list(range(300))


def test_errors_come_out_where_they_belong(url: str) -> None:
    with siena.connect(url) as client:
        with pytest.raises(InvalidNotificationError):
            client.publish(x=float("inf"))
        client.publish(x=1)
    with pytest.raises(ConnectionLostError, match="closed"):
        client.publish(x=2)
    with pytest.raises(ConnectionLostError, match="closed"):
        client.flush()
    with pytest.raises(NoBrokerError), siena.connect("siena://127.0.0.1:1"):
        raise AssertionError("nobody listens there")
    with pytest.raises(ZeroDivisionError), siena.connect(url):
        raise ZeroDivisionError
    assert not [t for t in threading.enumerate() if t.name == "siena client"]


def test_closing_wakes_those_who_wait(url: str) -> None:
    with siena.connect(url) as client:
        quiet = client.subscribe("never any").settled()
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(lambda: list(quiet))
            client.close()
            assert waiting.result(SECONDS) == []


def test_draining_gives_what_has_come(url: str) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("drain any").settled()
        client.publish_many({"drain": i} for i in range(10))
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(lambda: [n["drain"] for n in wanted])
            client.drain(SECONDS)
            assert reading.result(SECONDS) == list(range(10))


def test_who_does_not_await_does_not_wait_longer_than_is_said() -> None:
    soon = Backoff(first_s=0.01, most_s=0.05)
    with (
        testing.broker() as broker,
        siena.connect(broker.url, reconnect=soon) as client,
    ):
        broker.stop()
        while client.is_connected:
            pass
        with pytest.raises(TimeoutError):
            client.publish(x=1, timeout_s=0.01)
        with pytest.raises(TimeoutError):
            client.publish_many([{"x": 1}], timeout_s=0.01)
        with pytest.raises(TimeoutError):
            client.flush(0.01)
        broker.start()
        client.publish(x=1, timeout_s=SECONDS)
        client.flush(SECONDS)


def test_patterns_have_a_method_of_their_own(url: str) -> None:
    with siena.connect(url) as client:
        plain = client.subscribe("kind any").settled()
        assert_type(plain, blocking.Subscription[Notification])
        steps = client.subscribe_pattern("kind = 1 then kind = 2").settled()
        assert_type(steps, blocking.Subscription[tuple[Notification, ...]])
        client.publish_many([{"kind": 1}, {"kind": 2}])
        assert [step["kind"] for step in steps.get(SECONDS)] == [1, 2]
        with pytest.raises(SienaError, match="an interest is a text, a Filter"):
            client.subscribe(None)  # type: ignore[call-overload]


def test_the_connection_comes_back() -> None:
    soon = Backoff(first_s=0.01, most_s=0.05)
    with (
        testing.broker() as broker,
        siena.connect(broker.url, reconnect=soon) as client,
    ):
        wanted = client.subscribe("x any").settled()
        broker.restart()
        while not client.reconnects:
            client.try_publish(too="early")
        client.publish(x=1)
        assert wanted.settled(SECONDS).get(SECONDS) == Notification(x=1)
