"""Interests that have come and gone end up in one engine, while the broker serves."""

import asyncio
from collections.abc import Callable

import pytest

from siena.broker.data import table_compactor as module
from siena.broker.data.exchange import Exchange
from siena.broker.data.table_compactor import (
    INTEREST_SECONDS,
    REBUILD_SECONDS_MIN,
    TableCompactor,
)
from siena.lang import parse_filter
from siena.matching.table import MERGED_ROWS_MAX, WHOLE_ROWS_MAX


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 -- what is waited for has no event
        await asyncio.sleep(0.01)


async def test_one_engine_is_made_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UPKEEP_SECONDS", 0.01)
    exchange = Exchange()
    table_compactor = TableCompactor(exchange)
    total = MERGED_ROWS_MAX + 100
    for number in range(total):
        exchange.subscribe(
            1, number, parse_filter(f"x = {number % 50} and y > {number}")
        )
        if number == total // 2:
            exchange.table.match_filters({"x": 1, "y": 0})
    for number in range(0, total, 2):
        exchange.unsubscribe(1, number)
    before = exchange.table.match_filters({"x": 7, "y": 900})
    assert before
    await until(lambda: not exchange.table.is_scattered)
    assert table_compactor.rebuilds
    assert exchange.table.view(1).lone_engine is not None
    assert exchange.table.match_filters({"x": 7, "y": 900}) == before
    await table_compactor.stop()


async def test_what_changes_meanwhile_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "UPKEEP_SECONDS", 0.001)
    monkeypatch.setattr(module, "UPKEEP_SECONDS_MAX", 0.002)
    exchange = Exchange()
    table_compactor = TableCompactor(exchange)
    held: dict[int, int] = {}
    for number in range(3_000):
        exchange.subscribe(1, number, parse_filter(f"x > {number % 97}"))
        held[number] = number % 97
        if number % 3 == 0:
            gone = number // 2
            if gone in held:
                exchange.unsubscribe(1, gone)
                del held[gone]
        if number % 50 == 0:
            await asyncio.sleep(0.005)
            found = exchange.table.match_filters({"x": 40})
            assert len(found) == sum(bound < 40 for bound in held.values())
    assert table_compactor.rebuilds
    await table_compactor.stop()


async def test_one_engine_is_made_at_once_when_batches_have_lost_as_much_as_it_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table that never rests is asked in several engines for no longer than that."""
    monkeypatch.setattr(module, "UPKEEP_SECONDS", 60.0)
    exchange = Exchange()
    table_compactor = TableCompactor(exchange)
    for number in range(WHOLE_ROWS_MAX + 1):
        exchange.subscribe(1, number, parse_filter(f"x = {number}"))
    exchange.table.match_filters({"x": 1})
    exchange.unsubscribe(1, 0)
    await asyncio.sleep(0.05)
    table_compactor.lose(REBUILD_SECONDS_MIN / 2)
    await asyncio.sleep(0.05)
    assert exchange.table.is_scattered
    table_compactor.lose(REBUILD_SECONDS_MIN + INTEREST_SECONDS * WHOLE_ROWS_MAX)
    await until(lambda: not exchange.table.is_scattered)
    assert table_compactor.rebuilds == 1
    await table_compactor.stop()


async def test_a_mistake_is_told_and_the_next_change_tries_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "UPKEEP_SECONDS", 0.01)
    exchange = Exchange()
    table_compactor = TableCompactor(exchange)
    good = exchange.table.rebuild

    def bad() -> None:
        raise MemoryError

    monkeypatch.setattr(exchange.table, "rebuild", bad)
    for number in range(200):
        exchange.subscribe(1, number, parse_filter(f"x > {number}"))
        exchange.table.match_filters({"x": 5})
    await until(lambda: "compiling" in caplog.text)
    monkeypatch.setattr(exchange.table, "rebuild", good)
    exchange.unsubscribe(1, 3)
    await until(lambda: table_compactor.rebuilds > 0)
    await table_compactor.stop()
