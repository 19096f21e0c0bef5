"""The guide of rules does what it says: its snippets are run, in their order."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import siena.spark

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "detection-rules-on-spark.md"
# A snippet, and what stands indented behind it.
SNIPPET = re.compile(
    r"^```python\n(.*?)^```\n(?:\n((?:^    [^\n]*\n)+))?", re.MULTILINE | re.DOTALL
)


@pytest.mark.timeout(600)
def test_every_snippet_prints_what_the_guide_says(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(siena.spark, "start_session", lambda: spark)
    snippets = SNIPPET.findall(GUIDE.read_text())
    assert len(snippets) > 5
    names: dict[str, Any] = {}
    for text, shown in snippets:
        code = text
        # Spark's machine was started elsewhere, and knows no other folder.
        for name in ("incoming", "alerts", "checkpoint"):
            code = code.replace(f'"{name}"', repr(str(tmp_path / name)))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(GUIDE), "exec"), names)  # noqa: S102 -- our own
        expected = re.sub(r"^    ", "", shown, flags=re.MULTILINE)
        assert printed.getvalue() == expected, code
