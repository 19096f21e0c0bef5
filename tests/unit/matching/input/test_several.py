"""Events with several values are matched as a loop over filters matches them."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from siena.errors import LimitError, SienaError
from siena.lang.parser import parse_predicate
from siena.matching.input import several
from siena.matching.input.choices import CHOICES_MAX
from siena.matching.input.several import SeveralValues
from siena.matching.table import ForwardingTable
from siena.model.expression.evaluation import satisfies

MANY = frozenset({"x", "y"})
TEXTS = [
    "x = 1 and y = 1",
    "x > 2 and y < 1 and z = 1",
    "x = a and y absent",
    "x any and y != 1",
    "y = 2 or x absent and z any",
    "integer x any and string y any",
    "z = 1",
]
values = st.sampled_from([0, 1, 1.5, 2, 3, "a", "b", True])
events = st.fixed_dictionaries(
    {},
    optional={
        "x": values | st.lists(values, max_size=4).map(tuple),
        "y": values | st.lists(values, max_size=4).map(tuple),
        "z": values,
    },
)


def table_of(texts: list[str]) -> ForwardingTable:
    table = ForwardingTable()
    for text in texts:
        table.add(0, parse_predicate(text))
    return table


def looked_at(event: dict[str, Any]) -> list[int]:
    return [
        number
        for number, text in enumerate(TEXTS)
        if any(all(satisfies(c, event) for c in f) for f in parse_predicate(text))
    ]


@given(st.lists(events, max_size=4), st.sampled_from([1, 3, several.APART_MIN]))
def test_choices_and_values_apart_find_what_a_loop_finds(
    drawn: list[dict[str, Any]], apart: int
) -> None:
    kept, several.APART_MIN = several.APART_MIN, apart
    try:
        found = SeveralValues(table_of(TEXTS), MANY).match(drawn)
    finally:
        several.APART_MIN = kept
    pairs = list(zip(found.rows.tolist(), found.numbers.tolist(), strict=True))
    assert pairs == [(r, n) for r, e in enumerate(drawn) for n in looked_at(e)]


def test_the_product_of_many_values_is_no_limit() -> None:
    event = {"x": tuple(range(2, 1_002)), "y": tuple(range(1_000)), "z": 1}
    found = SeveralValues(table_of(TEXTS), MANY).match([event])
    assert found.reasons == {}
    assert found.numbers.tolist() == looked_at(event) == [1, 3, 4, 6]


def test_of_names_that_are_not_declared_one_choice_matches() -> None:
    table = table_of(["u = 1 and v = 2", "u = 1 and u = 2", "x = 1 and u = 2"])
    event = {"u": (1, 2), "v": (2, 3), "w": tuple(range(10_000)), "x": (0, 1)}
    assert SeveralValues(table, MANY).match([event]).numbers.tolist() == [0, 2]
    many = {**event, "x": tuple(range(600))}
    assert SeveralValues(table, MANY).match([many]).numbers.tolist() == [0, 2]


def test_what_cannot_be_matched_is_bad_alone() -> None:
    table = table_of(["u = 1 and v = 2"])
    values = tuple(range(CHOICES_MAX // 16))
    bad = {"u": values, "v": values}
    drawn: list[dict[str, Any] | SienaError] = [
        bad,
        SienaError("no event"),
        {"u": 1, "v": (2,)},
    ]
    found = SeveralValues(table, MANY).match(drawn)
    assert found.rows.tolist() == [2]
    assert found.reasons.keys() == {0, 1}
    assert found.reasons[1] == "no event"
    with pytest.raises(LimitError, match="CHOICES_MAX"):
        raise LimitError("CHOICES_MAX", CHOICES_MAX, found.reasons[0])
