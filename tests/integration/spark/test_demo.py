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
    out, err = capsys.readouterr()
    assert leaving.value.code == 0, out + err
    agreed = re.search(r"✓ both agree: 106 subscriptions .* all ([\d,]+) of", out)
    assert agreed, out
    assert int(agreed[1].replace(",", "")) > 100
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Both agree" in report
    # Rules on a stream: of the two versions of one, either has fired.
    assert re.search(r"guessing +1 +[1-9]", out)
    assert re.search(r"guessing +2 +[1-9]", out)
    assert "Rules that watch a stream" in report
    assert "not-the-owner, because " in out
