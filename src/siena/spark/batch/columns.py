"""Arrow columns as the engine wants them, where no Spark has prepared them.

What Spark's types mean is in :mod:`siena.spark.batch.attributes`; this is the same for
the types of Arrow, for files that tasks read themselves and for functions of SQL; and
where columns lie in a batch that tasks are given.
"""

from collections.abc import Container
from dataclasses import dataclass
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from siena.errors import SienaError
from siena.model.spelling import spell_string

Form = Literal["wide", "json", "map", "variant", "path", "windows"]
NaN = Literal["refuse", "absent"]
_MICROSECONDS = pa.timestamp("us")


def check_nan(nan: NaN) -> None:
    """Refuse what is no word for what NaN may be.

    Raises:
        SienaError: if it is none.
    """
    if nan not in get_args(NaN):
        raise SienaError(f"{nan!r} is not what NaN may be", hint="refuse or absent")


@dataclass(frozen=True)
class Layout:
    """Where things are in a batch."""

    payload: int  # how many columns, the first ones, are wanted in the answer
    form: Form
    # The names of attributes, and the places of their columns; or the one column.
    columns: tuple[tuple[str, int], ...]
    # What the columns that are wanted are called, and what NaN in a column is.
    names: tuple[str, ...] = ()
    nan: NaN = "refuse"
    # Attributes that may have several values: arrays, which are read row by row.
    many: frozenset[str] = frozenset()

    @property
    def is_several(self) -> bool:
        """Whether attributes of events may have several values."""
        return bool(self.many) or self.form in {"path", "windows"}


def wide_columns(
    columns: dict[str, pa.Array],
    wanted: Container[str] | None = None,
    many: Container[str] = (),
) -> dict[str, pa.Array]:
    """Columns for the engine: structs taken apart, and other types as it reads them.

    Of those that mean nothing it is an error if they are wanted.  If nothing is said of
    what is wanted, they are left out.  Arrays of names in ``many`` stay what they are.
    """
    found: dict[str, pa.Array] = {}
    for name, column in columns.items():
        if is_struct(column.type):
            fields = [column.type.field(i).name for i in range(column.type.num_fields)]
            inner = {
                f"{name}.{field}": part
                for field, part in zip(fields, column.flatten(), strict=True)
            }
            found.update(wide_columns(inner, wanted, many))
        elif name in many and pa.types.is_list(column.type):
            found[name] = column
        elif wanted is None or name in wanted:
            read = engine_column(column)
            if read is not None:
                found[name] = read
            elif wanted is not None:
                raise SienaError(
                    f"the column {spell_string(name)} is {column.type}, which no value "
                    "is, and filters name it"
                )
    return found


def engine_column(column: pa.Array) -> pa.Array | None:
    """The column in a type that the engine reads; none if it means nothing.

    Decimals without a fraction stay what they are if one is beyond 64 bits: then
    values of one column are of two kinds, and rows are read one by one.

    >>> engine_column(pa.array([7], pa.decimal128(3, 0))).to_pylist()
    [7]
    >>> engine_column(pa.array([7], pa.decimal128(3, 1))).to_pylist()
    [7.0]
    """
    kind = column.type
    if pa.types.is_decimal(kind):
        if kind.scale == 0:
            return whole_numbers(column)
        # Not Arrow's own cast, which is not always the nearest float.
        numbers = [None if d is None else float(d) for d in column.to_pylist()]
        return pa.array(numbers, pa.float64())
    if pa.types.is_date(kind):
        return column.cast(_MICROSECONDS)
    if pa.types.is_time(kind):
        return (
            column.cast(pa.time64("us"), safe=False).cast("int64").cast(_MICROSECONDS)
        )
    return in_microseconds(column) if _is_read(kind) else None


def in_microseconds(column: pa.Array) -> pa.Array:
    """Times of a finer unit without what is less than a microsecond, as everywhere.

    >>> fine = pa.array([-1, 1_999], pa.timestamp("ns"))
    >>> in_microseconds(fine).cast("int64").to_pylist()
    [-1, 1]
    """
    kind = column.type
    if not pa.types.is_timestamp(kind) or kind.unit != "ns":
        return column
    # Towards the past, as the engine does it; a cast would go towards 1970.
    whole = pc.floor_temporal(column.cast(pa.timestamp("ns")), unit="microsecond")
    return whole.cast(_MICROSECONDS).cast(pa.timestamp("us", kind.tz))


def whole_numbers(column: pa.Array) -> pa.Array:
    """Decimals without a fraction as integers; as they are, if one does not fit.

    >>> whole_numbers(pa.array([9007199254740993], pa.decimal128(38, 0))).type
    DataType(int64)
    """
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def is_variant(kind: pa.DataType) -> bool:
    """Whether a struct is how Spark hands out variants."""
    return bool(pa.types.is_struct(kind)) and {f.name for f in kind} == {
        "value",
        "metadata",
    }


def is_struct(kind: pa.DataType) -> bool:
    """Whether a column has fields, which are attributes."""
    return bool(pa.types.is_struct(kind)) and not is_variant(kind)


def _is_read(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_read(kind.value_type)
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or kind in {pa.float32(), pa.float64(), pa.string_view(), pa.null()}
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_timestamp(kind)
    )


def wide_batch(batch: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
    """The attributes of a batch alone, under their names."""
    columns = [_whole(batch.column(place)) for _, place in layout.columns]
    if layout.nan == "absent":
        columns = [_without_nan(column) for column in columns]
    names = [name for name, _ in layout.columns]
    if not columns:  # a batch without columns would have no rows
        columns, names = [pa.nulls(batch.num_rows)], [""]
    return pa.RecordBatch.from_arrays(columns, names)


def _whole(column: pa.Array) -> pa.Array:
    return whole_numbers(column) if pa.types.is_decimal(column.type) else in_utc(column)


def in_utc(column: pa.Array) -> pa.Array:
    """Times in UTC: the zone of a session says how they are shown, not what they are.

    In another one, Python has no first and last hours of the language's times, and
    takes two hours of each autumn for one.

    >>> there = pa.timestamp("us", "America/New_York")
    >>> in_utc(pa.array([0], there)).type
    TimestampType(timestamp[us, tz=UTC])
    """
    kind = _kind_in_utc(column.type)
    return column if kind == column.type else column.cast(kind)


def _kind_in_utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _kind_in_utc(kind.item_type))
    if pa.types.is_list(kind):
        return pa.list_(_kind_in_utc(kind.value_type))
    return kind


def _without_nan(column: pa.Array) -> pa.Array:
    """A column, or one of arrays, with nulls for NaN.

    >>> _without_nan(pa.array([[float("nan"), 1.0], None, []])[:2]).to_pylist()
    [[None, 1.0], None]
    """
    if pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
        offsets = pa.array(column.offsets.to_numpy(), pa.int32())
        values = _without_nan(column.values)
        return pa.ListArray.from_arrays(offsets, values, mask=column.is_null())
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
