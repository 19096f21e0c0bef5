"""Texts made to hurt: refused with the limit's name, or answered in bounded time.

What would take exponential time runs into pytest's own time-out.
"""

import json

import pytest

from siena.algebra.relations import decide_covers, decide_satisfiable
from siena.dialects import read_rule
from siena.errors import LimitError, SienaError
from siena.lang.parser import parse_interest, parse_predicate
from siena.model import Pattern
from siena.rules import ReadRule, RuleEntry, read_rules
from siena.rules.review import review_rules

MANY = 10_000
# Alternatives of ten, six times over: a million filters, multiplied out.
FACTORS = [[f"a{i} = {j}" for j in range(10)] for i in range(6)]
MILLION = " and ".join(f"({' or '.join(factor)})" for factor in FACTORS)


@pytest.mark.parametrize(
    ("dialect", "text", "limit"),
    [
        ("siena", 's like "' + "*a" * MANY + '"', "OPERAND_CHARACTERS_MAX"),
        (
            "eventbridge",
            json.dumps({"s": [{"wildcard": "*a" * MANY}]}),
            "OPERAND_CHARACTERS_MAX",
        ),
        ("siena", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("sql", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("sql", "NOT " * MANY + "x = 1", "_MAX"),
        ("cesql", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("expression", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("eventbridge", '{"a":' * MANY + "[1]" + "}" * MANY, "nested too deeply"),
    ],
)
def test_what_is_too_large_is_refused_with_the_name_of_the_limit(
    dialect: str, text: str, limit: str
) -> None:
    with pytest.raises(SienaError, match=limit):
        read_rule(dialect, text)


@pytest.mark.parametrize("dialect", ["sql", "amqp", "cesql"])
def test_ten_thousand_wildcards_are_a_residual_that_does_not_backtrack(
    dialect: str,
) -> None:
    rule = read_rule(dialect, "s LIKE '" + "%a" * MANY + "%b'")
    assert not rule.is_exact
    assert not rule.matches({"s": "a" * 3 * MANY})
    assert rule.matches({"s": "a" * MANY + "b"})


def test_a_normal_form_of_a_million_filters_is_refused_or_covered() -> None:
    with pytest.raises(LimitError, match="FILTERS_MAX"):
        parse_predicate(MILLION)
    rule = read_rule("sql", MILLION)
    assert not rule.is_exact
    assert len(rule.predicate) <= 1_024
    assert rule.matches({f"a{i}": 9 - i for i in range(6)})
    assert not rule.matches({**{f"a{i}": 1 for i in range(5)}, "a5": 10})


def test_patterns_made_to_backtrack_are_matched_without() -> None:
    rule = read_rule("sql", "s LIKE '" + "%a" * 1_000 + "%b'")
    assert not rule.matches({"s": "a" * 100_000})
    assert rule.matches({"s": "a" * 100_000 + "b"})
    text = json.dumps({"s": [{"wildcard": "*a" * 1_000 + "*b"}]})
    assert not read_rule("eventbridge", text).matches({"s": "a" * 100_000})


def test_relations_of_such_patterns_are_decided_or_not_shown() -> None:
    one = parse_interest('s like "' + "*a" * 60 + '" ignoring case')
    other = parse_interest('s like "' + "*ab" * 60 + '" and not s like "*ba*ba*c"')
    for verdict in (decide_covers(one, other), decide_covers(other, one)):
        assert verdict.holds or verdict.witness is not None or not verdict.shown
    assert not isinstance(other, Pattern)
    assert decide_satisfiable(other).holds


def test_a_review_of_rules_that_all_overlap_ends() -> None:
    entries = [
        RuleEntry(
            str(n), " or ".join(f"s * {a}{n % 5}{b}" for a in "abcd" for b in "xyz")
        )
        for n in range(40)
    ]
    rules = [r for r in read_rules(entries) if isinstance(r, ReadRule)]
    review = review_rules(rules)
    assert review.counts()["equal"] == 5
