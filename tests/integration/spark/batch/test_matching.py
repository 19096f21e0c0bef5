"""``match`` on tables gives the answers of ``ReferenceMatcher``, whatever the form."""

import json
import re
import warnings
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, Row, SparkSession, types as T

from deliveries import Pairs, expected
from siena.errors import SienaError
from siena.lang import notification_to_json
from siena.lang.parser import parse_notification
from siena.model import Notification
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.spark import (
    MismatchedKindsWarning,
    MissingAttributesWarning,
    Tally,
    UnsatisfiableWarning,
    compile_subscriptions,
    match,
    match_by_join,
    open_compiled,
    unreadable,
)


def subscriptions(spark: SparkSession, rows: Sequence[tuple[str, str]]) -> DataFrame:
    return spark.createDataFrame(rows, "subscriber string, filter string")


def pairs(deliveries: DataFrame) -> Pairs:
    found = [(row[0], row["subscriber"]) for row in deliveries.collect()]
    assert len(found) == len(set(found)), "a subscriber is notified once"
    return set(found)


# --- Columns ------------------------------------------------------------------------

TYPED = T.StructType(
    [
        T.StructField("id", T.LongType()),
        T.StructField("b", T.ByteType()),
        T.StructField("s", T.ShortType()),
        T.StructField("i", T.IntegerType()),
        T.StructField("f", T.FloatType()),
        T.StructField("d", T.DoubleType()),
        T.StructField("whole", T.DecimalType(18, 0)),
        T.StructField("long", T.DecimalType(38, 0)),
        T.StructField("price", T.DecimalType(10, 2)),
        T.StructField("ok", T.BooleanType()),
        T.StructField("text", T.StringType()),
        T.StructField("at", T.TimestampType()),
        T.StructField("local", T.TimestampNTZType()),
        T.StructField("day", T.DateType()),
        T.StructField("hour", T.TimeType(6)),
        T.StructField("nothing", T.NullType()),
        T.StructField("bytes", T.BinaryType()),
        T.StructField(
            "where",
            T.StructType(
                [
                    T.StructField("city", T.StringType()),
                    T.StructField("at.x", T.DoubleType()),
                    T.StructField(
                        "deep", T.StructType([T.StructField("n", T.LongType())])
                    ),
                ]
            ),
        ),
    ]
)
NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ROW = (
    *(1, 1, 2, 3, 0.5, 2.5, Decimal(7), Decimal(10**30), Decimal("19.99"), True, "ab"),
    *(NOON, datetime(2026, 11, 15, 12), date(2026, 11, 15), time(3, 4, 5), None),  # noqa: DTZ001
    *(b"\x00", ("Rome", 4.5, (8,))),
)
# All of these match the row ...
YES = [
    *("integer b = 1", "integer s = 2", "integer i = 3", "float f = 0.5"),
    *("float d = 2.5", "integer whole = 7", "float long > 1e29", "price = 19.99"),
    *("float price >= 19.99 and price <= 19.99", "ok = true", "text >* a", "id = 1"),
    *("at = 2026-11-15T12:00:00Z", "local = 2026-11-15T12:00:00Z"),
    *("day = 2026-11-15T00:00:00Z", "hour = 1970-01-01T03:04:05Z"),
    *("where.city = Rome", '"where.at.x" = 4.5', "where.deep.n = 8", "[]"),
]
# ... and none of these.
NO = ["integer d any", "float i any", "integer long any", "string ok any", "id = 2"]


def test_every_type_means_what_it_says(spark: SparkSession) -> None:
    notifications = spark.createDataFrame([ROW, (2, *[None] * 17)], TYPED)
    wanted = subscriptions(spark, [(text, text) for text in (*YES, *NO)])
    found = pairs(match(notifications, wanted, key="id"))
    assert found == {(1, text) for text in YES} | {(2, "[]"), (2, "id = 2")}


