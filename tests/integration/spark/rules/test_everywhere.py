"""The same alerts on a cluster as here, of tables and of a stream."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Applies rules to a table, with a count and with suppression, and live ones to a
# stream; prints what came out as its last line.
SCRIPT = """
import json, sys
from datetime import timedelta
from pathlib import Path

from siena.spark import start_session
from siena.spark.rules import LiveRules, RuleSettings, Suppression, apply

master, here = sys.argv[1], Path(sys.argv[2])
spark = start_session(master, config={"spark.sql.shuffle.partitions": "2"})
rows = spark.range(0, 60, 1, 3).selectExpr(
    "id", "id % 2 host", "id % 7 level", "id * 1000000 at"
)
rules = [
    {"id": "high", "text": "level > 4", "version": "1"},
    {"id": "odd", "dialect": "sql", "text": "level < host"},
]
plain = apply(rows, rules, key="id")
held = Suppression(("host",), timedelta(seconds=10))
once = apply(rows, rules[:1], key="id", time="at", suppress=held)
counted = apply(
    rows, here / "rules.yml", key="id", time="at",
    settings=RuleSettings(logsource="none"),
)
live = LiveRules(here / "live", settings=RuleSettings(logsource="none"))
live.publish(here / "rules.yml")
rows.coalesce(1).write.parquet(str(here / "in"))
stream = spark.readStream.schema(rows.schema).parquet(str(here / "in"))
query = (
    apply(stream, live, key="id", time="at").writeStream.format("parquet")
    .option("path", str(here / "out"))
    .option("checkpointLocation", str(here / "checkpoint"))
    .trigger(availableNow=True).start()
)
query.awaitTermination()
streamed = spark.read.parquet(str(here / "out"))
found = [
    sorted([row.id, row.rule] for row in each.collect())
    for each in (plain, once, counted, streamed)
]
spark.stop()
print(json.dumps(found))
"""
# On two machines, as it were: each executor is a JVM with a folder of its own.
CLUSTER = "local-cluster[2,1,2048]"
RULES = """
title: High
name: high
logsource: {category: test}
detection:
    selection: {level|gt: 4}
    condition: selection
---
title: Two of one host
name: two
correlation:
    type: event_count
    rules: [high]
    group-by: [host]
    timespan: 10s
    condition: {gte: 2}
"""


def expected() -> list[list[list[object]]]:
    high = [i for i in range(60) if i % 7 > 4]
    plain: list[list[object]] = [[i, "high"] for i in high]
    plain += [[i, "odd"] for i in range(60) if i % 7 < i % 2]
    once: list[list[object]] = []
    two: list[list[object]] = []
    last: dict[int, int] = {}
    seen: dict[int, list[int]] = {0: [], 1: []}
    for i in high:
        host = i % 2
        if host not in last or i - last[host] > 10:
            once.append([i, "high"])
            last[host] = i
        seen[host].append(i)
        if len([each for each in seen[host] if each >= i - 10]) >= 2:
            two.append([i, "two"])
            seen[host] = []
    plain.sort(key=lambda row: (row[0], row[1]))
    return [plain, once, two, two]


def test_alerts_are_the_same(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH")
    (tmp_path / "rules.yml").write_text(RULES)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, CLUSTER, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        # It would be inside the installed package otherwise.
        env={**os.environ, "SPARK_WORKER_DIR": str(tmp_path / "workers")},
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found == expected()
    assert all(found)
