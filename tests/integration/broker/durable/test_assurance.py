"""Brokers without a store, further on: what would go there is refused, and named."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import siena
from broker.chains import SECONDS_MAX, broker, chain, linked, wait
from siena.broker.durable.relays import assurance
from siena.errors import RequestRefusedError
from siena.testing.in_thread import ThreadBroker

REFUSED = "it goes to the broker b3, by way of b1, which has no store"


@pytest.fixture
def four(tmp_path: Path) -> Iterator[list[ThreadBroker]]:
    """Four in a row, of which the last has no store."""
    with chain(tmp_path, 4, storeless=[3]) as found:
        yield found


def is_refused(at: ThreadBroker, n: int, text: str = REFUSED) -> bool:
    """Whether it is, for this reason; for another one, that is raised."""
    with siena.connect(at.url) as client:
        try:
            client.publish(n=n, ack=True)
        except RequestRefusedError as error:
            if text not in str(error):
                raise
            return True
        return False


def test_what_goes_to_a_broker_without_a_store_is_refused_where_it_enters(
    four: list[ThreadBroker],
) -> None:
    first, last = four[0], four[3]
    assert not is_refused(first, 6)  # nobody wants it
    with siena.connect(last.url) as client:
        wanted = client.subscribe("n > 5").settled()
        wait(lambda: is_refused(first, 6))
        assert not is_refused(first, 1), "it does not go there"
        with siena.connect(first.url) as publisher:
            publisher.publish(n=7)  # at best effort it does
        assert wanted.get(SECONDS_MAX)["n"] == 7
        wanted.close()
        wait(lambda: not is_refused(first, 6))


def test_it_is_refused_no_more_when_that_broker_has_gone(
    tmp_path: Path, four: list[ThreadBroker]
) -> None:
    first, third, last = four[0], four[2], four[3]
    with siena.connect(last.url) as client:
        _wanted = client.subscribe("n > 5").settled()
        wait(lambda: is_refused(first, 6))
    last.stop()
    wait(lambda: not is_refused(first, 6))
    with broker(tmp_path, "b3", third.url) as again:  # it has a store now
        linked([*four[:3], again])
        with siena.connect(again.url) as client:
            wanted = client.subscribe("n > 5").settled()
            assert not is_refused(first, 8)
            assert wanted.get(SECONDS_MAX)["n"] == 8


def test_a_link_that_comes_later_hears_it(tmp_path: Path) -> None:
    with (
        chain(tmp_path, 3, storeless=[2]) as found,
        siena.connect(found[2].url) as client,
    ):
        _wanted = client.subscribe("n > 5").settled()
        with broker(tmp_path, "late", found[0].url) as late:
            wait(lambda: late.links == 1)
            text = "it goes to the broker b2, by way of b0, which has no store"
            wait(lambda: is_refused(late, 6, text))


def test_what_are_too_many_filters_is_everything(
    four: list[ThreadBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assurance, "UNASSURED_MAX", 3)
    first, last = four[0], four[3]
    with siena.connect(last.url) as client:
        _wanted = [client.subscribe(f"n = {n}") for n in range(10, 14)]
        client.flush()
        wait(lambda: is_refused(first, 1))


def test_what_a_neighbour_said_counts_until_it_is_given_up(tmp_path: Path) -> None:
    short = {"spool_seconds": 0.1}
    with chain(tmp_path, 3, storeless=[2], durable=short) as found:
        first, second, last = found
        text = "it goes to the broker b2"
        with siena.connect(last.url) as client:
            _wanted = client.subscribe("n > 5").settled()
            wait(lambda: is_refused(first, 6, text))
            second.stop()
            wait(lambda: not is_refused(first, 6, text))
