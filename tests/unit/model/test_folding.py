"""Folding: the table is Unicode's, and what it does to strings."""

import unicodedata

import pytest
from hypothesis import given, strategies as st

import folding as unicode
from siena.model import Constraint, Operator
from siena.model.folding import FOLDED, fold, has_variants, variants
from siena.model.folding_table import RUNS, UNICODE_VERSION


@pytest.mark.skipif(
    unicodedata.unidata_version != UNICODE_VERSION,
    reason="this Python has another Unicode than the table",
)
def test_the_table_is_what_unicode_says() -> None:
    assert list(RUNS) == unicode.runs()


def test_the_table_is_what_every_later_unicode_says_of_its_characters() -> None:
    """Foldings of characters that exist are never changed."""
    assert all(unicode.folded(chr(code)) == chr(to) for code, to in FOLDED.items())


def test_folding_is_done_once_and_for_all() -> None:
    assert not FOLDED.keys() & set(FOLDED.values())
    assert all(chr(to) not in "*?\\" for to in FOLDED.values())


@given(st.text())
def test_a_string_is_folded_character_by_character(text: str) -> None:
    assert fold(text) == "".join(chr(FOLDED.get(ord(c), ord(c))) for c in text)
    assert len(fold(text)) == len(text)
    assert fold(fold(text)) == fold(text)


@given(st.characters())
def test_variants_are_what_is_folded_to_a_character(character: str) -> None:
    assert character in variants(fold(character))
    assert all(fold(c) == fold(character) for c in variants(fold(character)))
    assert has_variants(fold(character)) is (len(variants(fold(character))) > 1)


@pytest.mark.parametrize(
    ("operand", "values"),
    [
        ("STRASSE", ["strasse", "Stra\u017fse"]),
        ("stra\u00dfe", ["STRA\u1e9eE"]),
        ("\u03c3", ["\u03a3", "\u03c2"]),
        ("k", ["\N{KELVIN SIGN}"]),
    ],
)
def test_case_is_ignored_by_character(operand: str, values: list[str]) -> None:
    constraint = Constraint("s", Operator.EQ_FOLDED, operand)
    assert all(constraint.matches(value) for value in values)
    # Full folding would take these two for one.
    assert not Constraint("s", Operator.EQ_FOLDED, "ss").matches("\u00df")


def test_an_operand_without_case_is_compared_as_it_is() -> None:
    exact = Constraint("s", Operator.SUBSTRING, "12:30")
    assert Constraint("s", Operator.SUBSTRING_FOLDED, "12:30") == exact
    assert Constraint("s", Operator.EQ_FOLDED, "A") == Constraint(
        "s", Operator.EQ_FOLDED, "a"
    )
