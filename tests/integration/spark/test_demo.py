"""The demonstration's other half: Spark gets the day, and both halves agree."""

import re
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from siena.cli.main import main


def test_network_and_spark_agree(
    spark: SparkSession,  # noqa: ARG001 -- the session that the command finds
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    options = ["--travellers", "100", "--subscriptions", "2000"]
    monkeypatch.setattr(
        sys, "argv", ["siena", "demo", *options, "--output", str(tmp_path)]
    )
    with pytest.raises(SystemExit) as leaving:
        main()
    out = capsys.readouterr().out
    assert leaving.value.code == 0, out
    agreed = re.search(r"✓ both agree: 106 subscriptions .* all ([\d,]+) of", out)
    assert agreed, out
    assert int(agreed[1].replace(",", "")) > 100
    assert "Both agree" in (tmp_path / "report.html").read_text(encoding="utf-8")
