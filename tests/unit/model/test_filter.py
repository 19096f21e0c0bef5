"""Filters, advertisements and predicates: sets, and how they are read."""

import copy
import pickle
from random import Random

import pytest
from hypothesis import given, strategies as st

import reference
from siena.errors import LimitError
from siena.lang import parse_advertisement, parse_filter, parse_predicate
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Notification,
    Operator,
    Predicate,
)
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX
from strategies import (
    advertisements,
    any_advertisements,
    any_filters,
    any_predicates,
    constraints,
    filters,
    may_be_promised,
    notifications,
    predicates,
)


@given(filters(), notifications())
def test_a_filter_matches_what_the_reference_says(
    f: Filter, notification: Notification
) -> None:
    expected = reference.matches([f], notification)
    assert f.matches(notification) is expected
    assert f.matches(dict(notification)) is expected


@given(advertisements(), notifications())
def test_an_advertisement_admits_what_the_reference_says(
    advertisement: Advertisement, notification: Notification
) -> None:
    expected = reference.admits(advertisement, notification)
    assert advertisement.admits(notification) is expected


@given(predicates(), notifications(("x", "y")))
def test_a_predicate_matches_what_the_reference_says(
    predicate: Predicate, notification: Notification
) -> None:
    assert predicate.matches(notification) is reference.matches(predicate, notification)


@given(
    st.lists(constraints().filter(may_be_promised), max_size=5),
    st.randoms(use_true_random=False),
)
def test_order_and_repetition_do_not_matter(
    given_constraints: list[Constraint],
    random: Random,
) -> None:
    shuffled = [*given_constraints, *given_constraints[:2]]
    random.shuffle(shuffled)
    for made in (Filter, Advertisement):
        assert made(shuffled) == made(given_constraints)
        assert hash(made(shuffled)) == hash(made(given_constraints))
        assert str(made(shuffled)) == str(made(given_constraints))


@given(any_filters, any_predicates, any_advertisements)
def test_sets_survive_pickling_and_copying(
    f: Filter, predicate: Predicate, advertisement: Advertisement
) -> None:
    for value in (f, predicate, advertisement):
        pickled = pickle.loads(pickle.dumps(value))  # noqa: S301
        for other in (pickled, copy.copy(value), copy.deepcopy(value)):
            assert type(other) is type(value)
            assert other == value
            assert hash(other) == hash(value)
            assert str(other) == str(value)


@given(filters())
def test_the_constraints_of_each_name_are_all_constraints(f: Filter) -> None:
    assert [c for group in f.by_name.values() for c in group] == list(f.constraints)
    for name, group in f.by_name.items():
        assert group
        assert {c.name for c in group} == {name}
    assert len(f) == len(list(f)) == len(f.constraints)


def test_a_filter_is_not_an_advertisement() -> None:
    both = [Constraint("x", Operator.EQ, 1)]
    assert len({Filter(both), Advertisement(both)}) == 2


def test_kinds_never_blur_in_filters() -> None:
    assert parse_filter("x = 1") != parse_filter("x = true")
    assert parse_filter("integer x = 1") != parse_filter("float x = 1")
    assert len(parse_filter("x = 1, x = true, integer x = 1, float x = 1")) == 4


def test_an_empty_filter_is_not_nothing() -> None:
    assert Filter()
    assert Filter().matches({})
    assert str(Filter()) == "[]"
    assert Advertisement().admits({})
    assert not Advertisement().admits({"x": 1})


def test_a_predicate_without_filters_matches_nothing() -> None:
    assert Predicate()
    assert not Predicate().matches({})


def test_an_absent_attribute_satisfies_nothing() -> None:
    assert not parse_filter("x != 1").matches({})
    assert not parse_filter("x any").matches({"y": 1})


def test_an_advertisement_is_read_attribute_by_attribute() -> None:
    access = parse_advertisement("what = login, what = logout, string user any")
    assert access.admits({"what": "login"})
    assert access.admits({"user": "carzanig"})
    assert not access.admits({"what": "alarm"})
    assert not access.admits({"user": 7})


@pytest.mark.parametrize("made", [Filter, Advertisement])
def test_too_many_constraints_are_refused(made: type[Filter | Advertisement]) -> None:
    enough = [Constraint("x", Operator.NE, n) for n in range(CONSTRAINTS_MAX)]
    assert len(made(enough)) == CONSTRAINTS_MAX
    assert len(made(enough * 2)) == CONSTRAINTS_MAX
    with pytest.raises(LimitError, match="CONSTRAINTS_MAX"):
        made([*enough, Constraint("y", Operator.ANY)])


def test_too_many_filters_are_refused() -> None:
    enough = [Filter([Constraint("x", Operator.EQ, n)]) for n in range(FILTERS_MAX)]
    assert len(Predicate(enough * 2)) == FILTERS_MAX
    with pytest.raises(LimitError, match="FILTERS_MAX"):
        Predicate([*enough, Filter()])


def test_sets_do_not_change() -> None:
    for value in (Filter(), Advertisement(), Predicate()):
        for name in ("constraints", "filters", "_by_name", "more"):
            with pytest.raises((AttributeError, TypeError)):
                setattr(value, name, ())


def test_looking_by_name_changes_neither_equality_nor_hash() -> None:
    one, other = parse_filter("x = 1, y = 2"), parse_filter("x = 1, y = 2")
    assert one.by_name
    assert one == other
    assert hash(one) == hash(other)


def test_they_print_what_one_would_write() -> None:
    text = "alert = accident or alert = congestion and severity > 2"
    assert str(parse_predicate(text)) == text
    assert repr(parse_filter("x = 1")) == "<Filter x = 1>"
