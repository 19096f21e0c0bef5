"""A stream on Spark: files of flights arrive, and each goes to who wants it, once.

Needs Java 17 and ``pip install '.[spark]'`` in a clone.

    python examples/spark_stream.py
"""

import json
import tempfile
from pathlib import Path

import siena.spark

WANTED = [
    ("alice", "carrier = UA and dep_delay > 15"),
    ("bob", "dest in (MIA, FLL)"),
    ("carol", "dep_delay > 60"),
]
FIRST = [
    {"flight": 1545, "carrier": "UA", "dest": "IAH", "dep_delay": 2},
    {"flight": 1141, "carrier": "AA", "dest": "MIA", "dep_delay": 92},
]
LATER = [
    {"flight": 1714, "carrier": "UA", "dest": "FLL", "dep_delay": 20},
    {"flight": 725, "carrier": "B6", "dest": "BQN"},  # cancelled: no delay is known
]


def main() -> None:
    """Match what is there; more comes; match what is new."""
    spark = siena.spark.start_session()
    wanted = spark.createDataFrame(WANTED, "subscriber string, filter string")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        schema = "flight long, carrier string, dest string, dep_delay long"
        flights = spark.readStream.schema(schema).json(str(folder / "in"))
        deliveries = siena.spark.match(flights, wanted, key="flight")
        for number, rows in enumerate((FIRST, LATER)):
            lines = "".join(f"{json.dumps(row)}\n" for row in rows)
            (folder / "in" / f"{number}.json").write_text(lines, encoding="utf-8")
            query = (
                deliveries.writeStream.option("checkpointLocation", f"{folder}/seen")
                .trigger(availableNow=True)  # all there is; a service would go on
                .start(f"{folder}/out")
            )
            query.awaitTermination()
            out = spark.read.parquet(f"{folder}/out").orderBy("flight", "subscriber")
            print(f"after file {number}:")
            for row in out.collect():
                print("  ", row["flight"], "→", row["subscriber"])


if __name__ == "__main__":
    main()
