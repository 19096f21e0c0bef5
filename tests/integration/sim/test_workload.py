"""Workloads in another process are the same."""

import subprocess
import sys

from siena.sim.workload import SSBG, TR0605


def test_another_process_draws_the_same() -> None:
    """Python's own hash of strings differs between processes; nothing may use it."""
    script = (
        "from siena.sim.workload import SSBG, TR0605\n"
        "print(*TR0605().texts(20), *TR0605().notifications(5), sep='\\n')\n"
        "print(*SSBG().predicates(5), *SSBG().notifications(5), sep='\\n')\n"
    )
    command = [sys.executable, "-I", "-c", script]
    outputs = {
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    here = (
        *TR0605().texts(20),
        *TR0605().notifications(5),
        *SSBG().predicates(5),
        *SSBG().notifications(5),
    )
    assert outputs == {"".join(f"{thing}\n" for thing in here)}
