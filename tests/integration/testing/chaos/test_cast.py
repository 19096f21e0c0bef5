"""The cast of a run ends with it, however it ends."""

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from siena.testing.chaos.cast import Cast
from wire import until

EXIT_TERMINATED = 143


def children(pid: int) -> list[int]:
    """Those of all its threads."""
    found = [*Path(f"/proc/{pid}/task").glob("*/children")]
    if not found:
        pytest.skip("this system does not tell the children of a process")
    return [int(each) for path in found for each in path.read_text().split()]


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_run_that_is_terminated_leaves_nothing_behind() -> None:
    command = [sys.executable, "-m", "siena", "chaos", "--fault", "freeze"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as chaos:
        assert chaos.stderr is not None
        said = chaos.stderr.readline()
        brokers = children(chaos.pid)
        chaos.send_signal(signal.SIGTERM)
        rest = chaos.stderr.read()
    assert chaos.returncode == EXIT_TERMINATED
    assert "ended before its time" in rest
    assert len(brokers) == 5
    assert not any(map(is_there, brokers))
    folder = re.search(r"logs in (\S+)", said)
    assert folder is not None
    assert not Path(folder[1]).exists()


async def test_one_that_is_ended_while_brokers_start_leaves_none(
    tmp_path: Path,
) -> None:
    cast = Cast(tmp_path, random.Random(1), 10.0, 0.5)
    entering = asyncio.get_running_loop().create_task(cast.__aenter__())
    mine = os.getpid()
    before = set(children(mine))
    await until(lambda: set(children(mine)) - before)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert cast.brokers
    assert set(children(mine)) <= before
