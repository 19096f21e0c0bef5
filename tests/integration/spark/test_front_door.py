"""What the guide and the examples show of Spark is what happens."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import siena
from repository import ROOT
from siena import testing
from siena.cli.main import main

GUIDE = (ROOT / "docs" / "guides" / "spark.md").read_text(encoding="utf-8")
MADE = re.findall(r"^printf .*$", GUIDE, re.MULTILINE)
CODE = re.findall(r"^```python\n(.*?)^```", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:  # noqa: ARG001 -- is started
    """With the files that the guide makes."""
    assert len(MADE) == 2
    for line in MADE:
        subprocess.run(["/bin/sh", "-c", line], cwd=tmp_path, check=True)
    return tmp_path


def test_the_stream_prints_what_stands_beside_it(
    spark: SparkSession,  # noqa: ARG001 -- the example finds it
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = ROOT / "examples" / "spark_stream.py"
    runpy.run_path(str(example), run_name="__main__")
    out = example.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == out


def test_the_five_lines_of_the_guide_run(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = CODE[0]
    # Java stays in the folder in which it was started, whatever Python does.
    code = re.sub(r'"([a-z]+\.(?:csv|parquet))"', rf'"{folder}/\1"', code)
    exec(code, {})  # noqa: S102 -- our own
    out = capsys.readouterr().out
    assert re.search(r"\|\s*1\|\s*alice\|", out)
    assert re.search(r"\|\s*2\|\s*bob\|", out)


def test_the_stream_of_the_guide_reads_the_log_of_a_broker(
    spark: SparkSession,  # noqa: ARG001 -- the guide's program finds it
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = {"path": str(tmp_path / "orders")}
    with testing.broker(log=log) as broker, siena.connect(broker.url) as client:
        client.publish({"order": 4711, "total": 300}, ack=True)
        code = CODE[1].replace("siena://127.0.0.1:2606", broker.url)
        code = re.sub(r'"(large-orders[a-z-]*)"', rf'"{tmp_path}/\1"', code)
        exec(code, {})  # noqa: S102 -- our own
    assert re.search(r"\|\s*0\|\s*alice\|", capsys.readouterr().out)


def test_a_csv_is_matched_as_the_guide_types_it(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = re.findall(r"^siena (match wanted.*)$", GUIDE, re.MULTILINE)
    line = re.sub(r"(?<= )([a-z]+\.csv|who-wants-which)", rf"{folder}/\1", line)
    monkeypatch.setattr(sys, "argv", ["siena", *line.split()])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    found = spark.read.parquet(str(folder / "who-wants-which")).collect()
    assert {(row["flight"], row["subscriber"]) for row in found} == {
        (1545, "alice"),
        (1141, "bob"),
    }
