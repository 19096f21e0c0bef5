"""Limits, and the errors that name them."""

import copy
import pickle

import pytest

from siena.errors import (
    FilterSyntaxError,
    InvalidConstraintError,
    InvalidFormError,
    InvalidNotificationError,
    LimitError,
    SienaError,
)
from siena.model import limits

LIMITS = [name for name in vars(limits) if name.endswith("_MAX")]


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_is_a_positive_number(name: str) -> None:
    assert getattr(limits, name) > 0


@pytest.mark.parametrize(
    "error",
    [
        SienaError("a"),
        FilterSyntaxError("a", hint="b").at("text", 2),
        InvalidConstraintError("a"),
        InvalidNotificationError("a", hint="b"),
        InvalidFormError("a").at("te\nxt", 4),
        LimitError("NESTING_MAX", 100, "levels"),
        LimitError("NESTING_MAX", 100, "levels").at("((", 1),
    ],
    ids=str,
)
def test_an_error_can_travel_between_processes(error: SienaError) -> None:
    """Workers and Spark pickle errors; one that cannot be would hang or hide it."""
    pickled = pickle.loads(pickle.dumps(error))  # noqa: S301
    for other in (pickled, copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_an_inner_place_once_known_stays() -> None:
    error = FilterSyntaxError("a").at("inner", 1).at("outer", 3)
    assert error.place is not None
    assert error.place.text == "inner"
