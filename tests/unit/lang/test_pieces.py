"""Pieces: with them and without, texts are read the same, and fail the same."""

from collections.abc import Callable

import pytest
from hypothesis import event, example, given

from siena.errors import SienaError
from siena.lang import interests, lists
from siena.lang.interests import InterestReader
from siena.lang.lists import ListReader
from siena.lang.parser import parse_interest
from siena.lang.pieces import read_piece
from strategies import texts


def _outcome(read: Callable[[str], object], text: str) -> str:
    # The spelling: equality takes 1 and 1.0 for one number.
    try:
        return repr(read(text))
    except SienaError as error:
        return f"{type(error).__name__} {error}"


def _by_tokens(read: Callable[[str], object], text: str) -> str:
    with pytest.MonkeyPatch.context() as patch:
        for module in (interests, lists):
            patch.setattr(module, "read_piece", lambda _text, _position: None)
        return _outcome(read, text)


def _interest(text: str) -> object:
    return InterestReader(text).pattern()


def _advertisement(text: str) -> object:
    return ListReader(text).advertisement()


@given(texts)
@example("not x any")
@example('not x >* ""')  # wrong too, and said in other words
@example("not x starts with ab or x contains = 3")
@example("time = 3 and time starts with ab and integer time any")
@example("time time = 1970-01-01T00:00:00Z, time x = 12:30")
@example("x = 12:30")
@example("x = 12:30:00Z or x = 1.5.2")
@example("x = 007 or y = 1")
@example("x =~ 3")
@example("x = true and y = TRUE and z = or")
@example("x = nan")
@example("integer x = 1.5")
@example('x = "a\\qb"')
@example('x = "\\ud800"')
@example("x = 'it\\'s' and 'a\nb' ends with \"\\\n\"")
@example("x startswith ab")
@example("x exist\u017f")
@example("x any any")
@example("x anyy")
@example("x = 1and y = 2")
@example("x = " + "a" * 5000)
def test_pieces_change_neither_values_nor_errors(text: str) -> None:
    event("a piece" if read_piece(text, 0) else "tokens")
    for read in (_interest, _advertisement):
        assert _outcome(read, text) == _by_tokens(read, text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        'integer  "x"!=-3',
        '\'\\u0079\' starts  with "a\\"b"',
        "x Ends With ab",
        "time t >= 2026-11-15T02:40:03.5Z",
        "number x Exists",
    ],
)
def test_the_usual_forms_are_pieces(text: str) -> None:
    piece = read_piece(text, 0)
    assert piece is not None
    assert piece[1] == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1" + " " * 1_000_000 + "y",
        "x" + " " * 1_000_000 + "y",
        "integer" + " " * 1_000_000 + "]",
        "x starts" + " " * 1_000_000 + "wit",
        "x = " + " " * 1_000_000,
    ],
)
def test_spaces_cost_no_more_than_their_number(text: str) -> None:
    with pytest.raises(SienaError):  # a square of the number would take minutes
        parse_interest(text)


@pytest.mark.parametrize(
    "text", ["x", "x in (1, 2)", "not x = 1", "(x = 1)", "x = or", "x = [1]", ""]
)
def test_anything_else_is_none(text: str) -> None:
    assert read_piece(text, 0) is None