def test_few_subscriptions_may_be_a_list_or_a_mapping(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 1), (2, 2)], "id long, qty long")
    assert pairs(match(rows, ["qty = 1"], key="id")) == {(1, "qty = 1")}
    wanted = {"ann": "qty = 1", "bob": ["qty any", "qty = 2"]}
    found = {(1, "ann"), (1, "bob"), (2, "bob")}
    assert pairs(match(rows, wanted, key="id")) == found
    listed = [{"subscriber": "ann", "filter": "qty > 1"}]
    assert pairs(match(rows, listed, key="id")) == {(2, "ann")}
    assert match(rows, [], key="id").collect() == []
    with pytest.raises(SienaError, match="a int is no subscription"):
        match(rows, [3])  # type: ignore[arg-type]
    with pytest.raises(SienaError, match="a int is no subscriptions"):
        match(rows, 3)  # type: ignore[arg-type]


def test_nan_is_named_with_its_column_and_key_or_taken_for_null(
    spark: SparkSession,
) -> None:
    rows = spark.sql("select 7L id, double('NaN') delay, 1 x")
    wanted = ["delay absent", "x = 1"]
    with pytest.raises(PythonException, match=r"\(id = 7\).*: delay is nan"):
        match(rows, wanted, key="id").collect()
    found = match(rows, wanted, key="id", nan="absent")
    assert pairs(found) == {(7, "delay absent"), (7, "x = 1")}
    with pytest.raises(SienaError, match="'null' is not what NaN may be"):
        match(rows, wanted, nan="null")  # type: ignore[arg-type]


def test_a_warning_says_what_may_have_been_meant(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "IT")], "id long, country string")
    with pytest.warns(MissingAttributesWarning, match=r"cuontry \(country\?\)"):
        match(rows, ["cuontry = IT"])


def test_a_warning_says_what_nothing_can_satisfy(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1,)], "x long")
    with pytest.warns(UnsatisfiableWarning, match=r"satisfy 'x > 5 and x < 3'$"):
        match(rows, ["x > 5 and x < 3", "x > 5 and x < 3 or x = 1", "x any"])


def test_whole_decimals_are_integers_where_they_fit(spark: SparkSession) -> None:
    """Of many digits, and in one column with such that no integer is."""
    odd = 2**53 + 1  # no float
    rows = [(1, Decimal(odd)), (2, Decimal(10**30)), (3, None), (4, Decimal(2**63 - 1))]
    kinds = "id long, n decimal(38, 0)"
    texts = [
        *(f"n = {odd}", f"n = {odd - 1}", "float n = 1e30", "integer n any"),
        *("n absent", f"n = {2**63 - 1}"),
    ]
    wanted = subscriptions(spark, [(text, text) for text in texts])
    for some in (rows, [row for row in rows if row[0] != 2]):
        notifications = spark.createDataFrame(some, kinds)
        expected = {
            *((1, texts[0]), (1, texts[3]), (3, "n absent")),
            *((4, texts[3]), (4, texts[5])),
            *([(2, texts[2])] if len(some) == 4 else []),
        }
        assert pairs(match(notifications, wanted, key="id")) == expected
    joined = match_by_join(spark.createDataFrame(rows, kinds), wanted, key="id")
    assert pairs(joined) == {
        *((1, texts[0]), (1, texts[3]), (3, "n absent")),
        *((4, texts[3]), (4, texts[5]), (2, texts[2])),
    }


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("bytes any", r"the column bytes is binary, which no value is, and filters"),
        ("xs any", r"the column xs is array<int>, .*\(explode it"),
        ("m any", r"the column m is map<string,int>, .*\(name it as column="),
        ("v any", r"the column v is variant, .*\(name it as column="),
        ("lasts any", r"the column lasts is interval .*\(cast it to"),
    ],
)
def test_what_means_nothing_is_refused_if_a_filter_names_it(
    spark: SparkSession, text: str, reason: str
) -> None:
    notifications = spark.sql(
        "select 1 id, X'00' bytes, array(1) xs, map('a', 1) m, parse_json('1') v,"
        " interval 1 day lasts"
    )
    with pytest.raises(SienaError, match=reason):
        match(notifications, subscriptions(spark, [("a", text)]), key="id")
    some = subscriptions(spark, [("a", "id = 1")])
    assert pairs(match(notifications, some, key="id")) == {(1, "a")}


