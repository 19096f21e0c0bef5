"""Interests by shape: they are what they are called, and the same for a seed."""

from itertools import islice

import pytest

from siena.bench.network.shapes import Shape, texts
from siena.lang import parse_filter
from siena.model import Operator

EQ, GT, LT, PREFIX = Operator.EQ, Operator.GT, Operator.LT, Operator.PREFIX
OPERATORS = {
    Shape.POINTS: [EQ],
    Shape.BANDS: [EQ, GT, LT],
    Shape.PREFIXES: [PREFIX],
    Shape.USERS: [EQ, GT],
    Shape.BOXES: [GT, GT, LT, LT],
}


@pytest.mark.parametrize("shape", OPERATORS)
def test_a_shape_has_its_operators(shape: Shape) -> None:
    for text in texts(shape, 50, seed=3):
        operators = [each.operator for each in parse_filter(text)]
        assert sorted(operators, key=str) == sorted(OPERATORS[shape], key=str)


@pytest.mark.parametrize("shape", Shape)
def test_a_shape_is_the_same_for_a_seed(shape: Shape) -> None:
    once = list(texts(shape, 100, seed=3))
    assert len(once) == 100
    assert once == list(texts(shape, 100, seed=3))
    # A longer run begins with the shorter one.
    assert once == list(islice(texts(shape, 200, seed=3), 100))


def test_a_mixture_has_one_of_each_in_turn() -> None:
    others = [shape for shape in Shape if shape is not Shape.MIXTURE]
    firsts = [next(texts(shape, 1, seed=3)) for shape in others]
    assert list(texts(Shape.MIXTURE, len(others), seed=3)) == firsts
