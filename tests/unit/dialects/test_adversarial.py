"""Texts made to hurt: refused with the limit's name, or answered in bounded time.

What would take exponential time runs into pytest's own time-out.
"""

import json
import re
from collections import Counter

import pytest

from siena.algebra.catalogue.catalogue import Catalogue
from siena.algebra.catalogue.profile import Profile
from siena.algebra.covering import covers_filter
from siena.algebra.explanation import explain_covers
from siena.algebra.relations import decide_covers, decide_satisfiable
from siena.algebra.text import automata
from siena.algebra.text.allowance import ROUTING_STEPS_MAX, SEARCH_STEPS_MAX
from siena.dialects import read_rule
from siena.errors import LimitError, SienaError
from siena.lang.parser import parse_filter, parse_interest, parse_predicate
from siena.model import Filter, Pattern
from siena.rules import ReadRule, RuleEntry, read_rules
from siena.rules.review import review_rules

MANY = 10_000
# Alternatives of ten, six times over: a million filters, multiplied out.
FACTORS = [[f"a{i} = {j}" for j in range(10)] for i in range(6)]


def or_of(width: int, depth: int) -> str:
    """So many times $or beside each other, which multiply."""
    return json.dumps(
        {f"d{i}": {"$or": [{f"a{j}": [i]} for j in range(width)]} for i in range(depth)}
    )


MILLION = " and ".join(f"({' or '.join(factor)})" for factor in FACTORS)
BRACKETED = re.sub(r"a\d = \d", r"[\g<0>]", MILLION)


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
        ("amqp", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("amqp", "NOT " * MANY + "x = 1", "_MAX"),
        ("azure", "(" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("azure", "-" + "(-" * MANY + "x" + ")" * MANY + " = 1", "NESTING_MAX"),
        ("siena", "not " * MANY + "x = 1", "NESTING_MAX"),
        ("siena", "x any except (" * MANY + "x = 1" + ")" * MANY, "NESTING_MAX"),
        ("cesql", "NOT " * MANY + "x = 1", "NESTING_MAX"),
        ("expression", "not " * MANY + "[x = 1]", "NESTING_MAX"),
        (
            "sns",
            json.dumps({"s": [{"wildcard": "*a" * MANY}]}),
            "OPERAND_CHARACTERS_MAX",
        ),
        ("sns", '{"a":' * MANY + "[1]" + "}" * MANY, "nested too deeply"),
        ("cloudevents", '{"not":' * 500 + '{"exact":{"a":"b"}}' + "}" * 500, "_MAX"),
        ("cloudevents", '{"not":' * MANY + "{}" + "}" * MANY, "nested too deeply"),
        ("sql", "x = 1 AND " * 200_000 + "x = 1", "_MAX"),
        ("siena", "x = 1 and " * 200_000 + "x = 1", "_MAX"),
        ("eventbridge", or_of(2, 40), "_MAX"),
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


@pytest.mark.parametrize("dialect", ["sql", "amqp", "azure", "cesql"])
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


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("amqp", MILLION.replace("and", "AND").replace("or", "OR")),
        ("azure", MILLION),
        (
            "expression",
            " and ".join(f"({' or '.join(f'[{c}]' for c in f)})" for f in FACTORS),
        ),
        (
            "eventbridge",
            json.dumps({f"a{i}": list(range(10)) for i in range(6)}),
        ),
        ("sns", json.dumps({f"a{i}": list(range(10)) for i in range(6)})),
        (
            "cloudevents",
            json.dumps(
                [
                    {"any": [{"exact": {f"a{i}": str(j)}} for j in range(10)]}
                    for i in range(6)
                ]
            ),
        ),
        ("cesql", " AND ".join(f"({f})" for f in map(" OR ".join, FACTORS))),
    ],
)
def test_a_million_filters_of_any_dialect_are_covered(dialect: str, text: str) -> None:
    rule = read_rule(dialect, text)
    assert not rule.is_exact
    assert len(rule.predicate) <= 1_024
    is_text = dialect == "cloudevents"
    event = {f"a{i}": str(9 - i) if is_text else 9 - i for i in range(6)}
    assert rule.matches(event)
    assert not rule.matches({**event, "a5": "10" if is_text else 10})


SIGMA = """
title: made to hurt
logsource: {{category: test}}
detection:
    selection:
        s|{modifier}: '{text}'
    condition: selection
"""


def test_a_sigma_rule_of_wildcards_is_refused_or_matched_without_backtracking() -> None:
    pytest.importorskip("sigma")
    text = SIGMA.format(modifier="contains", text="*a" * 1_000 + "*b")
    rule = read_rule("sigma", text, logsource="none")
    assert not rule.matches({"s": "a" * 100_000})
    assert rule.matches({"s": "a" * 2_000 + "b"})
    with pytest.raises(SienaError):
        read_rule("sigma", SIGMA.format(modifier="re", text="(?=a)" + "(a+)+" * 99))


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


WIDE = [
    (
        's like "*' + "a" * 200 + '*"',
        f's like "*{"a?" * 150}" and s like "*{"b?a" * 100}"',
    ),
    (f's like "*a{"?" * 150}"', f's like "*b{"?a" * 100}" and s like "*{"a?" * 150}"'),
    (f's like "*{"*a?" * 50}*"', f's like "*a{"?" * 150}" and s like "*c{"?" * 300}"'),
]


@pytest.fixture
def words_moved(monkeypatch: pytest.MonkeyPatch) -> Counter[int]:
    """By search, how many words of places its characters have moved."""
    moved: Counter[int] = Counter()
    kept = []  # so that no two searches are at the same address
    step = automata._Patterns.step

    def counted(self: automata._Patterns, places: int, character: str) -> int:
        kept.append(self)
        moved[id(self)] += 1 + self.count // 64
        return step(self, places, character)

    monkeypatch.setattr(automata._Patterns, "step", counted)
    automata._outcome.cache_clear()
    return moved


@pytest.mark.parametrize(("general", "specific"), WIDE)
def test_wide_patterns_cost_who_asks_no_more_than_is_allowed(
    general: str, specific: str, words_moved: Counter[int]
) -> None:
    one, other = parse_interest(general), parse_interest(specific)
    for verdict in (decide_covers(one, other), decide_covers(other, one)):
        assert verdict.shown or verdict.limit == "SEARCH_STEPS_MAX"
    assert max(words_moved.values(), default=0) <= SEARCH_STEPS_MAX
    assert len(words_moved) <= 4


@pytest.mark.parametrize(("general", "specific"), WIDE)
def test_wide_patterns_cost_a_broker_little(
    general: str, specific: str, words_moved: Counter[int]
) -> None:
    catalogue = Catalogue(covers_filter)
    catalogue.add(Profile(parse_filter(general)))
    profile = Profile(parse_filter(specific))
    assert not [*catalogue.above(profile), *catalogue.below(profile)]
    assert max(words_moved.values(), default=0) <= ROUTING_STEPS_MAX
    assert sum(words_moved.values()) <= 8 * ROUTING_STEPS_MAX


def test_what_is_not_shown_names_its_limit() -> None:
    general, specific = map(parse_interest, WIDE[1])
    verdict = decide_covers(general, specific)
    assert (verdict.holds, verdict.shown) == (False, False)
    assert verdict.limit == "SEARCH_STEPS_MAX"
    assert isinstance(general, Filter)
    assert isinstance(specific, Filter)
    (reason,) = explain_covers(general, specific)
    assert "SEARCH_STEPS_MAX" in reason.because


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