def test_all_columns_come_back_where_no_key_is_named(spark: SparkSession) -> None:
    notifications = spark.createDataFrame([ROW], TYPED).drop("nothing")
    deliveries = match(notifications, subscriptions(spark, [("ann", "id = 1")]))
    assert deliveries.columns == [*notifications.columns, "subscriber"]
    assert deliveries.drop("subscriber").schema == notifications.schema
    assert deliveries.drop("subscriber").collect() == notifications.collect()


def test_names_are_the_users_whatever_they_are(spark: SparkSession) -> None:
    notifications = spark.createDataFrame(
        [(1, 2, 3, (4,))],
        "`a.b` long, `p0` long, `x ``y` long, s struct<`t.u`: long>",
    )
    wanted = [
        *("a.b = 1", "p0 = 2", '"x `y" = 3', "s.t.u = 4"),
        "a.b = 2",
    ]
    rows = subscriptions(spark, [(text, text) for text in wanted])
    assert pairs(match(notifications, rows, key="a.b")) == {
        (1, text) for text in wanted[:4]
    }
    with pytest.raises(SienaError, match=r"two columns are called a\.b"):
        match(
            spark.sql("select 1 as `a.b`, named_struct('b', 2) as a"), rows, key="a.b"
        )


def test_a_column_called_as_the_answer_is_refused(spark: SparkSession) -> None:
    notifications = spark.sql("select 1 id, 'x' subscriber")
    wanted = subscriptions(spark, [("ann", "id = 1")])
    with pytest.raises(SienaError, match="have a column 'subscriber' already"):
        match(notifications, wanted)
    assert pairs(match(notifications, wanted, key="id")) == {(1, "ann")}


# --- Whole notifications in one column ----------------------------------------------

TEXTS = [
    "x = 1, s = ab, t = 2026-11-15T12:00:00Z",
    "x = 2.5, ok = true",
    "x = 1, y.z = 3",
    "s = abc",
]
WANTED = [
    *(("ann", "x = 1"), ("ann", "s any"), ("bob", "x > 1 or ok = true")),
    *(("cid", "t > 2026-01-01T00:00:00Z"), ("dee", "y.z = 3"), ("eve", "[]")),
    ("fay", "float x any"),
]


def numbered() -> list[tuple[int, Notification]]:
    return list(enumerate(map(parse_notification, TEXTS)))


def test_a_column_of_json(spark: SparkSession) -> None:
    rows = [(i, json.dumps(notification_to_json(n))) for i, n in numbered()]
    notifications = spark.createDataFrame(rows, "id long, body string")
    deliveries = match(
        notifications, subscriptions(spark, WANTED), key="id", column="body"
    )
    assert pairs(deliveries) == expected(numbered(), WANTED)


def test_a_column_of_variants(spark: SparkSession) -> None:
    notifications = spark.sql(
        """select 0 id, to_variant_object(named_struct('x', 1, 's', 'ab',
              't', timestamp'2026-11-15 12:00:00', 'gone', int(null))) v
           union all select 1, parse_json('{"x": 2.5, "ok": true}')
           union all select 2, parse_json('{"x": 1, "y": {"z": 3}}')
           union all select 3, parse_json('{"s": "abc"}')"""
    )
    wanted = subscriptions(spark, WANTED)
    deliveries = match(notifications, wanted, key="id", column="v")
    assert pairs(deliveries) == expected(numbered(), WANTED)


