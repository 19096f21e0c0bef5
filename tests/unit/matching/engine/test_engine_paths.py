"""Every way through the engine: long lists, wide directories, thresholds, pairs.

Tiny random filters rarely come together in such numbers, so these are made to.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernels import plain
from siena.block import encode
from siena.lang import parse_filter
from siena.matching.engine import engine as engine_module, ranks
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.kernels.match import Kernel
from siena.model import Filter, Notification, Value

TWIN = plain("match")
KERNELS: dict[str, Callable[..., Any]] = {"compiled": Kernel, "plain": TWIN.Kernel}
NAMES = [f"n{i}" for i in range(24)]
# Around the ends of 64 bits, and where doubles are no longer all integers.
EDGES: list[int | float] = [
    -(2**63), 1 - 2**63, -1, 0, 1, 2**53 + 1, 2**63 - 2, 2**63 - 1,
    2.0**63, -(2.0**63), -(2.0**64), 1e300, -1e300, 0.5, 2.0**53,
]  # fmt: skip


def compile_filters(
    filters: list[Filter], kernel: Callable[..., Any], *, as_masks: bool = False
) -> Engine:
    columns = Columns()
    for number, f in enumerate(filters):
        columns.add(f, number % 64 if as_masks else number)
    return Engine(lay_out(columns.snapshot(), 2**61 + 5, as_masks=as_masks), kernel)


def check(
    kernel: str, filters: list[Filter], published: list[dict[str, Value]]
) -> None:
    """Both forms of the engine find what a loop finds, and something is found."""
    make = KERNELS[kernel]
    blocks = [encode(n) for n in published]
    offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
    expected = [
        [i for i, f in enumerate(filters) if f.matches(notification)]
        for notification in map(Notification, published)
    ]
    assert any(expected)
    listing = compile_filters(filters, make)
    matches = listing.match(b"".join(blocks), offsets)
    at = np.cumsum([0, *matches.counts.tolist()])
    got = [sorted(matches.filters[a:b].tolist()) for a, b in pairwise(at.tolist())]
    assert got == expected
    masks = compile_filters(filters, make, as_masks=True)
    bits = masks.match_masks(b"".join(blocks), offsets, 2**64 - 1)[1].tolist()
    assert bits == [sum({1 << i % 64 for i in found}) for found in expected]
    encoded = listing.encode(published)
    assert np.array_equal(listing.match_encoded(encoded).counts, matches.counts)


def some(rng: random.Random, names: list[str]) -> dict[str, Value]:
    """A notification with these names, and now and then a value of another kind."""
    values: list[Callable[[], Value]] = [
        lambda: rng.randrange(-1, 12),
        lambda: rng.randrange(-1, 12),
        lambda: rng.randrange(24) / 2,
        lambda: rng.choice(["ab", "b", "xaby", ""]),
        lambda: rng.random() < 0.5,
    ]
    return {name: rng.choice(values)() for name in names}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("names", [3, 24])
def test_long_lists(kernel: str, names: int) -> None:
    """More than 24 filters under one constraint, by few second names and by many."""
    rng = random.Random(names)
    texts = []
    for first in ("s = ab", "s >* a", "s *< b", 's * "ab"', "n0 = 3"):
        for i in range(40):
            name = NAMES[i % names]
            texts += [f"{first} and {name} > {i % 11}", f"{first} and {name} != 3"]
            if i % 5 == 0:
                texts += [
                    f'{first} and {name} * "a"',
                    f"{first} and {name} > 1 and {name} < 9 and n1 any",
                    first,
                ]
    published = [
        {**some(rng, rng.sample(NAMES[:names], k)), "s": rng.choice(["ab", "xab", "z"])}
        for k in (1, 2, 3, 3, 3)
    ]
    published += [{**some(rng, NAMES), "s": "ab", "n0": 3} for _ in range(3)]
    check(kernel, [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("size", [4, 40])
def test_groups(kernel: str, size: int) -> None:
    """Pairs of ranges: few of a kind one by one, many by their thresholds."""
    rng = random.Random(size)
    texts = []
    for first in ("a > {}", "a < {}", "a != {}", "a >= {}", "integer a any"):
        for i in range(size):
            one = first.format(i % 11)
            texts += [
                f"{one} and b > {i % 7}",
                f"{one} and b != {i % 7} and b any",
                f"{one} and b any and c < {i % 11}",
                f'{one} and b * "a"',
            ]
    published = [some(rng, ["a", "b"]) for _ in range(12)]
    published += [some(rng, ["a", "b", "c"]) for _ in range(12)]
    published += [{"a": v, "b": "xa", "c": 0} for v in (3, 0.5, 11)]
    check(kernel, [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("first", ["s = ab", "s >* a", "b != 3", ""])
def test_parts(kernel: str, first: str) -> None:
    """Many filters with a next constraint of one form, alone and with more behind."""
    rng = random.Random(first)
    texts = []
    for rest in ("", " and c < 6", ' and c * "a"', " and c != 2 and d any"):
        for _ in range(40):
            low = rng.randrange(-2, 11)
            wide = rng.choice([0, 1, 1, 2, 3, 12])
            forms = (
                f"a > {low}",
                f"a < {low}",
                f"a = {low}",
                f"a >= {low} and a <= {low + wide}",
                f"a > {low} and a < {low + wide}",
                f"a > {low} and a > {low - 1} and a < {low + 3} and a <= {low + 2}",
                f'a >* "{"ab"[: wide % 3]}"',
                f"integer a > {low} and a < {low + 4} and integer a < {low + 2}",
            )
            before = f"{first} and " if first else ""
            texts += [f"{before}{form}{rest}" for form in forms]
    published = [
        {**some(rng, ["a", "b", "c", "d"]), "s": rng.choice(["ab", "xab", "ab"])}
        for _ in range(30)
    ]
    published += [{"a": v, "s": "ab", "b": 1, "c": 3} for v in (-3, 0, 4.5, 30, "ab")]
    check(kernel, [parse_filter(text) for text in texts], published)


def test_a_search_leaves_few_bands_to_test() -> None:
    """Among many narrow bands, and some wide ones, nearly all that are read match."""
    read = 0

    class Counting(TWIN.Kernel):  # type: ignore[name-defined, misc]
        def run_keyed(self, s: int, m: int, *more: int) -> None:
            nonlocal read
            read += m
            super().run_keyed(s, m, *more)

    texts = [f"s = ab and a > {n} and a < {n + 4}" for n in range(1000)]
    texts += [f"s = ab and a > {n} and a < {n + 900}" for n in range(0, 100, 4)]
    engine = compile_filters([parse_filter(text) for text in texts], Counting)
    blocks = [encode({"s": "ab", "a": v + 0.5}) for v in range(100, 900, 10)]
    offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
    matches = engine.match(b"".join(blocks), offsets)
    assert matches.counts.sum() <= read <= 1.5 * matches.counts.sum()


def test_keys_are_searched_from_either_end() -> None:
    """Both searches find what a plain one finds, among any number of keys."""
    rng = random.Random(5)
    kernel = TWIN.Kernel.__new__(TWIN.Kernel)
    for size in [*range(40), 100]:
        keys = sorted(rng.randrange(50) for _ in range(size))
        kernel.arena = [0, 0, *(word for key in keys for word in (key, -1, -1))]
        for value in range(-1, 52):
            expected = bisect_right(keys, value)
            assert kernel.up_to(2, size, 3, value) == expected
            assert kernel.up_to_near(2, size, 3, value) == expected


@pytest.mark.parametrize("kernel", KERNELS)
def test_names_in_many_pairs(kernel: str) -> None:
    """Directories that are searched, for notifications of few names and of many."""
    rng = random.Random(7)
    texts = [
        f"{a} > {rng.randrange(9)} and {b} < {rng.randrange(9)}"
        for a in NAMES[:12]
        for b in NAMES
        if a != b
    ]
    published = [some(rng, rng.sample(NAMES, k)) for k in (1, 2, 4, 6, 24)]
    check(kernel, [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
def test_numbers_at_the_ends(kernel: str) -> None:
    texts = [
        f"{kind}x {operator} {edge:.1f}"
        if isinstance(edge, float)
        else f"{kind}x {operator} {edge}"
        for edge in EDGES
        for operator in ("=", "!=", "<", ">", "<=", ">=")
        for kind in (("",) if isinstance(edge, float) else ("", "integer "))
    ]
    texts += ["x > 0 and x < 9223372036854775807 and x != 1", "float x any"]
    published: list[dict[str, Value]] = [{"x": edge} for edge in EDGES]
    check(kernel, [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
def test_as_many_attributes_as_there_may_be(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a queue so short that it is emptied in between."""
    monkeypatch.setattr(engine_module, "QUEUE_ITEMS", 1_100)
    texts = [f"k{i} = {i} and k{(7 * i) % 1000} any" for i in range(0, 1000, 3)]
    texts += [f"k{i} > 0 and k0 < 5" for i in range(1, 1000, 5)]
    texts += [f"k{i} any" for i in range(1000)]
    texts += [f"k5 = 5 and k{i} > 1" for i in range(30)]
    numbers: dict[str, Value] = {f"k{i}": i for i in range(1000)}
    strings: dict[str, Value] = {f"k{i}": f"v{i}" for i in range(1000)}
    unknown: dict[str, Value] = {f"u{i}": i for i in range(1000)}
    unknown.update(k0=1, k5=5)
    filters = [parse_filter(text) for text in texts]
    check(kernel, filters, [numbers, strings, unknown])


