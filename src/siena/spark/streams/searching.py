"""Many searches at once: rows that are steps of patterns in, sequences out.

The rows stay in Arrow.  A search knows its accepted rows by their places in one table,
*the kept rows*, to which every batch is added and of which only what a search still
needs is left behind.  So a row is Python's for a moment only: its pattern, its group,
its time and its steps.
"""

import math
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from siena.errors import LimitError, SienaError
from siena.spark.streams.sequences import Search
from siena.spark.streams.shards import packed, unpacked

PATTERN, STEPS, TIME = "siena_pattern", "siena_steps", "siena_time"
# Searches of one shard that have begun: what a stream may remember.
SEARCHES_MAX = 1_000_000
# How a state begins; those of before this form begin otherwise.
MAGIC = b"SIENASE2"

Group = tuple[Any, ...]


@dataclass(frozen=True)
class Columns:
    """What the searches need to know of the rows."""

    by: tuple[str, ...]
    order: tuple[str, ...]
    kept: tuple[str, ...]  # the columns that a sequence shows
    within: int | None
    lengths: tuple[int, ...]  # of each pattern
    # What a checkpoint knows each pattern by: numbers change when patterns do.
    marks: tuple[int, ...]


class Sequences(NamedTuple):
    """What was found: whose it is, and the places of its rows, back to back."""

    patterns: list[int]
    ends: list[int]
    places: list[int]


class Searches:
    """Searches that have begun, and the rows that they have accepted."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self._begun: dict[Group, Search] = {}
        self._rows: pa.Table | None = None

    def __len__(self) -> int:
        return len(self._begun)

    def offer(self, rows: pa.Table, *, is_sorted: bool) -> pa.Table:
        """The sequences that rows complete, offered in the match order.

        The columns are the pattern, those of ``by``, and ``matched``.
        """
        if not is_sorted:
            rows = rows.take(match_order(rows, self.columns.order))
        first = 0
        if self._rows is not None:
            first = self._rows.num_rows
            rows = pa.concat_tables([self._rows, rows])
        self._rows = rows
        found = self._search(rows.slice(first), first)
        return self._answer(found, rows)

    def _search(self, rows: pa.Table, first: int) -> Sequences:
        columns = self.columns
        by = [grouped(rows[name]) for name in columns.by]
        found = Sequences([], [], [])
        begun, lengths, within = self._begun, columns.lengths, columns.within
        times = rows[TIME].to_pylist()
        patterns = rows[PATTERN].to_pylist()
        for place, (steps, time, *group) in enumerate(
            zip(rows[STEPS].to_pylist(), times, patterns, *by, strict=True), start=first
        ):
            if time is None or None in group:
                continue  # when it was, or whose it is, is not known
            key = tuple(group)
            search = begun.get(key)
            if search is None:
                if not steps & 1:
                    continue
                search = begun[key] = Search(lengths[key[0]], within)
            sequence = search.offer(steps, time, place)
            if sequence is not None:
                found.patterns.append(key[0])
                found.places.extend(at for _, at in sequence)
                found.ends.append(len(found.places))
            if not search.accepted:
                del begun[key]
        return found

    def _answer(self, found: Sequences, rows: pa.Table) -> pa.Table:
        places = pa.array(found.places, pa.int64())
        ends = np.array([0, *found.ends], np.int32)
        shown = rows.select(self.columns.kept).take(places).combine_chunks()
        arrays = [
            pa.concat_arrays(c.chunks) if c.num_chunks else pa.array([], c.type)
            for c in shown.columns
        ]
        matched = pa.ListArray.from_arrays(
            pa.array(ends, pa.int32()),
            pa.StructArray.from_arrays(arrays, fields=list(shown.schema)),
        )
        firsts = places.take(pa.array(ends[:-1]))
        whose = [rows[name].take(firsts) for name in self.columns.by]
        return pa.table(
            [pa.array(found.patterns, pa.int64()), *whose, matched],
            names=[PATTERN, *self.columns.by, "matched"],
        )

    # --- Between batches ------------------------------------------------------------

    def forget_but(self, group: Group | None) -> None:
        """Keep the search of one group only; the rows of all others have been."""
        kept = None if group is None else self._begun.get(group)
        self._begun = {} if kept is None or group is None else {group: kept}

    def compact(self) -> None:
        """Leave behind the rows that no search needs."""
        if self._rows is None:
            return
        places: list[int] = []
        for search in self._begun.values():
            accepted = search.accepted
            for i, (time, place) in enumerate(accepted):
                accepted[i] = time, len(places)
                places.append(place)
        self._rows = self._rows.take(pa.array(places, pa.int64())).combine_chunks()

    def save(self) -> bytes:
        """The state, as bytes.

        Raises:
            LimitError: if more searches have begun than may be remembered.
        """
        if len(self._begun) > SEARCHES_MAX:
            raise LimitError("SEARCHES_MAX", SEARCHES_MAX, "searches of one shard")
        self.compact()
        marks = self.columns.marks
        begun = {
            (marks[number], *group): search.accepted
            for (number, *group), search in self._begun.items()
        }
        rows = b"" if self._rows is None else packed(self._rows)
        return MAGIC + pickle.dumps((begun, rows))

    @classmethod
    def load(cls, columns: Columns, state: bytes) -> "Searches":
        """The searches of a state that :meth:`save` has given.

        Raises:
            SienaError: if it is one of an older version.
        """
        if not state.startswith(MAGIC):
            raise SienaError(
                "this checkpoint is of an older version of siena",
                hint="start the stream with a new checkpoint",
            )
        # A pickle, of a checkpoint of our own: groups may be of whatever type.
        begun, rows = pickle.loads(state[len(MAGIC) :])  # noqa: S301
        found = cls(columns)
        numbers = {mark: number for number, mark in enumerate(columns.marks)}
        # What is searched for by nobody any more is forgotten.
        found._begun = {
            (number, *map(one_nan, group)): Search(
                columns.lengths[number], columns.within, accepted
            )
            for (mark, *group), accepted in begun.items()
            if (number := numbers.get(mark)) is not None
        }
        found._rows = unpacked(rows) if rows else None
        return found


def one_nan(value: object) -> object:
    """The value; but every NaN is one and the same, so that it is equal to itself."""
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    return value


def grouped(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column as parts of a key."""
    values: list[Any] = column.to_pylist()
    if pa.types.is_floating(column.type):
        # Zero is zero, whatever its sign.
        return [one_nan(value) if value else value for value in values]
    if pa.types.is_nested(column.type):
        make = sortable(column.type)
        return [None if value is None else make(value) for value in values]
    return values


