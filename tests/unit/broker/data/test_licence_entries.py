"""Licences in the table: each filter once, and what each source may publish."""

import numpy as np
from hypothesis import given, strategies as st

from siena.block import encode
from siena.broker.data.exchange import Exchange
from siena.broker.data.licence_entries import NO_LICENCE
from siena.lang.parser import parse_filter, parse_predicate as parse
from siena.model import Notification, Predicate
from siena.protocol.fast.split_frames import run_of
from strategies import notifications, predicates


@given(
    granted=st.lists(predicates(), min_size=1, max_size=5),
    removed=st.sets(st.integers(0, 4)),
    published=st.lists(
        st.tuples(st.one_of(notifications(), st.none()), st.integers(-1, 4)), max_size=8
    ),
)
def test_each_source_may_publish_what_its_licence_matches(
    granted: list[Predicate],
    removed: set[int],
    published: list[tuple[Notification | None, int]],
) -> None:
    exchange = Exchange()
    exchange.subscribe(7, 1, parse("[]"))
    numbers = [exchange.license(each) for each in granted]
    for index in removed & set(range(len(granted))):
        exchange.unlicense(numbers[index])
        numbers[index] = exchange.license(granted[index])
    said = [n for n, _ in published]
    run = run_of([b"\xc0" if n is None else encode(n) for n in said])
    chosen = [min(choice, len(granted) - 1) for _, choice in published]
    of_each = [NO_LICENCE if index < 0 else numbers[index] for index in chosen]
    mixed = np.array(of_each, np.int32)
    found = exchange.route(run.frames, run.start, run.end, mixed).allowed
    expected = [
        n is None or index < 0 or granted[index].matches(n)
        for n, index in zip(said, chosen, strict=True)
    ]
    assert (found is None) is all(expected)
    assert found is None or found.tolist() == expected
    for number, predicate in zip(numbers, granted, strict=True):
        routed = exchange.route(run.frames, run.start, run.end, number)
        expected = [n is None or predicate.matches(n) for n in said]
        assert (routed.allowed is None) is all(expected)
        assert routed.allowed is None or routed.allowed.tolist() == expected
        assert routed.others == []


def test_what_everybody_may_is_matched_once_and_by_one_engine() -> None:
    exchange = Exchange()
    exchange.subscribe(7, 1, parse_filter("x = 3"))
    numbers = [exchange.license(parse(f"x > 0 or user = u{n}")) for n in range(100)]
    assert len(exchange) == 2
    exchange.table.consolidate()
    # Otherwise a batch is put together from what several engines find.
    assert exchange.table.view(1).lone_engine is not None
    run = run_of([encode({"x": 1}), encode({"x": 2})])
    found = exchange.route(run.frames, run.start, run.end, numbers[7])
    assert found.allowed is None
    assert len(exchange) == 2
    run = run_of([encode({"x": 1}), encode({"user": "u7"}), encode({"x": 2})])
    found = exchange.route(run.frames, run.start, run.end, numbers[7])
    assert found.allowed is None
    assert found.licence_matches == 3
    found = exchange.route(run.frames, run.start, run.end, numbers[8])
    assert found.allowed is not None
    assert found.allowed.tolist() == [True, False, True]
    assert len(exchange) == 4  # what two of them were asked for
    for number in numbers:
        exchange.unlicense(number)
    assert len(exchange) == 1


def test_a_filter_that_came_for_another_licence_counts() -> None:
    exchange = Exchange()
    first = exchange.license(parse("x = 1 or y = 1"))
    exchange.license(parse("x = 1"))
    run = run_of([encode({"x": 1})])
    assert exchange.route(run.frames, run.start, run.end, first).allowed is None
    assert len(exchange) == 1
    exchange.license(parse("y = 1"))
    assert len(exchange) == 2
    run = run_of([encode({"y": 1})])
    assert exchange.route(run.frames, run.start, run.end, first).allowed is None
    each = np.array([first], np.int32)
    assert exchange.route(run.frames, run.start, run.end, each).allowed is None
