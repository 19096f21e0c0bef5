"""Residuals decided fast are those that hold."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import expressions as drawn
from siena.lang.expression import parse_expression
from siena.model import Constraint, Operator
from siena.model.expression import (
    Attribute,
    Expression,
    Literal,
    Operation,
    call,
    holds,
)
from siena.rules.residuals.gate import Gate
from siena.rules.residuals.needs import need_of
from siena.spark.batch.columns import Layout
from siena.spark.rules import deciding
from siena.spark.rules.deciding import decide
from siena.spark.rules.distinct import Attributes, columns_of, strings_of

TEXTS = [
    "",
    "a",
    "ab",
    "B",
    "aB*",
    "é",
    "É",
    "\u212a",
    "k",
    "K",
    "ß",
    "a\nb",
    "s.t",
    "\\",
]
texts = st.sampled_from(TEXTS)
tests_of_strings = st.builds(
    lambda name, operator, value: Constraint(name, operator, value, None),
    st.sampled_from(drawn.NAMES),
    st.sampled_from(
        [
            *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING),
            *(Operator.EQ_FOLDED, Operator.PREFIX_FOLDED, Operator.SUFFIX_FOLDED),
            *(Operator.SUBSTRING_FOLDED, Operator.NE, Operator.NOT_SUBSTRING),
        ]
    ),
    texts,
)
residuals: st.SearchStrategy[Expression] = st.recursive(
    tests_of_strings
    | st.sampled_from(
        [
            parse_expression(text)
            for text in ('matches(x, "^a")', 'anywhere_matches("(?i)B$")', "x = y")
        ]
    ),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map(lambda p: call(Operation.OR, *p))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: call(Operation.AND, *p))
        | inner.map(lambda p: call(Operation.NOT, p))
        | inner.map(lambda p: call(Operation.HOLDS, p))
        | st.builds(lambda a, b: call(Operation.EXCEPT, a, b), inner, inner)
    ),
    max_leaves=8,
)
events = st.dictionaries(st.sampled_from(drawn.NAMES), texts | drawn.values, max_size=3)


def decided(residual: Expression, given_events: list[dict[str, Any]]) -> list[bool]:
    """As of events that are rows, and no columns."""
    found = dict(enumerate(given_events))
    attributes = Attributes(len(found), None, lambda _rows: found)
    return list(map(bool, decide(residual)(attributes, np.arange(len(found)))))


@given(residuals, st.lists(events, max_size=5))
def test_what_is_decided_holds(
    residual: Expression, given_events: list[dict[str, Any]]
) -> None:
    expected = [holds(residual, event) for event in given_events]
    assert decided(residual, given_events) == expected


COLUMNS = st.fixed_dictionaries(
    {
        "x": st.none() | texts,
        "y": st.none() | texts,
        "z": st.none() | st.integers(-2, 2),
    }
)


@given(residuals, st.lists(COLUMNS, min_size=1, max_size=6), st.data())
def test_what_is_decided_of_columns_holds(
    residual: Expression, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Some rows of columns, as strings or as dictionaries of them."""
    batch = pa.RecordBatch.from_pylist(rows, COLUMN_TYPES)
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    if data.draw(st.booleans()):
        columns["x"] = columns["x"].dictionary_encode(null_encoding="encode")
    given_events = [{n: v for n, v in r.items() if v is not None} for r in rows]
    attributes = Attributes(len(rows), columns, lambda _: dict(enumerate(given_events)))
    places = np.array(sorted(data.draw(st.sets(st.integers(0, len(rows) - 1)))), int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            deciding, "COLUMN_VALUES_MIN", data.draw(st.sampled_from([1, 99]))
        )
        found = decide(residual)(attributes, places).tolist()
    assert found == [holds(residual, given_events[place]) for place in places]


COLUMN_TYPES = pa.schema([("x", pa.string()), ("y", pa.string()), ("z", pa.int64())])


@pytest.mark.parametrize(
    "patterns", [[r"\Qs.t"], [r"\Qa", r"\Qa)|(?:\Q\Eb"], ["(?i)K", r"\Qs."]]
)
def test_what_a_pattern_quotes_ends_with_it(patterns: list[str]) -> None:
    """Neither the end of a group nor another pattern becomes a part of it."""
    matches = [
        call(Operation.MATCHES, Attribute("x"), Literal(pattern))
        for pattern in patterns
    ]
    residual = call(Operation.OR, *matches)
    given_events = [{"x": text} for text in (*TEXTS, "sxt", "a)|(?:b")]
    expected = [holds(residual, event) for event in given_events]
    assert any(expected)
    assert decided(residual, given_events) == expected


def test_only_what_is_one_attribute_is_a_column() -> None:
    batch = pa.record_batch({"a": ["x"], "b": [[1]], "c": [2]})
    layout = Layout(0, "wide", (("a", 0), ("c", 2)))
    assert list(columns_of(batch, layout) or ()) == ["a", "c"]
    assert columns_of(batch, Layout(0, "wide", (("a", 0), ("b", 1)))) is None
    assert columns_of(batch, Layout(0, "json", (("a", 0),))) is None


@pytest.mark.parametrize("value", TEXTS)
def test_many_strings_are_looked_for_in_pieces(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "PATTERN_CHARACTERS_MAX", 24)
    parts = [Constraint("x", Operator.SUBSTRING, text) for text in TEXTS if text]
    residual = call(Operation.OR, *parts)
    given_events = [{"x": f"-{text}-"} for text in (*TEXTS, value)]
    expected = [holds(residual, event) for event in given_events]
    assert decided(residual, given_events) == expected


@given(
    st.lists(residuals, min_size=1, max_size=4),
    st.lists(COLUMNS, min_size=1),
    st.data(),
)
def test_no_gate_is_closed_to_what_holds(
    several: list[Expression], rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Of columns in any form, and of a part of a batch."""
    batch = pa.RecordBatch.from_pylist(rows, COLUMN_TYPES)
    first = data.draw(st.integers(0, len(rows) - 1))
    batch, rows = batch.slice(first), rows[first:]
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    form = data.draw(st.sampled_from(["string", "large", "dictionary"]))
    if form == "large":
        columns["x"] = columns["x"].cast(pa.large_string())
    elif form == "dictionary":
        columns["x"] = columns["x"].dictionary_encode()
    places = np.repeat(np.arange(len(rows)), len(several))
    numbers = np.tile(np.arange(len(several)), len(rows))
    gate = Gate([need_of(residual) for residual in several])
    found = gate.of_columns(len(rows), strings_of(columns.values()), places, numbers)
    for row, number, may_hold in zip(places, numbers, found, strict=True):
        event = {n: v for n, v in rows[row].items() if v is not None}
        assert may_hold or not holds(several[number], event)
