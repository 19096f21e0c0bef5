"""A file that is written by one at a time, whoever asks meanwhile."""

import asyncio
from pathlib import Path
from threading import Lock

import pytest

from siena.broker.durable import checked_file
from siena.broker.durable.checked_file import CheckedFile, read_checked, write_checked


async def test_one_writes_at_a_time_even_for_those_who_were_just_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing, overlaps, said = Lock(), [], iter(range(100))

    def write(path: Path, data: bytes) -> None:
        if not writing.acquire(blocking=False):
            overlaps.append(data)
            return
        try:
            write_checked(path, data)
        finally:
            writing.release()

    monkeypatch.setattr(checked_file, "write_checked", write)
    file = CheckedFile(tmp_path / "x.state", lambda: str(next(said)).encode())
    told: list[OSError | None] = []
    enough = asyncio.Event()

    def again(failure: OSError | None) -> None:
        told.append(failure)
        if len(told) < 10:
            file.save(again)
            file.save(told.append)
        else:
            enough.set()

    file.save(again)
    await enough.wait()
    await file.close()
    assert overlaps == []
    assert told == [None] * len(told)
    assert read_checked(tmp_path / "x.state") is not None
