"""A catalogue finds what comparing everything finds."""

import random

import pytest
from hypothesis import event, example, given, strategies as st

from siena.algebra.catalogue.catalogue import Catalogue, Covers
from siena.algebra.catalogue.facet import (
    _bound,
    _of_bounds,
    _of_intervals,
    _of_spans,
)
from siena.algebra.catalogue.profile import Profile
from siena.algebra.covering import covers_filter
from siena.algebra.pairwise import covers_pairwise
from siena.algebra.sat import satisfiable
from siena.lang import parse_filter
from siena.model import Constraint, Filter, Kind, Notification, Operator
from strategies import FAMILIES, _every_constraint, filters, notifications

COVERS = (covers_filter, covers_pairwise)


def by_kinds(max_size: int = 3) -> st.SearchStrategy[list[Filter]]:
    """Filters that meet: all about the values of one family."""
    return st.sampled_from(list(FAMILIES.values())).flatmap(
        lambda kinds: st.lists(
            filters(kinds, ("x", "y"), max_size=max_size).filter(satisfiable),
            min_size=2,
            max_size=12,
            unique=True,
        )
    )


def compare(catalogue: Catalogue, covers: Covers, there: list[Profile]) -> None:
    """Ask the catalogue about everything that is there."""
    for one in there:
        above = {p for p in there if covers(p.filter, one.filter)}
        below = {p for p in there if covers(one.filter, p.filter)}
        found_above, found_below = (
            list(catalogue.above(one)),
            list(catalogue.below(one)),
        )
        assert set(found_above) == above, one.filter
        assert set(found_below) == below, one.filter
        assert len(found_above) == len(above)
        assert len(found_below) == len(below)


@given(by_kinds(), st.sampled_from(COVERS), st.data())
def test_a_catalogue_finds_what_comparing_all_finds(
    some: list[Filter], covers: Covers, data: st.DataObject
) -> None:
    catalogue = Catalogue(covers)
    there = [Profile(f) for f in some]
    for profile in there:
        catalogue.add(profile)
    compare(catalogue, covers, there)
    gone = data.draw(st.sets(st.sampled_from(there)))
    for profile in gone:
        catalogue.remove(profile)
    there = [profile for profile in there if profile not in gone]
    compare(catalogue, covers, there)
    assert len(catalogue) == len(there)
    assert set(catalogue) == set(there)


@pytest.mark.parametrize("family", FAMILIES)
def test_single_conditions_of_every_kind_are_found(family: str) -> None:
    rng = random.Random(family)
    every = [c for k in FAMILIES[family] for c in _every_constraint(k, ("x",))]
    drawn = [Filter(rng.choices(every, k=rng.choice((1, 1, 2, 3)))) for _ in range(150)]
    catalogue = Catalogue(covers_filter)
    there = [Profile(f) for f in dict.fromkeys(drawn) if satisfiable(f)]
    for profile in there:
        catalogue.add(profile)
    compare(catalogue, covers_filter, there)


@pytest.mark.parametrize("family", FAMILIES)
def test_filters_with_the_same_key_select_the_same(family: str) -> None:
    rng = random.Random(f"{family}/keys")
    every = [c for k in FAMILIES[family] for c in _every_constraint(k, ("x",))]
    drawn = [Filter(rng.choices(every, k=rng.choice((1, 2, 3)))) for _ in range(2_000)]
    first: dict[object, Filter] = {}
    for f in filter(satisfiable, drawn):
        known = first.setdefault(Profile(f).key(), f)
        assert covers_filter(known, f), (known, f)
        assert covers_filter(f, known), (known, f)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("integer x = 4", "integer x > 3, integer x < 5"),
        ("x >= 4, x <= 4", "x = 4"),
        ("integer x >= 4", "integer x > 3"),
        ("integer x < 4", "integer x <= 3"),
        ("s >* a", 's >= a, s < "b"'),
        ("s = ab", "s >* ab, s <= ab"),
        ("b != true", "b = false"),
        ("s * a, s * ab", "s * ab"),
    ],
)
def test_what_selects_the_same_has_the_same_key(one: str, other: str) -> None:
    assert Profile(parse_filter(one)).key() == Profile(parse_filter(other)).key()


@given(by_kinds(), notifications(("x", "y")))
def test_a_catalogue_matches_as_its_filters_do(
    some: list[Filter], notification: Notification
) -> None:
    catalogue = Catalogue(covers_filter)
    for f in some:
        catalogue.add(Profile(f))
    found = {p.filter for p in catalogue.match(notification)}
    assert found == {f for f in some if f.matches(notification)}


BOUNDS = [Operator.LT, Operator.LE, Operator.GT, Operator.GE]
# Around 0 whole numbers and floats are neighbours in other ways than far from it.
SIZES = st.integers(-4, 4) | st.sampled_from([2**50 - 1, 2**50, -(2**50), 2**50 + 1])


@given(st.lists(st.tuples(st.sampled_from(BOUNDS), SIZES), min_size=1, max_size=4))
def test_bounds_have_the_facets_of_spans(bounds: list[tuple[Operator, int]]) -> None:
    some = Filter(Constraint("x", operator, size) for operator, size in bounds)
    found = _of_bounds("x", some.constraints)
    if found is not None:
        slow = _of_spans("x", some.constraints, Kind.NUMBER.parts)
        assert slow is not None
        assert found == slow
        ends = zip((found.low, found.high), (slow.low, slow.high), strict=True)
        assert all(type(fast) is type(obvious) for fast, obvious in ends)


TEXTS = st.text("\0aZ\U0010ffff", max_size=3)


@given(
    st.sampled_from(BOUNDS),
    st.tuples(SIZES, st.sampled_from([Kind.INTEGER, Kind.NUMBER, Kind.FLOAT]))
    | st.tuples(TEXTS, st.just(Kind.STRING)),
)
@example(Operator.LE, ("\U0010ffff", Kind.STRING))
def test_one_bound_has_the_facet_of_several(
    operator: Operator, operand: tuple[int | str, Kind]
) -> None:
    value, kind = operand
    constraint = Constraint("x", operator, value, kind)
    found = _bound("x", constraint)
    if found is not None:
        event(kind.word)
        if kind is Kind.STRING:
            slow = _of_intervals("x", (constraint,))
        else:
            slow = _of_spans("x", (constraint,), kind.parts)
        assert found == slow
        assert slow is not None
        assert type(found.low) is type(slow.low)
        assert type(found.high) is type(slow.high)
