"""What is acknowledged reaches durable subscriptions at other brokers, hop by hop."""

from pathlib import Path
from time import sleep

import pytest

import siena
from broker.chains import SECONDS_MAX, broker, chain, linked, wait
from siena.client.blocking import Client
from siena.errors import RequestRefusedError
from siena.model import Value
from siena.testing.in_thread import ThreadBroker


def subscribe(at: ThreadBroker, interest: str = "n any", name: str = "billing") -> None:
    """Make a durable subscription, which is in force when this returns."""
    with siena.connect(at.url) as client:
        client.subscribe(interest, durable=name).settled().close()


def publish(at: ThreadBroker, *numbers: int) -> None:
    with siena.connect(at.url) as client:
        for n in numbers:
            client.publish(n=n, ack=True)


def read(at: ThreadBroker, count: int, interest: str = "n any") -> list[Value]:
    """So many of a durable subscription, each of which is acknowledged."""
    with siena.connect(at.url) as client:
        return read_with(client, count, interest)


def read_with(client: Client, count: int, interest: str = "n any") -> list[Value]:
    found = []
    with client.subscribe(interest, durable="billing") as subscription:
        for _ in range(count):
            message = subscription.get(SECONDS_MAX)
            found.append(message.notification["n"])
            message.ack()
        client.flush()
    return found


def stored(at: ThreadBroker) -> list[Value]:
    with siena.connect(at.url) as client:
        return [each.notification["n"] for each in client.log.read()]


def under_way(at: ThreadBroker) -> list[object]:
    """Of each neighbour how many frames have no answer."""
    assert at._broker is not None
    return [each["under_way"] for each in at._broker.log_service.durable.relays(10)]


def test_it_reaches_the_log_of_the_next_broker(tmp_path: Path) -> None:
    with chain(tmp_path, 2) as (first, second):
        subscribe(second)
        publish(first, 1, 2, 3)
        assert read(second, 3) == [1, 2, 3]
        assert stored(second) == [1, 2, 3]


def test_it_goes_through_a_chain(tmp_path: Path) -> None:
    with chain(tmp_path, 4) as brokers:
        subscribe(brokers[3])
        publish(brokers[0], *range(20))
        assert read(brokers[3], 20) == list(range(20))
        assert [stored(each) for each in brokers] == [list(range(20))] * 4


def test_it_is_delivered_on_its_way_once(tmp_path: Path) -> None:
    with chain(tmp_path, 3) as brokers, siena.connect(brokers[1].url) as client:
        plain = client.subscribe("n any").settled()
        subscribe(brokers[2])
        publish(brokers[0], 1, 2)
        assert [plain.get(SECONDS_MAX)["n"] for _ in range(2)] == [1, 2]
        assert read(brokers[2], 2) == [1, 2]


def test_what_is_not_wanted_there_does_not_go_there(tmp_path: Path) -> None:
    with chain(tmp_path, 2) as (first, second):
        subscribe(second, "n > 5")
        publish(first, 4, 6, 5, 7)
        assert read(second, 2, "n > 5") == [6, 7]
        assert stored(second) == [6, 7]


@pytest.mark.parametrize("restarted", [0, 1, 2])
def test_a_broker_that_is_away_gets_it_when_it_is_back(
    tmp_path: Path, restarted: int
) -> None:
    """Wherever in the chain it is: who publishes to it goes on afterwards."""
    with chain(tmp_path, 3) as brokers:
        subscribe(brokers[2])
        publish(brokers[0], 1)
        assert read(brokers[2], 1) == [1]
        brokers[restarted].stop()
        if restarted:
            publish(brokers[0], 2, 3)
        brokers[restarted].start()
        publish(brokers[0], 4)
        expected = [2, 3, 4] if restarted else [4]
        assert read(brokers[2], len(expected)) == expected
        assert stored(brokers[2]) == [1, *expected]


