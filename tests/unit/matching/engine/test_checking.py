"""Atoms and checks: what is no interval of ranks, against a loop over the filters."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from kernels import plain
from siena.lang import parse_filter
from siena.matching.engine.checking.atoms import atom_of, lay_out_atoms
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.input.buffers import encode_all
from siena.matching.kernels.inline import patterns as plain_patterns
from siena.matching.kernels.match import Kernel
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Notification, Operator
from siena.model.folding import FOLDED, fold
from siena.model.operators import STRING_OPERATORS
from strategies import patterns

ALPHABET = "abABkK*?\0\N{KELVIN SIGN}\u00df\u1e9e\u03c3\u03a3\u03c2\U00010400\U00010428"
TEXTS = st.text(alphabet=ALPHABET, max_size=7)
OPERATORS = sorted(STRING_OPERATORS)


@st.composite
def string_constraints(draw: st.DrawFn) -> Constraint:
    """A constraint that only strings satisfy."""
    operator = draw(st.sampled_from(OPERATORS))
    is_pattern = operator.exact in {Operator.LIKE, Operator.NOT_LIKE}
    return Constraint("s", operator, draw(patterns() if is_pattern else TEXTS))


def matched(
    filters: list[Filter],
    notifications: list[Notification],
    kernel: Any,  # noqa: ANN401 -- a class, compiled or plain
) -> list[list[int]]:
    columns = Columns()
    for number, f in enumerate(filters):
        columns.add(f, number)
    engine = Engine(lay_out(columns.snapshot(), 7), kernel)
    matches = engine.match(*encode_all(notifications))
    ends = np.cumsum(matches.counts)
    parts = np.split(matches.filters, ends[:-1])
    return [sorted(part.tolist()) for part in parts]


@pytest.mark.parametrize(
    "kernel", [Kernel, plain("match").Kernel], ids=["compiled", "plain"]
)
@given(
    st.lists(st.lists(string_constraints(), min_size=1, max_size=3), max_size=6),
    st.lists(TEXTS, min_size=1, max_size=4),
)
@example([[Constraint("s", Operator.LIKE, "??*")]], ["", "a", "ab", "\u1e9eb"])
@example([[Constraint("s", Operator.NOT_LIKE, "*k?")]], ["kk", "k"])
def test_strings_are_matched_as_a_loop_does(
    kernel: Any,  # noqa: ANN401
    drawn: list[list[Constraint]],
    texts: list[str],
) -> None:
    filters = [Filter(constraints) for constraints in drawn]
    notifications = [Notification(s=text) for text in texts]
    assert matched(filters, notifications, kernel) == [
        [number for number, f in enumerate(filters) if f.matches(n)]
        for n in notifications
    ]


@pytest.mark.parametrize(
    "kernel", [Kernel, plain("match").Kernel], ids=["compiled", "plain"]
)
@pytest.mark.parametrize("names", [1, 5, 33, 40])
def test_a_value_is_searched_for_what_its_own_name_asks(
    kernel: Any,  # noqa: ANN401
    names: int,
) -> None:
    """With more names than an atom has bits, the last of which they share."""
    asked = [
        (Operator.SUBSTRING_FOLDED, "k"),
        (Operator.NOT_SUBSTRING_FOLDED, "bA"),
        (Operator.SUBSTRING, "a"),
        (Operator.NOT_SUBSTRING, "b"),
        (Operator.NOT_LIKE, "*a?"),
        (Operator.SUFFIX_FOLDED, "AB"),
    ]
    # Of each name another choice; every seventh is only asked for being there.
    filters = [
        Filter(
            [Constraint(f"n{i}", *asked[(i + k) % len(asked)])]
            if i % 7 != 3
            else [Constraint(f"n{i}", Operator.ANY, None)]
        )
        for i in range(names)
        for k in range(1 + i % 2)
    ]
    notifications = [
        Notification({f"n{i}": text for i in range(names)})
        for text in ["kab", "KELVIN", "baAB", "", "xb", "aab\N{KELVIN SIGN}"]
    ]
    assert matched(filters, notifications, kernel) == [
        [number for number, f in enumerate(filters) if f.matches(n)]
        for n in notifications
    ]


@pytest.mark.parametrize(
    "kernel", [Kernel, plain("match").Kernel], ids=["compiled", "plain"]
)
@pytest.mark.parametrize("size", [1, 4, 5, 8, 9, 26, 27, 80, 81, 256, 257, 600])
def test_a_value_may_contain_few_operands_or_many(
    kernel: Any,  # noqa: ANN401
    size: int,
) -> None:
    operands = [f"<{number}>" for number in range(size)]
    # What is longer is noted after what is in it, so that the order is none.
    operands += [f"<{number}><{number + 1}>" for number in range(0, size - 1, 3)]
    operators = [
        Operator.SUBSTRING,
        Operator.NOT_SUBSTRING,
        Operator.SUBSTRING_FOLDED,
        Operator.NOT_SUBSTRING_FOLDED,
    ]
    filters = [
        Filter([Constraint("s", operator, operand)])
        for operand in operands
        for operator in operators
    ]
    texts = ["".join(operands[:size]), "".join(operands[size:0:-2]), "", "<0>"]
    notifications = [Notification(s=text) for text in texts]
    assert matched(filters, notifications, kernel) == [
        [number for number, f in enumerate(filters) if f.matches(n)]
        for n in notifications
    ]


TESTED = [
    Constraint(name, operator, value)
    for name in ("s", "t")
    for operator, value in [
        (Operator.ABSENT, None),
        (Operator.NOT_SUBSTRING, "a"),
        (Operator.NOT_SUBSTRING_FOLDED, "k"),
        (Operator.NOT_PREFIX_FOLDED, "b"),
    ]
]
LEFT = [Constraint("s", Operator.SUBSTRING, "b"), Constraint("n", Operator.EQ, 1)]


@pytest.mark.parametrize(
    "kernel", [Kernel, plain("match").Kernel], ids=["compiled", "plain"]
)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 1),
            st.frozensets(st.sampled_from(LEFT)),
            st.frozensets(st.sampled_from(TESTED), min_size=1, max_size=5),
        ),
        max_size=12,
    ),
    st.lists(
        st.fixed_dictionaries({}, optional={"s": TEXTS, "t": TEXTS, "n": st.just(1)}),
        min_size=1,
        max_size=4,
    ),
)
def test_checks_are_passed_in_one_of_several_ways(
    kernel: Any,  # noqa: ANN401
    drawn: list[tuple[int, frozenset[Constraint], frozenset[Constraint]]],
    given_events: list[dict[str, Any]],
) -> None:
    columns = Columns()
    for owner, left, tests in drawn:
        columns.add(Filter((*left, *tests)), owner)
    arrays = lay_out(columns.snapshot(), 7)
    matches = Engine(arrays, kernel).match(*encode_all(given_events))
    parts = np.split(matches.filters, np.cumsum(matches.counts)[:-1])
    for event, part in zip(given_events, parts, strict=True):
        assert set(part.tolist()) == {
            owner
            for owner, left, tests in drawn
            if Filter((*left, *tests)).matches(event)
        }


def test_filters_that_differ_in_what_they_are_not_are_one_check() -> None:
    columns = Columns()
    for text in ("n = 1 and s does not contain a", "n = 1 and s does not contain b"):
        columns.add(parse_filter(text), 5)
    columns.add(parse_filter("n = 2 and s does not contain a"), 5)
    columns.add(parse_filter("n = 1 and s does not contain a"), 6)
    arrays = lay_out(columns.snapshot(), 7)
    assert arrays["check_owners"].tolist() == [5, 5, 6]
    assert arrays["check_starts"].tolist() == [0, 2, 3, 4]


@given(st.sampled_from(OPERATORS), st.data())
def test_an_atom_holds_where_its_operator_does(
    operator: Operator, data: st.DataObject
) -> None:
    """Of the plain twin, place by place; and what is looked for is in the value."""
    is_pattern = operator.exact in {Operator.LIKE, Operator.NOT_LIKE}
    made = Constraint("s", operator, data.draw(patterns() if is_pattern else TEXTS))
    if made.operator not in STRING_OPERATORS or made.value is None:
        return
    text = data.draw(TEXTS)
    literal, tokens, flags = atom_of(made.operator, str(made.value))
    _, arrays = lay_out_atoms([(made.operator, str(made.value))])
    encoded = text.encode()
    holds = plain_patterns.is_like(
        encoded, 0, len(encoded), tokens, 0, len(tokens),
        arrays["fold_pages"], arrays["fold_shifts"], flags & 1,
    )  # fmt: skip
    is_negated = made.operator.name.startswith(("NOT_", "NE_"))
    assert holds is (made.matches(text) is not is_negated)
    if holds:
        assert literal in fold(text).encode()


def test_the_table_of_folding_is_the_models() -> None:
    _, arrays = lay_out_atoms([])
    pages, shifts = arrays["fold_pages"], arrays["fold_shifts"]
    for code in (*range(0x2000), *range(0x10000, 0x11000), *FOLDED):
        folded = plain_patterns.folded_of(code, pages, shifts)
        assert folded == FOLDED.get(code, code)


@pytest.mark.parametrize(
    ("text", "matching", "others"),
    [
        ("x absent", [{}, {"y": 1}], [{"x": 1}, {"x": ""}]),
        ("x absent and y = 1", [{"y": 1}], [{}, {"y": 2}, {"x": 1, "y": 1}]),
        ("not integer x any", [{"x": "a"}, {"x": 1.0}, {"x": True}], [{}, {"x": 1}]),
        ("not boolean x any", [{"x": 1}], [{"x": True}, {"x": False}, {}]),
        ("not number x any", [{"x": "1"}], [{"x": 1}, {"x": 1.5}, {}]),
        ("x does not contain a", [{"x": "b"}], [{"x": "ab"}, {"x": 1}, {}]),
        ("x > 3, y absent", [{"x": 4}], [{"x": 4, "y": 1}, {"x": 3}]),
    ],
)
def test_what_an_attribute_is_not_is_tested(
    text: str, matching: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    table = ForwardingTable()
    table.add(7, parse_filter("x = nothing"))
    number = table.add(8, parse_filter(text))
    assert all(number in table.match_filters(n) for n in matching)
    assert not any(number in table.match_filters(n) for n in others)
    # With few interfaces as well, where filters would be bits.
    assert all(8 in table.match(n) for n in matching)
    assert not any(8 in table.match(n) for n in others)


def test_a_filter_of_which_nothing_is_left_is_tested_always() -> None:
    table = ForwardingTable()
    names = [f"x{number}" for number in range(200)]
    for name in names:
        table.add(1, parse_filter(f"{name} absent"))
    assert len(table.match_filters({})) == 200
    assert len(table.match_filters(dict.fromkeys(names[:150], 1))) == 50


def test_wildcards_cost_no_more_than_text_times_pattern() -> None:
    """With choices that are undone, this would take longer than the world has."""
    table = ForwardingTable()
    table.add(1, parse_filter(f's like "{"*a" * 500}*b"'))
    table.add(1, parse_filter(f's not like "*{"?a" * 300}b" ignoring case'))
    assert table.match_filters({"s": "a" * 5_000}) == [1]
