"""``siena match --dialect`` and ``siena compile --dialect``, of little."""

import subprocess
import sys
from pathlib import Path

import pytest

from command import siena

TABLE = "subscriber,filter\nann,bid < ask\nbob,bid > 2\nann,symbol = 'DIS'\n"
QUOTES = "bid,ask,symbol\n1,2,DIS\n3,2,KO\n2,1,KO\n"
TOLD = ["ann: bid = 1, ask = 2, symbol = DIS", "bob: bid = 3, ask = 2, symbol = KO"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "wanted.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "quotes.csv").write_text(QUOTES, encoding="utf-8")
    return tmp_path


def process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "siena", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return [line.strip() for line in done.stdout.splitlines() if ": bid" in line]


def test_a_residual_decides_who_gets_a_row(folder: Path) -> None:
    words = ("match", "wanted.csv", "quotes.csv", "--dialect", "sql")
    assert told(siena(*words, cwd=folder)) == TOLD


def test_a_compiled_table_needs_no_dialect(folder: Path) -> None:
    done = process(folder, "compile", "wanted.csv", "t.siena", "--dialect", "sql")
    assert done.returncode == 0, done.stderr
    assert told(process(folder, "match", "t.siena", "quotes.csv")) == TOLD


def test_what_is_not_in_the_dialect_is_refused_with_its_row(folder: Path) -> None:
    words = ("match", "wanted.csv", "quotes.csv", "--dialect", "sns")
    done = siena(*words, cwd=folder)
    assert done.returncode == 2
    assert "subscription 1 of 'ann'" in done.stderr
