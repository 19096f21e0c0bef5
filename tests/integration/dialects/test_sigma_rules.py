"""The public rules of SigmaHQ, where their folder is given: what is read, what fires.

``SIENA_SIGMA_RULES`` names a folder with ``rules*`` in it, and ``SIENA_SIGMA_EVENTS``
one with events, each beside an ``info.yml`` that names the rule which must fire.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from sigma.rule import SigmaRule

from siena.dialects.factoring import factor
from siena.dialects.sigma.reader import SigmaSettings, read_sigma
from siena.dialects.sigma.windows import windows_attributes
from siena.errors import SienaError
from siena.model.expression import holds
from siena.model.expression.rule import Rule
from siena.rules.residuals.matching import RuleMatcher
from sigma_events import events_for
from sigma_loop import closure_of, fires, true

RULES = os.environ.get("SIENA_SIGMA_RULES", "")
EVENTS = os.environ.get("SIENA_SIGMA_EVENTS", "")
SETTINGS = SigmaSettings(logsource="none")
EVENTS_PER_RULE = 4
# Events that all rules are tried on together, from which seed.  Ten thousand take five
# minutes of one core.
GENERATED = int(os.environ.get("SIENA_SIGMA_GENERATED", "200"))
SEED = int(os.environ.get("SIENA_SIGMA_SEED", "20261118"))
# Of these, events for which the trees themselves are walked as well.
WALKED = 50


def rule_texts() -> list[str]:
    if not RULES:
        pytest.skip("SIENA_SIGMA_RULES does not name a folder of rules")
    return [
        path.read_text(encoding="utf-8")
        for path in sorted(Path(RULES).glob("rules*/**/*.yml"))
    ]


@pytest.mark.slow
def test_nearly_all_rules_are_read_and_fire_as_a_plain_loop_says() -> None:
    generator = random.Random(20261116)
    refused: Counter[str] = Counter()
    texts = rule_texts()
    fired = 0
    for text in texts:
        try:
            expression = read_sigma(text, SETTINGS)
        except SienaError as error:
            refused[error.message] += 1
            continue
        rule, plain = factor(expression), SigmaRule.from_yaml(text)
        for event in events_for(plain, generator, EVENTS_PER_RULE):
            expected = fires(plain, event)
            assert holds(expression, event) == expected, (plain.title, event)
            assert rule.matches(event) == expected, (plain.title, event)
            fired += expected
    assert sum(refused.values()) * 100 <= len(texts), refused
    # Or nothing would have been compared: a third of the events fire.
    assert fired * 5 >= len(texts) * EVENTS_PER_RULE


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_the_engine_agrees_with_a_plain_loop_over_all_rules() -> None:
    generator = random.Random(SEED)
    rules, plain, trees = list[Rule](), list[SigmaRule](), list[list[Any]]()
    closures = list[list[Any]]()
    for text in rule_texts():
        try:
            rule = factor(read_sigma(text, SETTINGS))
        except SienaError:
            continue
        rules.append(rule)
        plain.append(SigmaRule.from_yaml(text))
        trees.append([c.parsed for c in plain[-1].detection.parsed_condition])
        closures.append([closure_of(tree) for tree in trees[-1]])
    events = [
        event
        for _ in range(GENERATED)
        for event in events_for(generator.choice(plain), generator, 1)
    ]
    fired = 0
    matched = RuleMatcher(rules).match(events)
    for place, (event, found) in enumerate(zip(events, matched, strict=True)):
        expected = [
            number
            for number, conditions in enumerate(closures)
            if any(condition(event) for condition in conditions)
        ]
        assert sorted(found) == expected, event
        if place < WALKED:
            assert expected == [
                number
                for number, conditions in enumerate(trees)
                if any(true(condition, event) for condition in conditions)
            ], event
        fired += len(expected)
    assert fired >= GENERATED / 5


def samples() -> Iterator[tuple[str, list[Any]]]:
    """The id of each rule that must fire, with the events for it."""
    for info in sorted(Path(EVENTS).rglob("info.yml")):
        named = yaml.safe_load(info.read_text(encoding="utf-8"))["rule_metadata"]
        for path in info.parent.glob("*.json"):
            for rule in named:
                yield rule["id"], list(documents(path.read_text(encoding="utf-8")))


def documents(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    while text.strip():
        found, end = decoder.raw_decode(text.lstrip())
        yield found
        text = text.lstrip()[end:]


def test_the_rule_fires_that_an_event_was_recorded_for() -> None:
    if not EVENTS:
        pytest.skip("SIENA_SIGMA_EVENTS does not name a folder of events")
    texts = {text.split("\nid:")[1].split()[0]: text for text in rule_texts()}
    for identifier, events in samples():
        expression = read_sigma(texts[identifier], SigmaSettings(logsource="windows"))
        rule = factor(expression)
        attributes = [windows_attributes(event) for event in events]
        assert any(map(rule.matches, attributes)), identifier
