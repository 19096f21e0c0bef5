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

    def write(path: Path, data: bytes, *_: object) -> None:
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


async def test_a_mistake_is_no_success_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("nobody expected it")

    file = CheckedFile(tmp_path / "x.state", lambda: b"x")
    with monkeypatch.context() as patched:
        patched.setattr(checked_file, "write_checked", fail)
        for _ in range(3):
            assert isinstance(await _saved(file), OSError)
    assert caplog.text.count("x.state cannot be written") == 1
    assert await _saved(file) is None
    assert "x.state is written again" in caplog.text
    await file.close()


async def test_a_mistake_of_one_who_waits_keeps_no_other_from_hearing(
    tmp_path: Path,
) -> None:
    file = CheckedFile(tmp_path / "x.state", lambda: b"x")

    def mistake(_failure: OSError | None) -> None:
        raise RuntimeError("nobody expected it")

    assert await _saved(file) is None
    loop = asyncio.get_running_loop()
    told, later = loop.create_future(), loop.create_future()
    file.save(lambda _failure: None)  # under way; those who follow are told together
    for then in (mistake, told.set_result):
        file.save(then)
    async with asyncio.timeout(10):
        assert await told is None
        file.save(later.set_result)
        assert await later is None
    await file.close()


async def _saved(file: CheckedFile) -> OSError | None:
    told: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    file.save(told.set_result)
    return await told