def test_everything_collides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names and values whose hashes are all the same are told apart by their bytes."""
    monkeypatch.setattr(TWIN, "hash_bytes", lambda _p, _i, _end, _seed: 7)
    monkeypatch.setattr(TWIN, "mix", lambda _key: 3)
    monkeypatch.setattr(plain("values"), "mix", lambda _key: 3)
    building, operands = plain("build"), plain("operands")
    monkeypatch.setattr(building, "mix", lambda _key: 3)
    monkeypatch.setattr(operands, "mix", lambda _key: 3)
    monkeypatch.setattr(ranks, "hash_of", lambda _name, _seed: 7)
    for name in ("enter_edges", "enter_operands", "link_nodes"):
        monkeypatch.setattr(ranks, name, getattr(operands, name))
    monkeypatch.setattr("siena.matching.engine.arena.enter_lists", building.enter_lists)
    monkeypatch.setattr("siena.matching.engine.arena.fill_lists", building.fill_lists)
    monkeypatch.setattr("siena.matching.engine.arena.fill_groups", building.fill_groups)
    texts = [f'{n} * "{t}"' for n in ("a", "b", "cc") for t in ("x", "xy", "y", "yx")]
    texts += [f"{n} >* {t}" for n in ("a", "b", "cc") for t in ("x", "xy", "y")]
    texts += [f"{n} = xy and {m} any" for n in NAMES[:3] for m in NAMES] * 2
    published: list[dict[str, Value]] = [
        {"a": "xyx", "b": "y", "cc": "xy", "d": 1},
        {"a": "y", "b": "xyx", "cc": "", "dd": 1},
        dict.fromkeys(NAMES, "xy"),
    ]
    check("plain", [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
def test_operands_are_parts_of_each_other(kernel: str) -> None:
    """As what leads to a filter, and as what is tested of one that is found."""
    rng = random.Random(3)
    operands = {"".join(rng.choices("ab", k=rng.randint(2, 7))) for _ in range(60)}
    operands |= {"a" * size for size in range(1, 40)}
    operands |= {"a" * size + "b" for size in range(1, 40)}
    texts = [f'{n} * "{t}"' for n in "st" for t in sorted(operands)]
    texts += [f'k = 1 and s * "{t}"' for t in sorted(operands)]
    texts += [f'k = {k} and s * "{t}" and t * "{t}"' for k in (1, 2) for t in operands]
    published: list[dict[str, Value]] = [
        {"k": 1, "s": "".join(rng.choices("ab", k=size)), "t": "a" * size}
        for size in (0, 1, 2, 9, 38, 50)
    ]
    published += [{"k": 1, "s": "a" * 38 + "c", "t": "b" + "a" * 41 + "b"}]
    check(kernel, [parse_filter(text) for text in texts], published)


@pytest.mark.parametrize("kernel", KERNELS)
def test_long_values_are_read_by_several_walks(kernel: str) -> None:
    """What stands where the parts of a value meet, or just before its end, is found."""
    longest, part = 60, 1_100
    size = 4 * part + longest + 3  # three bytes are left to the last walk
    operands = ["x" * longest, "xyz", "yzx", "zzz", "y" * 7, "w"]
    filters = [parse_filter(f's * "{operand}"') for operand in operands]
    joints = [part * n + shift for n in range(1, 4) for shift in (0, longest)]
    places = [0, size - 1, *joints]
    published: list[dict[str, Value]] = []
    for operand in operands:
        for place in places:
            for before in (0, 1, len(operand) - 1, len(operand)):
                start = min(max(0, place - before), size - len(operand))
                rest = size - start - len(operand)
                published.append({"s": "a" * start + operand + "a" * rest})
    published.append({"s": "a" * size})
    if kernel == "plain":  # which is slow
        published = published[:: len(published) // 24]
    check(kernel, filters, published)


class Counted:
    """An array that counts how often it is read."""

    def __init__(self, array: Sequence[int]) -> None:
        self.array = array
        self.reads = 0

    def __getitem__(self, place: int) -> int:
        self.reads += 1
        return self.array[place]


def test_how_operands_nest_costs_nothing() -> None:
    """A text is read in steps of its length and its operands, not of their product."""
    size, links = 200, []

    def make(*arrays: dict[str, Any]) -> object:
        kernel = TWIN.Kernel(*arrays)
        links.append(Counted(kernel.values.node_links))
        kernel.values.node_links = links[-1]
        return kernel

    filters = [parse_filter(f's * "{"a" * n}"') for n in range(1, size + 1)]
    block = encode({"s": "a" * 5 * size})
    offsets = np.array([0, len(block)], np.int64)
    matches = compile_filters(filters, make).match(block, offsets)
    assert matches.counts.tolist() == [size]
    assert 5 * size < links[0].reads < 10 * 6 * size


@pytest.mark.parametrize("kernel", KERNELS)
def test_few_values_are_remembered(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ways to be full: of values, of their bytes, of the operands that they contain."""
    texts = [f'{n} * "{t}"' for n in ("s", "t") for t in "abcdefgh"]
    texts += ["s >* a and t *< h", "s = abc"]
    filters = [parse_filter(text) for text in texts]
    published = [
        Notification(s=f"{i}abc" * (1 + i % 9), t="defgh" + "x" * (i % 50))
        for i in range(60)
    ]
    blocks = [encode(n) for n in published]
    offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
    expected = [sum(f.matches(n) for f in filters) for n in published]
    for limit, least in (
        ("VALUES_REMEMBERED", 2),
        ("VALUE_BYTES_REMEMBERED", 30),
        ("OPERANDS_LISTED", 8),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(engine_module, "VALUES_REMEMBERED", 64)
            patch.setattr(engine_module, limit, least)
            engine = compile_filters(filters, KERNELS[kernel])
            counts = engine.match(b"".join(blocks), offsets).counts
            assert counts.tolist() == expected
            cursor = engine.cursor()
            assert [cursor.match(block) for block in blocks] == expected


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_stood_in_the_memory_of_values_before_does_not_matter(
    kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleared = engine_module._scratch

    def dirty(arrays: dict[str, Any], scale: int) -> dict[str, Any]:
        scratch = cleared(arrays, scale)
        for name in ("memory_slots", "memory", "pool", "lists"):
            scratch[name].fill(0x55)
        return scratch

    monkeypatch.setattr(engine_module, "_scratch", dirty)
    texts = [f"{c}{'ab' * n}" for c in "xyz" for n in range(0, 40, 3)]
    filters = [
        parse_filter(f's {operator} "{text}"')
        for text in texts[::5]
        for operator in ("=", "starts with", "ends with", "contains", ">")
    ]
    check(kernel, filters, [{"s": text, "t": text} for text in texts])
