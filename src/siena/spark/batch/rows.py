"""Rows that are whole notifications: maps and variants, read one by one.

Slower than columns, because every row may have other attributes, each of another kind.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql.types import VariantVal

from siena.block import encode
from siena.errors import InvalidNotificationError, SienaError
from siena.lang.notification_form import (
    notification_from_text,
)
from siena.matching.input.buffers import join
from siena.model import Notification, Value
from siena.model.values import INTEGER_MAX, INTEGER_MIN
from siena.rules.events import read_nested, read_several
from siena.spark.batch.columns import Layout, in_utc, wide_batch

Event = Mapping[str, Value]

EPOCH = date(1970, 1, 1)


def encode_rows(
    column: pa.Array, read: Callable[[Any], Iterator[tuple[str, Value]]]
) -> tuple[bytes, npt.NDArray[np.int64], list[str | None]]:
    """Blocks back to back, where they begin and end, and why rows have none."""
    blocks: list[bytes] = []
    reasons: list[str | None] = []
    for row in in_utc(column).to_pylist():
        try:
            if row is None:
                raise InvalidNotificationError("there is no notification")
            blocks.append(encode(Notification(read(row))))
            reasons.append(None)
        except SienaError as error:
            blocks.append(b"")
            reasons.append(error.message)
    return *join(blocks), reasons


def read_map(
    row: list[tuple[str, Any]], many: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """The attributes of a map, in which null means absent.

    >>> dict(read_map([("level", 5), ("where", None)]))
    {'level': 5}
    >>> dict(read_map([("tags", ["a", None, "b"])], frozenset({"tags"})))
    {'tags': ('a', 'b')}

    ``many`` are the names that may have several values, a tuple then.
    """
    for name, value in row:
        if isinstance(value, Mapping):  # a variant, or a struct
            yield from _read(name, _opened(value), many)
        else:
            yield from _read(name, value, many)


def read_row(
    row: Mapping[str, Any], many: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """The attributes of a row whose columns are attributes."""
    return read_map([*row.items()], many)


def read_variant(
    row: Mapping[str, bytes], many: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """The attributes of a variant, which is an object; inner ones have dotted names."""
    opened = _opened(row)
    if not isinstance(opened, Mapping):
        raise InvalidNotificationError("a notification is an object")
    for name, value in opened.items():
        yield from _read(name, value, many)


def _opened(value: Mapping[str, Any]) -> object:
    if value.keys() == {"value", "metadata"}:
        return VariantVal(value["value"], value["metadata"]).toPython()
    return value


def _read(
    name: str, value: object, many: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """What a value of Spark's means, as :mod:`siena.spark.batch.attributes` has it."""
    match value:
        case None:
            return
        case Mapping():
            for inner, held in value.items():
                yield from _read(f"{name}.{inner}", held, many)
        case list() if name in many:
            yield name, tuple(one for each in value for one in _element(name, each))
        case Decimal():
            yield name, _number(value)
        case datetime():
            # Spark hands out times in the zone of the session.
            yield (
                name,
                value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC),
            )
        case date():
            yield name, datetime.combine(value, time(), UTC)
        case time():
            yield name, datetime.combine(EPOCH, value, UTC)
        case str() | bool() | int() | float():
            yield name, value
        case _:
            raise InvalidNotificationError(
                f"{name}: no value is a {type(value).__name__}"
            )


def _element(name: str, value: object) -> Iterator[Any]:
    """What an element of an array means: one value, or none."""
    element = _opened(value) if isinstance(value, Mapping) else value
    if isinstance(element, Mapping):
        raise InvalidNotificationError(f"{name}: no value is an object in an array")
    for _, one in _read(name, element):
        yield one


def _number(value: Decimal) -> int | float:
    """An integer if it is written without a fraction and fits, or the nearest float."""
    exponent = value.as_tuple().exponent
    if exponent == 0 and INTEGER_MIN <= value <= INTEGER_MAX:
        return int(value)
    number = float(value)
    assert math.isfinite(number), "38 digits are far from the last float"
    return number


def each_event(batch: pa.RecordBatch, layout: Layout) -> Iterator[Event | SienaError]:
    """All rows of a batch, as mappings; of one that cannot be read, why."""
    if layout.form in {"json", "path", "windows"}:
        ((_, column),) = layout.columns
        for text in batch.column(column).to_pylist():
            try:
                yield _event(text, layout)
            except SienaError as error:
                yield error
        return
    rows, read = _prepared(batch, layout, None)
    for row in rows:
        try:
            if row is None:
                raise InvalidNotificationError("there is no notification")
            yield dict(read(row, layout.many))
        except SienaError as error:
            yield error


def _event(text: str | None, layout: Layout) -> Event:
    """The event of a text, in one of the forms that are texts."""
    if text is None:
        raise InvalidNotificationError("there is no notification")
    if layout.form in {"path", "windows"}:
        return cast("Event", read_nested(text, layout.form))
    return (
        cast("Event", read_several(text, layout.many))
        if layout.many
        else notification_from_text(text)
    )


def events_of(
    batch: pa.RecordBatch, layout: Layout, rows: Sequence[int]
) -> Iterable[Event]:
    """Some rows of a batch, as mappings.

    Raises:
        SienaError: if one of them cannot be read.
    """
    places = pa.array(rows, pa.int64())
    if layout.form in {"json", "path", "windows"}:
        ((_, column),) = layout.columns
        return [
            _event(t, layout) for t in batch.column(column).take(places).to_pylist()
        ]
    values, read = _prepared(batch, layout, places)
    if None in values:
        raise InvalidNotificationError("there is no notification")
    return [dict(read(row, layout.many)) for row in values]


def _prepared(
    batch: pa.RecordBatch, layout: Layout, places: pa.Array | None
) -> tuple[list[Any], Callable[..., Iterator[tuple[str, Any]]]]:
    """Some rows of a batch, or all, and what reads one of them."""
    if layout.form == "wide":
        wide = wide_batch(batch, layout)
        return (wide if places is None else wide.take(places)).to_pylist(), read_row
    ((_, place),) = layout.columns
    column = batch.column(place)
    some = column if places is None else column.take(places)
    return in_utc(some).to_pylist(), read_map if layout.form == "map" else read_variant