def test_a_column_of_structs(spark: SparkSession) -> None:
    notifications = spark.sql(
        "select 7 id, named_struct('x', 1, 'y', named_struct('z', 3)) v"
    )
    wanted = subscriptions(spark, [w for w in WANTED if w[0] in {"ann", "dee"}][:1])
    assert pairs(match(notifications, wanted, key="id", column="v")) == {(7, "ann")}


@pytest.mark.parametrize(
    ("values", "yes"),
    [
        ("1L, 'y', 2L", {"x = 1", "integer y = 2", "[]"}),
        ("'1', 'y', null", {'x = "1"', "[]"}),
        ("1.5D, 'y', 2D", {"x = 1.5", "float y = 2", "[]"}),
        ("1.50BD, 'y', 2.00BD", {"x = 1.5", "float y = 2", "[]"}),
        ("date'2026-11-15', 'y', null", {"x = 2026-11-15T00:00:00Z", "[]"}),
        ("parse_json('1'), 'y', parse_json('{\"z\": 2}')", {"x = 1", "y.z = 2", "[]"}),
    ],
)
def test_a_column_of_maps(spark: SparkSession, values: str, yes: set[str]) -> None:
    every = [
        *("x = 1", "integer y = 2", 'x = "1"', "x = 1.5", "float y = 2", "y.z = 2"),
        *("x = 2026-11-15T00:00:00Z", "[]"),
    ]
    notifications = spark.sql(f"select 7 id, map('x', {values}) m")
    wanted = subscriptions(spark, [(text, text) for text in every])
    found = pairs(match(notifications, wanted, key="id", column="m"))
    assert found == {(7, text) for text in yes}


def test_a_column_that_is_no_notification_is_refused(spark: SparkSession) -> None:
    wanted = subscriptions(spark, [("ann", "x = 1")])
    with pytest.raises(SienaError, match="the column 'id' is bigint, and no notif"):
        match(spark.range(1), wanted, column="id")
    with pytest.raises(SienaError, match=r"have no column 'ib' \(there are id\)"):
        match(spark.range(1), wanted, column="ib")
    with pytest.raises(SienaError, match="have no column 'ib'"):
        match(spark.range(1), wanted, key="ib")


# --- Answers ------------------------------------------------------------------------


@pytest.fixture
def ranged(spark: SparkSession) -> DataFrame:
    return spark.range(4).withColumnRenamed("id", "x")


def test_one_row_for_each_notification(spark: SparkSession, ranged: DataFrame) -> None:
    wanted = spark.createDataFrame(
        [("ann", "x > 0", 70, 5), ("ann", "x > 1", 71, 3), ("bob", "x = 2", 70, 9)],
        "subscriber string, filter string, id long, interface int",
    )
    filters = match(ranged, wanted, output="filters").collect()
    assert {row.x: sorted(row.filters) for row in filters} == {
        0: [],
        1: [70],
        2: [70, 70, 71],
        3: [70, 71],
    }
    interfaces = match(ranged, wanted, output="interfaces").collect()
    assert {row.x: sorted(row.interfaces) for row in interfaces} == {
        0: [],
        1: [5],
        2: [3, 5, 9],
        3: [3, 5],
    }
    counts = match(ranged, wanted, output="counts").collect()
    assert {row.x: row["count"] for row in counts} == {0: 0, 1: 1, 2: 2, 3: 1}
    few = match(ranged, wanted.drop("interface", "id"), output="interfaces").collect()
    assert {row.x: sorted(row.interfaces) for row in few} == {
        0: [],
        1: ["ann"],
        2: ["ann", "bob"],
        3: ["ann"],
    }
    with pytest.raises(SienaError, match="'rows' is no output"):
        match(ranged, wanted, output="rows")  # type: ignore[arg-type]


def test_subscribers_may_be_numbers(spark: SparkSession, ranged: DataFrame) -> None:
    wanted = spark.createDataFrame([(7, "x = 2")], "subscriber int, filter string")
    assert match(ranged, wanted).collect() == [Row(x=2, subscriber=7)]


