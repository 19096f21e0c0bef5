"""Two tables: every delivery, and how many each subscriber got.

A pipeline looks at nothing while its tables are declared.  So the subscriptions are
compiled beforehand, and what is matched is planned outside the functions.
"""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession, functions as F

import siena.spark

spark = SparkSession.active()

flights = spark.read.text("flights.ndjson").select(
    F.get_json_object("value", "$.carrier").alias("carrier"),
    F.get_json_object("value", "$.flight").cast("int").alias("flight"),
    F.col("value").alias("notification"),
)
matched = siena.spark.match(
    flights, "flights.siena", key=["carrier", "flight"], column="notification"
)


@dp.materialized_view
def deliveries() -> DataFrame:
    """Who gets which flight; the notification is a line of JSON."""
    return matched


@dp.materialized_view
def counts() -> DataFrame:
    """How many flights each subscriber got."""
    return spark.read.table("deliveries").groupBy("subscriber").count()
