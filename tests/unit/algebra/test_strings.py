"""Strings: the line by code point, cut into intervals, points and cylinders."""

import pytest
from hypothesis import event, given, strategies as st

import reference
from siena.algebra.text.strings import (
    Cylinder,
    Pieces,
    decompose,
    intervals,
    sat_string,
)
from siena.lang import parse_filter
from siena.model import Constraint, Kind, Operator
from siena.model.limits import OPERAND_CHARACTERS_MAX
from siena.model.values import after_prefix
from strategies import ALPHABET, constraints, strings

# An empty prefix would be `any`, which is no matter of intervals.
order_constraints = constraints((Kind.STRING,), ("s",)).filter(
    lambda c: c.operator in {*list(Operator)[:6], Operator.PREFIX}
)

UNIVERSE = (*reference.strings_over(ALPHABET, 4), "!", "a!", "b!a", "!!")
# The surrogates are no characters: U+D7FF and U+E000 are neighbours.
AROUND_THE_SURROGATES = "a\ud7ff\ue000"
SURROGATE_UNIVERSE = tuple(reference.strings_over(AROUND_THE_SURROGATES + "b", 4))


def contains(cylinder: Cylinder, text: str) -> bool:
    if not text.startswith(cylinder.stem):
        return False
    if cylinder.first is None or cylinder.last is None:
        return True
    following = text[len(cylinder.stem) : len(cylinder.stem) + 1]
    return bool(following) and cylinder.first <= following <= cylinder.last


def occurrences(pieces: Pieces, text: str) -> int:
    return pieces.points.count(text) + sum(contains(c, text) for c in pieces.cylinders)


@given(strings, strings | st.none())
def test_the_pieces_are_exactly_the_interval(lo: str, hi: str | None) -> None:
    """Every string of the interval is in one piece, every other in none."""
    if hi is not None and lo > hi:
        lo, hi = hi, lo
    if lo == hi:
        return
    pieces = decompose(lo, hi)
    event("finite" if not pieces.cylinders else "infinite")
    for text in UNIVERSE:
        inside = lo <= text and (hi is None or text < hi)
        assert occurrences(pieces, text) == inside


@given(
    st.text(AROUND_THE_SURROGATES, max_size=3),
    st.text(AROUND_THE_SURROGATES, max_size=3),
)
def test_the_pieces_step_over_the_surrogates(one: str, other: str) -> None:
    lo, hi = sorted((one, other))
    if lo == hi:
        return
    pieces = decompose(lo, hi)
    for text in SURROGATE_UNIVERSE:
        assert occurrences(pieces, text) == (lo <= text < hi)
    for cylinder in pieces.cylinders:
        for end in (cylinder.first or "a", cylinder.last or "a"):
            end.encode()  # a character, not half of one


@pytest.mark.parametrize(
    ("lo", "hi", "pieces"),
    [
        ("ab", "ac", Pieces((), (Cylinder("ab"),))),
        ("a\0", "b", Pieces((), (Cylinder("a\0"), Cylinder("a", "\1", "\U0010ffff")))),
        (
            "",
            "ab",
            Pieces(("", "a"), (Cylinder("", "\0", "`"), Cylinder("a", "\0", "a"))),
        ),
        ("a", "a\0\0", Pieces(("a", "a\0"), ())),
        ("b", None, Pieces((), (Cylinder("b"), Cylinder("", "c", "\U0010ffff")))),
    ],
)
def test_the_golden_decompositions(lo: str, hi: str | None, pieces: Pieces) -> None:
    assert decompose(lo, hi) == pieces


@given(
    st.lists(order_constraints, max_size=4),
    st.lists(order_constraints, max_size=3),
)
def test_intervals_are_what_order_and_prefix_leave(
    positive: list[Constraint], negative: list[Constraint]
) -> None:
    left = intervals(positive, negative)
    assert left == sorted(left, key=lambda interval: interval[0])
    for text in reference.strings_over(ALPHABET, 3):
        holds = all(reference.satisfies(text, c) for c in positive) and not any(
            reference.satisfies(text, c) for c in negative
        )
        found = sum(lo <= text and (hi is None or text < hi) for lo, hi in left)
        assert found == holds


@given(st.text(ALPHABET + AROUND_THE_SURROGATES, max_size=3))
def test_after_a_prefix_comes_the_least_string_above_it(prefix: str) -> None:
    end = after_prefix(prefix)
    if end is None:
        assert not prefix.strip("\U0010ffff")
        return
    end.encode()
    assert end > prefix
    assert not end.startswith(prefix)
    assert (prefix + "\U0010ffff" * 3) < end
    # Nothing in between: what is below the end and above the prefix begins with it.
    for text in (*UNIVERSE[:800], *SURROGATE_UNIVERSE):
        assert (prefix <= text < end) == text.startswith(prefix)


@pytest.mark.parametrize(
    ("wanted", "unwanted", "is_found"),
    [
        ("s >* ab, s *< ba", "s = aba", True),
        ('s <= "a\\u0000", s >= a', 's = a, s = "a\\u0000"', False),
        ("s * xy", "s * x", False),
        ("s * x", "s * xy", True),
        ("s *< ab", "s *< b", False),
        ("s *< b", "s *< ab", True),
        ("s >* ab", "s * ab", False),
        ("s any", "string s any", False),
    ],
)
def test_the_golden_searches(wanted: str, unwanted: str, *, is_found: bool) -> None:
    found = sat_string(parse_filter(wanted), parse_filter(unwanted))
    assert (found is not None) == is_found


def test_many_different_unwanted_characters_are_no_obstacle() -> None:
    """The character that keeps the parts apart is found although most are taken."""
    taken = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x10000)]))
    pieces = [
        taken[at : at + OPERAND_CHARACTERS_MAX]
        for at in range(0, len(taken), OPERAND_CHARACTERS_MAX)
    ]
    unwanted = [Constraint("s", Operator.SUBSTRING, piece) for piece in pieces]
    wanted = list(parse_filter("s * abc, s *< xyz"))
    found = sat_string(wanted, unwanted)
    assert found is not None
    assert all(reference.satisfies(found, c) for c in wanted)
    assert not any(reference.satisfies(found, c) for c in unwanted)


@given(st.lists(constraints((Kind.STRING,), ("s",)), max_size=3))
def test_a_witness_has_only_characters(positive: list[Constraint]) -> None:
    about = [c for c in positive if c.operator is not Operator.OTHER]
    found = sat_string(about, ())
    if found is not None:
        found.encode()
