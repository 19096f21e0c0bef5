"""Plain filters: the fast reader never says anything that its slow twin does not."""

import pytest
from hypothesis import event, example, given

from siena.lang import interests
from siena.lang.fast_path import read_plain
from siena.lang.interests import InterestReader
from siena.model import Filter
from strategies import any_filters, filters, texts


@given(texts)
@example("x = brand y = 2")  # not: x = br and y = 2
@example("x = a-and y = 2")
@example("x = 1and y = 2")
@example("x anyand y = 1")
@example("x any and and y = 1")
@example("x exist\u017f")
@example('x = "a"and y = 2')
@example("not any and x = 1")
def test_what_the_fast_reader_reads_the_full_reader_reads_too(text: str) -> None:
    plain = read_plain(text)
    if plain is None:
        event("left to the full reader")
        return
    event("read")
    with pytest.MonkeyPatch.context() as patch:
        # Token by token: the pieces are what the fast reader itself stands on.
        patch.setattr(interests, "read_piece", lambda _text, _position: None)
        steps = InterestReader(text).pattern()
    assert steps == [[tuple(plain)]]
    # Equality takes 1 and 1.0 for one number; here they must not be confused.
    assert [repr(c) for c in plain] == [repr(c) for c in steps[0][0]]


@given(any_filters)
def test_a_printed_filter_is_read_the_same_by_both(f: Filter) -> None:
    plain = read_plain(str(f))
    if plain is not None:
        event("read")
        assert plain == list(f.constraints)


@given(filters())
@example(Filter())
def test_reading_twice_gives_the_same(f: Filter) -> None:
    assert read_plain(str(f)) == read_plain(str(f))


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "x = 1 and y = 2",
        "x = 1,y = 2",
        "integer x > -3 and string s any",
        's >* "finance/exchanges/" and exchange = NYSE and change < 0.5',
        '"alert type" = "it is on fire" AND brand = Anderson',
        "  x   =   brand   and   y   =   operand  ",
    ],
)
def test_plain_filters_take_the_fast_way(text: str) -> None:
    assert read_plain(text) is not None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "x = 1 or y = 2", "x in (1)", "not x = 1", "x = 1 then y = 1", "x ="],
)
def test_everything_else_is_left_to_the_full_reader(text: str) -> None:
    assert read_plain(text) is None
