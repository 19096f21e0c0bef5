"""Rules matched in bulk are those that match one by one."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import expressions as drawn
from siena.block import encode_in_order
from siena.dialects import read_rule
from siena.dialects.factoring.factor import factor
from siena.lang.expression import parse_expression
from siena.matching.input.buffers import join
from siena.model import Constraint, Operator
from siena.model.expression import Expression, Operation, call, holds
from siena.model.expression.evaluation import truth
from siena.rules.residuals import matching
from siena.rules.residuals.matching import RuleMatcher
from siena.rules.residuals.needs import need_of

TEXTS = ["", "a", "ab", "B", "aB*", "é", "É", "\u212a", "k", "ß", "s.t", "\\", "1", "e"]
texts = st.sampled_from(TEXTS)
operators = [
    *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING),
    *(Operator.EQ_FOLDED, Operator.PREFIX_FOLDED, Operator.SUFFIX_FOLDED),
    *(Operator.SUBSTRING_FOLDED, Operator.NE, Operator.NOT_SUBSTRING),
]
constraints = st.builds(
    lambda name, operator, value: Constraint(name, operator, value, None),
    st.sampled_from(drawn.NAMES),
    st.sampled_from(operators),
    texts,
) | st.builds(
    lambda name, pattern: Constraint(name, Operator.LIKE_FOLDED, pattern, None),
    st.sampled_from(drawn.NAMES),
    st.sampled_from(["*a*b*", "?k*", "*é?b*"]),
)
LEAVES = [
    *('matches(x, "^a")', 'matches(y, "(?i)a[^b]{16}")', 'matches(x, "ab?|k")'),
    *('anywhere_matches("(?i)B$")', 'anywhere_matches("1|e")'),
    *('anywhere_like("*a*")', "x = y", "[z > 1]"),
]
residuals: st.SearchStrategy[Expression] = st.recursive(
    constraints | st.sampled_from([parse_expression(text) for text in LEAVES]),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map(lambda p: call(Operation.OR, *p))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: call(Operation.AND, *p))
        | inner.map(lambda p: call(Operation.NOT, p))
        | inner.map(lambda p: call(Operation.HOLDS, p))
        | st.builds(lambda a, b: call(Operation.EXCEPT, a, b), inner, inner)
    ),
    max_leaves=8,
)
events = st.dictionaries(
    st.sampled_from(drawn.NAMES),
    texts | st.text("abk ", min_size=16, max_size=30) | drawn.values,
    max_size=3,
)
pytest.importorskip("re2")


@given(
    st.lists(residuals, min_size=1, max_size=6),
    st.lists(events, min_size=1, max_size=6),
)
@example([parse_expression('anywhere_matches("1")')], [{"x": 1}])
@example([parse_expression('anywhere_matches("e")')], [{"x": True}])
@example([parse_expression('anywhere_matches("[0-9]{16}")')], [{"x": 10**17}])
@example([parse_expression('anywhere_matches("(?i)k")')], [{"x": "\u212a"}])
def test_what_matches_in_bulk_matches(
    expressions: list[Expression], given_events: list[dict[str, Any]]
) -> None:
    rules = [factor(expression) for expression in expressions]
    matcher = RuleMatcher(rules)
    expected = [
        [number for number, each in enumerate(expressions) if holds(each, event)]
        for event in given_events
    ]
    # The second time it is remembered.
    for _ in range(2):
        assert list(map(sorted, matcher.match(given_events))) == expected


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["", "a", "x", "xy", "y", "z"]),
            st.integers(0, 2) | st.sampled_from(["", "b", "c" * 40]) | st.booleans(),
        ),
        min_size=2,
        max_size=8,
    ),
    st.randoms(use_true_random=False),
    st.sampled_from(["short", "long"]),
)
@example([{"y": 1, "x": 0}, {"y": 1, "x": 2}], Random(0), "short")
@example([{"x": 0, "y": 1}, {"x": 2, "y": 1}], Random(0), "long")
def test_blocks_of_others_have_names_in_any_order(
    events: list[dict[str, Any]], chance: Random, header: str
) -> None:
    """And a header that is longer than it need be; neither has a part in an answer."""
    rules = [read_rule("sql", "x < y"), read_rule("expression", "x = z or xy = y")]
    blocks = []
    for event in events:
        items = list(event.items())
        chance.shuffle(items)
        block = encode_in_order(dict(items))
        head = b"\xdf" + len(items).to_bytes(4, "big")
        blocks.append(head + block[1:] if header == "long" else block)
    found = RuleMatcher(rules).match_buffer(*join(blocks))
    expected = [[n for n, r in enumerate(rules) if r.matches(e)] for e in events]
    assert found.counts.tolist() == list(map(len, expected))
    ends = np.cumsum(found.counts)[:-1]
    said = [sorted(each.tolist()) for each in np.split(found.filters, ends)]
    assert said == expected


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "ANSWERS_MAX", 3)
    monkeypatch.setattr(matching, "ANSWER_BYTES_MAX", 8)
    matcher = RuleMatcher([read_rule("sql", "x < y")])
    for number in range(20):
        found = matcher.match([{"x": number, "y": 10}, {"x": "a" * 9, "y": "b"}])
        assert found == [[0] if number < 10 else [], [0]]
        assert len(matcher._answers[0]) <= 3


@pytest.mark.parametrize(
    ("text", "wanted", "shortest"),
    [
        ('[x = "Abc" ignoring case]', {"abc"}, None),
        ('[x != "abc"]', None, None),
        ('[x like "a*bcd?e"]', {"bcd"}, None),
        ("[x > 3]", None, None),
        ('[x * "ab"] and [y * "abcd"]', {"abcd"}, None),
        ('[x * "ab"] or [y > 3]', None, None),
        ('matches(x, "[0-9a-f]{64}")', set(), 64),
        ('matches(x, "[0-9a-f]{64}") or [x * "ab"]', {"ab"}, 64),
        ('matches(lower(x), "abc")', None, None),
        ('[x * "ab\u00e9cde"]', {"cde"}, None),
        ('[x * "\u00e9"]', None, None),
        ('true except [x * "ab"]', None, None),
        ('[x * "ab"] except [y = 1]', {"ab"}, None),
    ],
)
def test_what_is_needed(
    text: str, wanted: set[str] | None, shortest: int | None
) -> None:
    need = need_of(parse_expression(text))
    if wanted is None:
        assert need is None
    else:
        assert need is not None
        assert need.texts == wanted
        assert need.shortest == shortest


@given(
    st.lists(constraints, min_size=2, max_size=8),
    st.none() | texts | drawn.values | st.lists(texts | drawn.values).map(tuple),
)
def test_alternatives_asked_together_say_what_they_say_one_by_one(
    alternatives: list[Constraint],
    value: Any,  # noqa: ANN401
) -> None:
    """True if one is true, else unknown if one is unknown."""
    event = {name: value for name in drawn.NAMES if value is not None}
    several = value if isinstance(value, tuple) and value else (value,)
    several = (None,) if several == ((),) else several
    said = {truth(each, one) for each in alternatives for one in several}
    expected = True if True in said else None if None in said else False
    whole = call(Operation.OR, *alternatives)
    assert holds(whole, event) is (expected is True)
    # What is unknown is not false either.
    assert holds(call(Operation.NOT, whole), event) is (expected is False)
