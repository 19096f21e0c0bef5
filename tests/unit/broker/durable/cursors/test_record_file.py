"""Files of records: what is damaged is named, and a disk that takes nothing is met."""

import asyncio
import errno
import logging
import os
import threading
from pathlib import Path

import pytest

from siena.broker.durable.cursors import record_file
from siena.broker.durable.cursors.cursor import Epoch, Spec
from siena.broker.durable.cursors.record_file import RecordFile
from siena.broker.durable.cursors.record_form import mark, packed, read, snapshot
from siena.broker.durable.cursors.registry import FILE, Cursors
from siena.broker.log.files import Files, Pieces
from siena.errors import SienaError
from wire import until

SPEC = Spec(30, 0, None)


class Failing(Files):
    """Files of a disk that is full, or fails, when it is told to."""

    def __init__(self) -> None:
        self.room: int | None = None
        """How many bytes there is room for."""
        self.bad_folder = self.bad_sync = self.bad_rename = False
        self.mistake: Exception | None = None
        """In the thread that writes a file anew."""
        self.renamed = 0
        self.tried = 0

    def write(self, descriptor: int, pieces: Pieces) -> None:
        if self.room is not None:
            self.tried += 1
            data = b"".join(pieces)
            os.write(descriptor, data[: self.room])
            if len(data) > self.room:
                self.room = 0
                raise OSError(errno.ENOSPC, "No space left on device")
            self.room -= len(data)
        else:
            super().write(descriptor, pieces)

    def sync(self, descriptor: int) -> None:
        if self.bad_sync:
            raise OSError(errno.EIO, "Input/output error")
        super().sync(descriptor)

    def sync_folder(self, folder: Path) -> None:
        if self.bad_folder:
            raise OSError(errno.EIO, "Input/output error")
        super().sync_folder(folder)

    def open_for_append(self, path: Path) -> int:
        if self.mistake is not None:
            raise self.mistake
        return super().open_for_append(path)

    def rename(self, old: Path, new: Path) -> None:
        if self.bad_rename:
            raise OSError(errno.EIO, "Input/output error")
        self.renamed += 1
        super().rename(old, new)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_file, "RETRY_SECONDS", 0.01)


Told = dict[str, OSError | None]


async def make(cursors: Cursors, told: Told, name: str) -> None:
    """Have a durable subscription, and wait until it is told whether it is kept."""
    cursor = cursors.make("", name, Epoch("x any", 0), SPEC)
    cursors.save(cursor, lambda failure: told.update({name: failure}))
    await until(lambda: name in told)


def names(folder: Path) -> list[str]:
    """What is known to a broker that begins with what is there now."""
    copy = folder / "copy"
    copy.mkdir(exist_ok=True)
    (copy / FILE).write_bytes((folder / FILE).read_bytes())
    return [cursor.name for cursor in Cursors(copy, 1000)]


# --- Damage ---------------------------------------------------------------------------


def test_what_stands_behind_damage_is_read() -> None:
    data = bytearray(snapshot([b"first one", b"second one", b"third one"]))
    place = data.index(b"second")
    data[place] ^= 1
    found = read(bytes(data))
    assert found.records == [b"first one", b"third one"]
    assert found.missing == 1
    assert [each.texts for each in found.damaged] == [("recond one",)]
    assert not found.torn


def test_what_was_not_synced_is_torn_and_not_damaged() -> None:
    data = snapshot([b"first one"])
    appended = packed([b"second one", b"third one"])
    assert read(data + appended[:-1]).torn[0].first == len(data) + 18
    # A page of zeros between, as a loss of power may leave it.
    holed = data + bytes(18) + appended[18:]
    found = read(holed)
    assert (found.records, found.damaged) == ([b"first one", b"third one"], [])
    # The same, where the file says that it was synced.
    found = read(holed + mark(len(holed)))
    assert (found.records, found.torn) == ([b"first one", b"third one"], [])
    assert found.damaged[0].first == len(data)


