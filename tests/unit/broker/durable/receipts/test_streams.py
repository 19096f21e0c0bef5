"""Streams of other brokers' publications: which are remembered, and by which ways."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from siena.broker.durable.receipts import publishers as module
from siena.broker.durable.receipts.publishers import Publishers, Stream
from siena.broker.log.journal import Journal
from siena.broker.log.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = Store(tmp_path / "log", 4_096)
    yield found
    found.close()


def opened(store: Store, folder: Path) -> Publishers:
    journal = SimpleNamespace(
        store=store,
        group_commit=SimpleNamespace(synced=0, failure=None),
        once_kept=lambda then: then,
    )
    return Publishers(cast("Journal", journal), folder, life=1)


def hear(publishers: Publishers, *streams: Stream) -> None:
    for stream in streams:
        publishers.stream(stream, lambda _failure: None)


async def test_the_stream_that_was_silent_longest_is_forgotten(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not the oldest, which may be that of a broker that runs for years."""
    monkeypatch.setattr(module, "STREAMS_MAX", 3)
    oldest, other = Stream(7, 1, 7), Stream(8, 1, 8)
    publishers = opened(store, tmp_path)
    hear(publishers, oldest, other)
    publishers.stream(oldest, lambda _failure: None).window.store(0, 9, 0)
    for life in range(2, 10):  # of a broker that is started again and again
        hear(publishers, Stream(9, life, 9), oldest)
    known = publishers.stream(oldest, lambda _failure: None)
    assert [row.is_known for row in known.window.split(0, 9)] == [True]
    await publishers.close()
    hear(again := opened(store, tmp_path), oldest, Stream(9, 10, 9), Stream(9, 11, 9))
    assert again.stream(oldest, lambda _failure: None).number == known.number
    await again.close()


async def test_a_second_way_is_known_also_after_a_start(
    store: Store, tmp_path: Path
) -> None:
    publishers = opened(store, tmp_path)
    hear(publishers, Stream(7, 1, 7))
    window = publishers.stream(Stream(7, 1, 7), lambda _failure: None).window
    before = window.has_several_ways
    hear(publishers, Stream(7, 1, 8))
    assert (before, window.has_several_ways) == (False, True)
    await publishers.close()
    again = opened(store, tmp_path)
    way = again.stream(Stream(7, 1, 7), lambda _failure: None)
    assert way.window.has_several_ways
    await again.close()
