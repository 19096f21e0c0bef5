"""Events that are likely to fire a Sigma rule, or nearly: made of its own values."""

import random
from typing import Any

from sigma.rule import SigmaRule
from sigma.types import (
    SigmaBool,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaNumber,
    SigmaString,
    SpecialChars,
)

from sigma_loop import values_of


def events_for(rule: SigmaRule, generator: random.Random, count: int) -> list[Any]:
    """Events with some of a rule's fields, each with a value that some part wants."""
    wanted: dict[str, list[Any]] = {}
    for condition in rule.detection.parsed_condition:
        for field, value in values_of(condition.parsed):
            wanted.setdefault(field, []).append(value)
    return [_event(wanted, generator) for _ in range(count)]


def _event(wanted: dict[str, list[Any]], generator: random.Random) -> dict[str, Any]:
    # Mostly all fields, because most rules are conjunctions.
    share = generator.choice([1.0, 1.0, 0.7])
    return {
        field: _joined([_example(v, generator) for v in _some(values, generator)])
        for field, values in wanted.items()
        if generator.random() < share
    }


def _some(values: list[Any], generator: random.Random) -> list[Any]:
    count = generator.choice([1, 1, 2, len(values)])
    return generator.sample(values, min(count, len(values)))


def _joined(examples: list[Any]) -> Any:  # noqa: ANN401 -- a value of any kind
    """Several texts in one, which is what `contains all` wants; else the first."""
    texts = [example for example in examples if isinstance(example, str)]
    return " ".join(texts) if len(texts) > 1 else examples[0]


def _example(value: Any, generator: random.Random) -> Any:  # noqa: ANN401 -- as above
    match value:
        case SigmaString():
            text = "".join(
                part
                if isinstance(part, str)
                else generator.choice(["", "x", "C:\\"])
                if part is SpecialChars.WILDCARD_MULTI
                else generator.choice("xy")
                for part in value.s
            )
            return generator.choice([text, text, text.upper(), text + "x"])
        case SigmaCompareExpression():
            return value.number.number + generator.choice([-1, 0, 1])
        case SigmaBool():
            return generator.choice([value.boolean, str(value.boolean), "x"])
        case SigmaNumber():
            return generator.choice([value.number, str(value.number), -1])
        case SigmaCIDRExpression():
            return str(value.network.network_address)
        case _:
            return generator.choice(["x", "", 0])
