"""Spelling: what is printed can be read back, by people and by the parser."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from siena.lang.literals import read_literal
from siena.lang.scanner import QUOTED, WORD, Scanner
from siena.model import Value
from siena.model.spelling import NOT_VALUES, RESERVED, spell, spell_string, spell_time
from siena.model.values import KIND_OF_WORD
from strategies import any_values


@given(any_values)
def test_a_literal_reads_back_as_the_value(value: Value) -> None:
    text = spell(value)
    scanner = Scanner(text)
    back = read_literal(scanner)
    assert scanner.end == len(text), "one token, to the end"
    assert type(back) is type(value)
    assert back == value


@given(st.text(max_size=5))
def test_a_spelled_string_is_one_printable_line(text: str) -> None:
    spelled = spell_string(text)
    assert len(spelled.splitlines()) == 1
    assert Scanner(spelled).kind in {QUOTED, WORD}
    assert not any(ord(c) < 32 for c in spelled)


@pytest.mark.parametrize("word", sorted(RESERVED | NOT_VALUES | set(KIND_OF_WORD)))
def test_words_with_a_meaning_are_quoted(word: str) -> None:
    for text in (word, word.upper(), word.title()):
        assert spell_string(text) == f'"{text}"'


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("NYSE", "NYSE"),
        ("finance/exchanges.stock:a-b", "finance/exchanges.stock:a-b"),
        ("New York", '"New York"'),
        ("", '""'),
        ("1st", '"1st"'),
        ("-a", '"-a"'),
        ("Zürich", '"Zürich"'),
        ('say "hi"', '"say \\"hi\\""'),
        ("a\\b", '"a\\\\b"'),
        ("a\nb\t\0", '"a\\nb\\t\\u0000"'),
        ("\u2028", '"\\u2028"'),
        (True, "true"),
        (-5, "-5"),
        (2.0, "2.0"),
        (1e300, "1e+300"),
        (datetime(1998, 3, 4, 18, 43, 37, tzinfo=UTC), "1998-03-04T18:43:37Z"),
        (datetime(1, 1, 1, 0, 0, 0, 1, tzinfo=UTC), "0001-01-01T00:00:00.000001Z"),
    ],
)
def test_values_are_spelled_as_people_would(value: Value, text: str) -> None:
    assert spell(value) == text


def test_a_time_is_spelled_in_utc() -> None:
    assert spell_time(datetime(2026, 11, 15, tzinfo=UTC)) == "2026-11-15T00:00:00Z"
