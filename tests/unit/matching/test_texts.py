"""What is sought in all strings at once is found wherever it is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from kernels import plain
from siena.block import encode
from siena.matching import texts as room
from siena.matching.input.buffers import join
from siena.matching.kernels import texts as compiled
from siena.matching.texts import Sought, TextFinder
from siena.model.folding import FOLDED, fold
from strategies import notifications

WORDS = st.text("abkS.\\ 0", min_size=1, max_size=14)
STRINGS = st.text("abkKsS.\\ 01\N{KELVIN SIGN}\u017fé", max_size=24)
WANTED = st.none() | st.builds(
    Sought,
    st.frozensets(WORDS.map(str.lower), max_size=4),
    st.none() | st.integers(1, 20),
)


def marked(finder: TextFinder, strings: list[str]) -> list[list[bool]]:
    data, offsets = join([string.encode() for string in strings])
    rows = np.arange(len(strings))
    seen = finder.sightings(len(strings))
    finder.look(data, offsets, rows, seen, are_blocks=False)
    marks = range(len(finder.is_known))
    return [
        [bool(finder.may_be(seen, rows[r : r + 1], np.array([m]))[0]) for m in marks]
        for r in rows.tolist()
    ]


def is_there(wanted: Sought | None, string: str) -> bool:
    """The definition."""
    if wanted is None:
        return True
    is_long = wanted.shortest is not None and len(string) >= wanted.shortest
    return is_long or any(text in fold(string) for text in wanted.texts)


def test_texts_are_found_in_any_case() -> None:
    finder = TextFinder([Sought(frozenset({"ab", "b."})), Sought(frozenset({"kk"}))])
    assert marked(finder, ["xAB", "b.", "kK", "", "a.b"]) == [
        [True, False],
        [True, False],
        [False, True],
        [False, False],
        [False, False],
    ]


@given(st.lists(WANTED, min_size=1, max_size=12), st.lists(STRINGS, max_size=5))
@example([Sought(frozenset({"k"}))], ["\N{KELVIN SIGN}"])
@example([Sought(frozenset({"s"}))], ["\u017f"])
@example([Sought(frozenset({"aab", "ab", "b"}))], ["aaab"])
def test_what_is_there_is_never_missed(
    wanted: list[Sought | None], strings: list[str]
) -> None:
    finder = TextFinder(wanted)
    for string, found in zip(strings, marked(finder, strings), strict=True):
        for each, may_be in zip(wanted, found, strict=True):
            assert may_be or not is_there(each, string)


@given(st.lists(WANTED, min_size=1, max_size=12), st.lists(STRINGS, max_size=5))
def test_the_plain_kernel_finds_the_same(
    wanted: list[Sought | None], strings: list[str]
) -> None:
    found = marked(TextFinder(wanted), strings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(room, "TextKernel", plain("texts").TextKernel)
        assert marked(TextFinder(wanted), strings) == found


def test_few_letters_beyond_ascii_are_ascii_in_another_case() -> None:
    """The kernel knows these two by their bytes."""
    found = {chr(code) for code in FOLDED if code > 127 and FOLDED[code] < 128}
    assert found == {"\N{KELVIN SIGN}", "\u017f"}


def test_what_is_far_from_it_is_not_found() -> None:
    finder = TextFinder([Sought(frozenset({"mimikatz"})), Sought(frozenset(), 30)])
    assert marked(finder, ["a day like any other"]) == [[False, False]]


def test_beyond_the_limit_everything_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "STATES_MAX", 6)
    finder = TextFinder([Sought(frozenset({"abcd"})), Sought(frozenset({"efgh"}))])
    assert finder.is_known.tolist() == [True, False]
    assert marked(finder, ["xyz"]) == [[False, True]]


@pytest.mark.parametrize("module", [compiled, plain("texts")])
@given(st.lists(notifications(), min_size=1, max_size=4), st.data())
def test_blocks_are_read_as_they_are_written(
    module: Any,  # noqa: ANN401
    given_notifications: list[dict[str, Any]],
    data: st.DataObject,
) -> None:
    blocks = [encode(each) for each in given_notifications]
    buffer, offsets = join(blocks)
    finder = TextFinder([Sought(frozenset({"~"}))])
    finder._kernel = module.TextKernel(*finder._kernel_arrays)
    seen = finder.sightings(len(blocks))
    finder.look(buffer, offsets, np.arange(len(blocks)), seen, are_blocks=True)
    for row, notification in enumerate(given_notifications):
        strings = [v for v in notification.values() if isinstance(v, str)]
        longest = max((len(s.encode()) for s in strings), default=0)
        others = len(strings) < len(notification)
        strange = any(c in s for s in strings for c in "\N{KELVIN SIGN}\u017f")
        assert seen.longest[row] == longest
        assert seen.flags[row] == others * room.HAS_OTHERS | strange * room.IS_STRANGE
        names = sorted(notification)
        asked = sorted(data.draw(st.sets(st.sampled_from([*names, "", "~"]))))
        start, end = offsets[row : row + 2].tolist()
        found = module.values_of(buffer, start, end, [n.encode() for n in asked])
        expected = [
            encode({"": notification[n]})[2:] if n in notification else b"\xc1"
            for n in sorted(asked, key=str.encode)
        ]
        assert found == b"".join(expected)


@pytest.mark.parametrize("module", [compiled, plain("texts")])
@given(block=st.binary(max_size=12) | st.just(b"\xde\x00"))
@example(block=b"\xdb\xff\xff\xff\xff")
@example(block=b"\x81\xdb\xff\xff\xff\xff")
@example(block=b"\x81\xa1x\xdb\xff\xff\xff\xff")
@example(block=b"\x81\xa1x\xcb")
def test_what_is_no_block_is_not_read_beyond_its_end(module: Any, block: bytes) -> None:  # noqa: ANN401
    finder = TextFinder([Sought(frozenset({"a"}))])
    finder._kernel = module.TextKernel(*finder._kernel_arrays)
    seen = finder.sightings(1)
    data = block + b"aaaaaaaa"
    finder.look(data, np.array([0, len(block)]), np.arange(1), seen, are_blocks=True)
    module.values_of(data, 0, len(block), [b"a", b"x"])
    if b"a" not in block.lower():
        assert not seen.bits.any()


@pytest.mark.parametrize(
    ("offsets", "rows"), [([0, 2], [1]), ([0, 9], [0]), ([2, 0], [0]), ([-1, 1], [0])]
)
def test_what_is_outside_is_refused(offsets: list[int], rows: list[int]) -> None:
    finder = TextFinder([Sought(frozenset({"a"}))])
    look: Callable[..., None] = finder.look
    with pytest.raises(ValueError, match=r"outside|not there"):
        look(
            b"abc",
            np.array(offsets),
            np.array(rows),
            finder.sightings(1),
            are_blocks=False,
        )
