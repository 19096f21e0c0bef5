"""What a disk may not have is written anew before it counts."""

import errno
import os
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from broker.crashes import Disk, Recorded, lay_out
from broker.logs import readable
from siena.broker.log import group_commit
from siena.broker.log.files import Files, Pieces
from siena.broker.log.segment import NoRoomError
from siena.broker.log.store import Store
from siena.matching.input.buffers import encode_all

SEGMENT_BYTES = 4_096


class Doubtful(Recorded):
    """Files of which a sync can fail: what it was for is dropped, and said once."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.fails = False
        self.dropped: set[str] = set()

    def sync(self, descriptor: int) -> None:
        name = self.name_of(descriptor)
        if self.fails and ".log" in name:
            self.dropped.add(name)
            raise OSError(5, "Input/output error")
        if name not in self.dropped:  # it says that all is well
            super().sync(descriptor)

    def delete(self, path: Path) -> None:
        super().delete(path)
        self.dropped.discard(self._name(path))

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self.dropped.discard(self._name(new))


def append(store: Store, count: int) -> None:
    for n in range(count):
        store.append(*encode_all([{"n": n, "x": "x" * 400}]), 7)


def killed(store: Store) -> None:
    os.close(store._file)
    store._lock.close()


F = TypeVar("F", bound=Recorded)


def going_on(folder: Path, files: F) -> F:
    """Another life of the broker, while the machine goes on."""
    found = type(files)(folder)
    found.go_on_from(files)
    return found


def check_all_are_left(files: Recorded, end: int, folder: Path) -> None:
    """After a loss of power all below an offset is there."""
    disk = Disk()
    for done in files.done:
        disk.do(done)
    rng = random.Random(1)
    for _ in range(100):
        lay_out(folder, disk.left(rng))
        store = Store(folder, SEGMENT_BYTES)
        found = readable(store)
        store.close()
        assert [*range(end)] == [offset for offset in found if offset < end]


def test_what_two_lives_wrote_is_on_the_disk_when_the_second_says_so(
    tmp_path: Path,
) -> None:
    """The first was killed before a sync, with several files; then the power goes."""
    folder = tmp_path / "log"
    files = Recorded(folder)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 25)
    assert len(store.segments) > 2
    killed(store)
    files = going_on(folder, files)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    killed(store)
    check_all_are_left(files, 25, tmp_path / "left")


def threads_use(files: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    """What threads sync is known to these files as well."""
    monkeypatch.setattr(group_commit, "sync_and_close", files.sync_and_close)


@pytest.mark.parametrize("records", [3, 25])
@pytest.mark.parametrize("is_elsewhere", [True, False])
def test_after_a_sync_that_failed_all_is_written_anew(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    records: int,
    *,
    is_elsewhere: bool,
) -> None:
    folder = tmp_path / "log"
    files = Doubtful(folder)
    threads_use(files, monkeypatch)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, records)
    files.fails = True
    with pytest.raises(OSError, match="Input/output"):
        store.syncing()() if is_elsewhere else store.sync()
    with pytest.raises(OSError, match="Input/output"):
        store.write_anew()
    assert not [*folder.glob("*.index")], "what the disk may not have is not complete"
    files.fails = False
    store.write_anew()
    append(store, 2)
    store.sync()
    killed(store)
    check_all_are_left(files, records + 2, tmp_path / "left")


def test_what_a_life_left_in_doubt_is_written_anew_by_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    files = Doubtful(folder)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 3)
    files.fails = True
    with pytest.raises(OSError, match="Input/output"):
        store.sync()
    files.fails = False
    killed(store)
    dropped = files.dropped
    files = going_on(folder, files)
    files.dropped = dropped
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    killed(store)
    check_all_are_left(files, 3, tmp_path / "left")


def test_what_the_system_has_forgotten_is_not_taken_for_written(tmp_path: Path) -> None:
    store = Store(tmp_path, SEGMENT_BYTES)
    append(store, 3)
    path = store.segments[-1].path
    data = bytearray(path.read_bytes())
    data[-300:] = bytes(300)
    path.write_bytes(data)
    with pytest.raises(OSError, match="does not remember"):
        store.write_anew()
    store._let_go()


def test_a_log_that_was_closed_is_not_written_anew(tmp_path: Path) -> None:
    store = Store(tmp_path, SEGMENT_BYTES)
    append(store, 3)
    store.close()
    before = [(path.name, path.stat().st_ino) for path in tmp_path.glob("*.log")]
    store = Store(tmp_path, SEGMENT_BYTES)
    store.sync()
    after = [(path.name, path.stat().st_ino) for path in tmp_path.glob("*.log")]
    store.close()
    assert before == after


@pytest.mark.parametrize("fails", [True, False])
def test_what_a_thread_has_not_begun_to_sync_is_synced_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    """A file that is complete by now, too; and the thread does not fail for it."""
    folder = tmp_path / "log"
    files = Doubtful(folder)
    threads_use(files, monkeypatch)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 8)
    store.sync()
    while len(store.segments) == 1:
        append(store, 1)
    end = store.latest
    in_a_thread = store.syncing()
    store.sync()
    check_all_are_left(files, end, tmp_path / "left")
    files.fails = fails
    in_a_thread()
    files.fails = False
    store.write_anew()
    append(store, 2)
    store.sync()
    end = store.latest
    killed(store)
    check_all_are_left(files, end, tmp_path / "left")


def test_a_thread_hears_that_what_it_was_to_sync_could_not_be(tmp_path: Path) -> None:
    files = Doubtful(tmp_path)
    store = Store(tmp_path, SEGMENT_BYTES, files)
    store.sync()
    append(store, 3)
    in_a_thread = store.syncing()
    files.fails = True
    with pytest.raises(OSError, match="Input/output"):
        store.sync()
    with pytest.raises(OSError, match="another sync has failed"):
        in_a_thread()
    files.fails = False
    store.close()


class Crowded(Recorded):
    """Files of a process that has too many open, when it is told to."""

    is_crowded = False

    def duplicate(self, descriptor: int) -> int:
        if self.is_crowded:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().duplicate(descriptor)


def test_a_sync_that_cannot_be_begun_takes_nothing_from_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the thread says afterwards is so."""
    folder = tmp_path / "log"
    files = Crowded(folder)
    threads_use(files, monkeypatch)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 25)
    in_a_thread = store.syncing()
    files.is_crowded = True
    with pytest.raises(OSError, match="Too many"):
        store.sync()
    files.is_crowded = False
    in_a_thread()
    killed(store)
    check_all_are_left(files, 25, tmp_path / "left")