def test_all_are_away_and_each_remembers_what_others_want(tmp_path: Path) -> None:
    """The first hears of the last only when the one between them is back."""
    with chain(tmp_path, 3) as brokers:
        subscribe(brokers[2])
        for each in (2, 1):
            brokers[each].stop()
        publish(brokers[0], 1)
        brokers[0].stop()
        brokers[0].start()
        publish(brokers[0], 2)
        brokers[1].start()
        linked(brokers[:2])
        publish(brokers[0], 3)
        brokers[2].start()
        assert read(brokers[2], 3) == [1, 2, 3]


def test_a_hierarchy_relays_up_and_down(tmp_path: Path) -> None:
    with (
        broker(tmp_path, "master") as master,
        broker(tmp_path, "a", links=[{"url": master.url, "side": "master"}]) as a,
        broker(tmp_path, "b", links=[{"url": master.url, "side": "master"}]) as b,
    ):
        wait(lambda: master.links == 2)
        subscribe(b)
        publish(a, 1)
        assert read(b, 1) == [1]
        master.stop()
        publish(a, 2)
        master.start()
        assert read(b, 1) == [2]


def test_a_mesh_stores_it_once(tmp_path: Path) -> None:
    def mesh(*others: ThreadBroker) -> list[dict[str, str]]:
        return [{"url": each.url, "side": "mesh"} for each in others]

    with (
        broker(tmp_path, "a") as a,
        broker(tmp_path, "b", links=mesh(a)) as b,
        broker(tmp_path, "c", links=mesh(a, b)) as c,
    ):
        wait(lambda: [each.links for each in (a, b, c)] == [2, 2, 2])
        for each in (a, b, c):
            subscribe(each)
        publish(a, 1, 2, 3)
        for each in (a, b, c):
            assert read(each, 3) == [1, 2, 3]
            assert stored(each) == [1, 2, 3]
        b.stop()
        publish(a, 4)
        publish(c, 5)
        b.start()
        assert sorted(map(str, read(b, 2))) == ["4", "5"]


def test_what_comes_round_is_known_where_it_entered(tmp_path: Path) -> None:
    """In a ring, both ways lead everywhere, and back."""

    def mesh(*others: ThreadBroker) -> list[dict[str, str]]:
        return [{"url": each.url, "side": "mesh"} for each in others]

    with (
        broker(tmp_path, "a") as a,
        broker(tmp_path, "b", links=mesh(a)) as b,
        broker(tmp_path, "c", links=mesh(b)) as c,
        broker(tmp_path, "d", links=mesh(c, a)) as d,
    ):
        ring = (a, b, c, d)
        wait(lambda: [each.links for each in ring] == [2, 2, 2, 2])
        for each in ring:
            subscribe(each)
        publish(a, *range(10))
        publish(c, *range(10, 20))
        for each in ring:
            assert sorted(map(int, map(str, read(each, 20)))) == [*range(20)]
        sleep(0.1)  # for what still goes round
        assert [len(stored(each)) for each in ring] == [20] * 4
        # And it is answered, or no more would come over that link in the end.
        wait(lambda: [under_way(each) for each in ring] == [[0, 0]] * 4)


def test_a_broker_without_a_store_is_named_when_it_is_refused(tmp_path: Path) -> None:
    with chain(tmp_path, 2, storeless=[1]) as (first, second):
        with siena.connect(second.url) as client:
            wanted = client.subscribe("n > 5").settled()
            with siena.connect(first.url) as publisher:
                publisher.publish(n=1, ack=True)  # it does not go there
                with pytest.raises(RequestRefusedError, match="b1, which has no store"):
                    publisher.publish(n=6, ack=True)
                publisher.publish(n=7)  # at best effort it does
            assert wanted.get(SECONDS_MAX)["n"] == 7
        assert stored(first) == [1, 7]


def test_a_durable_subscription_stays_at_its_home_when_its_reader_moves(
    tmp_path: Path,
) -> None:
    with chain(tmp_path, 2) as (home, other):
        subscribe(home)
        publish(other, 1, 2)
        assert read(home, 1) == [1]
        with siena.connect(other.url) as client:
            # Of the same name, and another one: it begins with what comes from now on.
            there = client.subscribe("n any", durable="billing").settled()
            publish(home, 3)
            assert there.get(SECONDS_MAX).notification["n"] == 3
        assert read(home, 2) == [2, 3]