def test_filters_may_be_in_their_json_form(
    spark: SparkSession, ranged: DataFrame
) -> None:
    form = '[{"name": "x", "operator": "=", "value": 2}]'
    assert pairs(match(ranged, subscriptions(spark, [("a", form)]))) == {(2, "a")}


# --- What is bad --------------------------------------------------------------------

BAD = [("ann", "x = 1"), ("bob", "x >> 1"), ("cid", "x = 1 then x = 2"), ("dee", None)]


def test_a_bad_subscription_is_refused_with_row_and_reason(
    spark: SparkSession, ranged: DataFrame
) -> None:
    wanted = subscriptions(spark, BAD)  # type: ignore[arg-type]
    with pytest.raises(
        SienaError, match=r"subscription 2 of 'bob' 'x >> 1': column 3: .*set_aside"
    ):
        match(ranged, wanted)
    with pytest.raises(SienaError, match="'skip' is not what to do"):
        match(ranged, wanted, on_error="skip")  # type: ignore[arg-type]


def test_bad_subscriptions_are_put_aside(
    spark: SparkSession, ranged: DataFrame
) -> None:
    compiled = compile_subscriptions(
        subscriptions(spark, BAD),  # type: ignore[arg-type]
        on_error="set_aside",
    )
    assert [(r.row, r.subscriber, r.filter) for r in compiled.rejects] == [
        (2, *BAD[1]),
        (3, *BAD[2]),
        (4, *BAD[3]),
    ]
    assert "a pattern cannot be a filter here" in compiled.rejects[1].reason
    assert pairs(match(ranged, compiled)) == {(1, "ann")}


def test_subscriptions_need_their_columns(spark: SparkSession) -> None:
    with pytest.raises(SienaError, match="no column 'filter'"):
        match(spark.range(1), spark.sql("select 'a' subscriber"))
    with pytest.raises(SienaError, match="'subscriber' holds double, and not"):
        match(spark.range(1), spark.sql("select 1D subscriber, 'x = 1' filter"))


def test_a_bad_notification_fails_the_job_or_is_put_aside(spark: SparkSession) -> None:
    notifications = spark.createDataFrame(
        [(1, '{"x": 1}'), (2, '{"x": '), (3, None), (4, '{"x": 2, "x": 1}')],
        "id long, body string",
    )
    wanted = subscriptions(spark, [("ann", "x any")])
    with pytest.raises(PythonException, match="it is not a notification in its JSON"):
        match(notifications, wanted, column="body", key="id").collect()
    aside = match(notifications, wanted, column="body", key="id", on_error="set_aside")
    assert pairs(aside) == {(1, "ann")}
    counts = match(
        notifications,
        wanted,
        column="body",
        key="id",
        on_error="set_aside",
        output="counts",
    )
    assert {row.id: row["count"] for row in counts.collect()} == {
        1: 1,
        2: None,
        3: None,
        4: None,
    }
    bad = unreadable(notifications, column="body", key="id").collect()
    assert {row.id for row in bad} == {2, 3, 4}
    assert all(row.reason for row in bad)


def test_what_is_not_finite_is_bad_if_a_filter_may_see_it(spark: SparkSession) -> None:
    notifications = spark.sql("select 1 id, double('NaN') x, 2D y")
    assert pairs(
        match(notifications, subscriptions(spark, [("ann", "y = 2")]), key="id")
    ) == {(1, "ann")}
    some = subscriptions(spark, [("ann", "x = 2")])
    assert pairs(match(notifications, some, on_error="set_aside")) == set()
    (row,) = unreadable(notifications).collect()
    assert row.reason == "a float is not finite: x is nan"


