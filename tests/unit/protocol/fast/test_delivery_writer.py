"""Deliveries laid out together are those that the protocol writes one by one."""

import random
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.block import encode
from siena.lang.parser import parse_filter, parse_predicate
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Batches, Engine
from siena.matching.engine.layout import lay_out
from siena.matching.kernels import join
from siena.matching.kernels.match import Kernel
from siena.matching.table import WHOLE_ROWS_MAX
from siena.model import Filter, Notification, Predicate
from siena.protocol.data_frames import pack_msg
from siena.protocol.fast import delivery_writer
from siena.protocol.fast.delivery_writer import (
    ENGINES_MAX,
    LICENCE_SLOT,
    NO_SLOT,
    Dispatcher,
)
from siena.protocol.fast.kernels import framing
from siena.protocol.frames import HEAD_BYTES, Op, pack
from strategies import filters, notifications, predicates

KERNELS = {"compiled": framing, "plain": plain("framing")}
JOINS = {"compiled": join, "plain": plain("join")}

interests = st.one_of(filters(), predicates())
operations = st.sampled_from([Op.PUB, Op.PUB, Op.PING])
owned = st.tuples(interests, st.integers(NO_SLOT, 3), st.integers(0, 2**32 - 1))


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    held=st.lists(owned, max_size=8),
    removed=st.sets(st.integers(0, 7)),
    published=st.lists(st.one_of(notifications(), st.none()), max_size=6),
)
def test_every_connection_gets_what_it_wants_in_order(
    kernel: str,
    held: list[tuple[Filter | Predicate, int, int]],
    removed: set[int],
    published: list[Notification | None],
) -> None:
    dispatcher = Dispatcher(KERNELS[kernel])
    for interest, slot, number in held:
        dispatcher.add(interest, slot=slot, number=number)
    for added in removed & set(range(len(held))):
        dispatcher.remove(added)
    kept = [(i, *one) for i, one in enumerate(held) if i not in removed]
    blocks = [b"\xc0" if n is None else encode(n) for n in published]
    sent = b"".join(pack(Op.PUB, block) for block in blocks)
    for start in (0, 3):  # the second time it finds its scratch as it was left
        data = bytes(start) + sent
        found = dispatcher.dispatch(data, start, len(data), 10_000)
        assert (found.total, found.end) == (len(blocks), len(data))
        missing = [index for index, n in enumerate(published) if n is None]
        assert [index for index, _ in found.bad] == missing
        assert all(reason > 0 for _, reason in found.bad)
        got = {slot: (data, count) for slot, data, count in found.batches}
        for slot in range(4):
            frames = []
            for n, block in zip(published, blocks, strict=True):
                wanted = [
                    (i, number)
                    for i, interest, owner, number in kept
                    if owner == slot and n is not None and interest.matches(n)
                ]
                if wanted:
                    frames.append((wanted, block))
            if not frames:
                assert slot not in got
                continue
            data, count = got[slot]
            assert count == len(frames)
            numbers = _numbers_in_order(data, frames)
            assert data == b"".join(
                pack_msg(ids, block)
                for ids, (_, block) in zip(numbers, frames, strict=True)
            )
        others = {
            (m, i)
            for m, n in enumerate(published)
            for i, interest, owner, _ in kept
            if owner == NO_SLOT and n is not None and interest.matches(n)
        }
        pairs = zip(
            found.other_messages.tolist(), found.other_interests.tolist(), strict=True
        )
        assert set(pairs) == others


def _numbers_in_order(
    data: bytes, frames: list[tuple[list[tuple[int, int]], bytes]]
) -> list[list[int]]:
    """The numbers that were written: those that are wanted, in some order."""
    found, at = [], 0
    for wanted, block in frames:
        count = len(wanted)
        ids = [
            int.from_bytes(data[at + 7 + 4 * k : at + 11 + 4 * k], "little")
            for k in range(count)
        ]
        assert sorted(ids) == sorted(number for _, number in wanted)
        found.append(ids)
        at += 7 + 4 * count + len(block)
    assert at == len(data)
    return found


