"""The same answers from a plain join: the oracle, and what a matcher has to beat.

Nothing here knows how to match; Spark's SQL does it all, constraint by constraint.

====================================  =============================================
``constraint``                        ``cid``, ``name``, ``type``, ``op``, and the
                                      operand in the column of its type
``member``                            ``cid``, ``fid``
``filter``                            ``fid``, ``subscription``, ``size``
``absent``                            ``fid``, ``name``
``attr``                              ``mid``, ``name``, ``type``, and the value
====================================  =============================================

Where a constraint ignores case, Spark replaces every character of the value by its
folding first.  A pattern is a regular expression here, and only here.  Absence is no
row: a filter that asks for it, in ``absent``, is taken back where the name is found.

A constraint on numbers is two rows under one ``cid``, because integers and floats are
compared each in its own domain: exactly, and never through a lossy conversion.

Reference:
    C.4 of our specification.
"""

from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, functions as F, types as T

from siena.algebra.keys import FIRST_KEY, LAST_KEY, key_around, value_of
from siena.errors import SienaError
from siena.matching.input.filter_texts import read_interest
from siena.matching.matcher import filters_of
from siena.model import Constraint, Kind, Operator
from siena.model.folding import FOLDED
from siena.model.values import INTEGER_MAX, INTEGER_MIN
from siena.model.wildcards import read_wildcards
from siena.spark.batch.attributes import Attribute, attributes_of, column_of

# The characters that folding changes, and what they become.
_FOLDING = "".join(map(chr, FOLDED)), "".join(map(chr, FOLDED.values()))
# Whether a value satisfies a constraint, where both are of one type: numbers, times
# and booleans are in `whole`, floats in `real`, strings in `text`.
SATISFIED = """
CASE op
  WHEN 'any' THEN true
  WHEN '='   THEN whole <=> whole_ AND real <=> real_ AND text <=> text_
  WHEN '!='  THEN NOT (whole <=> whole_ AND real <=> real_ AND text <=> text_)
  WHEN '<'   THEN coalesce(whole < whole_, real < real_, text < text_)
  WHEN '<='  THEN coalesce(whole <= whole_, real <= real_, text <= text_)
  WHEN '>'   THEN coalesce(whole > whole_, real > real_, text > text_)
  WHEN '>='  THEN coalesce(whole >= whole_, real >= real_, text >= text_)
  WHEN '>*'  THEN startswith(text, text_)
  WHEN '*<'  THEN endswith(text, text_)
  WHEN '*'   THEN contains(text, text_)
  WHEN 'does not start with' THEN NOT startswith(text, text_)
  WHEN 'does not end with'   THEN NOT endswith(text, text_)
  WHEN 'does not contain'    THEN NOT contains(text, text_)
  WHEN 'like'     THEN text RLIKE text_
  WHEN 'not like' THEN NOT text RLIKE text_
END
"""


def match_by_join(
    notifications: DataFrame, subscriptions: DataFrame, *, key: str
) -> DataFrame:
    """Who wants each notification: the key and ``subscriber``, as ``match`` gives it.

    Only for notifications whose attributes are columns, and for keys that are distinct.

    Raises:
        SienaError: if a subscription is bad.
    """
    keys = notifications.select(column_of((key,)).alias("mid"))
    found = join_attributes(_attr(notifications, key), keys, subscriptions)
    return found.select(F.col("mid").alias(key), "subscriber").distinct()


def join_attributes(
    attr: DataFrame, keys: DataFrame, subscriptions: DataFrame
) -> DataFrame:
    """The join itself: ``mid``, ``subscription`` and ``subscriber``.

    Args:
        attr: a row for each attribute: ``mid``, ``name``, ``type``, and the value in
            ``whole``, ``real`` or ``text``.
        keys: every ``mid``, also of notifications without attributes.
        subscriptions: ``subscriber`` and ``filter``.
    """
    spark = attr.sparkSession
    rows = subscriptions.select("subscriber", "filter").collect()
    tables = _tables(spark, [row["filter"] for row in rows])
    owner = spark.createDataFrame(
        [(number, row["subscriber"]) for number, row in enumerate(rows)],
        T.StructType(
            [
                T.StructField("subscription", T.LongType()),
                subscriptions.schema["subscriber"],
            ]
        ),
    )
    folded = F.translate("text", *_FOLDING)
    satisfied = (
        attr.join(tables.constraint, ["name", "type"])
        .withColumn("text", F.when(F.col("folds"), folded).otherwise(F.col("text")))
        .where(F.expr(SATISFIED))
        .join(tables.member, "cid")
        .groupBy("mid", "fid")
        .agg(F.count_distinct("cid").alias("satisfied"))
    )
    found = (
        satisfied.join(tables.filter, "fid")
        .where("satisfied = size")
        .select("mid", "fid", "subscription")
    )
    # What asks for nothing gets everything, also what has no attributes.
    always = keys.crossJoin(tables.filter.where("size = 0"))
    every = found.union(always.select("mid", "fid", "subscription"))
    unwanted = attr.join(tables.absent, "name").select("mid", "fid")
    every = every.join(unwanted, ["mid", "fid"], "left_anti")
    # Two filters of one subscription may both match.
    return every.select("mid", "subscription").distinct().join(owner, "subscription")


class _Tables(NamedTuple):
    constraint: DataFrame
    member: DataFrame
    filter: DataFrame
    absent: DataFrame


