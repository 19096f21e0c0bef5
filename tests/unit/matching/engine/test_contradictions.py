"""Filters that nothing can match are not stored, and all others are."""

import pytest
from hypothesis import given, strategies as st

from siena.algebra.sat import satisfiable
from siena.lang import parse_filter
from siena.matching.engine.columns import Columns
from siena.matching.engine.layout import lay_out
from siena.model import Filter
from strategies import filters

# What is contradicted before its place is looked for, in the words of a person.
CONTRADICTIONS = [
    "x > 5 and x < 3",
    "x > 5 and x <= 5",
    "x = 1 and x = 2",
    "x = 1 and x != 1",
    "x = 1 and x > 1",
    "x = 1 and x = one",
    "x any and x = 1 and x = true",
    "x = true and x = false",
    "integer x any and float x any",
    "s = abc and s >* b",
    "s >* a and s >* b",
    's *< "ab" and s *< "bb"',
    "s < a and s >* a",
    "y = 3 and x > 2 and x < 1 and z any",
    "t < 2024-01-01T00:00:00Z and t > 2025-01-01T00:00:00Z",
]


def stored(kept: list[Filter]) -> int:
    """How many filters an engine of these has."""
    columns = Columns()
    for number, f in enumerate(kept):
        columns.add(f, number)
    return int(lay_out(columns.snapshot(), 7)["header"][1])


@pytest.mark.parametrize("text", CONTRADICTIONS)
def test_a_contradiction_is_not_stored(text: str) -> None:
    possible = parse_filter("x > 0 and s any")
    assert stored([possible, parse_filter(text), possible]) == 2


def test_contradictions_take_no_room() -> None:
    texts = [f"x = {n} and x < {n} and y{n % 9} = 5" for n in range(500)]
    few, many = Columns(), Columns()
    for columns, kept in ((few, texts[:9]), (many, texts)):
        for number, text in enumerate(kept):
            columns.add(parse_filter(text), number)
    arenas = [lay_out(columns.snapshot(), 7)["arena"] for columns in (few, many)]
    assert len(arenas[0]) == len(arenas[1])


@given(st.lists(filters(max_size=5).filter(len), max_size=8))
def test_what_something_can_match_is_stored(drawn: list[Filter]) -> None:
    assert stored(drawn) >= sum(map(satisfiable, drawn))
