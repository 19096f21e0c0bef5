"""Clocks that a test moves."""

from pathlib import Path

import pytest

from siena.clock import SystemClock
from siena.testing.chaos.moved_clock import follow, move_clock

DAY = 86_400


def test_all_clocks_of_a_process_follow_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("now", "nanoseconds"):  # and afterwards they are right again
        monkeypatch.setattr(SystemClock, name, vars(SystemClock)[name])
    clock, file = SystemClock(), tmp_path / "clock"
    right, elapsed = clock.now(), clock.elapsed()
    move_clock(file, -4 * DAY)
    follow(file)
    assert clock.now() < right - 3 * DAY
    assert clock.nanoseconds() < (right - 3 * DAY) * 10**9
    move_clock(file, 4 * DAY)
    assert clock.now() > right + 3 * DAY
    assert clock.nanoseconds() > (right + 3 * DAY) * 10**9
    move_clock(file, 0)
    assert right <= clock.now() < right + DAY
    assert elapsed <= clock.elapsed() < elapsed + DAY