def _tables(spark: SparkSession, texts: list[str]) -> _Tables:
    numbers: dict[Constraint, int] = {}
    member: list[tuple[int, int]] = []
    filters: list[tuple[int, int, int]] = []
    absent: list[tuple[int, str]] = []
    for subscription, text in enumerate(texts):
        for f in filters_of(read_interest(text)):
            fid = len(filters)
            there = [c for c in f if c.operator is not Operator.ABSENT]
            absent += [(fid, c.name) for c in f if c.operator is Operator.ABSENT]
            filters.append((fid, subscription, len(there)))
            for constraint in there:
                cid = numbers.setdefault(constraint, len(numbers))
                member.append((cid, fid))
    typed = [
        (cid, *row, c.operator.ignores_case)
        for c, cid in numbers.items()
        for row in _typed(c)
    ]
    return _Tables(
        spark.createDataFrame(
            typed,
            "cid long, name string, type string, op string, whole_ long, real_ double, "
            "text_ string, folds boolean",
        ),
        spark.createDataFrame(member, "cid long, fid long"),
        spark.createDataFrame(filters, "fid long, subscription long, size long"),
        spark.createDataFrame(absent, "fid long, name string"),
    )


Typed = tuple[str, str, str, int | None, float | None, str | None]


def _typed(constraint: Constraint) -> Iterator[Typed]:
    """A row for each type of value that can satisfy a constraint."""
    name, operator, operand = constraint.name, constraint.operator, constraint.value
    for kind in sorted(constraint.kinds):
        if operand is None:
            yield name, kind.word, Operator.ANY.symbol, None, None, None
        elif isinstance(operand, str):
            is_pattern = operator.exact in {Operator.LIKE, Operator.NOT_LIKE}
            text = _expression(operand) if is_pattern else operand
            yield name, kind.word, operator.symbol, None, None, text
        else:
            found = _in_domain(operator, *key_around(operand, kind), kind)
            if found is not None:
                symbol, key = found
                if key is None:
                    yield name, kind.word, symbol, None, None, None
                elif kind is Kind.FLOAT:
                    real = value_of(key, kind)
                    assert isinstance(real, float)
                    yield name, kind.word, symbol, None, real, None
                else:
                    yield name, kind.word, symbol, key, None, None


def _expression(pattern: str) -> str:
    """A pattern as a regular expression of Java, each character by its number."""
    parts = read_wildcards(pattern).parts
    return (
        r"(?s)\A"
        + ".*".join(
            "".join(
                "." if is_open else f"\\x{{{ord(character):x}}}"
                for character, is_open in zip(part.text, part.is_open, strict=True)
            )
            for part in parts
        )
        + r"\z"
    )


def _in_domain(
    operator: Operator, below: int, above: int, kind: Kind
) -> tuple[str, int | None] | None:
    """A comparison with an operand between two keys as one with a key, if any."""
    first, last = FIRST_KEY[kind], LAST_KEY[kind]
    everything = (Operator.ANY.symbol, None)
    if operator in {Operator.EQ, Operator.NE}:
        if below == above and first <= below <= last:
            return operator.symbol, below
        return None if operator is Operator.EQ else everything
    key = above if operator in {Operator.LT, Operator.GE} else below
    if first <= key <= last:
        return operator.symbol, key
    upward = operator in {Operator.GT, Operator.GE}
    return everything if (key < first) == upward else None


def _attr(notifications: DataFrame, key: str) -> DataFrame:
    """A row for each attribute of each notification."""
    attributes = [a for a in attributes_of(notifications.schema).values() if a.means]
    if not attributes:
        raise SienaError("the notifications have no column that means something")
    fields = F.array(*(_value(attribute) for attribute in attributes))
    return (
        notifications.select(
            column_of((key,)).alias("mid"), F.explode(fields).alias("attribute")
        )
        .select("mid", "attribute.*")
        .where("whole IS NOT NULL OR real IS NOT NULL OR text IS NOT NULL")
    )


def _value(attribute: Attribute) -> Column:
    column = attribute.column()
    whole: Column = F.lit(None)
    real: Column = F.lit(None)
    text: Column = F.lit(None)
    match attribute.type:
        case T.StringType():
            kind, text = Kind.STRING, column
        case T.FloatType() | T.DoubleType():
            kind, real = Kind.FLOAT, column
        case T.DecimalType() if attribute.is_whole and not attribute.is_integer:
            return _whole(attribute.name, column)
        case T.DecimalType() if not attribute.is_integer:
            kind, real = Kind.FLOAT, column
        case T.BooleanType():
            kind, whole = Kind.BOOLEAN, column
        case T.TimestampType():
            kind, whole = Kind.TIME, F.unix_micros(column)
        case T.TimestampNTZType() | T.DateType() | T.TimeType():
            epoch = F.expr("timestamp_ntz'1970-01-01 00:00:00'")
            kind, whole = Kind.TIME, F.timestamp_diff("MICROSECOND", epoch, column)
        case _:
            kind, whole = Kind.INTEGER, column
    return _struct(attribute.name, F.lit(kind.word), whole, real, text)


def _whole(name: str, column: Column) -> Column:
    """An integer where it fits, and a float elsewhere."""
    fits = column.between(F.lit(INTEGER_MIN), F.lit(INTEGER_MAX))
    return _struct(
        name,
        F.when(fits, Kind.INTEGER.word).otherwise(Kind.FLOAT.word),
        F.when(fits, column),
        F.when(~fits, column),
        F.lit(None),
    )


def _struct(
    name: str, kind: Column, whole: Column, real: Column, text: Column
) -> Column:
    return F.struct(
        F.lit(name).alias("name"),
        kind.alias("type"),
        whole.cast("long").alias("whole"),
        real.cast("double").alias("real"),
        text.cast("string").alias("text"),
    )
