"""How long does a program wait for ``import siena``, and a person for ``siena``?

Each command runs in a process of its own, once before it is timed.  The budget
for ``import siena`` is 0.15 s.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

RUNS = 20  # enough for a stable median of something this short

COMMANDS: dict[str, list[str | Path]] = {
    "python, empty": [sys.executable, "-c", "pass"],
    "import siena": [sys.executable, "-c", "import siena"],
    "siena --version": [Path(sys.executable).with_name("siena"), "--version"],
}


def main() -> None:
    """Print the median and the spread of each, in milliseconds."""
    print(f"{'':18}{'median':>9}{'least':>9}{'most':>9}   ms, {RUNS} runs")
    for name, command in COMMANDS.items():
        elapsed_ms(command)  # the first reads from the disk
        times = sorted(elapsed_ms(command) for _ in range(RUNS))
        median = statistics.median(times)
        print(f"{name:18}{median:9.1f}{times[0]:9.1f}{times[-1]:9.1f}")


def elapsed_ms(command: list[str | Path]) -> float:
    """How long the command takes from start to end."""
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (time.perf_counter() - start) * 1000


if __name__ == "__main__":
    main()
