"""Fresh filters: a loop that gives what an engine gives, until an engine pays."""

import numpy as np
import pytest

from siena.lang import parse_filter
from siena.matching.engine import linear_tier as fresh
from siena.matching.engine.tiers import FRESH_ROWS
from siena.matching.input.buffers import encode_all
from siena.matching.table import WHOLE_ROWS_MAX, ForwardingTable
from siena.sim.workload import TR0605


@pytest.fixture
def table() -> ForwardingTable:
    """One whose first filters are in an engine: the next are fresh."""
    table = ForwardingTable()
    for f in TR0605(names=20, seed=1).filters(FRESH_ROWS + 1):
        table.add(0, f)
    table.match({})
    table.match_filters({})
    return table


def engines(table: ForwardingTable) -> int:
    return sum(tier.engine is not None for tier in table._tiers)


def test_a_few_new_filters_need_no_engine(table: ForwardingTable) -> None:
    number = table.add(3, parse_filter("fresh = 1"))
    assert table.match_filters({"fresh": 1}) == [number]
    assert table.match({"fresh": 1}) == {3}
    assert table.match({"fresh": 1}, {4}) == frozenset()
    assert engines(table) == 1
    table.remove(number)
    assert table.match_filters({"fresh": 1}) == []


@pytest.mark.parametrize(
    ("more", "then"),
    [
        (0, 1),  # a small table is compiled whole
        (WHOLE_ROWS_MAX, 2),
    ],
)
def test_an_engine_is_made_when_it_pays(
    table: ForwardingTable, more: int, then: int
) -> None:
    for f in TR0605(names=20, seed=2).filters(more):
        table.add(0, f)
    table.consolidate()
    table.match_filters({})
    number = table.add(3, parse_filter("fresh = 1"))
    blocks = encode_all([{"fresh": 1}] * 1000)
    for _ in range(fresh.TESTED_MAX // 1000):
        assert table.match_buffer(*blocks).filters.tolist() == [number] * 1000
    assert engines(table) == 1
    assert table.match_buffer(*blocks).filters.tolist() == [number] * 1000
    assert engines(table) == then
    assert (table.view(1).lone_engine is None) == (then > 1)


def test_a_small_table_forgets_what_is_gone_when_it_pays(
    table: ForwardingTable,
) -> None:
    workload = TR0605(names=20, seed=1)
    workload.filters(FRESH_ROWS + 1)
    blocks = encode_all(workload.notifications(1000))
    gone = [3, 5, 60]
    for number in gone:
        table.remove(number)
    twin = ForwardingTable()
    for number in range(FRESH_ROWS + 1):
        if number not in gone:
            twin.add(0, table.filters(number)[0])
    numbers = np.delete(np.arange(FRESH_ROWS + 1), gone)
    expected = twin.match_buffer(*blocks)
    is_plain = []
    for _ in range(1 + fresh.TESTED_MAX // 1000):
        found = table.match_buffer(*blocks)
        assert found.counts.tolist() == expected.counts.tolist()
        assert sorted(found.filters) == sorted(numbers[expected.filters])
        is_plain.append(
            table.at_rest is not None and table.view(1).lone_engine is not None
        )
    assert is_plain == [False] * (fresh.TESTED_MAX // 1000) + [True]


def test_a_bad_block_matches_nothing_and_moves_nothing(table: ForwardingTable) -> None:
    """A decoder would accept the second, whose name occurs twice."""
    number = table.add(3, parse_filter("x any"))
    good, bad = bytes.fromhex("81a17801"), bytes.fromhex("82a17801a17801")
    blocks, offsets = good + bad + b"\xc1" + good, np.array([0, 4, 11, 12, 16])
    found = table.match_buffer(blocks, offsets)
    assert [count > 0 for count in found.counts] == [True, False, False, True]
    assert found.filters.tolist() == [number] * 2
    wanted = table.match_interfaces(blocks, offsets)
    assert (wanted.counts.tolist(), wanted.interfaces.tolist()) == (
        found.counts.tolist(),
        [3, 3],
    )
    assert engines(table) == 1


def test_times_are_cut_to_microseconds_and_not_rounded(table: ForwardingTable) -> None:
    """The last of them is rounded to the year 10000, which no decoder knows."""
    early = table.add(3, parse_filter("time x = 1970-01-01T00:00:05.000001Z"))
    block = bytes.fromhex("81a178d7ff") + (1_999 << 34 | 5).to_bytes(8, "big")
    offsets = np.array([0, len(block)])
    assert table.match_buffer(block, offsets).filters.tolist() == [early]
    table.consolidate()
    table.match_buffer(block, offsets)
    some = table.add(3, parse_filter("x any"))
    last = (253402300799).to_bytes(8, "big")
    block = bytes.fromhex("81a178c70cff") + (999_999_999).to_bytes(4, "big") + last
    offsets = np.array([0, len(block)])
    assert table.match_buffer(block, offsets).filters.tolist() == [some]
