"""Arrow batches, read where they lie: through the C data interface, without pyarrow.

Whatever has ``__arrow_c_array__`` hands out two C structures.  Their pointers are read
here (:mod:`siena.matching.input.arrow_interface`), once per batch and column, and
checked as far as the interface tells; the kernel gets addresses, sizes and
a few words about each column, and reads the rows.

=====================================  ============================================
Arrow's type                           what a row has
=====================================  ============================================
int8 … int64, uint8 … uint64           an integer
float32, float64                       a float
bool                                   a boolean
utf8, large_utf8, string_view          a string
timestamp, with a zone or without      a time in UTC, in whole microseconds
dictionary of one of these             what stands in the dictionary
null, and every null                   nothing: the attribute is absent
=====================================  ============================================

Everything else is refused by name.  Dates are, because whether a day means its first
moment is the caller's to say: cast them to timestamps.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.input.arrow_interface import (
    NOTHING,
    NOTHING_ADDRESS,
    READ_ONLY,
    Array,
    ArrowSource,
    Schema,
    children_of,
    memory,
    open_batch,
    spell_type,
    type_of,
)
from siena.model.limits import STRING_CHARACTERS_MAX

Longs = npt.NDArray[np.int64]

# As in the kernel, where the words about a column are described.
SIGNED, UNSIGNED, FLOATING, BOOLEAN, TEXT, VIEW = range(6)
TIME_S, TIME_MS, TIME_US, TIME_NS, DICTIONARY = range(6, 11)
COLUMN = 8

# Format strings of the interface: code of the kernel, and bytes of an item.
_FIXED = {
    "c": (SIGNED, 1),
    "s": (SIGNED, 2),
    "i": (SIGNED, 4),
    "l": (SIGNED, 8),
    "C": (UNSIGNED, 1),
    "S": (UNSIGNED, 2),
    "I": (UNSIGNED, 4),
    "L": (UNSIGNED, 8),
    "f": (FLOATING, 4),
    "g": (FLOATING, 8),
}
_TIMES = {"tss": TIME_S, "tsm": TIME_MS, "tsu": TIME_US, "tsn": TIME_NS}
_TEXTS = {"u": 4, "U": 8}
_STRINGS = {*_TEXTS, "vu"}


class Batch(NamedTuple):
    """A record batch as numbers: what the kernel needs to read its rows.

    The first of the columns belong to the names; behind them stand the values of
    dictionaries.  Of each buffer there is an address, a size and a view.
    """

    rows: int
    names: list[bytes]
    columns: Longs
    addresses: Longs
    sizes: Longs
    views: list[memoryview]
    # The capsules: while they live, so does the memory.
    owner: object
    # Rows with a string that is longer than a value may be.
    too_long: frozenset[int] = frozenset()


def read_batch(source: ArrowSource) -> Batch:
    """The batch, with all its columns.

    Raises:
        TypeError: if it is no record batch, or a column has a type that no value has.
        ValueError: if two columns have one name, or what it says cannot be true.
    """
    owner, schema, array = open_batch(source)
    reader = _Reader()
    names: list[bytes] = []
    used: list[list[int]] = []
    too_long: set[int] = set()
    for name, of, items in children_of(schema, array):
        if name in names:
            raise ValueError(f"two columns are called {name.decode()!r}")
        # The reader's errors name the column, so the name must be readable.
        words = reader.column(name.decode(), of, items, array.offset, array.length)
        if words:
            names.append(name)
            used.append(words)
            too_long.update(reader.long_rows(words, array.length))
    # Dictionaries stand behind the columns, so their place is known only now.
    for words in used:
        if words[0] == DICTIONARY:
            words[6] += len(used)
    return Batch(
        array.length,
        names,
        np.array([*used, *reader.dictionaries, [0] * COLUMN], np.int64).ravel(),
        np.array([*reader.addresses, 0], np.int64),
        np.array([*reader.sizes, 0], np.int64),
        reader.views,
        owner,
        frozenset(too_long),
    )


class TextColumn(NamedTuple):
    """Strings back to back: row ``r`` is ``data[starts[r]:starts[r + 1]]``."""

    data: npt.NDArray[np.uint8]
    starts: Longs
    there: npt.NDArray[np.uint8]  # of each row whether it is not null
    # The capsules: while they live, so does the memory.
    owner: object

    @classmethod
    def of(cls, texts: Iterable[bytes | None]) -> "TextColumn":
        """The same strings one behind the other, as copies."""
        found = list(texts)
        starts = np.zeros(len(found) + 1, np.int64)
        np.cumsum([len(text or b"") for text in found], out=starts[1:])
        # A kernel wants at least one byte to point at.
        data = np.frombuffer(b"".join(text or b"" for text in found) + b"\0", np.uint8)
        there = np.array([text is not None for text in found], np.uint8)
        return cls(data, starts, there, None)

    def text(self, row: int) -> bytes | None:
        """The string of one row."""
        if not self.there[row]:
            return None
        return self.data[self.starts[row] : self.starts[row + 1]].tobytes()


def read_texts(source: ArrowSource, name: str) -> TextColumn:
    """The strings of one column, whatever the others are.

    Raises:
        TypeError: if it is no record batch, or the column does not hold strings.
        ValueError: if there is no such column, or more than one.
    """
    owner, schema, array = open_batch(source)
    found = [c for c in children_of(schema, array) if c[0] == name.encode()]
    if len(found) != 1:
        count = "no column is" if not found else "two columns are"
        raise ValueError(f"{count} called {name!r}")
    _, of, items = found[0]
    values = of.dictionary.contents if of.dictionary else of
    if values.format.decode() not in _STRINGS:
        raise TypeError(f"column {name!r} is {type_of(values)}, not strings of JSON")
    reader = _Reader()
    words = reader.column(name, of, items, array.offset, array.length)
    if words[0] == TEXT and array.length:
        return reader.text_column(words, array.length, owner)
    if words[0] != DICTIONARY:
        return TextColumn.of(reader.texts(words, array.length))
    of_values = reader.dictionaries[0]
    known = list(reader.texts(of_values, of_values[7]))
    return TextColumn.of(
        None if i is None else known[i] for i in reader.indices(words, array.length)
    )


class _Reader:
    """Collects the buffers of a batch, column by column."""

    def __init__(self) -> None:
        self.addresses: list[int] = []
        self.sizes: list[int] = []
        self.views: list[memoryview] = []
        self.dictionaries: list[list[int]] = []

    def column(
        self, name: str, schema: Schema, array: Array, base: int, rows: int
    ) -> list[int]:
        """The words about a column, of which ``rows`` begin at ``base``; none if null.

        The place of a dictionary is counted from the first one.
        """
        form = schema.format.decode()
        if array.offset < 0 or base < 0 or rows < 0 or array.length < base + rows:
            raise ValueError(f"column {name!r} is shorter than the batch")
        first = array.offset + base
        end = first + rows
        if form == "n":
            return []
        code, size = _code_of(form, name)
        buffers = 3 if code in {TEXT, VIEW} else 2
        if array.n_buffers < buffers or (array.n_buffers > buffers and code != VIEW):
            raise ValueError(f"column {name!r} has {array.n_buffers} buffers")
        bitmap = -1
        if array.null_count != 0 and array.buffers[0]:
            bitmap = self._add(array, 0, (end + 7) // 8, name)
        if code == TEXT:
            # Without rows there may be no offsets either.
            items = self._add(array, 1, size * (end + 1) if rows else 0, name)
            return [code, size, bitmap, first, items, *self._bytes(
                array, items, size, first if rows else -1, name), 0, 0]  # fmt: skip
        if code == VIEW:
            items = self._add(array, 1, 16 * end, name)
            return [code, 16, bitmap, first, items, *self._variadic(array, name), 0]
        nbytes = (end + 7) // 8 if code == BOOLEAN else size * end
        items = self._add(array, 1, nbytes, name)
        if not schema.dictionary:
            return [code, size, bitmap, first, items, 0, 0, 0]
        values = self._values(name, schema, array, code)
        if not values:
            return []
        signed = int(code == SIGNED)
        place = len(self.dictionaries) - 1
        return [DICTIONARY, size, bitmap, first, items, signed, place, values[7]]

    def _values(self, name: str, schema: Schema, array: Array, code: int) -> list[int]:
        """The words about the values of a dictionary, with their number as the last."""
        if code not in {SIGNED, UNSIGNED} or not schema.dictionary:
            raise ValueError(f"column {name!r} has a dictionary, but no indices")
        if not array.dictionary:
            raise ValueError(f"the dictionary of column {name!r} is missing")
        of, values = schema.dictionary.contents, array.dictionary.contents
        if of.dictionary:
            raise TypeError(f"column {name!r} is a dictionary of dictionaries")
        words = self.column(name, of, values, 0, values.length)
        if words:
            words[7] = values.length
            self.dictionaries.append(words)
        return words

    def text_column(self, words: list[int], rows: int, owner: object) -> TextColumn:
        """The strings of a column where they lie."""
        _, size, _, first, items, data, _, _ = words
        form = np.int32 if size == 4 else np.int64
        starts = np.frombuffer(self.views[items], form)[first : first + rows + 1]
        return TextColumn(
            np.frombuffer(self.views[data] or b"\0", np.uint8),
            starts.astype(np.int64),
            np.array(self._there(words, rows), np.uint8),
            owner,
        )

    def texts(self, words: list[int], rows: int) -> Iterator[bytes | None]:
        """The strings of a column, as bytes."""
        code, size, _, first, items, data, more, _ = words
        view = self.views[items]
        there = self._there(words, rows)
        if code == TEXT:
            form = np.int32 if size == 4 else np.int64
            ends = np.frombuffer(view, form)[first:].tolist() if rows else []
            for i in range(rows):
                text = self.views[data][ends[i] : ends[i + 1]]
                yield bytes(text) if there[i] else None
            return
        for i in range(rows):
            at = 16 * (first + i)
            length, _, number, start = np.frombuffer(view[at : at + 16], "<i4").tolist()
            if not there[i]:
                yield None
            elif 0 <= length <= 12:
                yield bytes(view[at + 4 : at + 4 + length])
            elif (
                0 <= number < more
                and start >= 0
                and length >= 0
                and start + length <= self.sizes[data + number]
            ):
                yield bytes(self.views[data + number][start : start + length])
            else:
                yield b""  # what it says cannot be true, and is no JSON either

    def long_rows(self, words: list[int], rows: int) -> Iterator[int]:
        """The rows whose string is longer than a value may be."""
        if rows and words[0] == DICTIONARY:
            values = self.dictionaries[words[6]]
            if found := set(self.long_rows(values, values[7])):
                places = enumerate(self.indices(words, rows))
                yield from (row for row, index in places if index in found)
            return
        # In bytes, of which there are as many as characters, or more.
        lengths = self._lengths(words, rows)
        asked = set(np.flatnonzero(lengths > STRING_CHARACTERS_MAX).tolist())
        if asked:
            for row, text in enumerate(self.texts(words, rows)):
                if row in asked and text is not None:
                    octets = np.frombuffer(text, np.uint8)
                    if (
                        np.count_nonzero((octets & 0xC0) != 0x80)
                        > STRING_CHARACTERS_MAX
                    ):
                        yield row

    def _lengths(self, words: list[int], rows: int) -> Longs:
        """The bytes of the strings of a column, if there may be long ones."""
        code, size, _, first, items, data, _, _ = words
        if rows and code == TEXT and self.sizes[data] > STRING_CHARACTERS_MAX:
            form = np.int32 if size == 4 else np.int64
            ends: npt.NDArray[Any] = np.frombuffer(self.views[items], form)
            ends = ends[first : first + rows + 1].astype(np.int64)
            lengths: Longs = ends[1:] - ends[:-1]
            return lengths
        if rows and code == VIEW:
            four = np.frombuffer(self.views[items], np.int32).reshape(-1, 4)
            return four[first : first + rows, 0].astype(np.int64)
        return np.zeros(0, np.int64)

    def indices(self, words: list[int], rows: int) -> Iterator[int | None]:
        """The places of a column in its dictionary; none for those outside it."""
        _, size, _, first, items, signed, _, values = words
        form = np.dtype(f"{'i' if signed else 'u'}{size}")
        found = np.frombuffer(self.views[items], form) if rows else np.zeros(0, form)
        for i, is_there in zip(
            found[first:].tolist(), self._there(words, rows), strict=True
        ):
            yield i if is_there and 0 <= i < values else None

    def _there(self, words: list[int], rows: int) -> list[bool]:
        _, _, bitmap, first, *_ = words
        if bitmap < 0 or not rows:
            return [True] * rows
        bits = np.frombuffer(self.views[bitmap], np.uint8)
        ones = np.unpackbits(bits, bitorder="little")[first : first + rows]
        return ones.astype(bool).tolist()  # type: ignore[no-any-return]

    def _bytes(
        self, array: Array, items: int, size: int, first: int, name: str
    ) -> tuple[int]:
        """The bytes of texts, which end where the last offset says."""
        nbytes = 0
        if first >= 0:
            form = np.int32 if size == 4 else np.int64
            offsets: npt.NDArray[Any] = np.frombuffer(self.views[items], form)[first:]
            # Compared, not subtracted: a difference might not fit.
            if offsets[0] < 0 or bool(np.any(offsets[1:] < offsets[:-1])):
                raise ValueError(f"the offsets of column {name!r} do not ascend")
            nbytes = int(offsets[-1])
        return (self._add(array, 2, nbytes, name),)

    def _variadic(self, array: Array, name: str) -> tuple[int, int]:
        """The bytes of views: any number of buffers, whose sizes are the last one."""
        count = array.n_buffers - 3
        first = len(self.views)
        if count:
            sizes = self._add(array, array.n_buffers - 1, 8 * count, name)
            first += 1
            for k, nbytes in enumerate(np.frombuffer(self.views[sizes], np.int64)):
                if nbytes < 0:
                    raise ValueError(f"a buffer of column {name!r} has no size")
                self._add(array, 2 + k, int(nbytes), name)
        return first, count

    def _add(self, array: Array, k: int, nbytes: int, name: str) -> int:
        address = array.buffers[k]
        if nbytes and not address:
            raise ValueError(f"a buffer of column {name!r} is missing")
        view = memory(address, nbytes, READ_ONLY) if nbytes else NOTHING
        self.addresses.append(address if nbytes else NOTHING_ADDRESS)
        self.sizes.append(nbytes)
        self.views.append(view)
        return len(self.views) - 1


def _code_of(form: str, name: str) -> tuple[int, int]:
    """What the kernel calls a type, and the bytes of an item."""
    if form in _FIXED:
        return _FIXED[form]
    if form in _TEXTS:
        return TEXT, _TEXTS[form]
    if form == "vu":
        return VIEW, 16
    if form == "b":
        return BOOLEAN, 1
    if form[:3] in _TIMES:
        return _TIMES[form[:3]], 8
    hint = "; cast it to a timestamp" if form.startswith("td") else ""
    raise TypeError(f"column {name!r} is {spell_type(form)}, which no value is{hint}")
