"""The attributes of a batch of events, each distinct value once.

A residual is a function of a few attributes, whose values repeat.  So every attribute
is a column of *codes*, one for each row, and of the values that they stand for; what is
asked of a value is asked once.  Where the events are columns already, and each column
is one attribute, nothing becomes an object that no residual looks at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from siena.model.spelling import spell
from siena.model.values import Value
from siena.spark.batch.columns import Layout, wide_batch
from siena.spark.batch.rows import read_row

Event = Mapping[str, Value]
Places = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
# Rows of a batch for each that residuals ask about, from which on only these are read.
ASKED_SHARE = 2
Texts: TypeAlias = "Sequence[str] | pa.Array"


class CodedAttribute:
    """One attribute: the code of each row, -1 where it is absent, and the values."""

    def __init__(
        self, name: str, codes: Places, distinct: pa.Array | list[Value]
    ) -> None:
        self.name = name
        self.codes = codes
        self.distinct = distinct

    def tell(self, rows: Places, answer: Callable[["Values"], Bools]) -> Bools:
        """What is answered to the values that some rows have; no to absent ones."""
        codes = self.codes[rows]
        is_asked = np.zeros(len(self.distinct) + 1, np.bool_)
        is_asked[codes] = True
        asked = np.flatnonzero(is_asked[:-1])
        answers = np.zeros(len(is_asked), np.bool_)
        if len(asked):
            answers[asked] = answer(Values(self, asked))
        return np.asarray(answers[codes])

    def is_absent(self, rows: Places) -> Bools:
        """Whether rows have no value."""
        return np.asarray(self.codes[rows] < 0)


class Values:
    """Some of the distinct values of an attribute."""

    def __init__(self, attribute: CodedAttribute, codes: Places) -> None:
        self._attribute = attribute
        self._codes = codes

    def __len__(self) -> int:
        return len(self._codes)

    def values(self) -> list[Value]:
        """The values themselves."""
        distinct = self._attribute.distinct
        if isinstance(distinct, list):
            return [distinct[code] for code in self._codes.tolist()]
        name = self._attribute.name
        found = distinct.take(pa.array(self._codes)).to_pylist()
        return [dict(read_row({name: value}))[name] for value in found]

    def strings(self, test: Callable[[Texts], Bools]) -> Bools:
        """What a test says of the strings among them; no to the others."""
        distinct = self._attribute.distinct
        if not isinstance(distinct, list):
            if _is_text(distinct.type):
                return test(distinct.take(pa.array(self._codes)))
            return np.zeros(len(self), np.bool_)
        values = self.values()
        is_text = np.array([isinstance(value, str) for value in values], np.bool_)
        found = np.zeros(len(values), np.bool_)
        found[is_text] = test([value for value in values if isinstance(value, str)])
        return found

    def texts(self, test: Callable[[Texts], Bools]) -> Bools:
        """What a test says of all of them, written as texts."""
        distinct = self._attribute.distinct
        if not isinstance(distinct, list) and _is_text(distinct.type):
            return self.strings(test)
        return test([v if isinstance(v, str) else spell(v) for v in self.values()])


class Attributes:
    """The attributes of a batch.

    Those of rows that stand in no columns are read from ``events``, which knows every
    row that is asked about.
    """

    def __init__(
        self,
        rows: int,
        columns: Mapping[str, pa.Array] | None,
        events: Callable[[Places], Mapping[int, Event]],
        asked: Places | None = None,
    ) -> None:
        """Of what; ``asked`` are the rows that are asked about, or else any may be."""
        self._rows = rows
        # To take few rows and encode these is quicker than to encode all of them.
        is_few = asked is not None and ASKED_SHARE * len(asked) <= rows
        self._asked = asked if is_few else None
        self._columns = columns
        self._events = events
        self._known: dict[str, CodedAttribute] = {}

    def of(self, name: str, rows: Places) -> CodedAttribute:
        """One attribute, which knows the values of some rows at least."""
        if self._columns is None:
            found = self._events(rows)
            places = rows.tolist()
            return _numbered(name, self._rows, places, [found[r] for r in places])
        if name not in self._known:
            self._known[name] = self._encoded(name)
        return self._known[name]

    def names(self, rows: Places) -> Iterable[str]:
        """The names of all attributes that some rows have."""
        if self._columns is not None:
            return self._columns
        return {name for row, e in self._events(rows).items() for name in e}

    def events(self, rows: Places) -> list[Event]:
        """Rows as mappings."""
        found = self._events(rows)
        return [found[row] for row in rows.tolist()]

    def _encoded(self, name: str) -> CodedAttribute:
        assert self._columns is not None
        column = self._columns.get(name)
        if column is None:
            return CodedAttribute(name, np.full(self._rows, -1, np.int64), [])
        if self._asked is not None:
            column = column.take(pa.array(self._asked))
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        values = column.dictionary
        codes = codes.astype(np.int64)
        if values.null_count:  # what stands for a null is absent, too
            is_null = np.append(values.is_null().to_numpy(zero_copy_only=False), False)
            codes[is_null[codes]] = -1
        if self._asked is not None:
            of_rows = np.full(self._rows, -1, np.int64)
            of_rows[self._asked] = codes
            codes = of_rows
        return CodedAttribute(name, codes, values)


def _numbered(
    name: str, count: int, places: list[int], events: Sequence[Event]
) -> CodedAttribute:
    numbers: dict[tuple[type, Any], int] = {}
    codes = np.full(count, -1, np.int64)
    for place, event in zip(places, events, strict=True):
        if name in event:
            value = event[name]
            # Python calls 1, 1.0 and True equal.
            codes[place] = numbers.setdefault((type(value), value), len(numbers))
    return CodedAttribute(name, codes, [value for _, value in numbers])


def columns_of(batch: pa.RecordBatch, layout: Layout) -> dict[str, pa.Array] | None:
    """The attributes of a batch as columns, if each column is one plain attribute."""
    if layout.form != "wide" or layout.many:
        return None
    wide = wide_batch(batch, layout)
    if not all(map(_is_plain, wide.schema.types)):
        return None
    return dict(zip(wide.schema.names, wide.columns, strict=True))


def strings_of(
    columns: Iterable[pa.Array],
) -> Iterator[tuple[npt.NDArray[np.uint8], Places] | None]:
    """The bytes and the offsets of columns of strings; of others none.

    Where there is no string, there may be any bytes.
    """
    for column in columns:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()  # noqa: PLW2901 -- the same, plainly
        if pa.types.is_null(column.type):
            continue
        if not _is_text(column.type):
            yield None
            continue
        _, offsets, data = column.buffers()
        kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
        first = column.offset
        places = np.frombuffer(offsets, kind)[first : first + len(column) + 1]
        octets = np.frombuffer(data or b"", np.uint8)
        yield octets, places.astype(np.int64)


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    return bool(
        _is_text(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_null(kind)
    )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
