"""What the examples show of Spark is what happens."""

import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def test_the_stream_prints_what_stands_beside_it(
    spark: SparkSession,  # noqa: ARG001 -- the example finds it
    capsys: pytest.CaptureFixture[str],
) -> None:
    example = ROOT / "examples" / "spark_stream.py"
    runpy.run_path(str(example), run_name="__main__")
    out = example.with_suffix(".txt").read_text(encoding="utf-8")
    assert capsys.readouterr().out == out
