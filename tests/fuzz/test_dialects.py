"""Mutated rules: whatever the text, it is read, or refused with an error of ours."""

import random

import pytest

from conformance.kit import load
from siena.dialects import DIALECTS, read_rule
from siena.errors import SienaError
from siena.lang.parser import parse_notification

TEXTS = {
    dialect: [
        case["text"]
        for case in load(f"dialect-{area}")["cases"]
        if "text" in case and case["dialect"] == dialect
    ]
    for dialect, area in (
        *(("sql", "sql"), ("amqp", "sql"), ("azure", "sql"), ("cesql", "cesql")),
        *(("cloudevents", "cloudevents"), ("eventbridge", "eventbridge")),
        *(("sns", "sns"), ("sigma", "sigma")),
    )
} | {"expression": ["length(x) > 3 and [y = 1] except z", 'like(fold(x), "a*")']}
CHARACTERS = "'\"()[]{}<>=!+-*/%_,.:;|&#$@?\\ \n\t\x00019aZé\u2028\U0001f955\ud800"
MUTANTS = 300


@pytest.mark.parametrize("dialect", TEXTS)
def test_a_mutated_rule_is_read_or_refused(dialect: str) -> None:
    assert dialect in DIALECTS
    generator = random.Random(dialect)
    event = parse_notification("x = a, y = 1, type = t, level = 5")
    refused: list[str] = []
    for _ in range(MUTANTS if dialect != "sigma" else MUTANTS // 5):
        text = mutated(generator.choice(TEXTS[dialect]), generator)
        try:
            read_rule(dialect, text).matches(event)
        except SienaError as error:
            refused.append(str(error))
    assert refused  # or nothing was mutated
    assert not [message for message in refused if "\n" in message]


def mutated(text: str, generator: random.Random) -> str:
    """The text with a few characters lost, added, doubled or swapped."""
    characters = list(text)
    for _ in range(generator.randint(1, 4)):
        at = generator.randrange(len(characters) + 1)
        change = generator.randrange(4)
        if change == 0:
            del characters[at : at + generator.randint(1, 5)]
        elif change == 1:
            characters.insert(at, generator.choice(CHARACTERS))
        elif change == 2:
            characters[at:at] = characters[at : at + 5]
        else:
            characters[at : at + 2] = reversed(characters[at : at + 2])
    return "".join(characters)