@pytest.mark.parametrize("kernel", JOINS)
@given(
    found=st.lists(
        st.one_of(st.none(), st.lists(st.integers(0, 99), max_size=4)), max_size=6
    ),
    always=st.lists(st.integers(100, 199), max_size=3),
)
def test_what_matches_everything_stands_before_what_was_found(
    kernel: str, found: list[list[int] | None], always: list[int]
) -> None:
    kinds = np.array([-3 if one is None else len(one) for one in found], np.int32)
    flat = np.array([n for one in found for n in one or []] + [0], np.int32)
    out = np.empty(200, np.int32)
    first = np.array(always, np.int32)
    total = JOINS[kernel].prepend(kinds, flat, len(found), first, out)
    wanted = [None if one is None else [*always, *one] for one in found]
    assert kinds.tolist() == [-3 if one is None else len(one) for one in wanted]
    assert out[:total].tolist() == [n for one in wanted for n in one or []]


def test_who_wants_everything_leaves_others_the_quick_way() -> None:
    dispatcher = Dispatcher()
    for number, text in enumerate(("x > 3", "[]", "[]")):
        dispatcher.add(parse_filter(text), slot=number, number=number)
    dispatcher.remove(2)
    dispatcher.table.consolidate()
    assert dispatcher.table.view(1).lone_engine is not None
    assert counted(dispatcher) == {0: 100, 1: 100}


def test_everything_or_more_is_found_once() -> None:
    dispatcher = Dispatcher()
    dispatcher.add(Predicate((Filter(), parse_filter("x = 5"))), slot=0)
    dispatcher.table.consolidate()
    assert dispatcher.table.view(1).lone_engine is None
    assert counted(dispatcher) == {0: 100}
    dispatcher.remove(0)
    dispatcher.table.consolidate()
    assert dispatcher.table.view(1).lone_engine is not None
    assert counted(dispatcher) == {}


