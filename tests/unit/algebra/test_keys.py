"""Keys: ordered kinds as consecutive integers."""

import math
from datetime import UTC

import pytest
from hypothesis import given, strategies as st

from siena.algebra.keys import FIRST_KEY, LAST_KEY, key_around, key_of, value_of
from siena.model import Kind, Value
from siena.model.values import INTEGER_MAX, INTEGER_MIN, as_value
from strategies import FLOATS, INTEGERS

integers = st.integers(INTEGER_MIN, INTEGER_MAX) | st.sampled_from(INTEGERS)
floats = st.floats(allow_nan=False, allow_infinity=False).map(
    lambda value: value + 0.0
) | st.sampled_from(FLOATS)
times = st.datetimes(timezones=st.just(UTC)).map(as_value)
ORDERED = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN, Kind.TIME)


def two_of_one_kind() -> st.SearchStrategy[tuple[Value, Value]]:
    return st.one_of(
        [st.tuples(kind, kind) for kind in (integers, floats, st.booleans(), times)]
    )


@given(two_of_one_kind())
def test_keys_and_values_are_inverse(pair: tuple[Value, Value]) -> None:
    for value in pair:
        kind = Kind.of(value)
        back = value_of(key_of(value, kind), kind)
        assert (type(back), repr(back)) == (type(value), repr(value))


@given(two_of_one_kind())
def test_keys_keep_the_order(pair: tuple[Value, Value]) -> None:
    left, right = pair
    kind = Kind.of(left)
    keys = key_of(left, kind), key_of(right, kind)
    assert (keys[0] < keys[1]) == (left < right)  # type: ignore[operator]
    assert (keys[0] == keys[1]) == (left == right)


@given(floats)
def test_the_next_double_has_the_next_key(value: float) -> None:
    above = math.nextafter(value, math.inf)
    if math.isfinite(above):
        assert key_of(above, Kind.FLOAT) == key_of(value, Kind.FLOAT) + 1


@pytest.mark.parametrize("kind", ORDERED)
def test_the_ends_of_a_kind_are_its_first_and_last_values(kind: Kind) -> None:
    for key in (FIRST_KEY[kind], LAST_KEY[kind]):
        value = value_of(key, kind)
        assert Kind.of(value) is kind
        assert key_of(value, kind) == key
    assert value_of(FIRST_KEY[kind], kind) < value_of(LAST_KEY[kind], kind)  # type: ignore[operator]


@given(integers | floats, st.sampled_from([Kind.INTEGER, Kind.FLOAT]))
def test_the_keys_around_a_number_bracket_it_exactly(
    operand: float, kind: Kind
) -> None:
    """Nothing of the kind lies between the two, other than the operand itself."""
    below, above = key_around(operand, kind)
    if below < FIRST_KEY[kind] or above > LAST_KEY[kind]:
        # Beyond the kind; where exactly does not matter.
        assert kind is Kind.INTEGER
        assert not INTEGER_MIN <= operand <= INTEGER_MAX
        return
    low, high = value_of(below, kind), value_of(above, kind)
    assert low <= operand <= high  # type: ignore[operator]
    if operand in {low, high}:
        assert below == above
    else:
        assert above - below == 1


@given(st.booleans() | times)
def test_a_value_of_the_kind_is_around_itself(value: Value) -> None:
    kind = Kind.of(value)
    assert key_around(value, kind) == (key_of(value, kind), key_of(value, kind))
