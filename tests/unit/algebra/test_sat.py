"""Satisfiability: a value is found if there is one, and is one if it is found."""

import pytest
from hypothesis import event, example, given, strategies as st

import reference
from siena.algebra.points import ABSENT
from siena.algebra.sat import sat, satisfiable, witness, witness_points
from siena.lang import parse_filter, parse_predicate
from siena.model import Constraint, Filter, Kind, Operator, Predicate
from siena.model.values import as_value
from strategies import FAMILIES, constraints, filters, kinds_of_one_family, predicates


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_sat_is_sound_and_complete(family: str, data: st.DataObject) -> None:
    """Against every value of the universe, for each family of kinds alone."""
    literals = st.lists(constraints(FAMILIES[family], ("x",)), max_size=4)
    positive, negative = data.draw(literals), data.draw(literals)
    value = sat(positive, negative)
    if value is None:
        event("nothing satisfies them")
        assert not reference.satisfying_all(positive, negative)
    else:
        event("something satisfies them")
        assert value is ABSENT or as_value(value) == value
        assert all(reference.satisfies(value, c) for c in positive)
        assert not any(reference.satisfies(value, c) for c in negative)


@given(kinds_of_one_family().flatmap(filters))
@example(parse_filter("integer x = 1, float x = 1.0"))  # names are unique
@example(parse_filter("x absent"))
def test_a_filter_is_satisfiable_if_it_has_a_witness(f: Filter) -> None:
    found = witness(f)
    assert satisfiable(f) is (found is not None)
    if found is None:
        event("unsatisfiable")
        assert not reference.satisfiable(f)
        assert witness_points(f) is None
    else:
        assert reference.matches([f], found)
        needed = {c.name for c in f if c.operator is not Operator.ABSENT}
        assert set(found) == needed, "no more attributes than needed"


@given(predicates())
def test_a_predicate_is_satisfiable_if_one_of_its_filters_is(
    predicate: Predicate,
) -> None:
    found = witness(predicate)
    assert (found is not None) is any(satisfiable(f) for f in predicate)
    if found is not None:
        assert reference.matches(predicate, found)


def test_the_predicate_without_filters_is_not_satisfiable() -> None:
    assert not satisfiable(Predicate())
    assert satisfiable(Filter())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x > 3, x < 5", 4),
        ("float x > 3, float x < 5", 4.0),
        ("x != 0, x != 1, x != -1", 2),
        ("x > 9223372036854775806", 9223372036854775807),
        ("integer x > 9223372036854775807", None),
        ("x > 9223372036854775807", 2.0**63),
        ("x >= 9007199254740993, float x any", 2.0**53 + 2),
        ("boolean x != true", False),
        ("x < false", None),
        ('s < ""', None),
        ('s <= ""', ""),
        ('s > "", s < "\\u0000"', None),
        ('s >* "\\U0010ffff", s > "\\U0010ffff"', "\U0010ffff\0"),
        ("s *< ab, s *< cb", None),
        ("integer x any, x any, number x any", 0),
        ("string x any, number x any", None),
    ],
)
def test_witnesses_at_the_ends_of_the_domains(text: str, value: object) -> None:
    found = sat(parse_filter(text).constraints)
    assert (type(found), found) == (type(value), value)


def test_an_unwanted_constraint_of_another_kind_excludes_nothing() -> None:
    wanted = parse_filter("integer x = 1").constraints
    unwanted = parse_filter(
        'boolean x any, x = true, float x = 1, x != "a"'
    ).constraints
    assert sat(wanted, unwanted) == 1


def test_a_witness_is_easy_to_read() -> None:
    found = witness(parse_predicate("x > 5 and x < 3 or level > 3 and what = alarm"))
    assert str(found) == "level = 4 and what = alarm"


def test_a_hundred_holes_are_no_obstacle() -> None:
    holes = [Constraint("x", c.operator, c.value, c.kind) for c in _holes(100)]
    value = sat(holes)
    assert value is not None
    assert abs(int(value)) == 51 or int(value) == -50  # type: ignore[arg-type]


def _holes(count: int) -> list[Constraint]:
    text = ", ".join(f"integer x != {n - count // 2 + 1}" for n in range(count))
    found = list(parse_filter(text))
    assert {c.kind for c in found} == {Kind.INTEGER}
    return found


def test_what_no_integer_can_be_is_not_satisfied_by_a_value_at_hand() -> None:
    beyond = parse_filter("integer x > 9223372036854775807, x < 1e300")
    assert not satisfiable(beyond)
    assert satisfiable(parse_filter("integer x > 3, integer x < 5"))
    assert not satisfiable(parse_filter("integer x > 3, integer x < 4"))
