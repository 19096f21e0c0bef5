"""Rows in which attributes have several values, as tasks match them; without Spark."""

import gc
from dataclasses import replace
from weakref import ref

import pyarrow as pa
import pytest

from siena.lang.parser import parse_predicate
from siena.matching.input.several import AskedTable
from siena.matching.table import ForwardingTable
from siena.spark.batch import rows
from siena.spark.batch.columns import Form, Layout, wide_batch
from siena.spark.batch.rows import each_event
from siena.spark.batch.worker import Found, match_batch

MANY = frozenset({"x"})
WIDE = Layout(0, "wide", (("x", 0), ("z", 1)), many=MANY)


def found_in(batch: pa.RecordBatch, layout: Layout, text: str = "x = 1") -> Found:
    table = ForwardingTable()
    table.add(0, parse_predicate(text))
    return match_batch(AskedTable(table), batch, layout, None)


def test_a_table_goes_when_nothing_asks_it_any_more() -> None:
    table = ForwardingTable()
    table.add(0, parse_predicate("x = 1"))
    batch = pa.record_batch({"x": pa.array([[1, 2]]), "z": pa.array([1])})
    asked = AskedTable(table)
    assert match_batch(asked, batch, WIDE, None).matches.counts.tolist() == [1]
    gone = ref(table)
    del table, asked
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("form", "column"),
    [
        ("wide", pa.array([[{"k": 1}], [], None])),
        (
            "map",
            pa.array(
                [[("x", [{"k": 1}])], [], [("y", [])]],
                pa.map_(pa.string(), pa.list_(pa.struct([("k", pa.int64())]))),
            ),
        ),
    ],
)
def test_an_object_in_an_array_is_no_value(form: Form, column: pa.Array) -> None:
    name = "x" if form == "wide" else "event"
    layout = Layout(0, form, ((name, 0),), many=frozenset({"x", "y"}))
    found = found_in(pa.RecordBatch.from_arrays([column], [name]), layout)
    assert found.matches.counts.tolist() == [-1, 0, 0]
    assert found.reasons == {0: "x: no value is an object in an array"}


def test_nan_in_an_array_is_absent_if_that_is_said() -> None:
    nan = float("nan")
    some = [[2.0], [1.0, nan], [nan], None, [2.0, nan, 1.0]]
    batch = pa.record_batch({"x": pa.array(some), "z": pa.array(range(5))}).slice(1)
    refused = found_in(batch, WIDE, "x = 1.0")
    assert [*refused.reasons] == [0, 1, 3]
    found = found_in(batch, replace(WIDE, nan="absent"), "x = 1.0")
    assert found.matches.counts.tolist() == [1, 0, 0, 1]


def test_a_batch_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[int] = []

    def noted(batch: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
        prepared.append(batch.num_rows)
        return wide_batch(batch, layout)

    monkeypatch.setattr(rows, "wide_batch", noted)
    batch = pa.record_batch({"x": pa.array([[n] for n in range(9)]), "z": range(9)})
    assert [*each_event(batch, WIDE)] == [{"x": (n,), "z": n} for n in range(9)]
    assert prepared == [9]
