"""Whether constraints can hold together, and the intervals of strings behind it."""

from itertools import product

import pytest

from conformance.kit import (
    Case,
    Cylinder,
    decompose,
    each,
    parse_constraint,
    parse_filter,
    parse_notification,
    sat,
    satisfiable,
    witness,
)
from siena.algebra.points import ABSENT

# --- Filters ------------------------------------------------------------------


@each("satisfiable", "satisfiable")
def test_satisfiability_is_exact(case: Case) -> None:
    left = parse_filter(case["left"])
    assert satisfiable(left) is case["expected"]
    assert (witness(left) is not None) is case["expected"]


@each("satisfiable", "satisfiable", where=lambda case: case["expected"] is True)
def test_a_witness_matches_its_filter(case: Case) -> None:
    left = parse_filter(case["left"])
    found = witness(left)
    assert found is not None
    assert left.matches(found)
    assert left.matches(parse_notification(case["witness"]))


# --- Values -------------------------------------------------------------------


@each("strings", "sat")
def test_sat_finds_a_value_if_there_is_one(case: Case) -> None:
    positive = [parse_constraint(text) for text in case["positive"]]
    negative = [parse_constraint(text) for text in case["negative"]]
    found = sat(positive, negative)
    assert (found is not None) is case["expected"]


@each("strings", "sat", where=lambda case: case["expected"] is True)
def test_the_value_satisfies_all_positives_and_no_negative(case: Case) -> None:
    positive = [parse_constraint(text) for text in case["positive"]]
    negative = [parse_constraint(text) for text in case["negative"]]
    (shown,) = parse_notification(case["witness"]).values()
    found = sat(positive, negative)
    assert found is not None
    assert found is not ABSENT
    for value in (found, shown):
        assert all(constraint.matches(value) for constraint in positive)
        assert not any(constraint.matches(value) for constraint in negative)


# --- Intervals of strings -------------------------------------------------------


@each("strings", "decompose")
def test_an_interval_has_these_points_and_cylinders(case: Case) -> None:
    pieces = decompose(case["low"], case["high"])
    assert sorted(pieces.points) == sorted(case["points"])
    expected = [(c["stem"], c["first"], c["last"]) for c in case["cylinders"]]
    assert sorted(map(plain, pieces.cylinders)) == sorted(
        plain(Cylinder(*parts)) for parts in expected
    )


@each("strings", "decompose")
def test_the_pieces_hold_each_word_of_the_interval_once(case: Case) -> None:
    low, high = case["low"], case["high"]
    pieces = decompose(low, high)
    for word in words(low, high):
        inside = low <= word and (high is None or word < high)
        found = [point for point in pieces.points if point == word]
        around = [cylinder for cylinder in pieces.cylinders if holds(cylinder, word)]
        assert len(found) + len(around) == int(inside), repr(word)


@pytest.mark.parametrize(
    ("cylinder", "form"),
    [
        (Cylinder("a", None, None), ("a", "", "")),
        (Cylinder("", "b", "b"), ("b", "", "")),
        (Cylinder("a", "b", "c"), ("a", "b", "c")),
    ],
)
def test_a_cylinder_of_one_character_is_a_longer_stem(
    cylinder: Cylinder, form: tuple[str, str, str]
) -> None:
    assert plain(cylinder) == form


def plain(cylinder: Cylinder) -> tuple[str, str, str]:
    """One form for cylinders that hold the same words, and can be sorted."""
    if cylinder.first is None or cylinder.last is None:
        return cylinder.stem, "", ""
    if cylinder.first == cylinder.last:
        return cylinder.stem + cylinder.first, "", ""
    return cylinder.stem, cylinder.first, cylinder.last


def holds(cylinder: Cylinder, word: str) -> bool:
    """Whether the cylinder contains the word, by its definition."""
    if not word.startswith(cylinder.stem):
        return False
    if cylinder.first is None or cylinder.last is None:
        return True
    following = word[len(cylinder.stem) :][:1]
    return following != "" and cylinder.first <= following <= cylinder.last


def words(low: str, high: str | None) -> list[str]:
    """All short words over the characters of the ends, their neighbours and others."""
    letters = set(low + (high or "")) | {"\0", "\1", "a", "z", "\U0010ffff"}
    # Neighbours of the ends, except where only half characters are.
    letters |= {
        chr(ord(c) + 1) for c in "".join(letters) if c not in "\ud7ff\U0010ffff"
    }
    length_max = len(low if high is None else max(low, high, key=len)) + 1
    return [
        "".join(characters)
        for length in range(min(length_max, 4) + 1)
        for characters in product(sorted(letters), repeat=length)
    ]
