"""Subscriptions to flights: readable, repeatable, and of every sort."""

from collections import Counter
from itertools import islice

import pytest

from siena.lang.parser import parse_predicate
from siena.model import Kind, Operator
from siena.sim.flight_subscriptions import (
    CARRIERS,
    DESTINATIONS,
    ORIGINS,
    flight_subscriptions,
)
from siena.sim.flights import flights

SUBSCRIPTIONS = list(flight_subscriptions(1_000, seed=1))
INTERESTS = [parse_predicate(s.filter) for s in SUBSCRIPTIONS]
CONSTRAINTS = [c for interest in INTERESTS for f in interest for c in f]


def test_the_same_seed_draws_the_same_and_fewer_are_the_first_of_more() -> None:
    assert list(flight_subscriptions(100, seed=1)) == SUBSCRIPTIONS[:100]
    assert list(flight_subscriptions(100, seed=2)) != SUBSCRIPTIONS[:100]


def test_there_is_something_of_every_sort() -> None:
    # A missing attribute cannot be told from a flight, and all have the others.
    papers = {operator for operator in Operator if operator <= Operator.SUBSTRING}
    assert {c.operator for c in CONSTRAINTS} == papers - {Operator.ANY}
    kinds = {Kind.STRING, Kind.NUMBER, Kind.INTEGER, Kind.TIME}
    assert {c.kind for c in CONSTRAINTS} == kinds
    assert max(map(len, INTERESTS)) > 2
    assert len({s.filter for s in SUBSCRIPTIONS}) > 950


def test_some_people_have_several() -> None:
    people = Counter(s.subscriber for s in SUBSCRIPTIONS)
    assert 600 < len(people) < 730
    assert max(people.values()) > 2


def test_all_names_are_those_of_flights() -> None:
    names = set().union(*islice(flights(), 10))
    assert {c.name for c in CONSTRAINTS} <= names


def test_a_flight_is_wanted_by_some_and_not_by_many() -> None:
    some = list(islice(flights(), 0, 4_000, 40))
    wanted = [sum(interest.matches(f) for interest in INTERESTS) for f in some]
    assert sum(wanted) > 10
    assert max(wanted) < 50


@pytest.mark.slow
def test_the_world_is_that_of_the_data_set() -> None:
    carriers: Counter[object] = Counter()
    destinations: Counter[object] = Counter()
    origins: set[object] = set()
    for flight in flights():
        carriers[flight["carrier"]] += 1
        destinations[flight["dest"]] += 1
        origins.add(flight["origin"])
    assert {c: -(-n // 100) for c, n in carriers.items()} == CARRIERS
    assert origins == set(ORIGINS)
    ranked = [place for place, _ in destinations.most_common()]
    # One flight goes from EWR to LGA; nobody subscribes to that.
    assert [*DESTINATIONS, "LGA"] == ranked
