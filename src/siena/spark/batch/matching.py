"""Who gets what: DataFrames of notifications and of subscriptions, to deliveries.

The driver compiles the subscriptions, hands the table to the workers, and plans one
``mapInArrow``; there is no shuffle, and a stream is planned as a table is.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, get_args

import pyarrow as pa
from pyspark.sql import Column, DataFrame, types as T

from siena.errors import SienaError
from siena.model import Kind
from siena.rules.events import Nested, checked_nested
from siena.spark.batch.asking import NAMES_SHOWN_MAX, wanted_of
from siena.spark.batch.attributes import Attribute, attributes_of, column_of, several_of
from siena.spark.batch.columns import Form, Layout, NaN, check_nan
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    OnError,
    compile_rows,
    open_compiled,
)
from siena.spark.batch.shipping import ship
from siena.spark.batch.spreading import spread
from siena.spark.batch.worker import Output, Task
from siena.spark.tally import Tally

Subscriptions = (
    DataFrame
    | CompiledSubscriptions
    | str
    | os.PathLike[str]
    | Sequence[str]
    | Sequence[Mapping[str, object]]
    | Mapping[str, str | Sequence[str]]
)

NOBODY = pa.table(
    {"subscriber": pa.array([], "string"), "filter": pa.array([], "string")}
)
OUTPUTS = tuple(name for name in get_args(Output) if name != "reasons")


def match(  # noqa: PLR0913 -- all but two have a default
    notifications: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nested: Nested | None = None,
    output: Output = "deliveries",
    dialect: str | None = None,
    many: Collection[str] = (),
    on_error: OnError = "raise",
    nan: NaN = "refuse",
    tally: Tally | None = None,
) -> DataFrame:
    """Who wants each notification.

    Works on tables and on streams, on classic Spark and on Spark Connect.

    Args:
        notifications: a row each.  Columns are attributes, absent where they are null;
            what types mean is in :mod:`siena.spark.batch.attributes`.
        subscriptions: a DataFrame with the columns ``subscriber`` and ``filter``, and
            perhaps ``interface``, ``id`` and ``dialect``; or what
            :func:`compile_subscriptions` made of it, or the path of a file that
            ``siena compile`` has written.  Few may be a list of filters, each its own
            subscriber, or of such rows, or a mapping from subscribers to filters.
        key: the columns of the notification that are wanted in the answer; all of them
            if it is not given.
        column: the one column that is the whole notification, if attributes are not
            columns: a text in the JSON form, a map, a variant or a struct.
        nested: what that text is, if it is JSON with objects in objects: attributes by
            their ``path``, or an event of ``windows``.  Rows are then read one by one.
        output: ``deliveries``: a row for each subscriber that wants the notification,
            with the column ``subscriber``.  Or a row for each notification, with
            ``interfaces``, an array of the interfaces that want it (the subscribers, if
            subscriptions have no interface); ``filters``, an array of the ``id`` of
            each matching subscription (of its number from 0, if there are none); or
            ``counts``, the ``count`` of subscribers.
        dialect: the language of filters whose row names none (``sql``, ``eventbridge``,
            …; see :func:`siena.dialects.read_rule`); our own, if it is not given.
        many: attributes that may have several values, in arrays: a constraint holds if
            one of them satisfies it.  Rows are then read one by one.  A compiled file
            knows its own.
        on_error: ``raise``, or ``set_aside``: bad subscriptions are left out, and are
            in :attr:`CompiledSubscriptions.rejects`; a notification that cannot be read
            has no deliveries, null instead of an array or a count, and
            :func:`unreadable` shows it.
        nan: what NaN in a column of floats is: an error, or ``absent``, as a null.
        tally: what is to say how far the job is, while it runs.

    Raises:
        SienaError: if a column or an argument is not as it should be, or a subscription
            is bad.  What is wrong with a notification only the running job can say.

    Warns:
        MissingAttributesWarning: once, if filters name attributes that there are not.
        MismatchedKindsWarning: once, if they compare columns of texts with numbers or
            times, or no filter asks a column for what it holds.
    """
    if output not in OUTPUTS:
        raise SienaError(
            f"{output!r} is no output", hint=f"one of {', '.join(OUTPUTS)}"
        )
    check_nan(nan)
    compiled = compile_subscriptions(
        subscriptions, dialect=dialect, many=many, on_error=on_error
    )
    plan = plan_for(
        notifications,
        compiled.compared(),
        key=key,
        column=column,
        nested=nested,
        many=compiled.owners.many,
    )
    plan = plan._replace(layout=replace(plan.layout, nan=nan))
    return _run(notifications, compiled, plan, output, on_error, tally)


def compile_subscriptions(
    subscriptions: Subscriptions,
    *,
    dialect: str | None = None,
    many: Collection[str] = (),
    on_error: OnError = "raise",
    folder: str | os.PathLike[str] | None = None,
) -> CompiledSubscriptions:
    """Subscriptions as :func:`match` wants them in the end, to be used again and again.

    Raises:
        SienaError: if a column is missing, or a subscription is bad.
    """
    if on_error not in get_args(OnError):
        raise SienaError(
            f"{on_error!r} is not what to do with what is bad",
            hint=f"one of {', '.join(get_args(OnError))}",
        )
    if isinstance(subscriptions, CompiledSubscriptions):
        return subscriptions.knowing(many)
    compiled = partial(
        compile_rows,
        dialect=dialect,
        many=frozenset(many),
        on_error=on_error,
        folder=folder,
    )
    if isinstance(subscriptions, DataFrame):
        names = {"subscriber", "filter", "interface", "id", "dialect"}
        known = [name for name in subscriptions.columns if name in names]
        return compiled(subscriptions.select(*known).toArrow())
    if isinstance(subscriptions, Mapping | Sequence) and not isinstance(
        subscriptions, str
    ):
        return compiled(few_rows(subscriptions))
    if not isinstance(subscriptions, str | os.PathLike):
        raise SienaError(
            f"a {type(subscriptions).__name__} is no subscriptions",
            hint="a DataFrame, a list of filters, a mapping from subscribers to "
            "filters, or the path of a compiled table",
        )
    return open_compiled(subscriptions).knowing(many)


def few_rows(
    few: Sequence[Any] | Mapping[str, Any],
) -> pa.Table:
    """A few subscriptions as a program has them, as a table of them.

    >>> few_rows({"ann": "x > 3", "bob": ["y any", "x = 1"]}).to_pydict()
    {'subscriber': ['ann', 'bob', 'bob'], 'filter': ['x > 3', 'y any', 'x = 1']}
    >>> few_rows(["x > 3"]).to_pydict()
    {'subscriber': ['x > 3'], 'filter': ['x > 3']}

    Raises:
        SienaError: if one is something else.
    """
    rows: list[dict[str, object]] = []
    if isinstance(few, Mapping):
        for who, filters in few.items():
            several = [filters] if isinstance(filters, str) else filters
            rows += [{"subscriber": who, "filter": each} for each in several]
    else:
        for each in few:
            if isinstance(each, str):
                rows.append({"subscriber": each, "filter": each})
            elif isinstance(each, Mapping):
                rows.append({**each})
            else:
                raise SienaError(
                    f"a {type(each).__name__} is no subscription",
                    hint="a text, or a mapping with the names subscriber and filter",
                )
    if not rows:
        return NOBODY
    names = ["subscriber", "filter", "interface", "id", "dialect"]
    known = [name for name in names if any(name in row for row in rows)]
    try:
        return pa.table({name: [row.get(name) for row in rows] for name in known})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise SienaError(f"these are no subscriptions: {error}") from None


def unreadable(
    notifications: DataFrame,
    *,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
) -> DataFrame:
    """The rows that are no notifications, each with the ``reason``.

    Unlike :func:`match` it looks at all attributes, whether or not a filter names them.
    """
    plan = plan_for(notifications, None, key=key, column=column)
    return _run(notifications, compile_rows(NOBODY), plan, "reasons", "set_aside")


class Plan(NamedTuple):
    """What goes to the workers, and how it lies there."""

    columns: list[Column]
    payload: T.StructType
    layout: Layout


def plan_for(
    notifications: DataFrame,
    asked: Mapping[str, frozenset[Kind]] | None,
    *,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nested: Nested | None = None,
    many: frozenset[str] = frozenset(),
    added: str | None = None,
) -> Plan:
    """The columns that workers need: the key, and the attributes that filters name.

    ``asked`` is :meth:`siena.matching.table.ForwardingTable.compared`; without it, all
    attributes that mean something.  ``many`` are the names that may have several
    values, in an array.  ``added`` is a column of our own, which is no attribute.
    """
    schema = notifications.schema
    payload = payload_of(schema, key)
    columns = [
        column_of((field.name,)).alias(f"p{i}") for i, field in enumerate(payload)
    ]
    form, attributes = form_of(schema, column, nested)
    if form != "wide":
        assert column is not None
        place = _place(payload, column)
        if place is None:
            place = len(columns)
            columns.append(column_of((column,)).alias("notification"))
        layout = Layout(
            len(payload), form, ((column, place),), tuple(payload.names), many=many
        )
        return Plan(columns, payload, layout)
    places: list[tuple[str, int]] = []
    if added is not None:
        attributes.pop(added, None)
    wanted = wanted_of(attributes, asked)
    several = several_of(attributes, many)
    if asked is None:
        wanted += [attributes[name] for name in sorted(several)]
    for attribute in wanted:
        place = _place(payload, attribute.path[0]) if attribute.is_plain else None
        if place is None:
            place = len(columns)
            is_array = attribute.name in several
            found = attribute.source if is_array else attribute.column()
            columns.append(found.alias(f"a{place}"))
        places.append((attribute.name, place))
    names = tuple(payload.names)
    layout = Layout(len(payload), "wide", tuple(places), names, many=several)
    return Plan(columns, payload, layout)


def form_of(
    schema: T.StructType, column: str | None, nested: Nested | None = None
) -> tuple[Form, dict[str, Attribute]]:
    """How notifications lie in a table, and its attributes if they are columns."""
    if nested is not None:
        kind = None if column is None else _field(schema, column).dataType
        if not isinstance(kind, T.StringType):
            raise SienaError(
                "nested JSON stands in one column of texts",
                hint="name it: column=, or --column; fields of structs need no nested=",
            )
        way = checked_nested(nested)
        assert way is not None
        return way, {}
    if column is None:
        return "wide", attributes_of(schema)
    kind = _field(schema, column).dataType
    match kind:
        case T.StringType():
            return "json", {}
        case T.VariantType():
            return "variant", {}
        case T.MapType(keyType=T.StringType()):
            return "map", {}
        case T.StructType():
            return "wide", attributes_of(kind, (column,))
        case _:
            pass
    raise SienaError(
        f"the column {column!r} is {kind.simpleString()}, and no notification",
        hint="a text in the JSON form, a map from strings, a variant or a struct",
    )


def _run(
    notifications: DataFrame,
    compiled: CompiledSubscriptions,
    plan: Plan,
    output: Output,
    on_error: OnError,
    tally: Tally | None = None,
) -> DataFrame:
    answer = answer_field(output, compiled, plan.payload)
    name = ship(notifications.sparkSession, compiled)
    task = Task(name, plan.layout, output, on_error, tally)
    # Inside, columns have names of our own: those of the user may clash with them.
    inner = [
        T.StructField(f"p{i}", field.dataType) for i, field in enumerate(plan.payload)
    ]
    rows = spread(notifications.select(*plan.columns), notifications)
    answers = rows.mapInArrow(task, T.StructType([*inner, answer]))
    outer = [
        column_of((f"p{i}",)).alias(field.name, metadata=field.metadata or {})
        for i, field in enumerate(plan.payload)
    ]
    return answers.select(*outer, column_of((answer.name,)))


def answer_field(
    output: Output, compiled: CompiledSubscriptions, payload: T.StructType
) -> T.StructField:
    """The column that is added to the notifications.

    Raises:
        SienaError: if they have one of that name.
    """
    owners = compiled.owners
    subscriber = answer_type(owners.subscribers.names)
    interface = answer_type(owners.interfaces.names)
    fields: dict[Output, T.StructField] = {
        "deliveries": T.StructField("subscriber", subscriber),
        "interfaces": T.StructField("interfaces", T.ArrayType(interface)),
        "filters": T.StructField("filters", T.ArrayType(T.LongType())),
        "counts": T.StructField("count", T.IntegerType()),
        "reasons": T.StructField("reason", T.StringType()),
    }
    field = fields[output]
    if field.name in payload.names:
        raise SienaError(
            f"the notifications have a column {field.name!r} already",
            hint="rename it, or name the key columns",
        )
    return field


def answer_type(names: pa.Array) -> T.DataType:
    """The type of subscribers or interfaces in a DataFrame."""
    return T.LongType() if names.type == pa.int64() else T.StringType()


def payload_of(schema: T.StructType, key: str | Sequence[str] | None) -> T.StructType:
    """The columns of the notifications that are wanted in the answer."""
    if key is None:
        return schema
    names = [key] if isinstance(key, str) else key
    return T.StructType([_field(schema, name) for name in names])


def _field(schema: T.StructType, name: str) -> T.StructField:
    if name not in schema.names:
        raise SienaError(
            f"the notifications have no column {name!r}",
            hint=f"there are {', '.join(schema.names[:NAMES_SHOWN_MAX])}"
            + (", …" if len(schema.names) > NAMES_SHOWN_MAX else ""),
        )
    return schema[name]


def _place(payload: T.StructType, name: str) -> int | None:
    return payload.names.index(name) if name in payload.names else None
