"""Numbers that no double is: equal to themselves, and without an order."""

import pytest

from siena.dialects import read_expression
from siena.dialects.aws.events import event_matches, flatten
from siena.dialects.aws.numbers import is_comparable
from siena.lang.json_text import Json

LARGE = 2**53 + 1


@pytest.mark.parametrize(
    ("number", "is_one"),
    [
        (0, True),
        (-(2**53), True),
        (LARGE, False),
        (-LARGE, False),
        (2**53 + 2, True),
        (10**22, True),
        (10**400, False),
        (0.1, True),
        (float("inf"), False),
    ],
)
def test_a_number_has_an_order_if_its_shortest_double_is_itself(
    number: float, *, is_one: bool
) -> None:
    assert is_comparable(number) is is_one


@pytest.mark.parametrize(
    ("pattern", "event", "expected"),
    [
        ('{"a": [{"numeric": [">", 5]}]}', {"a": LARGE}, False),
        ('{"a": [{"numeric": [">", 5]}]}', {"a": LARGE + 1}, True),
        ('{"a": [{"numeric": [">", 5]}]}', {"a": [LARGE, 7]}, True),
        ('{"a": [{"anything-but": 5}]}', {"a": LARGE}, True),
        ('{"a": [{"exists": true}]}', {"a": 10**400}, True),
        ('{"a": [{"numeric": [">", 5]}]}', {"a": 10**400}, False),
        (f'{{"a": [{LARGE}]}}', {"a": LARGE}, True),
        (f'{{"a": [{LARGE}]}}', {"a": float(LARGE)}, False),
        (f'{{"a": [{LARGE + 1}]}}', {"a": float(LARGE + 1)}, True),
    ],
)
def test_what_has_no_order_is_equal_to_itself_alone(
    pattern: str, event: Json, *, expected: bool
) -> None:
    assert event_matches(read_expression("eventbridge", pattern), event) is expected


def test_attributes_keep_what_fits_in_64_bits() -> None:
    assert flatten({"a": LARGE}) == {"a": LARGE}
    assert flatten({"a": 10**20}) == {"a": 1e20}


def test_arrays_that_no_pattern_asks_for_need_no_choices() -> None:
    event: Json = {
        name: [{"x": i} for i in range(1_000)] for name in ("a", "b", "c", "d")
    }
    pattern = read_expression("eventbridge", '{"c": {"x": [999]}}')
    assert event_matches(pattern, event)