def test_several_engines_match_frames_where_they_are_as_they_do_their_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was removed, and what is found twice, is in none of the answers twice."""
    rng = random.Random(5)
    dispatchers = [Dispatcher() for _ in range(2)]
    blocks = [encode({"x": rng.randrange(400), "y": 1}) for _ in range(200)]
    blocks[7] = b"\xc1"
    data = b"".join(pack(Op.PUB, block) for block in blocks)

    def answers() -> list[object]:
        found: list[object] = []
        for dispatcher, most in zip(dispatchers, (ENGINES_MAX, 0), strict=True):
            monkeypatch.setattr(delivery_writer, "ENGINES_MAX", most)
            for _ in range(30):  # until all is compiled
                dispatcher.dispatch(data, 0, len(data), 100)
            told = dispatcher.dispatch(data, 0, len(data), 100)
            pairs = zip(
                told.other_messages.tolist(), told.other_interests.tolist(), strict=True
            )
            batches = [(s, len(frames), n) for s, frames, n in sorted(told.batches)]
            found.append((told.total, told.end, told.bad, batches, sorted(pairs)))
        return found

    for number in range(WHOLE_ROWS_MAX + 10):
        for each in dispatchers:
            each.add(parse_filter(f"x = {number}"), slot=number % 3, number=number)
    first, second = answers()
    assert first == second
    changes: list[Callable[[Dispatcher], object]] = [
        lambda each: each.remove(11),
        lambda each: each.add(parse_filter("x < 100"), slot=NO_SLOT),
        lambda each: each.add(parse_predicate("x < 50 or y = 1"), slot=5, number=1),
        lambda each: each.add(Filter(()), slot=6, number=1),
    ]
    for change in changes:
        for each in dispatchers:
            change(each)
        first, second = answers()
        assert first == second
    view = dispatchers[0].table.view(1)
    assert len(view.engines) > 1
    assert not view.is_plain


def counted(dispatcher: Dispatcher) -> dict[int, int]:
    """How many of a hundred publications each slot gets."""
    frames = pack(Op.PUB, encode({"x": 5})) * 100
    found = dispatcher.dispatch(frames, 0, len(frames), 100)
    return {slot: count for slot, _, count in found.batches}


def test_more_slots_and_serials_than_there_was_room_for() -> None:
    dispatcher = Dispatcher()
    dispatcher._serial = 2**31 - 2
    for slot in range(300):
        dispatcher.add(Filter(()), slot=slot, number=slot)
    block = encode({"x": 1})
    frame = pack(Op.PUB, block)
    one = frame, 0, len(frame), 10_000
    for _ in range(2):
        found = dispatcher.dispatch(*one)
        assert {slot: data for slot, data, _ in found.batches} == {
            slot: pack_msg([slot], block) for slot in range(300)
        }


def test_what_cannot_be_written_leaves_nothing_behind() -> None:
    """There may be no memory for very many deliveries at once."""
    dispatcher = Dispatcher()
    dispatcher.add(Filter(()), slot=0, number=1)
    block = encode({"x": 1})
    frame = pack(Op.PUB, block)
    one = frame, 0, len(frame), 10_000
    writer = dispatcher._writer

    def without_memory(*_: object) -> None:
        raise MemoryError

    dispatcher._writer = SimpleNamespace(
        know_matches=writer.know_matches,
        measure=writer.measure,
        lay_out=without_memory,
    )
    with pytest.raises(MemoryError):
        dispatcher.dispatch(*one)
    dispatcher._writer = writer
    dispatcher.add(Filter(()), slot=1, number=2)
    found = dispatcher.dispatch(*one)
    assert {slot: data for slot, data, _ in found.batches} == {
        0: pack_msg([1], block),
        1: pack_msg([2], block),
    }


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("held_by", ["an engine", "a loop"])
@given(
    sent=st.lists(
        st.builds(
            pack,
            st.sampled_from([Op.PUB, Op.PUB, Op.PUB, Op.PING]),
            st.binary(max_size=9),
        ),
        max_size=8,
    ),
    start=st.integers(0, 12),
    missing=st.integers(0, 12),
    longest=st.integers(0, 9),
)
def test_publications_end_where_they_are_cut(
    kernel: str,
    held_by: str,
    sent: list[bytes],
    start: int,
    missing: int,
    longest: int,
) -> None:
    dispatcher = Dispatcher(KERNELS[kernel])
    dispatcher.add(Filter(()), slot=0, number=1)
    if held_by == "an engine":
        dispatcher.add(parse_filter("x = 1"), slot=0, number=2)
        dispatcher.remove(0)
        rebuild = dispatcher.table.rebuild()
        rebuild.run()
        dispatcher.table.adopt(rebuild)
    data = b"".join(sent)
    end = max(start, len(data) - missing)
    end = min(end, len(data))
    start = min(start, end)
    found = dispatcher.dispatch(memoryview(data), start, end, longest)
    count, at, _ = framing.cut(data, start, end, longest + 1, longest)
    assert (found.total, found.end) == (count, at)


def test_there_is_room_for_very_many() -> None:
    dispatcher = Dispatcher()
    dispatcher.add(parse_filter("x = 1"), slot=0, number=2)
    frames = pack(Op.PUB, encode({"x": 1})) * 5_000
    for _ in range(3):
        found = dispatcher.dispatch(frames, 0, len(frames), 100)
        assert (found.total, found.end) == (5_000, len(frames))
        assert [count for _, _, count in found.batches] == [5_000]


@pytest.mark.parametrize(("start", "end"), [(-1, 9), (0, 10), (-5, -1)])
def test_places_that_are_not_there_are_refused(start: int, end: int) -> None:
    dispatcher = Dispatcher()
    dispatcher.add(parse_filter("x = 1"), slot=0, number=2)
    frame = pack(Op.PUB, encode({"x": 1}))
    for _ in range(3):
        dispatcher.dispatch(frame, 0, len(frame), 100)
        with pytest.raises(ValueError, match="places"):
            dispatcher.dispatch(frame, start, end, 100)


@pytest.mark.parametrize("kernel", ["engine", "plain engine"])
@given(
    held=st.lists(filters().filter(lambda f: f.constraints), min_size=1, max_size=6),
    sent=st.lists(st.tuples(notifications(), operations)),
    missing=st.integers(0, 9),
    longest=st.sampled_from([20, 1_000]),
)
def test_blocks_are_matched_behind_their_heads(
    kernel: str,
    held: list[Filter],
    sent: list[tuple[Notification, Op]],
    missing: int,
    longest: int,
) -> None:
    columns = Columns()
    for number, f in enumerate(held):
        columns.add(f, number)
    make = {"engine": Kernel, "plain engine": plain("match").Kernel}[kernel]
    engine = Engine(lay_out(columns.snapshot(), 7), make)
    batches = Batches(engine, HEAD_BYTES)
    data = b"".join(pack(op, encode(n)) for n, op in sent)
    end = max(0, len(data) - missing)
    found = batches.match(memoryview(data), 0, end, Op.PUB, longest)
    expected, at = [], 0
    for n, op in sent:
        size = len(pack(op, encode(n)))
        if op != Op.PUB or size - 5 > longest or at + size > end:
            break
        expected.append([i for i, f in enumerate(held) if f.matches(n)])
        at += size
    assert found == (len(expected), at, sum(map(len, expected)))
    ends = np.cumsum([0, *batches.counts[: len(expected)].tolist()]).tolist()
    assert [
        sorted(batches.filters[a:b].tolist()) for a, b in pairwise(ends)
    ] == expected


def test_arrays_that_there_is_no_memory_for_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dispatcher = Dispatcher()
    dispatcher.add(parse_filter("x = 1"), slot=0, number=2)
    few = pack(Op.PUB, encode({"x": 1}))
    for _ in range(3):
        dispatcher.dispatch(few, 0, len(few), 100)
    many = few * 10_000

    def without_memory(shape: int, kind: type[np.generic]) -> object:
        if shape > 2_048 and kind is np.int32:
            raise MemoryError
        return zeros(shape, kind)

    zeros = np.zeros
    with monkeypatch.context() as patch:
        patch.setattr(np, "zeros", without_memory)
        with pytest.raises(MemoryError):
            dispatcher.dispatch(many, 0, len(many), 100)
    for frames, count in ((few, 1), (many, 10_000)):
        found = dispatcher.dispatch(frames, 0, len(frames), 100)
        assert [n for _, _, n in found.batches] == [count]


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    held=st.lists(interests, min_size=1, max_size=8),
    sets=st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=4),
    published=st.lists(
        st.tuples(st.one_of(notifications(), st.none()), st.integers(-1, 3)), max_size=8
    ),
)
def test_licences_are_decided_as_one_by_one(
    kernel: str,
    held: list[Filter | Predicate],
    sets: list[set[int]],
    published: list[tuple[Notification | None, int]],
) -> None:
    dispatcher = Dispatcher(KERNELS[kernel])
    dispatcher._mark = 2**31 - 12  # marks begin anew
    for number, interest in enumerate(held):
        dispatcher.add(interest, slot=LICENCE_SLOT)
        dispatcher.add(interest, slot=number % 2 - 1, number=number)
    sets = [{n for n in some if n < len(held)} for some in sets]
    # Every other entry is a licence.
    licences = [np.array([2 * n for n in sorted(some)], np.int32) for some in sets]
    said = [n for n, _ in published]
    blocks = [b"\xc0" if n is None else encode(n) for n in said]
    data = b"".join(pack(Op.PUB, block) for block in blocks)

    def is_within(n: Notification | None, some: set[int]) -> bool:
        return n is not None and any(held[i].matches(n) for i in some)

    for some, licence in zip(sets, licences, strict=True):
        dispatcher.mark(licence)
        found = dispatcher.dispatch(data, 0, len(data), 10_000)
        assert found.within == sum(is_within(n, some) for n in said)
        assert found.licensed == sum(
            n is not None and interest.matches(n) for n in said for interest in held
        )
        # Nothing of licences is for others.
        assert all(entry % 2 for entry in found.other_interests.tolist())
        choices = [min(choice, len(sets) - 1) for _, choice in published]
        allowed = dispatcher.judge(len(said), np.array(choices, np.int32), licences)
        assert allowed.tolist() == [
            n is None or choice < 0 or is_within(n, sets[choice])
            for n, choice in zip(said, choices, strict=True)
        ]
        # And then nothing is marked.
        assert dispatcher.dispatch(data, 0, len(data), 10_000).within == 0


def test_heads_that_have_no_operation_are_refused() -> None:
    engine = Engine(lay_out(Columns().snapshot(), 7), Kernel)
    with pytest.raises(ValueError, match="4 bytes have no operation"):
        Batches(engine, 4)
