"""The string index: what all string constraints need to know about a text, at once.

One structure serves ``= != < <= > >= >* *< *``.  The papers' library has a ternary
search tree for it, which is entered again at every position of the text, and whose
complete nodes are chained in lexicographic order.  Here the chain is a sorted list of
the operands, and a text's place in it its *key*; and the tree is an automaton, which
finds every operand at every position in a single pass, however the text repeats
itself.  What has been found about a text is kept: the same texts come again.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from siena.research.matchers.kernels import strings

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

# Texts that are remembered, and how long the longest may be.
MEMORY_TEXTS_MAX = 65_536
MEMORY_CHARACTERS_MAX = 256


class Texts(NamedTuple):
    """What is known about some texts.

    Operands inside text ``t`` are ``part[part_first[t] : part_first[t + 1]]``, each as
    its number · 4 + 1 if the text begins with it + 2 if the text ends with it.
    """

    key: Longs
    part_first: Ints
    part: Ints


class StringIndex:
    """The operands of all string constraints.

    >>> index = StringIndex(["ab", "b", "abc"])
    >>> index.operands
    ['ab', 'abc', 'b']

    Operands have odd keys, and what lies between two of them the even one between.

    >>> index.key("abc"), index.key("abb"), index.key("xbc")
    (3, 2, 6)

    In ``xab`` there are ``ab``, which ends it, and ``b``, which does too.

    >>> index.look_up(["xab"]).part.tolist()
    [2, 10]

    Cost: a text takes time proportional to its length and to what is found in it, and
    next to nothing when it comes again.

    Reference:
        Our specification, C.3.1.
    """

    def __init__(self, operands: Iterable[str], kernel: ModuleType = strings) -> None:
        self.operands = sorted(set(operands))
        text, first = _characters(self.operands)
        nodes = len(text) + 1
        # A power of two, at least twice the number of edges.
        edges = 1 << (2 * nodes).bit_length()
        self._arrays: list[NDArray[Any]] = [
            np.full(edges, -1, np.int64),
            np.zeros(edges, np.int32),
            np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32),
            np.full(nodes, -1, np.int32),
            np.zeros(nodes, np.int32),
        ]
        self._automaton = kernel.Automaton(*self._arrays)
        order = np.argsort(-np.diff(first), kind="stable").astype(np.int32)
        self._automaton.build(text, first, order, np.zeros(len(order), np.int32))
        self._memory: dict[str, tuple[int, bytes]] = {}

    def key(self, text: str) -> int:
        """The place of a text among the operands."""
        place = bisect_left(self.operands, text)
        equal = place < len(self.operands) and self.operands[place] == text
        return 2 * place + equal

    def look_up(self, texts: Sequence[str]) -> Texts:
        """What is known about the texts, from memory where possible."""
        memory = self._memory
        new = [text for text in texts if text not in memory]
        found = dict(zip(new, self._facts(new), strict=True)) if new else {}
        facts = [found.get(text) or memory[text] for text in texts]
        if len(memory) + len(new) > MEMORY_TEXTS_MAX:
            self._memory = memory = {}  # a new one: others may be reading the old
        for text in new[:MEMORY_TEXTS_MAX]:
            if len(text) <= MEMORY_CHARACTERS_MAX:
                memory[text] = found[text]
        lengths = [len(parts) // 4 for _, parts in facts]
        return Texts(
            np.array([key for key, _ in facts], np.int64),
            _starts(lengths),
            # A bytearray, because kernels take only what could be written to.
            np.frombuffer(bytearray().join(parts for _, parts in facts), np.int32),
        )

    @property
    def nbytes(self) -> int:
        """The size of the automaton."""
        return sum(array.nbytes for array in self._arrays)

    def _facts(self, texts: list[str]) -> list[tuple[int, bytes]]:
        text, first = _characters(texts)
        seen = np.full(len(self.operands), -1, np.int32)
        ends = np.zeros(len(texts) + 1, np.int32)
        found = np.empty(64 + 8 * len(texts), np.int32)
        done = 0
        while True:
            done = self._automaton.scan(text, first, done, seen, ends, found)
            if done == len(texts):
                break
            found = np.concatenate([found, np.empty_like(found)])
        return [
            (self.key(t), found[ends[i] : ends[i + 1]].tobytes())
            for i, t in enumerate(texts)
        ]


def _characters(texts: Sequence[str]) -> tuple[Ints, Ints]:
    """The code points of all texts, one after the other, and where each begins."""
    # Halves of surrogate pairs are no characters, but a mapping may hold anything.
    joined = bytearray("".join(texts), "utf-32-le", "surrogatepass")
    return np.frombuffer(joined, np.int32), _starts([len(t) for t in texts])


def _starts(lengths: Sequence[int]) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32)