@pytest.mark.parametrize("left", [5, 30])
def test_a_file_that_was_cut_short_is_damaged(left: int) -> None:
    assert read(snapshot([b"first one", b"second one"])[:left]).damaged


async def test_every_flipped_bit_is_noticed_and_no_cursor_is_forgotten_silently(
    tmp_path: Path,
) -> None:
    cursors, told = Cursors(tmp_path, 1000), Told()
    await make(cursors, told, "one")
    await cursors.close()
    cursors = Cursors(tmp_path, 1000)
    await make(cursors, told, "two")
    await make(cursors, told, "three")  # which says that all before is synced
    await cursors.close()
    # As after a kill: with what was appended.
    cursors = Cursors(tmp_path, 1000)
    await make(cursors, told, "four")
    await make(cursors, told, "five")
    good = (tmp_path / FILE).read_bytes()
    synced = len(good) - len(packed([cursors._whole(list(cursors)[-1])]))
    await cursors.close()
    for bit in range(0, 8 * synced, 3):
        data = bytearray(good)
        data[bit // 8] ^= 1 << bit % 8
        (tmp_path / FILE).write_bytes(data)
        known, said = known_or_why(tmp_path)
        if said:
            assert "is damaged" in said
            assert "siena log repair" in said
            assert (tmp_path / FILE).read_bytes() == data
        else:  # a mark is all that was damaged, and the record behind it is good
            assert sorted(known) == ["five", "four", "one", "three", "two"]


def known_or_why(folder: Path) -> tuple[list[str], str]:
    """What a broker knows that begins there, or why it does not."""
    try:
        return [cursor.name for cursor in Cursors(folder, 1000)], ""
    except SienaError as error:
        return [], str(error)


# --- A full disk ----------------------------------------------------------------------


async def test_half_a_record_is_cut_off_before_the_next(tmp_path: Path) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    await make(cursors, told, "one")
    files.room = 7
    await make(cursors, told, "two")
    files.room = None  # before it was written anew
    await make(cursors, told, "three")
    assert told["one"] is None
    assert told["two"] is not None
    assert told["three"] is None
    assert names(tmp_path) == ["one", "three"]
    # And what was missing follows.
    await until(lambda: names(tmp_path) == ["one", "two", "three"])
    await cursors.close()


async def test_a_disk_that_stays_full_is_said_once_and_tried_again_now_and_then(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    await make(cursors, told, "one")
    cursor = next(iter(cursors))
    monkeypatch.setattr(record_file, "RETRY_SECONDS", 3600.0)
    files.room = 0
    with caplog.at_level(logging.WARNING, "siena.broker"):
        for offset in range(300):
            cursors.acked(cursor, [offset])
            await asyncio.sleep(0)
    assert len(caplog.records) == 1
    assert cursors._file._rewriting is None  # no thread for each of them
    files.room = None
    cursors._file.rewrite()
    await until(lambda: "written again" in caplog.text)
    await cursors.close()


async def test_half_of_a_file_that_is_written_anew_leaves_its_room(
    tmp_path: Path,
) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    await make(cursors, told, "one")
    files.room = 7
    cursors._file.rewrite()
    await until(lambda: files.tried and cursors._file._rewriting is None)
    assert not (tmp_path / f"{FILE}.new").exists()
    files.room = None
    await cursors.close()


async def test_a_mistake_of_one_that_is_kept_keeps_no_other_from_hearing(
    tmp_path: Path,
) -> None:
    told = Told()
    cursors = Cursors(tmp_path, 1000)
    await make(cursors, told, "one")
    one = next(iter(cursors))

    def mistake(_failure: OSError | None) -> None:
        raise RuntimeError("nobody expected it")

    cursors._file.rewrite()  # what comes meanwhile is told together
    cursors.save(one, mistake)
    cursors.save(one, lambda failure: told.update(two=failure))
    await until(lambda: "two" in told)
    await cursors.close()


async def test_what_was_acknowledged_ahead_and_passed_by_is_not_written_down(
    tmp_path: Path,
) -> None:
    """The log has let it go, or lost it: nothing finds it any more."""
    told = Told()
    cursors = Cursors(tmp_path, 1000)
    await make(cursors, told, "one")
    cursor = next(iter(cursors))
    cursor.reset(10)
    cursor.acked_ahead = {12, 500}
    cursor.position = 100
    await cursors.close()
    [again] = Cursors(tmp_path, 1000)
    assert again.acked_ahead == {500}


class Held(Files):
    """Files of which the folder is not synced until it may be."""

    def __init__(self) -> None:
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.may_go_on.set()

    def sync_folder(self, folder: Path) -> None:
        self.has_begun.set()
        assert self.may_go_on.wait(10.0)
        super().sync_folder(folder)


async def test_what_is_appended_while_a_file_is_written_anew_survives_a_kill(
    tmp_path: Path,
) -> None:
    """At any moment: a kill leaves what the file of that name has."""
    files, path = Held(), tmp_path / "x.state"
    file = RecordFile(path, lambda: [b"all that"], files)
    file.begin()
    files.has_begun.clear()
    files.may_go_on.clear()
    file.rewrite()
    file.append(b"before")
    assert read(path.read_bytes()).records == [b"all that", b"before"]
    await until(files.has_begun.is_set)  # it has its name, which the disk does not know
    file.append(b"after")
    assert read(path.read_bytes()).records == [b"all that", b"before", b"after"]
    told: list[OSError | None] = []
    file.append(b"and synced", told.append)
    await asyncio.sleep(0.02)
    assert not told, "a loss of power may bring the old one back"
    files.may_go_on.set()
    await until(lambda: told == [None])
    await file.close()


@pytest.mark.parametrize("is_renamed", [True, False])
async def test_what_is_appended_while_a_rewriting_fails_is_there_once(
    tmp_path: Path, *, is_renamed: bool
) -> None:
    files, records = Failing(), [b"all that"]
    file = RecordFile(tmp_path / "x.state", lambda: records, files)
    file.begin()
    if is_renamed:
        files.bad_rename = True
    else:
        files.mistake = OSError(errno.EIO, "Input/output error")
    file.rewrite()
    file.append(b"meanwhile")
    await until(lambda: file._rewriting is None)
    assert read((tmp_path / "x.state").read_bytes()).records == [
        b"all that",
        b"meanwhile",
    ]
    files.mistake, files.bad_rename = None, False
    await file.close()


async def test_a_mistake_while_it_is_written_anew_is_no_success(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    await make(cursors, told, "one")
    files.mistake = RuntimeError("nobody expected it")
    cursors._file.rewrite()
    await make(cursors, told, "two")
    assert told["two"] is None
    assert names(tmp_path) == ["one", "two"]
    assert "nobody expected it" in caplog.text
    files.mistake = None
    await until(lambda: not cursors._file._is_behind)
    assert names(tmp_path) == ["one", "two"]
    await cursors.close()


async def test_after_a_rename_the_new_file_is_appended_to_though_the_folder_failed(
    tmp_path: Path,
) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    await make(cursors, told, "one")
    renamed = files.renamed
    files.bad_folder = True
    cursors._file.rewrite()
    await until(lambda: files.renamed > renamed)
    await make(cursors, told, "two")
    assert names(tmp_path) == ["one", "two"]  # not in a file that has no name any more
    assert told["two"] is not None  # a loss of power may bring the old one back
    files.bad_folder = False
    await until(lambda: not cursors._file._is_behind)
    await make(cursors, told, "three")
    assert told["three"] is None
    assert names(tmp_path) == ["one", "two", "three"]
    await cursors.close()


async def test_a_sync_that_failed_is_made_good_by_another_file_only(
    tmp_path: Path,
) -> None:
    files, told = Failing(), Told()
    cursors = Cursors(tmp_path, 1000, files)
    files.bad_sync = True
    await make(cursors, told, "one")
    assert told["one"] is not None
    renamed = files.renamed
    files.bad_sync = False
    await until(lambda: files.renamed > renamed and not cursors._file._is_behind)
    await make(cursors, told, "two")
    assert told["two"] is None
    await cursors.close()
