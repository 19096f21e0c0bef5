"""Matching in SQL: ``SELECT siena_match(struct(*)) FROM flights``."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession, types as T
from pyspark.sql.pandas.functions import arrow_udf

from siena.errors import SienaError
from siena.spark.batch.columns import Form, Layout, is_variant, wide_columns
from siena.spark.batch.compiling import OnError
from siena.spark.batch.matching import Subscriptions, answer_type, compile_subscriptions
from siena.spark.batch.shipping import load, ship
from siena.spark.batch.worker import Output, Task
from siena.spark.source.data_source import register_source

FUNCTION = "siena_match"


def register(
    spark: SparkSession,
    subscriptions: Subscriptions | None = None,
    *,
    name: str = FUNCTION,
    output: Output = "filters",
    on_error: OnError = "raise",
) -> None:
    """Give SQL a function that says of a notification who wants it.

    ``siena_match(notification)``, where a notification is a struct (``struct(*)``), a
    text in the JSON form, a map or a variant, is an array of the ids of subscriptions
    that match; with ``output="interfaces"`` of interfaces, and with ``"counts"`` the
    number of subscribers.  Without subscriptions the function has one more argument,
    before the other: the path of a table that ``siena compile`` has written, where all
    workers can read it.

    ``format("siena")`` is known from then on, too
    (:mod:`siena.spark.source.data_source`).

    Raises:
        SienaError: if a subscription is bad, or there is no such output.
    """
    if output not in {"filters", "interfaces", "counts"}:
        raise SienaError(
            f"a function cannot have the output {output!r}",
            hint="one of filters, interfaces, counts",
        )
    if subscriptions is None:
        if output == "interfaces":
            raise SienaError(
                "interfaces can only be had of subscriptions that are known"
            )
        inner: T.DataType = T.LongType()
        table = None
    else:
        compiled = compile_subscriptions(subscriptions, on_error=on_error)
        inner = answer_type(compiled.owners.interfaces.names)
        table = ship(spark, compiled)
    kind: T.DataType = T.ArrayType(inner if output == "interfaces" else T.LongType())
    if output == "counts":
        kind = T.IntegerType()
    # PySpark's overloads know nothing of functions whose types are annotated.
    made: Any = arrow_udf
    register_source(spark)
    spark.udf.register(name, made(_function(table, output, on_error), kind))


def _function(
    table: str | None, output: Output, on_error: OnError
) -> Callable[..., pa.Array]:
    """What a worker does with the columns that a query gives it.

    PySpark learns from the types of the arguments what kind of function it is.
    """

    def without_path(notifications: pa.Array) -> pa.Array:
        assert table is not None
        return _answer(notifications, table, output, on_error)

    def with_path(paths: pa.Array, notifications: pa.Array) -> pa.Array:
        distinct = paths.unique().to_pylist()
        if len(distinct) != 1 or distinct[0] is None:
            raise SienaError("the table of a query is one path")
        return _answer(notifications, distinct[0], output, on_error)

    return with_path if table is None else without_path


def _answer(
    notifications: pa.Array, table: str, output: Output, on_error: OnError
) -> pa.Array:
    loaded = load(table)
    form = _form(notifications.type)
    if form == "wide":
        arrays = wide_columns(_fields(notifications), loaded.attributes())
        batch = pa.RecordBatch.from_arrays(
            [*arrays.values(), pa.nulls(len(notifications))], [*arrays, ""]
        )
        places = tuple((name, i) for i, name in enumerate(arrays))
    else:
        batch = pa.RecordBatch.from_arrays([notifications], ["notification"])
        places = (("notification", 0),)
    task = Task(table, Layout(0, form, places), output, on_error)
    (answer,) = task.answer(batch, loaded)
    return answer.column(0)


def _form(kind: pa.DataType) -> Form:
    if pa.types.is_map(kind):
        return "map"
    if is_variant(kind):
        return "variant"
    if pa.types.is_struct(kind):
        return "wide"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return "json"
    raise SienaError(
        f"{kind} is no notification",
        hint="struct(*), a text in the JSON form, a map or a variant",
    )


def _fields(column: pa.StructArray) -> dict[str, pa.Array]:
    names = [column.type.field(i).name for i in range(column.type.num_fields)]
    return dict(zip(names, column.flatten(), strict=True))
