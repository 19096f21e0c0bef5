"""What is demanded of a machine: a skip for want of it is a failure then."""

import subprocess
import sys
from pathlib import Path

from repository import ROOT

TESTS = """
import pytest

def test_package():
    pytest.importorskip("no_such_package")

def test_extra():
    pytest.importorskip("no_such_package", reason="pip install .[browser]")

def test_program():
    pytest.skip("there is no chromium")

def test_server():
    pytest.skip("there is no nats-server")
"""
MODULE = """
import pytest

pytest.importorskip("no_such_package", reason="pip install .[browser]")
"""


def outcome(folder: Path, *options: str) -> str:
    """The last line of pytest about the tests above."""
    (folder / "test_some.py").write_text(TESTS, encoding="utf-8")
    (folder / "test_module.py").write_text(MODULE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        [*command, "--continue-on-collection-errors", "."],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT / "tests" / "support")},
        capture_output=True,
        check=False,
        text=True,
    )
    return done.stdout.splitlines()[-1]


def test_what_is_missing_is_skipped_or_fails_as_is_demanded(tmp_path: Path) -> None:
    assert outcome(tmp_path).startswith("5 skipped")
    said = outcome(tmp_path, "-p", "demanded")
    assert said.startswith("3 failed, 1 skipped, 1 error")
