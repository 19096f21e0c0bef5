"""Ten thousand connections that mostly do nothing are held, and hear what they want."""

import resource
import subprocess
import sys

import pytest

import siena
from repository import ROOT
from served import process, ready

MANY = 10_000
# What one process may open is limited, so the connections are spread over several.
PROCESSES = 4
# Room for the broker's own files.
FILES = MANY + 200
CROWD = ROOT / "tests" / "support" / "crowd.py"


@pytest.mark.slow
def test_ten_thousand_connections() -> None:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < FILES:
        pytest.skip(f"the system allows fewer than {FILES} open files")
    with process("--listen", "127.0.0.1:0", "--json") as broker:
        (url,) = ready(broker)["urls"]
        command = [sys.executable, str(CROWD), url, str(MANY // PROCESSES)]
        crowd = [
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for _ in range(PROCESSES)
        ]
        try:
            with siena.connect(url) as client:
                hear(crowd, "held")
                client.publish(n=1)
                client.flush()
                hear(crowd, "heard")
                assert [each.wait(60) for each in crowd] == [0] * PROCESSES
        finally:
            for each in crowd:
                each.kill()
                each.communicate()


def hear(crowd: "list[subprocess.Popen[str]]", word: str) -> None:
    for each in crowd:
        assert each.stdout is not None
        assert each.stdout.readline() == f"{word}\n"
    for each in crowd:
        assert each.stdin is not None
        each.stdin.write("\n")
        each.stdin.flush()
