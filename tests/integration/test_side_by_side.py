"""A test process that dies takes one test with it, and does not hold up the others."""

import os
import subprocess
import sys
from pathlib import Path

from repository import ROOT

FILES = {
    "test_dies_in_the_middle.py": """
        import os
        import pytest

        @pytest.mark.parametrize("n", range(5))
        def test_numbered(n):
            if n == 2:
                os._exit(3)
        """,
    "test_lives.py": """
        def test_one(): ...
        """,
    "test_lives_beside_it.py": """
        def test_one(): ...
        def test_two(): ...
        """,
    "test_then_dies_at_the_end.py": """
        import os

        def test_one(): ...
        def test_last(): os._exit(3)
        """,
}


def test_a_process_that_dies_is_one_failure(tmp_path: Path) -> None:
    for name, text in FILES.items():
        lines = [line[8:] for line in text.splitlines()]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "side_by_side"]
    ran = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:hypothesispytest"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    failed = {
        line.split()[1] for line in ran.stdout.splitlines() if line.startswith("FAILED")
    }
    assert failed == {
        "test_dies_in_the_middle.py::test_numbered[2]",
        "test_then_dies_at_the_end.py::test_last",
    }, ran.stdout
    assert "2 failed, 8 passed" in ran.stdout
