"""The forwarding table: filters come and go, and the next notification knows."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from siena.lang import parse_filter, parse_predicate
from siena.matching import tiers
from siena.matching.blocks import encode_all
from siena.matching.matcher import UnknownFilterError
from siena.matching.rebuilding import Rebuild
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import MASK_BITS, ForwardingTable
from siena.model import Filter, Notification, Predicate
from siena.sim.workload import TR0605
from strategies import (
    filters,
    kinds_of_one_family,
    notifications,
    predicates,
    values_of,
)

NEVER = parse_filter("no-such-name = 1")

Step = Filter | Predicate | Notification | int | str


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """What happens to a table: interests come, go by their place, and are asked.

    In between it is rebuilt, elsewhere and here.
    """
    kinds = draw(kinds_of_one_family())
    interest = filters(kinds, max_size=3) | predicates(kinds)
    work = st.sampled_from(["hand out", "run", "adopt", "consolidate"])
    asked = notifications(of=values_of(kinds))
    step = st.one_of(interest, interest, asked, st.integers(0, 20), work)
    return draw(st.lists(step, max_size=40))


class Compared:
    """A table and a reference to which the same happens."""

    def __init__(self, interfaces: int) -> None:
        self.table, self.reference = ForwardingTable(), ReferenceMatcher()
        self.interfaces = interfaces
        self.held: list[int] = []
        self.rebuild: Rebuild | None = None
        if interfaces > MASK_BITS:
            # So many that they are no bits any more.
            for interface in range(interfaces):
                self.table.add(interface, NEVER)
                self.reference.add(interface, NEVER)

    def add(self, interest: Filter | Predicate) -> None:
        interface = len(self.held) % self.interfaces
        self.held.append(self.table.add(interface, interest))
        assert self.reference.add(interface, interest) == self.held[-1]

    def remove(self, place: int) -> None:
        if self.held:
            number = self.held.pop(place % len(self.held))
            self.table.remove(number)
            self.reference.remove(number)

    def work(self, what: str) -> None:
        if what == "consolidate":
            self.table.consolidate()
        elif what == "hand out":
            self.rebuild = self.table.rebuild()
        elif self.rebuild is not None and what == "run":
            self.rebuild.run()
        elif self.rebuild is not None and self.rebuild.engine is not None:
            self.table.adopt(self.rebuild)
            self.rebuild = None

    def ask(self, notification: Notification) -> None:
        wanted = self.reference.match(notification)
        assert self.table.match(notification) == wanted
        assert self.table.match(notification, {0, 2, 7}) == wanted & {0, 2, 7}
        found = self.table.match_filters(notification)
        assert found == self.reference.match_filters(notification)


@given(
    history=histories(),
    sizes=st.sampled_from([(1, 2), (3, 1), (64, 8)]),
    interfaces=st.sampled_from([1, 3, 100]),
)
def test_a_table_agrees_with_the_reference(
    history: list[Step], sizes: tuple[int, int], interfaces: int
) -> None:
    """With tiers so small that they are merged all the time, and with real ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiers, "FRESH_ROWS", sizes[0])
        patch.setattr(tiers, "GROWTH", sizes[1])
        both = Compared(interfaces)
        for step in history:
            match step:
                case int():
                    both.remove(step)
                case str():
                    both.work(step)
                case Notification():
                    both.ask(step)
                case _:
                    both.add(step)
        asked = [step for step in history if isinstance(step, Notification)]
        agree(both.table, both.reference, asked)
        assert len(both.table) == len(both.reference)


def agree(
    table: ForwardingTable, reference: ReferenceMatcher, asked: list[Notification]
) -> None:
    """Whether batches give what the reference gives, in every form."""
    blocks = encode_all(asked)
    for (counts, found), expected in (
        (table.match_buffer(*blocks), reference.match_filters),
        (table.match_interfaces(*blocks), reference.match),
    ):
        ends = np.cumsum(counts)
        for notification, part in zip(
            asked, np.split(found, ends[:-1]) if asked else [], strict=True
        ):
            assert sorted(part.tolist()) == sorted(expected(notification))
    expected_pairs = {
        (interface, message, number)
        for message, notification in enumerate(asked)
        for number in reference.match_filters(notification)
        for interface in [table.interface(number)]
    }
    got = [
        (delivery.interface, message, number)
        for delivery in table.match_by_interface(*blocks)
        for message, number in zip(
            delivery.messages.tolist(), delivery.filters.tolist(), strict=True
        )
    ]
    assert len(got) == len(expected_pairs)
    assert set(got) == expected_pairs


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


@pytest.mark.parametrize("interfaces", [MASK_BITS, 100])
def test_an_interface_may_come_while_a_batch_is_matched(
    interfaces: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever comes in between: no answer is about an interface that is unknown."""
    table = ForwardingTable()
    for interface in range(interfaces):
        table.add(interface, parse_filter("x > 1"))
    blocks, offsets = encode_all([{"x": 2}])

    class Meanwhile:
        """A lock; before it is taken, somebody else adds a filter."""

        def __enter__(self) -> None:
            monkeypatch.setattr(table, "_lock", lock)
            table.add(10_000, parse_filter("x > 0"))
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()

    lock = table._lock
    monkeypatch.setattr(table, "_lock", Meanwhile())
    found = table.match_interfaces(blocks, offsets).interfaces.tolist()
    assert sorted(found) in ([*range(interfaces)], [*range(interfaces), 10_000])


def test_what_was_removed_is_not_found_because_of_a_rebuild(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = ForwardingTable()
    removed = table.add(0, parse_filter("x > 1"))
    kept = table.add(0, parse_filter("x > 0"))
    assert table.match_filters({"x": 2}) == [removed, kept]
    table.remove(removed)
    lock = table._lock

    class Afterwards:
        """The lock; once it is free, somebody else compiles everything anew."""

        def __enter__(self) -> None:
            lock.acquire()

        def __exit__(self, *_: object) -> None:
            lock.release()
            monkeypatch.setattr(table, "_lock", lock)
            table.consolidate()

    monkeypatch.setattr(table, "_lock", Afterwards())
    assert table.match_filters({"x": 2}) == [kept]
