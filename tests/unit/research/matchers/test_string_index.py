"""The string index knows of every text which operands it contains, and where."""

from itertools import pairwise
from types import ModuleType

import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.research.matchers import string_index
from siena.research.matchers.kernels import strings
from siena.research.matchers.string_index import StringIndex

KERNELS = pytest.mark.parametrize("kernel", [strings, plain("strings")])

words = st.text("ab\U0010ffff", min_size=1, max_size=5)
texts = st.text("ab\U0010ffffc", max_size=12)


def parts(index: StringIndex, some: list[str]) -> list[set[tuple[str, bool, bool]]]:
    known = index.look_up(some)
    ends = known.part_first.tolist()
    listed = [
        [(index.operands[p >> 2], bool(p & 1), bool(p & 2)) for p in known.part[a:b]]
        for a, b in pairwise(ends)
    ]
    assert all(len(part) == len(set(part)) for part in listed)
    return [set(part) for part in listed]


@KERNELS
@given(operands=st.lists(words, max_size=12), some=st.lists(texts, max_size=4))
def test_every_operand_is_found_once(
    kernel: ModuleType, operands: list[str], some: list[str]
) -> None:
    index = StringIndex(operands, kernel)
    expected = [
        {(o, t.startswith(o), t.endswith(o)) for o in operands if o in t} for t in some
    ]
    assert parts(index, some) == expected
    assert parts(index, some) == expected  # from memory


@given(operands=st.lists(words, max_size=12), text=texts)
def test_keys_keep_the_order(operands: list[str], text: str) -> None:
    index = StringIndex(operands)
    for operand in operands:
        assert (index.key(text) < index.key(operand)) == (text < operand)
        assert (index.key(text) == index.key(operand)) == (text == operand)


@KERNELS
def test_a_text_that_repeats_itself(kernel: ModuleType) -> None:
    """Found again and again, an operand is still listed once, and at no cost."""
    operands = ["a" * n for n in range(1, 200)]
    text = "a" * 1000
    index = StringIndex(operands, kernel)
    assert parts(index, [text]) == [{(o, True, True) for o in operands}]


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(string_index, "MEMORY_TEXTS_MAX", 3)
    index = StringIndex(["a"])
    for n in range(10):
        index.look_up([f"a{n}", f"b{n}"])
        assert len(index._memory) <= 3
    index.look_up([f"c{n}" for n in range(10)])
    assert len(index._memory) <= 3
    index.look_up(["a" * 1000])
    assert "a" * 1000 not in index._memory
