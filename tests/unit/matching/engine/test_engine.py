"""The engine: compiled and plain, it finds what a loop finds, whatever it is fed."""

import math
import random
import secrets
import struct
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, strategies as st

from kernels import plain
from matching.slow_blocks import BadBlockError, read_block
from siena.block import BLOCK_ERRORS, encode
from siena.errors import LimitError
from siena.lang import parse_filter
from siena.matching.engine import (
    arena,
    engine as engine_module,
    layout,
    ranks,
)
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.input.buffers import encode_all
from siena.matching.kernels.match import Kernel
from siena.model import Constraint, Filter, Notification, Operator
from siena.sim.workload import TR0605
from strategies import filters, kinds_of_one_family, notifications, values_of

SEED = 2**62 - 57

KERNELS: dict[str, Callable[..., Any]] = {
    "compiled": Kernel,
    "plain": plain("match").Kernel,
}


def compile_filters(given_filters: list[Filter], kernel: Callable[..., Any]) -> Engine:
    columns = Columns()
    for number, f in enumerate(given_filters):
        columns.add(f, number)
    return Engine(lay_out(columns.snapshot(), secrets.randbits(62)), kernel)


def test_the_plain_twin_lays_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also what is compiled for speed before there is an engine."""
    columns = Columns()
    for number, f in enumerate(TR0605(names=20, seed=3).filters(1500)):
        columns.add(f, number)
    expected = lay_out(columns.snapshot(), SEED)
    twin = plain("build")
    monkeypatch.setattr(layout, "order_members", twin.order_members)
    for name in ("enter_lists", "fill_groups", "fill_lists", "fill_masks"):
        monkeypatch.setattr(arena, name, getattr(twin, name))
    for name in ("enter_edges", "enter_operands", "link_nodes", "sort_strings"):
        monkeypatch.setattr(ranks, name, getattr(plain("operands"), name))
    monkeypatch.setattr(ranks, "hash_of", plain("match").hash_of)
    got = lay_out(columns.snapshot(), SEED)
    assert got.keys() == expected.keys()
    for name, array in expected.items():
        assert np.array_equal(got[name], array), name


def test_room_for_operands_grows_without_a_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = Columns()
    for number in range(60):
        columns.add(
            parse_filter(f's * "{"ab" * number}x" and t >* "{number}y"'), number
        )
    expected = lay_out(columns.snapshot(), SEED)
    monkeypatch.setattr(ranks, "NODES_AT_FIRST", 4)
    got = lay_out(columns.snapshot(), SEED)
    for name, array in expected.items():
        assert np.array_equal(got[name], array), name


def found(engine: Engine, blocks: list[bytes]) -> list[list[int] | int]:
    """For each block the filters that match, or why it is bad."""
    offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
    matches = engine.match(b"".join(blocks), offsets)
    answers: list[list[int] | int] = []
    at = 0
    for count in matches.counts.tolist():
        if count < 0:
            answers.append(count)
        else:
            answers.append(sorted(matches.filters[at : at + count].tolist()))
            at += count
    assert at == len(matches.filters)
    return answers


@st.composite
def some_filters(draw: st.DrawFn) -> tuple[list[Filter], list[Notification]]:
    kinds = draw(kinds_of_one_family())
    drawn = draw(st.lists(filters(kinds, max_size=4), max_size=12))
    published = notifications(of=values_of(kinds))
    return [f for f in drawn if len(f)], draw(st.lists(published, max_size=4))


@pytest.mark.parametrize("kernel", KERNELS)
@given(drawn=some_filters())
def test_the_engine_finds_what_a_loop_finds(
    kernel: str, drawn: tuple[list[Filter], list[Notification]]
) -> None:
    given_filters, published = drawn
    engine = compile_filters(given_filters, KERNELS[kernel])
    answers = found(engine, [encode(n) for n in published])
    for notification, answer in zip(published, answers, strict=True):
        expected = [i for i, f in enumerate(given_filters) if f.matches(notification)]
        if expected:
            event("something matches")
        assert answer == expected


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("names", [10, 500])
def test_long_lists_have_runs_and_directories(kernel: str, names: int) -> None:
    """Few names make long lists, with a directory of runs for each."""
    size = 3000 if kernel == "compiled" else 800
    workload = TR0605(names=names, seed=5)
    given_filters = list(workload.filters(size))
    published = list(TR0605(names=names, seed=6).notifications(40))
    answers = found(
        compile_filters(given_filters, KERNELS[kernel]), [encode(n) for n in published]
    )
    for notification, answer in zip(published, answers, strict=True):
        assert answer == [
            i for i, f in enumerate(given_filters) if f.matches(notification)
        ]


FILTERS = [
    parse_filter(text)
    for text in (
        "x > 3", "x = 1", "integer x < 0", "float x >= 0.5", "x any", "y any", "s = ab",
        "s >* a", "s *< b", 's * "é"', "boolean z any", "z = true", "t any",
        "t > 1998-03-04T18:43:37Z", "s >= a and x != 2", '"" any',
    )
]  # fmt: skip

SEEDS = [
    Notification(x=5),
    Notification(x=-3, s="ab"),
    Notification(x=2**63 - 1, y=-(2**63)),
    Notification(x=0.5, z=True),
    Notification(s="é\0\U0010ffff", z=False, w="unknown"),
    Notification([("", "empty"), ("x", 70000)]),
    Notification({f"n{i}": i for i in range(20)}),
]


@st.composite
def mutated_blocks(draw: st.DrawFn) -> bytes:
    """A good block, with a few bytes changed, cut out or put in."""
    block = bytearray(encode(draw(st.sampled_from(SEEDS))))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(block)))
        how = draw(st.sampled_from(["change", "cut", "put", "end"]))
        byte = draw(st.integers(0, 255))
        if how == "change" and at < len(block):
            block[at] = byte
        elif how == "cut":
            del block[at : at + 1 + byte % 4]
        elif how == "put":
            block.insert(at, byte)
        else:
            del block[at:]
    return bytes(block)


def judge(block: bytes) -> list[int] | None:
    """What the slow reader and a loop make of a block; None if it is bad."""
    try:
        notification = read_block(block)
    except BadBlockError:
        return None
    return [i for i, f in enumerate(FILTERS) if f.matches(notification)]


@pytest.mark.parametrize("kernel", KERNELS)
@given(blocks=st.lists(mutated_blocks(), min_size=1, max_size=5))
def test_a_bad_block_is_reported_and_its_neighbours_are_matched(
    kernel: str, blocks: list[bytes]
) -> None:
    answers = found(compile_filters(FILTERS, KERNELS[kernel]), blocks)
    for block, answer in zip(blocks, answers, strict=True):
        expected = judge(block)
        if expected is None:
            event("bad")
            assert isinstance(answer, int)
            assert -answer in BLOCK_ERRORS
        else:
            assert answer == expected


def test_many_mutated_blocks_in_one_buffer() -> None:
    rng = random.Random(3)
    seeds = [encode(n) for n in SEEDS]
    blocks = []
    for _ in range(20_000):
        block = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(0, 3)):
            block[rng.randrange(len(block))] = rng.randrange(256)
        blocks.append(
            bytes(block[: rng.randint(1, len(block))] if rng.random() < 0.2 else block)
        )
    answers = found(compile_filters(FILTERS, Kernel), blocks)
    for sent, answer in zip(blocks, answers, strict=True):
        expected = judge(sent)
        assert (answer if isinstance(answer, list) else None) == expected, sent


TOO_LONG = "it, a name or a string is too long"


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (b"", "it ends too early"),
        (b"\x81\xa1x", "it ends too early"),
        (b"\x81\xdb\xff\xff\xff\xff", "it ends too early"),
        (b"\x80\x80", "something stands behind its end"),
        (b"\xc0", "it is not a map"),
        (b"\x81\xa1x\x91\x01", "it has a value with values inside"),
        (b"\x81\xa1x\x81\xa1y\x01", "it has a value with values inside"),
        (b"\x81\xa1x\xc0", "it has a value of another type"),
        (b"\x81\x01\x01", "it has a value of another type"),
        (b"\x82\xa1x\x01\xa1x\x02", "a name occurs twice"),
        (b"\x82\xa1q\x01\xa1q\x02", "a name occurs twice"),
        (b"\x81\xa1s\xa1\xff", "a string is not UTF-8"),
        (b"\x81\xa1\xff\x01", "a string is not UTF-8"),
        (b"\x81\xa1s\xa3\xed\xa0\x80", "a string is not UTF-8"),
        (b"\x81\xa1x\xcb\x7f\xf8\0\0\0\0\0\0", "a float is not finite"),
        (b"\x81\xa1x\xcf\x80\0\0\0\0\0\0\0", "a number or time is out of range"),
        (b"\xdf\xff\xff\xff\xff", "it has too many attributes"),
        (b"\x81\xda\x04\x01" + b"k" * 1025 + b"\x01", TOO_LONG),
        (b"\x81\xa1q\xdb\0\x10\0\x01" + b"v" * (2**20 + 1), TOO_LONG),
        (b"\x81\xa1s\xdb\0\x10\0\x01" + b"v" * (2**20 + 1), TOO_LONG),
    ],
)
def test_a_bad_block_says_why(block: bytes, reason: str) -> None:
    for kernel in KERNELS.values():
        (answer,) = found(compile_filters(FILTERS, kernel), [block])
        assert isinstance(answer, int)
        assert BLOCK_ERRORS[-answer] == reason


def test_the_memory_of_values_may_fill_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "VALUE_BYTES_REMEMBERED", 64)
    monkeypatch.setattr(engine_module, "OPERANDS_LISTED", 16)
    monkeypatch.setattr(engine_module, "MATCHES_AT_FIRST", 1)
    given_filters = [parse_filter(f's * "{c}"') for c in "abcdefgh"] * 5
    published = [Notification(s=f"{i}abc" * (1 + i % 40)) for i in range(100)]
    for kernel in KERNELS.values():
        answers = found(
            compile_filters(given_filters, kernel), [encode(n) for n in published]
        )
        for notification, answer in zip(published, answers, strict=True):
            assert answer == [
                i for i, f in enumerate(given_filters) if f.matches(notification)
            ]


def test_threads_match_on_one_engine() -> None:
    workload = TR0605(names=50, seed=1)
    engine = compile_filters(list(workload.filters(2000)), Kernel)
    blocks, offsets = encode_all(workload.notifications(500))
    expected = engine.match(blocks, offsets)
    answers: list[Any] = []

    def run() -> None:
        answers.extend(engine.match(blocks, offsets) for _ in range(5))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 20
    for answer in answers:
        assert np.array_equal(answer.counts, expected.counts)
        assert np.array_equal(answer.filters, expected.filters)


def test_limits_count_characters_not_bytes() -> None:
    block = b"\x82\xda\x08\0" + "é".encode() * 1024 + b"\x01\xa1s"
    block += b"\xdb\0\x20\0\0" + "é".encode() * 2**20
    (answer,) = found(compile_filters(FILTERS, Kernel), [block])
    assert answer == judge(block)


def test_a_block_may_not_outgrow_the_memory_of_values() -> None:
    """The system gives pages to this array only once they are touched."""
    engine = compile_filters(FILTERS, Kernel)
    huge = np.zeros(2**30 + 1, np.uint8).data
    matches = engine.match(huge, np.array([0, 2**30 + 1], np.int64))
    assert BLOCK_ERRORS[-matches.counts[0]] == TOO_LONG


def test_operands_are_noted_when_serials_begin_anew() -> None:
    engine = compile_filters([parse_filter('s * "a"')], KERNELS["plain"])
    assert found(engine, [encode({"s": "xa"})]) == [[0]]
    engine._idle[0].kernel.serial = 2**31 - 2
    blocks = [encode({"s": f"{i}a"}) for i in range(4)]
    assert found(engine, blocks) == [[0]] * 4


@pytest.mark.parametrize(
    ("module", "limit"),
    [
        (layout, "NAMES_MAX"),
        (layout, "CONSTRAINTS_MAX"),
        (layout, "TEXT_BYTES_MAX"),
        (arena, "ARENA_WORDS_MAX"),
    ],
)
def test_a_table_that_the_kernel_cannot_count_is_refused(
    module: ModuleType, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, limit, 1)
    with pytest.raises(LimitError, match=limit):
        compile_filters(FILTERS, Kernel)


def test_nothing_is_written_to_a_read_only_array() -> None:
    out = np.zeros(100, np.int32)
    out.flags.writeable = False
    engine = compile_filters(FILTERS, Kernel)
    with pytest.raises(ValueError, match="read-only"):
        engine.match(b"\x81\xa1x\x05", np.array([0, 4], np.int64), out)
    assert not out.any()


# The last of them wrap around if one subtracts them.
@pytest.mark.parametrize(
    "offsets", [[1, 0], [-1, 2], [0, 99], [], [0, 2**63 - 1, -2, 1]]
)
def test_offsets_outside_the_buffer_are_refused(offsets: list[int]) -> None:
    engine = compile_filters(FILTERS, Kernel)
    with pytest.raises(ValueError, match="offsets"):
        engine.match(b"\x80", np.array(offsets, np.int64))


def test_an_empty_batch_is_no_batch() -> None:
    engine = compile_filters([], Kernel)
    assert found(engine, []) == []
    assert found(engine, [b"\x80", b"\xc0"]) == [[], -3]


@pytest.mark.parametrize("kernel", KERNELS)
@given(drawn=some_filters())
def test_what_was_encoded_beforehand_matches_the_same(
    kernel: str, drawn: tuple[list[Filter], list[Notification]]
) -> None:
    given_filters, published = drawn
    blocks, offsets = encode_all(published)
    engine = compile_filters(given_filters, KERNELS[kernel])
    expected = engine.match(blocks, offsets)
    got = engine.match_encoded(engine.encode(published))
    assert got.counts.tolist() == expected.counts.tolist()
    assert got.filters.tolist() == expected.filters.tolist()
    columns = Columns()
    for number, f in enumerate(given_filters):
        columns.add(f, number % 5)
    if columns.has_checks:
        return  # what is tested once it is found has a number, and no bit
    arrays = lay_out(columns.snapshot(), SEED, as_masks=True)
    bits = Engine(arrays, KERNELS[kernel])
    _, masks = bits.match_masks(blocks, offsets, 0b11011)
    encoded = bits.encode(published)
    assert bits.match_encoded_masks(encoded, 0b11011).tolist() == masks.tolist()
    for notification, mask in zip(published, masks.tolist(), strict=True):
        wanted = {
            number % 5
            for number, f in enumerate(given_filters)
            if f.matches(notification)
        }
        assert {bit for bit in range(64) if mask >> bit & 1} == wanted - {2}


@pytest.mark.parametrize("kernel", KERNELS)
@given(drawn=some_filters())
def test_one_by_one_is_as_in_a_batch(
    kernel: str, drawn: tuple[list[Filter], list[Notification]]
) -> None:
    given_filters, published = drawn
    engine = compile_filters(given_filters, KERNELS[kernel])
    cursor = engine.cursor()
    for block in [*map(encode, published), b"\x81\xa1x", b""]:
        count = cursor.match(block)
        (expected,) = found(engine, [block])
        if isinstance(expected, int):
            assert count == expected
        else:
            assert sorted(cursor.out[:count].tolist()) == expected


TINY = [0.0, 5e-324, 1e-21, 1e-20, 0.1, 0.5, 1.0, 1.5, 2.0**52 + 0.5, 2.0**63, 1e300]
CLOSE = sorted({sign * value for value in TINY for sign in (1, -1)}, key=float)


@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers_that_are_close_are_told_apart(kernel: str) -> None:
    operands = [*CLOSE, 0, 1, -1, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63)]
    given_filters = [
        Filter([Constraint("x", operator, value)])
        for operator in (Operator.EQ, Operator.LT, Operator.GE)
        for value in operands
    ]
    engine = compile_filters(given_filters, KERNELS[kernel])
    for value in operands:
        expected = [
            number
            for number, f in enumerate(given_filters)
            if f.matches(Notification(x=value))
        ]
        assert found(engine, [encode({"x": value})]) == [expected], value


# Names that filters know and names that none does, with lengths around a word or two.
NAMES = [
    "a",
    "b",
    "",
    "sevenxx",
    "eightxxx",
    "f" * 14,
    "f" * 15,
    "f" * 16,
    "c" * 32,
    "é",
]
SHAPED = [parse_filter(f'"{name}" > 3') for name in NAMES[::2] if name]


# Values as they stand in blocks, good ones and bad ones.
RAW_VALUES = [
    b"\x00",
    b"\x05",
    b"\xff",
    b"\xc3",
    b"\xce\x00\x01\x00\x00",
    b"\xcf" + (5).to_bytes(8),
    b"\xcf" + (2**63).to_bytes(8),
    b"\xd3" + (-5).to_bytes(8, signed=True),
    *(b"\xcb" + struct.pack(">d", real) for real in (5.5, 2.0, math.inf, math.nan)),
    b"\xa0",
    b"\xa3abc",
    b"\xa2\xc3\xa9",
    b"\xa1\xff",
    b"\xc0",
]


def _raw(keys: list[str], values: list[bytes], cut: int) -> bytes:
    """A block, in which a name may stand twice, and of which the end may be missing."""
    block = bytes([0x80 | len(keys)])
    for key, value in zip(keys, values, strict=False):
        name = key.encode()
        head = bytes([0xA0 | len(name)]) if len(name) < 32 else bytes([0xD9, len(name)])
        block += head + name + value
    return block[: len(block) - cut]


raw_values = st.lists(st.sampled_from(RAW_VALUES), min_size=7, max_size=7)


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(NAMES), max_size=6),
            st.lists(raw_values, min_size=3, max_size=3),
            st.sampled_from(NAMES),
            st.sampled_from([0, 0, 0, 1, 3, 9]),
        ),
        max_size=8,
    )
)
def test_what_came_before_changes_nothing(
    kernel: str, drawn: list[tuple[list[str], list[list[bytes]], str, int]]
) -> None:
    """Names are expected where they stood in the block before, and found anywhere."""
    blocks = []
    for keys, (first, second, third), more, cut in drawn:
        blocks += [_raw(keys, first, 0), _raw(keys, second, cut), _raw(keys, first, 0)]
        blocks.append(_raw([*keys, more], third, 0))
    engine = compile_filters(SHAPED, KERNELS[kernel])
    offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
    matches = engine.match(b"".join(blocks), offsets)
    at = 0
    for block, count in zip(blocks, matches.counts.tolist(), strict=True):
        try:
            notification = read_block(block)
        except BadBlockError:
            assert count < 0
            continue
        found = sorted(matches.filters[at : at + count].tolist())
        at += count
        assert found == [i for i, f in enumerate(SHAPED) if f.matches(notification)]
