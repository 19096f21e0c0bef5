"""What the README and the examples show of Spark is what happens."""

import re
import runpy
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from repository import ROOT
from siena.cli.main import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
WANTED = 'subscriber,filter\nalice,"carrier = UA and dep_delay > 15"\nbob,dest = MIA\n'
FLIGHTS = "id,flight,carrier,dest,dep_delay\n1,1545,UA,IAH,20\n2,1141,AA,MIA,\n"


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    (tmp_path / "wanted.csv").write_text(WANTED)
    (tmp_path / "flights.csv").write_text(FLIGHTS)
    rows = spark.read.csv(str(tmp_path / "flights.csv"), header=True, inferSchema=True)
    rows.write.parquet(str(tmp_path / "flights.parquet"))
    return tmp_path


def test_the_stream_prints_what_stands_beside_it(
    spark: SparkSession,  # noqa: ARG001 -- the example finds it
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = ROOT / "examples" / "spark_stream.py"
    runpy.run_path(str(example), run_name="__main__")
    out = example.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == out


def test_the_five_lines_of_the_readme_run(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    # Java stays in the folder in which it was started, whatever Python does.
    code = re.sub(r'"([a-z]+\.(?:csv|parquet))"', rf'"{folder}/\1"', code)
    exec(code, {})  # noqa: S102 -- our own
    out = capsys.readouterr().out
    assert re.search(r"\|\s*1\|\s*alice\|", out)
    assert re.search(r"\|\s*2\|\s*bob\|", out)


def test_a_csv_is_matched_as_the_readme_types_it(
    folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    (line,) = re.findall(r"^siena (match wanted.*)$", README, re.MULTILINE)
    line = re.sub(r"(?<= )([a-z]+\.csv|deliveries)", rf"{folder}/\1", line)
    monkeypatch.setattr(sys, "argv", ["siena", *line.split()])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    found = spark.read.parquet(str(folder / "deliveries")).collect()
    assert {(row["flight"], row["subscriber"]) for row in found} == {
        (1545, "alice"),
        (1141, "bob"),
    }
