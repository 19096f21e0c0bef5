"""Events with several values are matched as a loop over filters matches them."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from siena.errors import SienaError
from siena.lang.parser import parse_predicate
from siena.matching.input import several
from siena.matching.input.buffers import join
from siena.matching.input.choices import CHOICES_MAX
from siena.matching.input.several import SeveralValues
from siena.matching.table import ForwardingTable
from siena.model.expression.evaluation import satisfies
from siena.model.limits import STRING_CHARACTERS_MAX

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
    assert "choices among values" in found.reasons[0]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes a table is asked about, each time."""
    sizes: list[int] = []

    def noted(blocks: list[bytes]) -> Any:  # noqa: ANN401 -- as join has it
        sizes.append(sum(map(len, blocks)))
        return join(blocks)

    monkeypatch.setattr(several, "join", noted)
    return sizes


def test_what_no_filter_asks_for_is_not_copied_for_each_value(asked: list[int]) -> None:
    table = table_of(["x = 5", "x = 7 and z = 1"])
    event = {"x": tuple(range(5_000)), "message": "m" * 100_000, "z": 1}
    found = SeveralValues(table, MANY).match([event])
    assert found.numbers.tolist() == [0, 1]
    assert sum(asked) < 100_000


def test_what_no_filter_asks_for_is_looked_at_all_the_same() -> None:
    bad = {"x": (1, 2), "message": "m" * (STRING_CHARACTERS_MAX + 1)}
    found = SeveralValues(table_of(TEXTS), MANY).match([bad])
    assert "characters in a string" in found.reasons[0]


@pytest.mark.parametrize("apart", [1, several.APART_MIN])
def test_blocks_are_not_gathered_without_end(
    monkeypatch: pytest.MonkeyPatch, asked: list[int], apart: int
) -> None:
    monkeypatch.setattr(several, "APART_MIN", apart)
    monkeypatch.setattr(several, "GATHERED_BYTES_MAX", 1_000)
    monkeypatch.setattr(several, "GATHERED_BLOCKS_MAX", 16)
    drawn = [
        {"x": tuple(range(8)), "y": tuple(range(row, row + 8)), "z": 1}
        for row in range(-4, 4)
    ]
    found = SeveralValues(table_of(TEXTS), MANY).match(drawn)
    assert len(asked) >= len(drawn)
    assert max(asked) < 1_100
    pairs = list(zip(found.rows.tolist(), found.numbers.tolist(), strict=True))
    assert pairs == [(r, n) for r, e in enumerate(drawn) for n in looked_at(e)]


def test_a_long_text_for_each_of_many_values_is_refused() -> None:
    table = table_of(["x = 5 and z contains abc"])
    event = {"x": tuple(range(3_000)), "z": "m" * 100_000}
    found = SeveralValues(table, MANY).match([event, {"x": (5, 6), "z": "abc"}])
    assert found.rows.tolist() == [1]
    assert "bytes of an event" in found.reasons[0]


def test_filters_look_at_so_many_values_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = table_of([f"x = {n} and y = {n}" for n in range(100)])
    event = {"x": tuple(range(100)), "y": tuple(range(1_000))}
    bad = SeveralValues(table, MANY)
    monkeypatch.setattr(several, "LOOKS_MAX", 100 * 1_100 - 1)
    assert "looks at values" in bad.match([event]).reasons[0]
    monkeypatch.setattr(several, "LOOKS_MAX", 100 * 1_100)
    twice = {"x": event["x"] * 2, "y": event["y"] * 2}
    found = bad.match([event, twice])
    assert found.reasons == {}
    assert found.numbers.tolist() == [*range(100)] * 2


def test_of_a_row_that_turns_out_to_be_bad_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(several, "APART_MIN", 2)
    monkeypatch.setattr(several, "GATHERED_BLOCKS_MAX", 1)
    table = table_of(["x = 1 and y = ok", "z = 3"])
    long = "b" * (STRING_CHARACTERS_MAX + 1)
    for bad in ({"x": (1, 2, 3), "y": ("ok", long)}, {"u": ("ok", long), "z": 3}):
        found = SeveralValues(table_of(["u = ok", "y = ok"]), MANY).match([bad])
        assert (found.rows.tolist(), [*found.reasons]) == ([], [0])
    bad = {"x": (1, 2, 3), "y": ("ok", long)}
    found = SeveralValues(table, frozenset({"x"})).match([bad, {"z": 3}])
    assert (found.rows.tolist(), found.numbers.tolist()) == ([1], [1])
    assert "characters in a string" in found.reasons[0]