def test_what_need_not_be_kept_may_be_wanted_a_moment_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receipt asks for the disk in the turn after that in which it was written."""
    folder = tmp_path / "log"
    files = Recorded(folder)
    threads_use(files, monkeypatch)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 25)
    store.leave_unsynced()
    store.syncing()()
    killed(store)
    check_all_are_left(files, 25, tmp_path / "left")


def test_what_need_not_be_kept_takes_no_descriptors(tmp_path: Path) -> None:
    files = Recorded(tmp_path)
    store = Store(tmp_path, SEGMENT_BYTES, files)
    store.sync()
    append(store, 25)
    store.leave_unsynced()
    store.leave_unsynced()
    assert files.open_files == 1  # of the file that is written to
    store.leave_unsynced()
    assert all(each.is_sealed for each in store.segments[:-1])
    store.close()


def test_a_failure_that_only_a_thread_is_told_of_counts_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the thread has not heard yet, nobody else says that all is well."""
    folder = tmp_path / "log"
    files = Doubtful(folder)
    has_begun, may_go_on = threading.Event(), threading.Event()

    def sync_and_close(descriptors: list[int]) -> None:
        has_begun.set()
        may_go_on.wait(60.0)
        name = files.name_of(descriptors[0])
        files.dropped.add(name)  # so what others sync seems to be kept
        for descriptor in descriptors:
            files.close(descriptor)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(group_commit, "sync_and_close", sync_and_close)
    store = Store(folder, SEGMENT_BYTES, files)
    store.sync()
    append(store, 3)
    with ThreadPoolExecutor(2) as pool:
        in_a_thread = pool.submit(store.syncing())
        assert has_begun.wait(60.0)
        at_once = pool.submit(store.sync)
        may_go_on.set()
        assert isinstance(in_a_thread.exception(60.0), OSError)
        at_once.result(60.0)
    killed(store)
    check_all_are_left(files, 3, tmp_path / "left")


class Full(Files):
    """A disk that says that it has room, and has less."""

    takes = 10**9

    def write(self, descriptor: int, pieces: Pieces) -> None:
        data = b"".join(pieces)
        os.write(descriptor, data[: self.takes])
        if len(data) > self.takes:
            raise OSError(errno.ENOSPC, "No space left on device")


class Said(Full):
    """One that says how much it has."""

    said = 10**9

    def free_bytes(self, folder: Path) -> int:
        return min(self.said, super().free_bytes(folder))


def test_a_full_disk_is_not_filled_with_halves_of_what_is_written_anew(
    tmp_path: Path,
) -> None:
    files = Said()
    store = Store(tmp_path, SEGMENT_BYTES, files)
    append(store, 3)
    files.takes = 500
    with pytest.raises(NoRoomError, match="No space left"):
        store.write_anew()
    files.takes, files.said = 10**9, 500
    with pytest.raises(NoRoomError, match="room for 500 bytes"):
        store.write_anew()
    files.takes = 5
    with pytest.raises(OSError, match="No space left"):
        files.write_whole(tmp_path / "some.json", b"more than that", sync=True)
    assert not [*tmp_path.glob("*.new")]
    files.takes = files.said = 10**9
    store.close()
