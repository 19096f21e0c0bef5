"""Strings inside strings: which of many a text contains, and which contain it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

# A string contains another only if it contains all pieces of so many characters.
GRAM = 3


class Operands:
    """A set of strings, of which some are inside a text.

    >>> operands = Operands()
    >>> for text in ("ab", "abcd", "bcde", "cd"):
    ...     operands.add(text)
    >>> sorted(operands.within("abcdx"))
    ['ab', 'abcd', 'cd']

    Cost: the length of the text for each length that operands have.
    """

    __slots__ = ("_lengths", "_texts")

    def __init__(self) -> None:
        self._texts: dict[str, None] = {}
        self._lengths: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def add(self, text: str) -> None:
        """Enter a string."""
        self._texts[text] = None
        self._lengths[len(text)] += 1

    def remove(self, text: str) -> None:
        """Take a string out."""
        del self._texts[text]
        self._lengths[len(text)] -= 1
        if not self._lengths[len(text)]:
            del self._lengths[len(text)]

    def within(self, text: str) -> list[str]:
        """The strings that the text contains."""
        # Unless it has more pieces than there are strings.
        if len(text) * len(self._lengths) > len(self._texts):
            return [operand for operand in self._texts if operand in text]
        return [
            piece
            for length in self._lengths
            for piece in {text[i : i + length] for i in range(len(text) - length + 1)}
            if piece in self._texts
        ]


class Texts(Generic[T]):
    """Things with a text each, of which some contain a part.

    >>> texts = Texts()
    >>> for number, text in enumerate(("ab", "abcd", "bcde", "cd")):
    ...     texts.add(text, number)
    >>> texts.containing("bcd"), texts.containing("cd")
    ([1, 2], [1, 2, 3])

    Cost: the things that share the rarest piece of the part; of a part that is shorter
    than a piece, all.
    """

    __slots__ = ("_all", "_by_gram")

    def __init__(self) -> None:
        self._all: dict[T, str] = {}
        self._by_gram: dict[str, dict[T, None]] = {}

    def add(self, text: str, item: T) -> None:
        """Enter a thing with its text."""
        self._all[item] = text
        for gram in _grams(text):
            self._by_gram.setdefault(gram, {})[item] = None

    def remove(self, item: T) -> None:
        """Take a thing out."""
        for gram in _grams(self._all.pop(item)):
            found = self._by_gram[gram]
            del found[item]
            if not found:
                del self._by_gram[gram]

    def containing(self, part: str) -> list[T]:
        """The things whose text contains a part."""
        candidates: Iterable[T] = self._all
        if len(part) >= GRAM:
            found = [self._by_gram.get(gram, {}) for gram in _grams(part)]
            fewest: dict[T, None] = min(found, key=len)
            candidates = fewest
        return [item for item in candidates if part in self._all[item]]


def _grams(text: str) -> set[str]:
    return {text[i : i + GRAM] for i in range(len(text) - GRAM + 1)}
