"""What traffic is like decides where filters are stored, and never what matches."""

import secrets
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.errors import SienaError
from siena.lang import parse_filter
from siena.matching.engine import layout
from siena.matching.engine.checking.codes import CHECKED
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.intervals import Table
from siena.matching.engine.layout import lay_out
from siena.matching.engine.selectivity import echo, guess, learn
from siena.matching.input.buffers import encode_all
from siena.matching.sample import SAMPLE_BLOCK_BYTES, SAMPLE_BLOCKS, Sample
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification
from siena.sim.workload import TR0605
from strategies import filters, kinds_of_one_family, notifications, values_of

# Of the operands, those of `a` are rarer; in the traffic `a` is always the same.
FILTERS = [parse_filter(f"a = {n % 10} and b = {n % 7}") for n in range(70)]
TRAFFIC = [Notification(a=3, b=n) for n in range(70)]


def sampled(published: list[Notification]) -> Sample:
    sample = Sample()
    for notification in published:
        blocks, offsets = encode_all([notification])
        sample.note(blocks, offsets, np.zeros(1, np.int32))
    return sample


def columns_of(given_filters: list[Filter]) -> Columns:
    columns = Columns()
    for number, f in enumerate(given_filters):
        columns.add(f, number)
    return columns


def entries_tested(sample: Sample | None) -> int:
    """How many filters the engine looks at for the traffic."""
    counted: Counter[str] = Counter()

    class Counting(plain("match").Kernel):  # type: ignore[misc]
        def run_short(self, start: int, count: int, step: int) -> None:
            counted["entries"] += count
            super().run_short(start, count, step)

    arrays = lay_out(columns_of(FILTERS).snapshot(), 1, sample=sample)
    Engine(arrays, Counting).match(*encode_all(TRAFFIC))
    return counted["entries"]


def test_what_was_seen_steers_where_filters_are_stored() -> None:
    assert entries_tested(None) == 7 * len(TRAFFIC)
    assert entries_tested(sampled(TRAFFIC)) == 7


@st.composite
def some_filters(draw: st.DrawFn) -> tuple[list[Filter], list[Notification]]:
    kinds = draw(kinds_of_one_family())
    drawn = draw(st.lists(filters(kinds, max_size=4), max_size=12))
    published = notifications(of=values_of(kinds))
    return [f for f in drawn if len(f)], draw(st.lists(published, max_size=6))


@given(drawn=some_filters())
def test_a_sample_never_changes_what_matches(
    drawn: tuple[list[Filter], list[Notification]],
) -> None:
    given_filters, published = drawn
    arrays = lay_out(
        columns_of(given_filters).snapshot(),
        secrets.randbits(62),
        sample=sampled(published[:3]),
    )
    matches = Engine(arrays).match(*encode_all(published))
    at = 0
    for notification, count in zip(published, matches.counts.tolist(), strict=True):
        found = sorted(matches.filters[at : at + count].tolist())
        at += count
        assert found == [
            number for number, f in enumerate(given_filters) if f.matches(notification)
        ]


@given(drawn=some_filters())
def test_what_is_learned_is_how_often_constraints_hold(
    drawn: tuple[list[Filter], list[Notification]],
) -> None:
    """With a guess of nothing, what is left is the share of the sample."""
    given_filters, published = drawn
    columns = columns_of(given_filters)
    learned: dict[str, Any] = {}

    def spy(guessed: Any, table: Table, arrays: Any, sample: Sample) -> Any:  # noqa: ANN401
        learned["found"] = learn(0.0 * guessed, table, arrays, sample)
        return guessed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "learn", spy)
        lay_out(columns.snapshot(), 5, sample=sampled(published))
    if not published:
        return
    # Bands, which are no constraints of anybody, stand behind the others.
    found = learned["found"].tolist()[: len(columns.numbers)]
    for constraint, share in zip(columns.numbers, found, strict=True):
        # What is only tested finds no filter, and is not learned.
        if constraint.operator not in CHECKED:
            holds = sum(Filter([constraint]).matches(n) for n in published)
            assert share == holds / (len(published) + 8.0)


def test_what_operands_contain_is_taken_for_common() -> None:
    """As few filters ask for the ending as for a word, and yet it is not the place."""
    asked = 'image ends with ".exe" ignoring case and line contains {}'
    named = 'image ends with "/program{}.exe" ignoring case'
    given_filters = [parse_filter(asked.format(f"word{n}")) for n in range(4)]
    given_filters += [parse_filter(named.format(n)) for n in range(40)]
    columns = columns_of(given_filters)
    guessed: dict[str, Any] = {}

    def spy(*given: Any) -> Any:  # noqa: ANN401
        guessed["before"], guessed["after"] = guess(*given[:2]), echo(*given)
        return guessed["after"]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "echo", spy)
        lay_out(columns.snapshot(), 5)
    ending, word = (columns.numbers[c] for c in given_filters[0])
    assert guessed["after"][ending] > 4 * guessed["before"][ending]
    assert guessed["after"][word] == guessed["before"][word]


def test_a_sample_is_bounded() -> None:
    table = ForwardingTable()
    table.add(0, parse_filter("x = 1"))
    for number in range(3 * SAMPLE_BLOCKS):
        table.match({"x": number})
    sample = sampled([Notification(x="long" * SAMPLE_BLOCK_BYTES)])
    assert len(sample) == 0
    for _ in range(3):
        sample.note(*encode_all([]), np.zeros(0, np.int32))
    blocks, offsets = encode_all([{"x": number} for number in range(5)])
    for _ in range(2 * SAMPLE_BLOCKS):
        sample.note(blocks, offsets, np.zeros(5, np.int32))
    assert len(sample) == SAMPLE_BLOCKS
    assert len(set(sample.blocks()[0])) > 4  # every place in a batch has its turn


def test_a_table_learns_from_what_it_matches() -> None:
    workload = TR0605(names=20, seed=5)
    table = ForwardingTable()
    for f in workload.filters(2000):
        table.add(0, f)
    sent = list(workload.notifications(50))
    before = [table.match_filters(notification) for notification in sent]
    table.consolidate()
    assert [table.match_filters(notification) for notification in sent] == before


def test_a_table_expects_what_it_is_told_to() -> None:
    table = ForwardingTable()
    table.expect([{"x": 1}, {"x": "a"}])
    assert len(table._tiers.sample) == 2
    table.add(0, parse_filter("x = 1"))
    assert table.match_filters({"x": 1}) == [0]
    with pytest.raises(SienaError):
        table.expect([{"x": float("nan")}])
