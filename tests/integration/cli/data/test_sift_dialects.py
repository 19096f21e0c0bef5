"""``siena sift --dialect``: filters of other languages, with residuals."""

import subprocess
from pathlib import Path

from command import siena

EVENTS = '{"bid": 1, "ask": 2}\n{"bid": 3, "ask": 2}\n{"symbol": "DIS"}\n'


def sift(folder: Path, table: str, *options: str) -> subprocess.CompletedProcess[str]:
    path = folder / "wanted.csv"
    path.write_text(table, encoding="utf-8")
    return siena("sift", "-s", path, *options, stdin=EVENTS)


def test_a_residual_decides_who_gets_what_the_filters_let_through(
    tmp_path: Path,
) -> None:
    table = "subscriber,filter\nann,bid < ask\nbob,bid > 0\nann,symbol = 'DIS'\n"
    done = sift(tmp_path, table, "--dialect", "sql")
    assert done.stdout.splitlines() == ["1: ann, bob", "2: bob", "3: ann"]


def test_a_line_may_name_its_own_dialect(tmp_path: Path) -> None:
    table = (
        "subscriber,filter,dialect\nann,bid < ask,sql\n"
        'eve,"{""symbol"": [""DIS""]}",eventbridge\nbob,bid > 2,\n'
    )
    done = sift(tmp_path, table)
    assert done.stdout.splitlines() == ["1: ann", "2: bob", "3: eve"]


def test_what_is_not_in_the_dialect_is_refused_with_its_line(tmp_path: Path) -> None:
    done = sift(tmp_path, "subscriber,filter\nann,bid <\n", "--dialect", "sql")
    assert done.returncode == 2
    assert "line 2" in done.stderr
