"""A broker, a subscriber and a publisher on a system that lacks what Windows lacks."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from repository import ROOT

COMMAND = [sys.executable, str(ROOT / "tests" / "support" / "without_posix.py")]


def test_a_notification_is_delivered() -> None:
    """Found: wheels for Windows were configured, and no broker started there."""
    script = str(ROOT / "benchmarks" / "first_mile.py")
    done = subprocess.run(
        [sys.executable, script, COMMAND[1]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [line.split()[0] for line in done.stdout.splitlines() if line[-2:] == " s"]
    assert steps[-4:] == ["doctor", "serve", "sub", "pub"]


def test_a_broker_with_http_serves_and_drains() -> None:
    arguments = ("serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--json")
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as serving:
        assert serving.stdout is not None
        try:
            assert json.loads(serving.stdout.readline())["http"]
            serving.send_signal(signal.SIGINT)
            _, said = serving.communicate()
        finally:
            serving.kill()
    assert serving.returncode == 0, said
    assert "draining" in said


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--log=log", "this system cannot lock the files of a log"),
        ("--workers=2", "several workers cannot share a port on this system"),
    ],
)
def test_what_takes_more_is_refused(tmp_path: Path, option: str, said: str) -> None:
    done = subprocess.run(
        [*COMMAND, "serve", "--listen", "127.0.0.1:0", option],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
