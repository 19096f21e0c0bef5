"""Rows in which attributes have several values, as tasks match them; without Spark."""

import gc
from weakref import ref

import pyarrow as pa

from siena.lang.parser import parse_predicate
from siena.matching.input.several import AskedTable
from siena.matching.table import ForwardingTable
from siena.spark.batch.columns import Layout
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
