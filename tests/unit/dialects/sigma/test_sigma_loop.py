"""Sigma rules of ours, on generated events: a plain loop over pySigma's tree agrees."""

import random

import pytest
from sigma.rule import SigmaRule

from conformance.kit import load
from siena.dialects.factoring import factor
from siena.dialects.sigma.reader import SigmaSettings, read_sigma
from siena.errors import FilterError
from siena.model.expression import holds
from sigma_events import events_for
from sigma_loop import fires

RULES = {
    case["id"]: case["text"]
    for case in load("dialect-sigma")["cases"]
    if case["relation"] == "selects"
}
SETTINGS = SigmaSettings(logsource="none")


@pytest.mark.parametrize("text", RULES.values(), ids=RULES.keys())
def test_a_plain_loop_agrees(text: str) -> None:
    generator = random.Random(1)
    expression, plain = read_sigma(text, SETTINGS), SigmaRule.from_yaml(text)
    rule = factor(expression)
    for event in events_for(plain, generator, 50):
        expected = fires(plain, event)
        assert holds(expression, event) == expected, event
        assert rule.matches(event) == expected, event


RULE = RULES["endswith"]


@pytest.mark.parametrize(
    ("logsource", "wanted"),
    [
        ("none", 'Image *< "\\\\cmd.exe" ignoring case'),
        ("attributes", "logsource.product = windows"),
        ("windows", "Channel = security ignoring case and EventID = 4688"),
    ],
)
def test_a_log_source_is_what_is_asked_for(logsource: str, wanted: str) -> None:
    rule = factor(read_sigma(RULE, SigmaSettings(logsource=logsource)))
    assert wanted in str(rule)


def test_a_log_source_that_windows_does_not_have_stays_an_attribute() -> None:
    text = RULE.replace("product: windows", "product: linux")
    rule = factor(read_sigma(text, SigmaSettings(logsource="windows")))
    assert "logsource.product = linux" in str(rule)


def test_fields_have_the_names_of_attributes() -> None:
    rule = factor(read_sigma(RULE, SigmaSettings({"Image": "process.path"}, "none")))
    assert rule.matches({"process.path": "C:\\cmd.exe"})


def test_a_pipeline_is_applied() -> None:
    from sigma.processing.pipeline import ProcessingPipeline  # noqa: PLC0415 -- slow to load

    pipeline = ProcessingPipeline.from_yaml(
        "name: ours\npriority: 1\ntransformations:\n"
        "    - id: names\n      type: field_name_mapping\n      mapping:\n"
        "          Image: path\n"
    )
    settings = SigmaSettings(logsource="none", pipeline=pipeline)
    assert factor(read_sigma(RULE, settings)).matches({"path": "C:\\CMD.exe"})


def test_an_error_names_the_rule() -> None:
    text = RULE.replace("Image|endswith", "Image|expand").replace("\\cmd.exe", "%x%")
    with pytest.raises(FilterError, match="A rule of ours"):
        read_sigma(text)
