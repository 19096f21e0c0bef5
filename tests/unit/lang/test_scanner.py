"""The scanner: tokens, and what is said where no token begins."""

import pytest
from hypothesis import given, strategies as st

from siena.errors import SienaError
from siena.lang.scanner import (
    END,
    KEYWORD,
    NUMBER,
    PUNCTUATION,
    QUOTED,
    SYMBOL,
    TIME,
    WORD,
    Scanner,
)
from siena.model.spelling import RESERVED
from strategies import texts


def tokens(text: str) -> list[tuple[int, str]]:
    scanner = Scanner(text)
    found = []
    while scanner.kind != END:
        found.append((scanner.kind, scanner.token))
        scanner.advance()
    return found


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x", [WORD]),
        ("android", [WORD]),
        ("and", [KEYWORD]),
        ("AND", [KEYWORD]),
        ("and-1", [WORD]),
        ("'a' \"b\"", [QUOTED, QUOTED]),
        ("1 -2.5 .5 1e3", [NUMBER, NUMBER, NUMBER, NUMBER]),
        ("2026-11-15T02:40:03Z 02:40", [TIME, TIME]),
        ("= != < <= > >= >* *< *", [SYMBOL] * 9),
        ("([,])", [PUNCTUATION] * 5),
        ("x>=1", [WORD, SYMBOL, NUMBER]),
        ("x=-1", [WORD, SYMBOL, NUMBER]),
        ("x*<a", [WORD, SYMBOL, WORD]),
        ("", []),
        (" \n\t\u3000", []),
    ],
)
def test_tokens_have_kinds(text: str, kinds: list[int]) -> None:
    assert [kind for kind, _ in tokens(text)] == kinds


@given(texts)
def test_tokens_are_pieces_of_the_text_in_order(text: str) -> None:
    try:
        found = tokens(text)
    except SienaError:
        return
    position = 0
    for _, token in found:
        start = text.find(token, position)
        assert start >= 0
        assert not text[position:start].strip(), "only space is passed over"
        position = start + len(token)
    assert not text[position:].strip()


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_reserved_words_are_keywords_in_any_case(word: str) -> None:
    for spelled in (word, word.upper(), word.title()):
        scanner = Scanner(spelled)
        assert (scanner.kind, scanner.keyword) == (KEYWORD, word)


@given(st.sampled_from(sorted(RESERVED)), st.text(max_size=3))
def test_a_keyword_is_in_plain_letters(word: str, tail: str) -> None:
    """A long s is no s, although a pattern that ignores case takes it for one."""
    long_s, dotless_i = word.replace("s", "\u017f"), word.replace("i", "\u0131")
    for text in (long_s, dotless_i, word + tail):
        try:
            found = tokens(text)
        except SienaError:
            continue
        for kind, token in found:
            assert (kind == KEYWORD) is (token.lower() in RESERVED)
