"""The conformance cases of CloudEvents SQL itself, where their folder is given.

``SIENA_CESQL_TCK`` names the folder ``cesql_tck`` of github.com/cloudevents/spec.
"""

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from siena.dialects.cesql import read_cesql
from siena.dialects.factoring import factor
from siena.errors import FilterError, FilterSyntaxError
from siena.model import Notification
from siena.model.expression import Failure, compile_expression
from siena.model.expression.operations import CONDITIONS, LOGIC, Operation
from siena.model.expression.tree import Call

FOLDER = os.environ.get("SIENA_CESQL_TCK", "")
ERRORS = {
    Failure.MISSING_ATTRIBUTE: "missingAttribute",
    Failure.CAST: "cast",
    Failure.MATH: "math",
    Failure.FUNCTION: "functionEvaluation",
}
EVENT = {"specversion": "1.0", "id": "one", "source": "/here", "type": "a.type"}


def cases() -> list[Any]:
    return [
        pytest.param(case, id=f"{path.stem}: {case['name']}")
        for path in sorted(Path(FOLDER).glob("*.yaml") if FOLDER else ())
        for case in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]
    ]


def test_the_folder_is_known_or_this_says_so() -> None:
    if not FOLDER:
        pytest.skip("SIENA_CESQL_TCK does not name the folder cesql_tck")
    assert len(cases()) >= 275


@pytest.mark.parametrize("case", cases())
def test_a_case_gives_what_it_should(case: dict[str, Any]) -> None:
    attributes = case.get("event") or EVENT | case.get("eventOverrides", {})
    event = {name: plain(value) for name, value in attributes.items()}
    error = case.get("error")
    try:
        expression = read_cesql(str(case["expression"]))
    except FilterSyntaxError:
        assert error == "parse"
        return
    except FilterError:
        assert error == "missingFunction"
        return
    failures: list[Failure] = []
    value = compile_expression(expression)(event, failures)
    if value is None:
        value = zero_of(expression)
    wanted = plain(case["result"])
    assert (value, type(value)) == (wanted, type(wanted))
    assert [ERRORS[failure] for failure in failures] == ([error] if error else [])
    # As a filter: what the rule says is what the expression says.
    is_wanted = value is True and not failures
    assert factor(expression).matches(Notification(event)) == is_wanted


def plain(value: object) -> Any:  # noqa: ANN401 -- of any type of theirs
    """The value as a CloudEvent in JSON has it."""
    return value.isoformat() if isinstance(value, datetime) else value


def zero_of(expression: object) -> object:
    """What stands for a value that failed, by the type of what should have made it."""
    if not isinstance(expression, Call) or expression.operation in CONDITIONS | LOGIC:
        return False
    is_text = expression.operation in {Operation.CE_STRING, Operation.CONCAT}
    if expression.operation in {
        Operation.CE_VALUE,
        Operation.CE_TEXT,
        Operation.CE_NOT,
    }:
        return False
    return "" if is_text else 0
