"""``match`` with filters of other languages, and with what filters cannot say."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession, functions as F

from siena.dialects import read_rule
from siena.errors import SienaError
from siena.spark import compile_subscriptions, match, open_compiled
from siena.spark.batch.parquet import match_parquet

ROWS: list[dict[str, Any]] = [
    {"subscriber": "ann", "filter": "bid < ask AND symbol = 'DIS'", "dialect": "sql"},
    {"subscriber": "ann", "filter": "bid < 3", "dialect": None},
    {"subscriber": "bob", "filter": "bid % 2 = 1", "dialect": "amqp"},
    {"subscriber": "cid", "filter": '{"symbol": ["KO"]}', "dialect": "eventbridge"},
    {"subscriber": "dee", "filter": "ask any and bid any, if ask - bid > 4"},
]


def quotes(count: int = 200) -> list[dict[str, Any]]:
    random_ = random.Random(5)
    return [
        {
            "id": number,
            "bid": random_.randrange(8),
            "ask": random_.choice([None, *range(9)]),
            "symbol": random_.choice(["DIS", "KO"]),
        }
        for number in range(count)
    ]


def expected(quotes_: list[dict[str, Any]]) -> set[tuple[int, str]]:
    rules = [
        (row["subscriber"], read_rule(row["dialect"], row["filter"]))
        for row in ROWS
        if row.get("dialect")
    ]
    found = {
        (quote["id"], who)
        for quote in quotes_
        for who, rule in rules
        if rule.matches({n: v for n, v in quote.items() if v is not None})
    }
    found |= {(q["id"], "ann") for q in quotes_ if q["bid"] < 3}
    there = [q for q in quotes_ if q["ask"] is not None]
    return found | {(q["id"], "dee") for q in there if q["ask"] - q["bid"] > 4}


def table(spark: SparkSession) -> DataFrame:
    schema = "id long, bid long, ask long, symbol string"
    return spark.createDataFrame(quotes(), schema)


def pairs(found: DataFrame) -> list[tuple[int, str]]:
    return [(row["id"], row["subscriber"]) for row in found.collect()]


def test_residuals_decide_and_a_subscriber_is_notified_once(
    spark: SparkSession,
) -> None:
    found = pairs(match(table(spark), ROWS, key="id"))
    assert len(found) == len(set(found))
    assert set(found) == expected(quotes())
    assert {who for _, who in found} == {"ann", "bob", "cid", "dee"}


def test_every_form_of_rows_and_answers_says_the_same(
    spark: SparkSession, tmp_path: Path
) -> None:
    compiled = compile_subscriptions(ROWS)
    wide = table(spark)
    text = wide.select("id", F.to_json(F.struct("bid", "ask", "symbol")).alias("n"))
    wanted = expected(quotes())
    assert set(pairs(match(text, compiled, key="id", column="n"))) == wanted
    for output in ("counts", "interfaces"):
        found = match(wide, compiled, key="id", output=output).collect()
        for row in found:
            who = {w for number, w in wanted if number == row["id"]}
            assert row["count" if output == "counts" else output] in (
                len(who),
                sorted(who),
            )
    numbers = match(wide, compiled, key="id", output="filters").collect()
    assert any(4 in row["filters"] for row in numbers)
    pq.write_table(pa.Table.from_pylist(quotes()), tmp_path / "quotes.parquet")
    read = match_parquet(spark, str(tmp_path), compiled, key="id")
    assert set(pairs(read)) == wanted


def test_a_compiled_table_keeps_its_residuals(
    spark: SparkSession, tmp_path: Path
) -> None:
    kept = compile_subscriptions(ROWS).keep(tmp_path / "rules.siena")
    again = open_compiled(kept.path)
    assert set(pairs(match(table(spark), again, key="id"))) == expected(quotes())


def test_one_dialect_for_all_and_what_is_bad_is_put_aside() -> None:
    texts = ["a = 1 AND b < c", "a LIKE", "a > 'b'"]
    with pytest.raises(SienaError, match="subscription 2 of 'a LIKE'"):
        compile_subscriptions(texts, dialect="sql")
    compiled = compile_subscriptions(texts, dialect="sql", on_error="set_aside")
    assert len(compiled) == 1
    assert [reject.row for reject in compiled.rejects] == [2, 3]
    assert "no order" in compiled.rejects[1].reason
    assert json.loads(json.dumps(dict(compiled.owners.residuals))) == {"0": "b < c"}
