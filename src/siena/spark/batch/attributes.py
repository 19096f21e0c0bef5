"""Columns as attributes: what each of Spark's types means in the language.

====================================  ==============================================
Spark's type                          what a row has
====================================  ==============================================
byte, short, integer, long            an integer
float, double                         a float
decimal, scale 0                      an integer, or the nearest float beyond 64 bits
any other decimal                     the float that is nearest
boolean                               a boolean
string, char, varchar                 a string, compared by code points
timestamp, timestamp_ntz              a time; without a zone it is UTC
date                                  the time at which the day begins, in UTC
time                                  that time on 1970-01-01, as in the language
struct                                its fields, under dotted names
void, and every null                  nothing: the attribute is absent
====================================  ==============================================

Binary, arrays, intervals and the rest mean nothing.  They may be there: only if a
filter names one is it an error.  Maps and variants can be whole notifications
(:mod:`siena.spark.batch.rows`), but not attributes.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from pyspark.sql import Column, functions as F, types as T

from siena.errors import SienaError
from siena.model import Kind
from siena.model.spelling import spell_string
from siena.spark.hints import ARRAY, WHOLE_COLUMN

# Where times without a date are.
EPOCH = date(1970, 1, 1)
# Decimals of so many digits are integers of 64 bits, whatever the digits are.
INTEGER_DIGITS_MAX = 18

_AS_THEY_ARE = (
    *(T.ByteType, T.ShortType, T.IntegerType, T.LongType, T.FloatType, T.DoubleType),
    *(T.BooleanType, T.StringType, T.CharType, T.VarcharType),
    *(T.TimestampType, T.TimestampNTZType),
)


class Attribute(NamedTuple):
    """An attribute of every row: its name, and how it is read."""

    name: str
    path: tuple[str, ...]  # the column, and the fields inside it
    type: T.DataType

    @property
    def source(self) -> Column:
        """The column as it stands in the table."""
        return column_of(self.path)

    @property
    def is_plain(self) -> bool:
        """Whether the engine reads the column just as it stands in the table."""
        return len(self.path) == 1 and isinstance(self.type, _AS_THEY_ARE)

    @property
    def is_integer(self) -> bool:
        """Whether it is a decimal all of whose values are integers of ours."""
        return self.is_whole and self.type.precision <= INTEGER_DIGITS_MAX  # type: ignore[attr-defined]

    @property
    def is_whole(self) -> bool:
        """Whether it is a decimal without a fraction."""
        return isinstance(self.type, T.DecimalType) and self.type.scale == 0

    @property
    def means(self) -> bool:
        """Whether values are of its type."""
        also = (T.DecimalType, T.DateType, T.TimeType)
        return isinstance(self.type, (*_AS_THEY_ARE, *also))

    @property
    def is_several(self) -> bool:
        """Whether it is an array of values that the engine reads as they stand."""
        kind = self.type
        return isinstance(kind, T.ArrayType) and isinstance(
            kind.elementType, _AS_THEY_ARE
        )

    @property
    def kind(self) -> Kind | None:
        """Whether values are strings, numbers or times; of booleans it is not said."""
        match self.type:
            case T.StringType() | T.CharType() | T.VarcharType():
                return Kind.STRING
            case T.NumericType():
                return Kind.NUMBER
            case T.TimestampType() | T.TimestampNTZType() | T.DateType() | T.TimeType():
                return Kind.TIME
            case _:
                return None

    def column(self) -> Column:
        """The column in a type that the engine reads.

        Raises:
            SienaError: if no value is of its type.
        """
        match self.type:
            case T.DecimalType():
                if self.is_whole and not self.is_integer:
                    return self.source  # what fits, only a worker sees
                whole = T.LongType() if self.is_integer else T.DoubleType()
                return self.source.cast(whole)
            case T.DateType():
                return self.source.cast(T.TimestampNTZType())
            case T.TimeType():
                return F.make_timestamp_ntz(date=F.lit(EPOCH), time=self.source)
            case _ if isinstance(self.type, _AS_THEY_ARE):
                return self.source
            case _:
                pass
        raise SienaError(
            f"the column {spell_string(self.name)} is {self.type.simpleString()}, "
            "which no value is, and filters name it",
            hint=hint_for(self.type),
        )


def attributes_of(
    schema: T.StructType, under: tuple[str, ...] = ()
) -> dict[str, Attribute]:
    """All attributes of a table by name, whether or not they mean something.

    ``under`` are the column, and the fields inside it, whose fields are looked at; they
    are no part of the names.

    Raises:
        SienaError: if two would have one name.
    """
    found: dict[str, Attribute] = {}
    for attribute in _walk(schema, under, ()):
        if attribute.name in found:
            raise SienaError(
                f"two columns are called {spell_string(attribute.name)}",
                hint="fields of structs have dotted names; rename one of them",
            )
        found[attribute.name] = attribute
    return found


def several_of(
    attributes: Mapping[str, Attribute], many: frozenset[str]
) -> frozenset[str]:
    """The multi-valued attributes that are arrays in a table."""
    return frozenset(n for n in many if n in attributes and attributes[n].is_several)


def column_of(path: Iterable[str]) -> Column:
    """A column, or a field inside it, whatever characters are in the names."""
    return F.col(".".join(f"`{part.replace('`', '``')}`" for part in path))


def _walk(
    schema: T.StructType, under: tuple[str, ...], named: tuple[str, ...]
) -> Iterator[Attribute]:
    for field in schema.fields:
        path, names = (*under, field.name), (*named, field.name)
        if isinstance(field.dataType, T.StructType):
            yield from _walk(field.dataType, path, names)
        elif not isinstance(field.dataType, T.NullType):
            yield Attribute(".".join(names), path, field.dataType)


def hint_for(kind: T.DataType) -> str:
    """What to do with a column of a type that no value is of."""
    match kind:
        case T.MapType() | T.VariantType():
            return WHOLE_COLUMN.program
        case T.ArrayType():
            return ARRAY.program
        case T.BinaryType():
            return "cast it to a string or a number"
        case _:
            return "cast it to a string, a number or a timestamp"
