"""Many texts, sought in all strings of notifications at once, whatever their case.

Who waits for one of some texts has a *mark*.  :class:`TextFinder` says of each row of a
batch which marks may be there: never too few, and too many only where that is said.
Texts are of ASCII, and only their first bytes are sought.

Reference:
    A. Aho, M. Corasick, *Efficient String Matching*, CACM 18 (1975).
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.kernels.texts import TextKernel

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Octets = npt.NDArray[np.uint8]

# Of a text so many bytes are sought: what begins like it is rare enough.
TEXT_BYTES_MAX = 10
# States of the automaton, 64 bytes each; who waits for more texts is not served.
STATES_MAX = 32_768
# What is told of a byte; 32 steps of a state are one line of the cache.
CLASSES = 32

_IS_END = 0x8000

HAS_OTHERS, IS_STRANGE = 1, 2
# No number and no time is written with more characters than this.
_WRITTEN_MAX = 64
# What may be part of a number or a time, as they are written.
_NUMERIC = re.compile(r"[0-9.:+\-etz]+")


class Sought(NamedTuple):
    """What one waits for: a text of some, or a string of at least so many bytes."""

    texts: frozenset[str]
    shortest: int | None = None


class Sightings(NamedTuple):
    """What is known of the rows of a batch."""

    bits: Octets
    longest: Ints
    flags: Octets


class TextFinder:
    """Finds for each of those who wait the rows that may be what they wait for.

    >>> finder = TextFinder([Sought(frozenset({"ab", "cd"})), Sought(frozenset(), 5)])
    >>> rows = np.arange(3)
    >>> offsets = np.array([0, 3, 6, 11])
    >>> seen = finder.sightings(3)
    >>> finder.look(b"xABxyzvwxyz", offsets, rows, seen, are_blocks=False)
    >>> finder.may_be(seen, rows, np.array([0, 0, 1])).tolist()
    [True, False, True]
    """

    def __init__(self, wanted: Sequence[Sought | None]) -> None:
        automaton = _Automaton()
        self.is_known = np.zeros(len(wanted), np.bool_)
        self._shortest = np.full(len(wanted), np.iinfo(np.int32).max, np.int64)
        # Where numbers are written as texts, these may be among them.
        self._is_loose = np.zeros(len(wanted), np.bool_)
        # Of each mark the bit that stands for it: most have none, and rows stay short.
        self._bits = np.zeros(len(wanted), np.int64)
        known = 0
        for mark, each in enumerate(wanted):
            if each is None or not automaton.takes(each.texts, known):
                continue
            self.is_known[mark] = True
            self._bits[mark] = known
            known += 1
            if each.shortest is not None:
                self._shortest[mark] = each.shortest
            self._is_loose[mark] = any(map(_may_be_written, each.texts)) or (
                each.shortest is not None and each.shortest <= _WRITTEN_MAX
            )
        self._width = known // 8 + 1
        self._kernel_arrays = automaton.arrays()
        self._kernel = TextKernel(*self._kernel_arrays)

    def sightings(self, rows: int) -> Sightings:
        """Room for what is found in so many rows, in which nothing is yet."""
        return Sightings(
            np.zeros((rows, self._width), np.uint8),
            np.zeros(rows, np.int32),
            np.zeros(rows, np.uint8),
        )

    def look(
        self,
        data: bytes | memoryview | Octets,
        offsets: Longs,
        rows: Longs,
        seen: Sightings,
        *,
        are_blocks: bool,
    ) -> None:
        """Look at rows ``data[offsets[r]:offsets[r + 1]]``: blocks, or strings.

        Raises:
            ValueError: if a row is none, or does not lie within the data.
        """
        if not len(rows):
            return
        if rows.min() < 0 or rows.max() >= min(len(offsets) - 1, len(seen.flags)):
            raise ValueError("rows that are not there")
        starts, ends = offsets[rows], offsets[rows + 1]
        if starts.min() < 0 or (ends < starts).any() or ends.max() > len(data):
            raise ValueError("offsets outside the data")
        self._kernel.look(
            data if len(data) else b"\0",
            np.ascontiguousarray(offsets, np.int64),
            np.ascontiguousarray(rows, np.int64),
            are_blocks,
            *seen,
        )

    def may_be(self, seen: Sightings, rows: Longs, marks: Longs) -> Bools:
        """Whether rows may be what those with these marks wait for."""
        flags = seen.flags[rows]
        bits = self._bits[marks]
        found = (seen.bits[rows, bits >> 3] >> (bits & 7).astype(np.uint8)) & 1 != 0
        found |= ~self.is_known[marks]
        found |= seen.longest[rows] >= self._shortest[marks]
        found |= (flags & IS_STRANGE) != 0
        found |= self._is_loose[marks] & ((flags & HAS_OTHERS) != 0)
        return np.asarray(found)


def _may_be_written(text: str) -> bool:
    """Whether a value that is no string may have a text in it, when it is written."""
    return bool(_NUMERIC.fullmatch(text)) or text in "true" or text in "false"


class _Automaton:
    """The trie of all texts, and of each node whose texts end there."""

    def __init__(self) -> None:
        self.children: list[dict[int, int]] = [{}]
        self.marks: list[set[int]] = [set()]

    def takes(self, texts: Iterable[str], mark: int) -> bool:
        """Enter the texts of a mark, if there is room for them."""
        found = list(texts)
        if not all(text.isascii() and text for text in found):
            return False
        cut = {_CLASSES[list(t.encode()[:TEXT_BYTES_MAX])].tobytes() for t in found}
        if len(self.children) + sum(map(len, cut)) > STATES_MAX:
            return False
        for text in cut:
            node = 0
            for step in text:
                child = self.children[node].get(step)
                if child is None:
                    child = self.children[node][step] = len(self.children)
                    self.children.append({})
                    self.marks.append(set())
                node = child
            self.marks[node].add(mark)
        return True

    def arrays(self) -> tuple[Octets, npt.NDArray[np.uint16], Ints, Ints]:
        """Classes of bytes, steps, and the marks of what ends at each state."""
        steps = np.zeros((len(self.children), CLASSES), np.uint16)
        fallback = [0] * len(self.children)
        order = [0]
        for node in order:
            back = fallback[node]
            if node:
                self.marks[node] |= self.marks[back]
                steps[node] = steps[back]
            for place, child in self.children[node].items():
                # Until its own step is written, here is where a shorter text goes.
                fallback[child] = int(steps[node, place])
                steps[node, place] = child
                order.append(child)
        sizes = [len(marks) for marks in self.marks]
        is_end = np.array(sizes) > 0
        steps[is_end[steps]] |= _IS_END
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        marks = [mark for ending in self.marks for mark in sorted(ending)]
        flat = np.ascontiguousarray(steps.reshape(-1))
        return _CLASSES, flat, starts, np.array([*marks, 0], np.int32)


def _classes() -> Octets:
    """The class of each byte: what is one class is taken for the same.

    Letters in any case have one each, digits one together, and so have slashes of both
    kinds, blanks, and the rest of ASCII; no text has what is beyond it.
    """
    found = np.zeros(256, np.uint8)
    found[:128] = 31
    for letter in range(26):
        found[ord("a") + letter] = found[ord("A") + letter] = 1 + letter
    found[list(b"0123456789")] = 27
    found[list(b"\\/")] = 28
    found[list(b" \t")] = 29
    found[list(b".")] = 30
    return found


_CLASSES = _classes()
