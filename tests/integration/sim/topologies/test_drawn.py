"""Drawn networks in another process are the same."""

import subprocess
import sys

from siena.sim.topologies.text import parse_shape


def test_another_process_draws_the_same() -> None:
    """Where strings have other hashes."""
    shapes = ["barabasi-albert:20", "waxman:20", "random-tree:20", "transit-stub"]
    script = (
        "from siena.sim.topologies.text import parse_shape\n"
        f"for shape in {shapes}: print(parse_shape(shape, seed=7).links)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    here = [parse_shape(shape, seed=7).links for shape in shapes]
    assert done.stdout == "".join(f"{links}\n" for links in here)
