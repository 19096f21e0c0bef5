"""A broker whose clock on the wall can be moved while it runs.

``python -m siena.testing.chaos.moved_clock FILE serve …`` is ``siena serve …``, but for
what :mod:`siena.clock` says: a file, which both processes map, has by how much that is
wrong.  How long something takes is true, as on a machine whose clock is set.
"""

import mmap
import runpy
import struct
import sys
from pathlib import Path

from siena.clock import SystemClock

MODULE = "siena.testing.chaos.moved_clock"
_NANOSECONDS = struct.Struct("<q")


def move_clock(path: Path, seconds: float) -> None:
    """Let the clock of a file be wrong by so much from now on.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     move_clock(Path(folder, "clock"), 1.5)
    ...     Path(folder, "clock").read_bytes().hex()
    '002f685900000000'
    """
    data = _NANOSECONDS.pack(int(seconds * 1e9))
    if not path.exists():
        path.write_bytes(data)
        return
    with path.open("r+b") as file, mmap.mmap(file.fileno(), len(data)) as mapped:
        mapped[:] = data


def follow(path: Path) -> None:
    """Let every clock of this process be wrong by what a file has."""
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), _NANOSECONDS.size, access=mmap.ACCESS_READ)
    now, nanoseconds = SystemClock.now, SystemClock.nanoseconds

    def off() -> int:
        found: int = _NANOSECONDS.unpack(mapped)[0]
        return found

    def moved_now(clock: SystemClock) -> float:
        return now(clock) + off() / 1e9

    def moved_nanoseconds(clock: SystemClock) -> int:
        return nanoseconds(clock) + off()

    SystemClock.now = moved_now  # type: ignore[assignment, method-assign]
    SystemClock.nanoseconds = moved_nanoseconds  # type: ignore[assignment, method-assign]


if __name__ == "__main__":
    follow(Path(sys.argv.pop(1)))
    runpy.run_module("siena", run_name="__main__", alter_sys=True)
