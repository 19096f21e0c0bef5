"""The forwarding table: filters come and go, and the next notification knows."""

import pytest
from hypothesis import given, strategies as st

from siena.lang import parse_filter, parse_predicate
from siena.matching import table as table_module
from siena.matching.matcher import UnknownFilterError
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification, Predicate
from siena.sim.workload import TR0605
from strategies import (
    filters,
    kinds_of_one_family,
    notifications,
    predicates,
    values_of,
)

Step = Filter | Predicate | Notification | int


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """What happens to a table: interests come, go by their place, and are asked."""
    kinds = draw(kinds_of_one_family())
    interest = filters(kinds, max_size=3) | predicates(kinds)
    step = st.one_of(interest, notifications(of=values_of(kinds)), st.integers(0, 20))
    return draw(st.lists(step, max_size=30))


@given(history=histories(), sizes=st.sampled_from([(1, 2), (3, 5), (64, 4096)]))
def test_a_table_agrees_with_the_reference(
    history: list[Step], sizes: tuple[int, int]
) -> None:
    """With tiers so small that they are poured all the time, and with real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "TIER_FILTERS", sizes)
        table, reference = ForwardingTable(), ReferenceMatcher()
        held: list[int] = []
        asked: list[Notification] = []
        for step in history:
            if isinstance(step, int):
                if held:
                    number = held.pop(step % len(held))
                    table.remove(number)
                    reference.remove(number)
            elif isinstance(step, Notification):
                asked.append(step)
                assert table.match_filters(step) == reference.match_filters(step)
                assert table.match(step) == reference.match(step)
            else:
                held.append(table.add(len(held) % 3, step))
                assert reference.add((len(held) - 1) % 3, step) == held[-1]
        counts, found = table.match_batch(asked)
        at = 0
        for notification, count in zip(asked, counts.tolist(), strict=True):
            expected = reference.match_filters(notification)
            assert sorted(found[at : at + count].tolist()) == expected
            at += count
        assert len(table) == len(reference)


def test_the_broadcast_set_bounds_the_answer() -> None:
    table = ForwardingTable()
    table.add(1, parse_filter("x > 1"))
    table.add(2, parse_filter("x > 2"))
    assert table.match({"x": 3}) == {1, 2}
    assert table.match({"x": 3}, {2, 7}) == {2}
    assert table.match({"x": 3}, ()) == frozenset()


def test_what_is_removed_is_gone_and_stays_gone() -> None:
    table = ForwardingTable()
    numbers = [table.add(0, f) for f in TR0605(names=20, seed=2).filters(500)]
    for number in numbers[::2]:
        table.remove(number)
    kept = set(numbers[1::2])
    for notification in TR0605(names=20, seed=3).notifications(30):
        assert set(table.match_filters(notification)) <= kept
    assert len(table) == 250
    with pytest.raises(UnknownFilterError):
        table.remove(numbers[0])
    with pytest.raises(UnknownFilterError):
        table.explain({}, numbers[0])


def test_statistics_and_reasons() -> None:
    table = ForwardingTable()
    number = table.add(4, parse_filter("x > 3 and y = 1"))
    table.add(4, parse_predicate("x = 1 or x = 2"))
    stats = table.stats()
    assert (stats.filters, stats.interfaces, sum(stats.tiers)) == (2, 1, 3)
    assert stats.arena_bytes > 0
    assert [r.holds for r in table.explain({"x": 5}, number)] == [True, False]
