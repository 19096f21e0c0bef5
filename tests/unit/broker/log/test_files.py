"""What a sync asks of the system: that the disk has it, and not its cache alone."""

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from siena.broker.log import files
from siena.broker.log.files import SYSTEM
from siena.broker.log.group_commit import sync_and_close

FULLY = 51  # F_FULLFSYNC of macOS


@pytest.mark.parametrize(
    ("fails", "expected"),
    [(0, ["fully"]), (errno.ENOTSUP, ["fully", "fsync"]), (errno.EIO, ["fully"])],
)
def test_where_a_system_can_empty_the_cache_of_a_disk_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int, expected: list[str]
) -> None:
    """Both ways to a sync; and what a file system does not know is done as before."""
    asked: list[str] = []

    def fully(_descriptor: int, command: int) -> None:
        assert command == FULLY
        asked.append("fully")
        if fails:
            raise OSError(fails, "no")

    monkeypatch.setattr(files, "_FULLY", FULLY)
    monkeypatch.setattr(files, "_fcntl", SimpleNamespace(fcntl=fully))
    monkeypatch.setattr(os, "fsync", lambda _descriptor: asked.append("fsync"))
    for sync in (SYSTEM.sync, lambda descriptor: sync_and_close([descriptor])):
        asked.clear()
        descriptor = SYSTEM.open_for_append(tmp_path / "x")
        if fails == errno.EIO:
            with pytest.raises(OSError, match="no"):
                sync(descriptor)
        else:
            sync(descriptor)
        assert asked == expected
        if sync == SYSTEM.sync:
            SYSTEM.close(descriptor)