def match_order(rows: pa.Table, order: Iterable[str]) -> pa.Array:
    """The places of the rows as Spark would sort them: nulls first, and NaN last."""
    names = list(order)
    if all(_is_plain(rows.schema.field(name).type) for name in names):
        keys = [(name, "ascending", "at_start") for name in names]
        return pc.sort_indices(rows, sort_keys=keys)
    columns = []
    for name in names:
        make = sortable(rows.schema.field(name).type)
        columns.append(
            [(v is not None, v is not None and make(v)) for v in rows[name].to_pylist()]
        )
    keyed = list(zip(*columns, strict=True))
    return pa.array(sorted(range(rows.num_rows), key=keyed.__getitem__), pa.int64())


def sortable(kind: pa.DataType) -> Callable[[Any], Any]:
    """What makes of a value something that Python sorts as Spark does."""
    if pa.types.is_struct(kind):
        fields = [(field.name, sortable(field.type)) for field in kind]
        return lambda value: tuple(
            (value[name] is not None, value[name] is not None and make(value[name]))
            for name, make in fields
        )
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = sortable(kind.value_type)
        return lambda value: tuple(
            (v is not None, v is not None and inner(v)) for v in value
        )
    if pa.types.is_floating(kind):
        return lambda value: (math.isnan(value), 0.0 if math.isnan(value) else value)
    return lambda value: value


def _is_plain(kind: pa.DataType) -> bool:
    """Whether Arrow sorts values of a type as Spark does."""
    return not (pa.types.is_nested(kind) or pa.types.is_floating(kind))
