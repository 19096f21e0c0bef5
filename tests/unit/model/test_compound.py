"""Compound interests as values: their parts, their union, their limit."""

import pickle

import pytest

from siena.errors import LimitError
from siena.lang.parser import parse_filter, parse_predicate
from siena.model.compound import PARTS_MAX, Both, Either, Part, Then

X, Y = parse_filter("x any"), parse_predicate("y = 1 or y = 2")


def test_the_parts_stand_from_left_to_right() -> None:
    assert Then(Both(X, Y), Either(Y, X)).parts == (X, Y, Y, X)


def test_the_union_has_every_filter_of_every_part_once() -> None:
    union = parse_predicate("x any or y = 1 or y = 2")
    assert Then(Both(X, Y), Either(Y, X)).union() == union


def test_operators_and_switches_make_different_values() -> None:
    assert len({Either(X, Y), Both(X, Y), Then(X, Y), Both(X, Y, True)}) == 4
    assert Either(X, Y) == Either(X, Y)


def test_a_compound_can_be_pickled() -> None:
    compound = Both(Then(X, Y), X, same_occurrence_allowed=True)
    assert pickle.loads(pickle.dumps(compound)) == compound  # noqa: S301 - our own


def test_a_compound_with_too_many_parts_is_refused() -> None:
    compound: Part = X
    for _ in range(PARTS_MAX - 1):
        compound = Either(compound, X)
    with pytest.raises(LimitError, match="PARTS_MAX"):
        Either(compound, X)
