"""Rules in the languages of others: what they select, and what is refused."""

from collections.abc import Mapping

import pytest

from conformance.kit import Case, LimitError, SienaError, each, parse_notification
from siena.dialects import read_expression, read_rule
from siena.dialects.aws.events import event_matches, flatten
from siena.dialects.writing import WRITERS, write_rule
from siena.lang.json_text import read_json
from siena.model.expression import holds
from siena.model.expression.evaluation import Values

AREAS = (
    *("dialect-sql", "dialect-cesql", "dialect-cloudevents"),
    *("dialect-eventbridge", "dialect-sns", "dialect-sigma"),
)
EVENTS = {"eventbridge", "sns"}


def event_of(case: Case, text: str) -> Mapping[str, Values]:
    if case["dialect"] in EVENTS:
        return flatten(read_json(text))
    return parse_notification(text)


@each(AREAS, "selects")
def test_a_rule_selects_these(case: Case) -> None:
    expression = read_expression(case["dialect"], case["text"])
    rule = read_rule(case["dialect"], case["text"])
    if "exact" in case:
        assert rule.is_exact is case["exact"]
    for field, expected in (("matches", True), ("misses", False)):
        for text in case[field]:
            event = event_of(case, text)
            assert holds(expression, event) is expected, text
            if case["dialect"] in EVENTS:
                assert event_matches(expression, read_json(text)) is expected, text
            many = frozenset(n for n, v in event.items() if isinstance(v, tuple))
            for_many = read_rule(case["dialect"], case["text"], many=many)
            assert for_many.matches(event) is expected, text
            if not many:
                assert rule.matches(event) is expected, text


@each(AREAS, "selects", where=lambda case: case.get("exact", False))
def test_what_is_written_in_another_language_is_read_as_the_same(case: Case) -> None:
    rule = read_rule(case["dialect"], case["text"])
    for language in WRITERS:
        try:
            text = write_rule(rule, language)
        except SienaError as error:
            assert "cannot say" in error.message  # noqa: PT017 -- one of several
            continue
        again = read_rule(language, text)
        for field in ("matches", "misses"):
            for event in (event_of(case, each_) for each_ in case[field]):
                if tuple not in map(type, event.values()):
                    assert again.matches(event) is (field == "matches"), text


@each(AREAS, "refused")
def test_a_rule_is_refused(case: Case) -> None:
    text = case.get("text")
    if text is None:
        text = case["before"] + case["repeat"] * case["times"] + case["after"]
    error_type = LimitError if case.get("error") == "limit" else SienaError
    with pytest.raises(error_type) as caught:
        read_rule(case["dialect"], text)
    message = str(caught.value)
    assert "\n" not in message
    for word in case["mentions"]:
        assert word.lower() in message.lower()
    if case["dialect"] != "sigma":
        assert caught.value.place is not None
