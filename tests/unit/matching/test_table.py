"""The forwarding table: filters come and go, and the next notification knows."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from matching.compared_tables import Compared, Step, agree, histories
from siena.errors import InvalidNotificationError, LimitError
from siena.lang import parse_filter, parse_predicate
from siena.matching.engine import tiers
from siena.matching.input.buffers import encode_all
from siena.matching.matcher import UnknownFilterError
from siena.matching.table import MASK_BITS, ForwardingTable
from siena.model import Filter, Notification, Value
from siena.model.limits import ATTRIBUTES_MAX
from siena.sim.workload import TR0605


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
        both.happen(history)
        asked = [step for step in history if isinstance(step, Notification)]
        agree(both.table, both.reference, asked)
        assert len(both.table) == len(both.reference)


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


def test_the_engine_of_a_table_that_was_consolidated() -> None:
    workload = TR0605(seed=5)
    table = ForwardingTable()
    for number, f in enumerate(workload.filters(300)):
        table.add(number % 7, f)
    table.consolidate()
    blocks, offsets = encode_all(workload.notifications(40))
    expected = table.match_buffer(blocks, offsets)
    engine = table.engine()
    assert engine.match(blocks, offsets).filters.tolist() == expected.filters.tolist()
    encoded = engine.encode(workload.notifications(40)).batches(16)
    assert [len(batch.starts) - 1 for batch in encoded] == [16, 16, 8]
    found = [engine.match_encoded(batch) for batch in encoded]
    assert [n for m in found for n in m.filters.tolist()] == expected.filters.tolist()
    _, masks = table.engine(as_masks=True).match_masks(blocks, offsets, (1 << 7) - 1)
    wanted = table.match_interfaces(blocks, offsets)
    assert [mask.bit_count() for mask in masks.tolist()] == wanted.counts.tolist()


@pytest.mark.parametrize("text", ["", "a = 1 or b = 2"])
def test_one_engine_does_not_know_everything(text: str) -> None:
    table = ForwardingTable()
    table.add(0, parse_predicate(text) if text else Filter())
    table.consolidate()
    with pytest.raises(ValueError, match="does not know all"):
        table.engine()


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


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"s": "half \ud800"}, "half of a character"),
        ({"\udfff": 1}, "half of a character"),
        ({"x": 2**70}, "64 bits"),
        ({"x": object()}, "not a value"),
    ],
)
def test_a_value_without_bytes_is_refused(
    attributes: dict[str, Value], reason: str
) -> None:
    """As promised, and not with the error of whatever writes the bytes."""
    table = ForwardingTable()
    table.add(1, parse_filter("s any"))
    for ask in (table.match, table.match_filters, lambda n: table.match_batch([n])):
        with pytest.raises(InvalidNotificationError, match=reason):
            ask(attributes)


def test_what_is_no_notification_is_refused() -> None:
    table = ForwardingTable()
    table.add(1, parse_filter("x any"))
    for ask in (table.match, table.match_filters):
        with pytest.raises(InvalidNotificationError, match="floats are finite"):
            ask({"x": math.nan})
        with pytest.raises(InvalidNotificationError, match="half of a character"):
            ask({"x": "\ud800"})


@pytest.mark.parametrize("labels", [[0], [0, -1], [0, 2**30]])
def test_labels_are_not_trusted(labels: list[int]) -> None:
    table = ForwardingTable()
    for _ in range(2):
        table.add(1, parse_filter("x any"))
    blocks, offsets = encode_all([{"x": 1}])
    with pytest.raises(ValueError, match="labels"):
        table.match_labels(blocks, offsets, np.array(labels, np.int32))


def test_a_notification_with_too_many_attributes_is_not_encoded() -> None:
    table = ForwardingTable()
    table.add(1, parse_filter("x any"))
    table.consolidate()
    with pytest.raises(LimitError, match="ATTRIBUTES_MAX"):
        table.engine().encode([{str(i): 1 for i in range(ATTRIBUTES_MAX + 1)}])
