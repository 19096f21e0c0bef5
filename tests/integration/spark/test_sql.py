"""``siena_match`` in SQL."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from siena.errors import SienaError
from siena.spark import compile_subscriptions, register


@pytest.fixture(scope="module")
def wanted(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            *(("ann", "x > 1", 10), ("ann", "p = 2.5", 11), ("bob", "s.t = a", 12)),
            ("cid", "d = 2026-11-15T00:00:00Z", 13),
        ],
        "subscriber string, filter string, id long",
    )


ROWS = """
SELECT * FROM VALUES
  (1, 1, 2.5BD, named_struct('t', 'a'), date'2026-11-15'),
  (2, 2, 2.5BD, named_struct('t', 'b'), NULL),
  (3, NULL, NULL, NULL, NULL) AS rows(id, x, p, s, d)
"""


def test_a_struct_a_text_a_map_and_a_variant(
    spark: SparkSession, wanted: DataFrame
) -> None:
    register(spark, wanted, name="who_wants")
    found = spark.sql(
        f"""SELECT id, who_wants(struct(*)) AS wide,
              who_wants(to_json(struct(x))) AS json,
              who_wants(map('x', x)) AS map,
              who_wants(parse_json(to_json(struct(x)))) AS variant
            FROM ({ROWS}) ORDER BY id"""
    ).collect()
    assert [sorted(row.wide) for row in found] == [[11, 12, 13], [10, 11], []]
    for form in ("json", "map", "variant"):
        assert [row[form] for row in found] == [[], [10], []]


def test_a_function_may_give_interfaces_or_counts(
    spark: SparkSession, wanted: DataFrame
) -> None:
    register(spark, wanted, name="interfaces", output="interfaces")
    register(spark, wanted, name="how_many", output="counts")
    found = spark.sql(
        f"SELECT interfaces(struct(*)) AS who, how_many(struct(*)) AS many "
        f"FROM ({ROWS}) ORDER BY id"
    ).collect()
    assert [sorted(row.who) for row in found] == [["ann", "bob", "cid"], ["ann"], []]
    assert [row.many for row in found] == [3, 1, 0]


def test_a_table_may_be_named_in_the_query(
    spark: SparkSession, wanted: DataFrame, tmp_path: Path
) -> None:
    compile_subscriptions(wanted).keep(tmp_path / "table.siena")
    register(spark)
    found = spark.sql(
        f"SELECT siena_match('{tmp_path}/table.siena', struct(*)) AS ids FROM ({ROWS})"
    ).collect()
    assert sorted(len(row.ids) for row in found) == [0, 2, 3]


def test_what_a_function_cannot_give_is_refused(
    spark: SparkSession, wanted: DataFrame
) -> None:
    with pytest.raises(SienaError, match="cannot have the output 'deliveries'"):
        register(spark, wanted, output="deliveries")
    with pytest.raises(SienaError, match="subscriptions that are known"):
        register(spark, output="interfaces")
