"""Filters read in several processes are those that are read in one."""

import subprocess
from collections.abc import Sequence
from itertools import islice

import pyarrow as pa
import pytest

from siena.errors import SienaError
from siena.matching.input.filter_texts import ReadTexts, read_interest
from siena.matching.table import ForwardingTable
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.spark.batch import piecework
from siena.spark.batch.compiling import compile_rows

COUNT = 500
FLIGHTS = list(islice(flights(), 0, 4000, 20))


@pytest.fixture(scope="module")
def rows() -> pa.Table:
    """Subscriptions, some of them alike, and some of them bad."""
    wanted = list(flight_subscriptions(COUNT, seed=2))
    texts: list[str | None] = [s.filter for s in [*wanted, *wanted[:9]]]
    texts[3], texts[77], texts[COUNT] = "x >", None, "x = 1 then y = 2"
    who: list[str | None] = [f"p{i}" for i in range(len(texts))]
    who[5] = None
    return pa.table({"subscriber": who, "filter": texts})


def answers(table: ForwardingTable) -> list[list[int]]:
    return [table.match_filters(notification) for notification in FLIGHTS]


def test_it_does_not_matter_who_reads(
    rows: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(piecework, "CHUNK_TEXTS", 60)
    here, there = (
        compile_rows(rows, on_error="set_aside", processes=processes)
        for processes in (1, 2)
    )
    assert [r.row for r in here.rejects] == [4, 6, 78, COUNT + 1]
    assert here.rejects == there.rejects
    assert here.owners.subscribers.names.equals(there.owners.subscribers.names)
    assert len(here) == len(there) == rows.num_rows - 4
    found = answers(there.table)
    assert sum(map(len, found)) > 20
    assert found == answers(here.table)
    # One by one, which is the slow twin of all of this.
    alone = ForwardingTable()
    rejected = {r.row - 1 for r in here.rejects}
    for row, text in enumerate(rows["filter"].to_pylist()):
        if row not in rejected:
            alone.add(row, read_interest(text))
    assert found == answers(alone)
    with pytest.raises(SienaError, match="subscription 4 of 'p3' 'x >'"):
        compile_rows(rows, processes=2)


def test_a_process_that_dies_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piecework, "CHUNK_TEXTS", 100)
    texts = [f"x = {i}" for i in range(1000)]
    asked = 0
    really_ask = piecework._ask

    def ask(
        process: "subprocess.Popen[bytes]", chunk: Sequence[str | None]
    ) -> ReadTexts:
        nonlocal asked
        asked += 1
        if asked == 2:
            process.kill()
        return really_ask(process, chunk)

    monkeypatch.setattr(piecework, "_ask", ask)
    seen: list[int] = []
    found = piecework.read_texts(texts, processes=2, report=seen.append)
    assert found.good.tolist() == list(range(1000))
    table = ForwardingTable.of_piece(found.piece)
    assert [table.match_filters({"x": i}) for i in (0, 150, 999)] == [[0], [150], [999]]
    assert seen == list(range(100, 1001, 100))