def test_what_filters_name_and_the_table_lacks_is_said_once(
    spark: SparkSession, ranged: DataFrame
) -> None:
    rows = [("ann", "x = 1 or y = 2"), ("bob", "z.z any"), ("cid", "y = 1")]
    with pytest.warns(MissingAttributesWarning, match=r"lack: y, z\.z$") as caught:
        deliveries = match(ranged, subscriptions(spark, rows))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert pairs(deliveries) == {(1, "ann")}


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (["n > 1", "s = a"], r"compare n with numbers, but the column holds strings"),
        (["n > 1 and t < 2013-01-01T00:00:00Z"], "compare n with numbers, .* strings"),
        (["n > 1", "n = a", "m = 2"], r"compare m, n with numbers, but these columns"),
        (["t < 2013-01-01T00:00:00Z"], r"compare t with times, but .* \(cast them"),
        (["x = a"], r"compare x with strings, but .* numbers, .* in quotes is a str"),
        (["x = a", "x > 2", "ok = true", "string s any", "n any"], None),
    ],
)
def test_what_is_compared_with_what_it_never_is_is_said_once(
    spark: SparkSession, filters: list[str], said: str | None
) -> None:
    """As of a file of CSV that was read without types."""
    rows = spark.sql("select 1 x, '5' n, '6' m, 'a' s, '2012-01-01' t, true ok")
    wanted = subscriptions(spark, [("ann", text) for text in filters])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        match(rows, wanted)
    messages = [str(w.message) for w in caught if w.category is MismatchedKindsWarning]
    if said is None:
        assert messages == []
    else:
        assert re.search(said, messages[0])
        assert len(messages) == 1 + ("t <" in filters[0] and "n >" in filters[0])
        assert caught[0].filename == __file__


# --- Files --------------------------------------------------------------------------


def test_a_table_can_be_kept_and_used_again(
    spark: SparkSession, ranged: DataFrame, tmp_path: Path
) -> None:
    compiled = compile_subscriptions(subscriptions(spark, [("ann", "x = 1")]))
    kept = compiled.keep(tmp_path / "some name.table")
    del compiled
    for use in (kept, kept.path, str(kept.path), open_compiled(kept.path)):
        assert pairs(match(ranged, use)) == {(1, "ann")}
    (tmp_path / "other").write_bytes(b"no table")
    with pytest.raises(SienaError, match="is not a table"):
        match(ranged, tmp_path / "other")


def test_the_file_may_go_once_a_job_is_planned(
    spark: SparkSession, ranged: DataFrame, tmp_path: Path
) -> None:
    compiled = compile_subscriptions(subscriptions(spark, [("gone", "x = 3")]))
    kept = compiled.keep(tmp_path / "table")
    deliveries = match(ranged, kept)
    kept.path.unlink()
    assert pairs(deliveries) == {(3, "gone")}


def test_a_job_says_how_far_it_is(spark: SparkSession) -> None:
    """And the same of files that tasks read themselves is in ``test_parquet``."""
    tally = Tally.start(spark)
    rows = spark.range(0, 100, 1, 4).withColumnRenamed("id", "x")
    wanted = subscriptions(spark, [("ann", "x < 10"), ("bob", "x < 5")])
    assert match(rows, wanted, tally=tally).count() == 15
    assert (tally.rows.value, tally.answers.value) == (100, 15)


def test_flights(spark: SparkSession) -> None:
    """Real rows, and what people want of them."""
    some = list(enumerate(islice(flights(), 0, 6000, 20)))
    names = sorted({name for _, flight in some for name in flight})
    rows = [[i, *(flight.get(name) for name in names)] for i, flight in some]
    schema = ", ".join(f"{name} {_spark_type(name)}" for name in ("id", *names))
    notifications = spark.createDataFrame(rows, schema)
    wanted = [(s.subscriber, s.filter) for s in flight_subscriptions(400, seed=3)]
    assert pairs(match(notifications, subscriptions(spark, wanted), key="id")) == (
        expected(some, wanted)
    )


def _spark_type(name: str) -> str:
    if name in {"carrier", "dest", "origin", "tailnum"}:
        return "string"
    return "timestamp" if name == "time_hour" else "long"
