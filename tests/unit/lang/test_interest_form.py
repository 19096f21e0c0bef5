"""The JSON forms of filters, predicates, patterns and advertisements."""

import json
from collections.abc import Callable

import pytest
from hypothesis import event, given, strategies as st

from siena.errors import SienaError
from siena.lang import (
    advertisement_from_json,
    advertisement_to_json,
    interest_from_json,
    interest_to_json,
    parse_interest,
)
from siena.lang.json_text import Json, read_json
from siena.model import Advertisement, Constraint, Filter, Operator, Pattern, Predicate
from strategies import any_advertisements, any_filters, any_patterns, any_predicates


@given(any_filters | any_predicates | any_patterns)
def test_an_interest_survives_json(interest: Filter | Predicate | Pattern) -> None:
    text = json.dumps(interest_to_json(interest))
    for form in (json.loads(text), read_json(text)):
        back = interest_from_json(form)
        assert back == interest
        assert str(back) == str(interest)
    # A text may stand for the form.
    assert interest_from_json(str(interest)) == parse_interest(str(interest))


@given(any_advertisements)
def test_an_advertisement_survives_json(advertisement: Advertisement) -> None:
    text = json.dumps(advertisement_to_json(advertisement))
    assert advertisement_from_json(json.loads(text)) == advertisement


def test_the_predicate_without_filters_has_a_form() -> None:
    assert interest_to_json(Predicate()) == {"or": []}
    assert interest_from_json({"or": []}) == Predicate()


def test_a_step_of_a_pattern_may_be_a_filter_a_predicate_or_a_text() -> None:
    form: Json = {
        "then": [
            "x any",
            [{"name": "y", "operator": "any"}],
            {"or": ["x = 1", "x = 2"]},
        ]
    }
    assert str(interest_from_json(form)) == "x any then y any then x = 1 or x = 2"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["x", "=", "any", ">*", "integer", "x = 1", "x any then y any"])
    | st.text(st.characters(), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                ["name", "operator", "value", "type", "or", "then", "time", "z"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("read", [interest_from_json, advertisement_from_json])
@given(form=json_values)
def test_any_json_is_a_form_or_refused_in_one_line(
    read: Callable[[Json], object], form: Json
) -> None:
    try:
        read(form)
    except SienaError as error:
        message = str(error)
    else:
        message = "read"
    event("refused" if message != "read" else "read")
    assert len(message.splitlines()) == 1
    message.encode()  # it can be printed


@pytest.mark.parametrize(
    "form",
    [
        None,
        1,
        {},
        {"and": []},
        {"or": [], "then": []},
        {"or": "x = 1"},
        {"then": []},
        {"or": [{"or": ["x = 1"]}]},
        {"or": ["x any then y any"]},
        {"then": ["x any then y any"]},
        {"then": [{"then": ["x any"]}]},
        [1],
        [{"name": "x"}],
        [{"operator": "any"}],
        [{"name": "x", "operator": "is"}],
        [{"name": "x", "operator": "="}],
        [{"name": "x", "operator": "=", "value": None}],
        [{"name": "x", "operator": "=", "value": [1]}],
        [{"name": "x", "operator": "any", "value": 1}],
        [{"name": "x", "operator": "=", "value": 1, "type": "string"}],
        [{"name": "x", "operator": "=", "value": 1, "type": "any"}],
        [{"name": "x", "operator": "=", "value": 1, "type": 1}],
        [{"name": "x", "operator": "=", "value": 1, "kind": "integer"}],
        [{"name": "x", "operator": "=", "value": 2**63}],
        [{"name": 1, "operator": "any"}],
    ],
)
def test_what_is_not_a_form_is_refused(form: Json) -> None:
    with pytest.raises(SienaError):
        interest_from_json(form)


def test_the_type_is_written_only_where_it_says_something() -> None:
    forms = interest_to_json(
        Filter([Constraint("x", Operator.EQ, 1), Constraint("y", Operator.ANY)])
    )
    assert forms == [
        {"name": "x", "operator": "=", "value": 1},
        {"name": "y", "operator": "any"},
    ]
