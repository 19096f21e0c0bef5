"""Sigma's correlations, as values."""

from pathlib import Path

import pytest

from siena.errors import FilterError
from siena.rules import RuleSet, SetAside, read_rules
from siena.rules.correlation import Correlation, CorrelationKind, read_correlations
from siena.rules.reading import ReadRule, RuleSettings
from siena.rules.sigma_files import sigma_entries

RULES = """title: Failed
name: failed
logsource: {product: x}
detection: {s: {what: failed}, condition: s}
---
title: Entered
name: entered
logsource: {product: x}
detection: {s: {what: entered}, condition: s}
---
"""
COUNT = """title: Many
id: 99999999-2222-3333-4444-555555555555
level: high
correlation:
    type: event_count
    rules: [failed]
    group-by: [user]
    timespan: 5m
    condition: {gte: 10}
"""
ORDERED = """title: In
name: in
correlation:
    type: temporal_ordered
    rules: [failed, entered]
    group-by: [who]
    aliases:
        who: {failed: user, entered: account}
    timespan: 1h
"""


def read(text: str) -> tuple[RuleSet, list[Correlation | SetAside]]:
    rules = RuleSet(sigma_entries(RULES + text, "a.yml"))
    return rules, list(read_correlations(rules))


def test_a_count_of_events_has_a_group_a_span_and_a_condition() -> None:
    rules, (found,) = read(COUNT)
    assert isinstance(found, Correlation)
    assert found.kind is CorrelationKind.EVENT_COUNT
    assert (found.rules, found.group_by, found.span_s) == (("failed",), ("user",), 300)
    assert (found.comparison, found.count) == (">=", 10)
    assert found.entry.severity == "high"
    assert found.attribute("user", "failed") == "user"
    assert [r.id for r in read_rules(rules) if isinstance(r, ReadRule)] == [
        "failed",
        "entered",
    ]


def test_a_count_of_values_names_its_field() -> None:
    text = COUNT.replace("event_count", "value_count").replace(
        "{gte: 10}", "{gt: 3, field: host}"
    )
    _, (found,) = read(text)
    assert isinstance(found, Correlation)
    assert (found.kind, found.fields) == (CorrelationKind.VALUE_COUNT, ("host",))
    assert [found.is_reached(n) for n in (3, 4)] == [False, True]


def test_an_ordered_correlation_is_a_pattern_and_knows_its_aliases() -> None:
    rules, (found,) = read(ORDERED)
    assert isinstance(found, Correlation)
    assert found.group_by == ("who",)
    assert [found.attribute("who", r) for r in found.rules] == ["user", "account"]
    by_id = {r.id: r.rule for r in read_rules(rules) if isinstance(r, ReadRule)}
    pattern = found.pattern(by_id)
    assert [
        step.matches({"what": "FAILED", "logsource.product": "x"}) for step in pattern
    ] == [
        True,
        False,
    ]


def test_a_correlation_without_order_is_no_pattern() -> None:
    rules, (found,) = read(ORDERED.replace("temporal_ordered", "temporal"))
    assert isinstance(found, Correlation)
    assert found.kind is CorrelationKind.TEMPORAL
    by_id = {r.id: r.rule for r in read_rules(rules) if isinstance(r, ReadRule)}
    with pytest.raises(FilterError, match="no sequence"):
        found.pattern(by_id)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (COUNT.replace("[failed]", "[unknown]"), 'no rule "unknown"'),
        (COUNT.replace("5m", "soon"), "soon"),
        (COUNT.replace("event_count", "value_median"), "field reference"),
        (
            COUNT.replace("event_count", "value_median").replace(
                "{gte: 10}", "{gte: 10, field: x}"
            ),
            "value_median are not read",
        ),
        (
            ORDERED + "    condition: failed and not entered\n",
            "compares with one number",
        ),
        (COUNT + "---\n" + ORDERED.replace("failed", "in"), "a correlation itself"),
    ],
)
def test_a_correlation_that_cannot_be_read_is_put_aside(text: str, reason: str) -> None:
    _, found = read(text)
    aside = next(each for each in found if isinstance(each, SetAside))
    assert reason in aside.reason


def test_names_of_fields_are_those_of_the_rules(tmp_path: Path) -> None:
    pipeline = tmp_path / "names.yml"
    pipeline.write_text(
        "transformations:\n"
        "  - {id: n, type: field_name_mapping, mapping: {address: net.address}}\n"
    )
    text = RULES + COUNT.replace("[user]", "[user, address]") + "---\n" + ORDERED
    rules = RuleSet(sigma_entries(text, "a.yml"))
    settings = RuleSettings(
        fields={"user": "user.name", "account": "acc"}, pipeline=pipeline
    )
    count, ordered = read_correlations(rules, settings)
    assert isinstance(count, Correlation)
    assert count.group_by == ("user.name", "net.address")
    assert isinstance(ordered, Correlation)
    assert ordered.group_by == ("who",)
    assert {name for _, _, name in ordered.aliases} == {"user.name", "acc"}
