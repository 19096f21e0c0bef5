"""Patterns: sequences of predicates."""

import copy
import pickle

import pytest
from hypothesis import given

from siena.errors import FilterError, LimitError
from siena.lang import parse_filter, parse_pattern, parse_predicate
from siena.model import Filter, Pattern, Predicate
from siena.model.limits import STEPS_MAX
from strategies import any_patterns


@given(any_patterns)
def test_a_pattern_survives_pickling_and_copying(pattern: Pattern) -> None:
    pickled = pickle.loads(pickle.dumps(pattern))  # noqa: S301
    for other in (pickled, copy.copy(pattern), copy.deepcopy(pattern)):
        assert other == pattern
        assert hash(other) == hash(pattern)
        assert str(other) == str(pattern)


def test_a_step_may_be_a_filter_or_a_predicate() -> None:
    f, predicate = parse_filter("x = 1"), parse_predicate("x = 1 or y = 1")
    pattern = Pattern([f, predicate])
    assert pattern.steps == (Predicate([f]), predicate)
    assert list(pattern) == [Predicate([f]), predicate]
    assert len(pattern) == 2
    assert not pattern.is_simple
    assert Pattern([f]).is_simple


def test_order_and_repetition_matter() -> None:
    assert parse_pattern("x any then y any") != parse_pattern("y any then x any")
    assert parse_pattern("x any then x any") != parse_pattern("x any")


def test_a_pattern_has_between_one_and_the_most_steps() -> None:
    with pytest.raises(FilterError, match="at least one step"):
        Pattern([])
    assert len(Pattern([Filter()] * STEPS_MAX)) == STEPS_MAX
    with pytest.raises(LimitError, match="STEPS_MAX"):
        Pattern([Filter()] * (STEPS_MAX + 1))


def test_a_pattern_does_not_change() -> None:
    with pytest.raises(AttributeError):
        parse_pattern("x any").steps = ()  # type: ignore[misc]
