"""Wildcards: what patterns match, against trying every choice; and what they cost."""

import pytest
from hypothesis import event, example, given, strategies as st

import reference
from siena.errors import InvalidConstraintError
from siena.model import Constraint, Operator
from siena.model.wildcards import (
    escape,
    matches_wildcards,
    read_wildcards,
    write_wildcards,
)
from strategies import patterns

TEXTS = st.text(alphabet="abA*?\\é\0", max_size=8)


@given(patterns(), TEXTS)
@example("*a?b*", "aab")
@example("a*a", "a")
@example("*ab*ab*", "xabab")
@example("*?a*", "aba")
@example("a?*", "a")
def test_a_pattern_matches_what_the_reference_says(pattern: str, text: str) -> None:
    found = matches_wildcards(text, pattern)
    event("matches" if found else "does not match")
    plain = reference.satisfies(text, Constraint("s", Operator.LIKE, pattern))
    assert found is plain is reference.is_like(text, pattern)


@given(patterns(), TEXTS)
def test_its_one_form_means_the_same(pattern: str, text: str) -> None:
    """``like`` may become another operator; and ``?`` goes before ``*``."""
    constraint = Constraint("s", Operator.LIKE, pattern)
    assert constraint.matches(text) is matches_wildcards(text, pattern)
    if constraint.operator is Operator.LIKE:
        assert "*?" not in str(constraint.value).replace("\\*", "x")
        assert Constraint("s", Operator.LIKE, constraint.value) == constraint


@given(patterns())
def test_a_pattern_is_read_and_written(pattern: str) -> None:
    assert write_wildcards(read_wildcards(pattern).parts) == pattern


@given(TEXTS, TEXTS)
def test_what_is_escaped_matches_itself_alone(text: str, other: str) -> None:
    assert matches_wildcards(text, escape(text))
    assert matches_wildcards(other, escape(text)) is (other == text)


@pytest.mark.parametrize(
    ("pattern", "is_now"),
    [
        ("ab", "s = ab"),
        ("ab*", "s >* ab"),
        ("*ab", "s *< ab"),
        ("**ab**", "s * ab"),
        ("*", "string s any"),
        ("", 's = ""'),
        ("a\\*b", 's = "a*b"'),
        ("*?*?a*", 's like "??*a*"'),
        ("a*?", 's like "a?*"'),
    ],
)
def test_simple_patterns_are_simpler_operators(pattern: str, is_now: str) -> None:
    assert str(Constraint("s", Operator.LIKE, pattern)) == is_now


@pytest.mark.parametrize("pattern", ["\\", "a\\b", "a\\\\\\"])
def test_a_backslash_stands_before_what_is_special(pattern: str) -> None:
    with pytest.raises(InvalidConstraintError, match="backslash"):
        Constraint("s", Operator.LIKE, pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("*a" * 1_000 + "*b", "a" * 100_000),
        ("a?" * 500 + "*b*" + "?a" * 500, "a" * 100_000),
        ("*" + "a?" * 20 + "b*", "a" * 100_000),
    ],
    ids=["stars", "open", "part"],
)
def test_no_pattern_is_made_to_go_back(pattern: str, text: str) -> None:
    """With choices that are undone, these would take longer than the world has."""
    assert not matches_wildcards(text, pattern)
