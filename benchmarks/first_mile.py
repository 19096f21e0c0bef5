"""From a package to the first delivery: how long doctor, serve, sub and pub take.

    python benchmarks/first_mile.py         of the siena that this Python has

It needs nothing but the package, and ends with an error if nothing is delivered, so
that [tool.cibuildwheel] in pyproject.toml can try a wheel with it on every system.  An
argument is a program that stands for ``-m siena``: a test has one that lacks what
Windows lacks.
"""

import json
import os
import subprocess
import sys
from time import perf_counter

WANTED, PUBLISHED, DELIVERED = "x > 3", "x=4", "x = 4"
SECONDS_MAX = 60


def main() -> None:
    """Do it, and print the seconds until each step was done."""
    command = [sys.executable, *(sys.argv[1:] or ["-m", "siena"])]
    began = perf_counter()

    def done(step: str) -> None:
        print(f"{step:<10}{perf_counter() - began:6.1f} s", flush=True)

    subprocess.run([*command, "doctor", "--no-spark"], check=True, timeout=SECONDS_MAX)
    done("doctor")
    serving = start(command, "serve", "--listen", "127.0.0.1:0", "--json")
    try:
        url = json.loads(line_of(serving, "stdout"))["urls"][0]
        done("serve")
        subscribing = start(command, "sub", "-S", url, WANTED, "--count", "1")
        try:
            said = line_of(subscribing, "stderr")
            if "subscribed" not in said:
                raise SystemExit(f"siena sub said: {said}")
            done("sub")
            publish = [*command, "pub", "-S", url, PUBLISHED]
            subprocess.run(publish, check=True, timeout=SECONDS_MAX)
            out, _ = subscribing.communicate(timeout=SECONDS_MAX)
        finally:
            subscribing.kill()
        done("pub")
    finally:
        serving.terminate()
        serving.wait(SECONDS_MAX)
    if out != f"{DELIVERED}\n" or subscribing.returncode:
        raise SystemExit(f"delivered {out!r} instead of {DELIVERED!r}")
    # Windows ends a process at once.
    if os.name == "posix" and serving.returncode:
        raise SystemExit(f"siena serve ended with {serving.returncode}")


def start(command: list[str], *arguments: str) -> "subprocess.Popen[str]":
    """Start a command whose lines are read."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, *arguments], stdout=pipe, stderr=pipe, encoding="utf-8"
    )


def line_of(process: "subprocess.Popen[str]", name: str) -> str:
    """The first line that a command writes there; what is wrong, if there is none."""
    line = str(getattr(process, name).readline())
    if not line:
        raise SystemExit(f"nothing came: {process.communicate()[1]}")
    return line


if __name__ == "__main__":
    main()
