"""What happens to the files of a log behind its back is noticed, and named."""

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from broker.logs import readable
from siena.broker.log.cursors import Readers
from siena.broker.log.files import Files
from siena.broker.log.offline.folder import OfflineLog
from siena.broker.log.records import DamagedLogError, pack_record
from siena.broker.log.segment_file import HEADER_BYTES
from siena.broker.log.store import Store
from siena.errors import SienaError
from siena.matching.input.buffers import encode_all

SEGMENT_BYTES = 4_096


def filled(folder: Path, records: int) -> dict[int, bytes]:
    """A log of several files; what is in it, by offset."""
    store = Store(folder, SEGMENT_BYTES)
    for n in range(records):
        store.append(*encode_all([{"n": n}, {"n": n, "x": "x" * 40}]), 7)
        store.sync()
    found = readable(store)
    store.close()
    return found


def flip(path: Path, bit: int) -> None:
    data = bytearray(path.read_bytes())
    data[bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def _flips(tmp_path: Path, caplog: pytest.LogCaptureFixture, count: int) -> None:
    whole = filled(tmp_path / "whole", 150)
    rng = random.Random(count)
    sizes = {p.name: p.stat().st_size for p in (tmp_path / "whole").glob("*.log")}
    for _ in range(count):
        (name,) = rng.choices(list(sizes), list(sizes.values()))
        folder = tmp_path / "flipped"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "whole", folder)
        flip(folder / name, rng.randrange(8 * sizes[name]))
        caplog.clear()
        store = Store(folder, SEGMENT_BYTES)
        found = readable(store)
        gaps = [*store.gaps()]
        store.close()
        missing = whole.keys() - found.keys()
        assert all(whole[offset] == block for offset, block in found.items())
        assert len(missing) <= 2, "at most one record"
        named = {n for gap in gaps for n in range(gap.first, min(gap.end, 300))}
        said = " ".join(caplog.messages)
        assert missing == named & whole.keys() or f"lost offsets {min(missing)}" in said
        assert missing or "header" in said, "noticed"


def test_every_flipped_bit_is_noticed_and_costs_at_most_one_record(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _flips(tmp_path, caplog, 150)


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_ten_thousand_flipped_bits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _flips(tmp_path, caplog, 10_000)


def test_a_last_record_that_only_seems_to_go_on_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bit of its size makes it look like half a record, which nobody has heard of."""
    filled(tmp_path, 1)
    (path,) = tmp_path.glob("*.log")
    flip(path, 8 * (HEADER_BYTES + 1) + 3)
    store = Store(tmp_path, SEGMENT_BYTES)
    assert "the log has lost offsets 0 to 1" in caplog.messages
    with pytest.raises(DamagedLogError, match="offsets 0 to 1"):
        list(store.scan(0, 10**6))
    store.close()


def with_a_record_inside(folder: Path) -> tuple[Path, int, dict[int, bytes]]:
    """A log of three records; in the blocks of the second stands what looks like one.

    Its file, the place where the one inside ends, and what is in the log.
    """
    false = pack_record(1_000, 7, 0, np.array([3], np.uint32), b"lie")
    inside = b"".join(map(bytes, false))
    store = Store(folder, 10**6)
    for block in (b"first", b"a" * 50 + inside + b"b" * 50, b"last"):
        store.append(block, np.array([0, len(block)]), 7)
    found = readable(store)
    store.close()
    (path,) = folder.glob("*.log")
    return path, path.read_bytes().index(inside) + len(inside), found


@pytest.mark.parametrize("where", [b"aaa", b"bbb"])
def test_what_a_publisher_made_look_like_a_record_is_none(
    tmp_path: Path, where: bytes
) -> None:
    """Also where the record around it is damaged, before it or behind it."""
    path, _, whole = with_a_record_inside(tmp_path)
    flip(path, 8 * path.read_bytes().index(where))
    store = Store(tmp_path, 10**6)
    found = readable(store)
    assert found == {n: block for n, block in whole.items() if n != 1}
    assert [*store.gaps()] == [(1, 2)]
    assert store.latest == 3
    store.close()


def test_nor_is_it_one_where_the_record_around_it_is_half_there(
    tmp_path: Path,
) -> None:
    path, end, whole = with_a_record_inside(tmp_path)
    with path.open("r+b") as file:
        file.truncate(end + 10)
    store = Store(tmp_path, 10**6)
    assert readable(store) == {0: whole[0]}
    assert store.latest < 1_000
    store.close()


@pytest.mark.parametrize(
    ("which", "said"),
    [
        (0, "the log has lost offsets 0 to "),
        (1, "a file between them"),
        (-1, "is missing"),
    ],
)
def test_a_file_that_is_deleted_is_missed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, which: int, said: str
) -> None:
    """The oldest, one in the middle, and the newest."""
    whole = filled(tmp_path, 150)
    path = sorted(tmp_path.glob("*.log"))[which]
    path.unlink()
    store = Store(tmp_path, SEGMENT_BYTES)
    assert any(said in message for message in caplog.messages)
    assert store.latest >= max(whole) + 1 or which == 0, "no offset is given twice"
    if which != -1:
        with pytest.raises(DamagedLogError, match="are damaged"):
            list(store.scan(int(path.stem), 10**6))
    store.close()


def test_what_was_deleted_to_make_room_is_not_missed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    filled(tmp_path, 150)
    store = Store(tmp_path, SEGMENT_BYTES)
    assert store.make_room(store.latest, SEGMENT_BYTES, None)
    earliest = store.earliest
    store.close()
    store = Store(tmp_path, SEGMENT_BYTES)
    assert store.earliest == earliest > 0
    store.close()
    assert not caplog.messages


def test_offsets_that_a_reader_has_committed_are_not_given_again(
    tmp_path: Path,
) -> None:
    """The machine has forgotten what was not synced, and the reader has read it."""
    filled(tmp_path, 3)
    store = Store(tmp_path, SEGMENT_BYTES)
    store.skip_to(100)
    store.append(*encode_all([{"n": 1}]), 7)
    assert store.latest == 101
    store.close()
    store = Store(tmp_path, SEGMENT_BYTES)
    assert store.latest == 101
    with pytest.raises(DamagedLogError, match="offsets 6 to 99"):
        list(store.scan(6, 10**6))
    store.close()


def test_a_log_of_an_older_version_is_read_and_goes_on(tmp_path: Path) -> None:
    """Its files have no header, and its checksums are not of the size."""
    data = b""
    for n in range(5):
        blocks, offsets = encode_all([{"n": n}])
        lengths = np.diff(offsets).astype(np.uint32)
        data += b"".join(map(bytes, pack_record(n, 7, 0, lengths, blocks, form=1)))
    (tmp_path / f"{0:020d}.log").write_bytes(data)
    for length in range(6, 9):
        store = Store(tmp_path, SEGMENT_BYTES)
        store.append(*encode_all([{"n": length - 1}]), 7)
        assert len(readable(store)) == length == store.latest
        store.close()
    flip(tmp_path / f"{0:020d}.log", 8 * 10)
    store = Store(tmp_path, SEGMENT_BYTES)
    assert sorted(readable(store)) == [*range(1, 8)]
    store.close()


class Clock:
    """A clock that is set ahead."""

    wall = 0.0
    since = 0.0

    def now(self) -> float:
        return self.wall

    def nanoseconds(self) -> int:
        return int(self.wall * 1e9)

    def elapsed(self) -> float:
        return self.since


def test_a_clock_that_jumps_forgets_no_reader(tmp_path: Path) -> None:
    clock = Clock()
    readers = Readers(tmp_path / "readers.json", clock, 3 * 24 * 3600.0)
    readers.commit("me", 3)
    clock.wall += 4 * 24 * 3600
    clock.since += 1
    assert not readers.forget_silent()
    assert readers.ask("me") == 3


def test_a_flipped_bit_in_what_readers_have_read_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "readers.json"
    Readers(path, Clock(), 60.0).commit("me", 3)
    size = len(path.read_bytes())
    for bit in range(0, 8 * size, 3):
        flip(path, bit)
        with pytest.raises(SienaError, match="is damaged"):
            Readers(path, Clock(), 60.0)
        flip(path, bit)
    assert Readers(path, Clock(), 60.0).ask("me") == 3


@pytest.mark.parametrize("was_closed", [True, False])
def test_a_repair_gives_no_offset_again(tmp_path: Path, *, was_closed: bool) -> None:
    """What is taken out of the way at the end leaves its offsets out."""
    filled(tmp_path, 3)
    if not was_closed:  # as a log of an older version
        (tmp_path / "given.json").unlink()
    (path,) = tmp_path.glob("*.log")
    flip(path, 8 * path.stat().st_size - 20)
    with OfflineLog(tmp_path) as log:
        assert log.check(lambda _: None).all_problems
        assert log.repair(lambda _: None)
        assert not log.check(lambda _: None).all_problems
    store = Store(tmp_path, SEGMENT_BYTES)
    assert store.latest == 6
    assert sorted(readable(store)) == [0, 1, 2, 3]
    store.append(*encode_all([{"n": 1}]), 7)
    assert sorted(readable(store)) == [0, 1, 2, 3, 6]
    store.close()


class Rebooted(Files):
    """The files of a machine that has started anew."""

    def boot(self) -> str:
        return "another life"


def test_after_a_loss_of_power_no_offset_is_given_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """They may have been told; those of the same life of the machine go on."""
    store = Store(tmp_path, SEGMENT_BYTES)
    store.append(*encode_all([{"n": n} for n in range(5)]), 7)
    store._let_go()
    store = Store(tmp_path, SEGMENT_BYTES)
    assert store.latest == 5
    store._let_go()
    assert not caplog.messages
    for path in tmp_path.glob("*.log"):
        path.write_bytes(path.read_bytes()[:HEADER_BYTES])
    store = Store(tmp_path, SEGMENT_BYTES, Rebooted())
    assert store.latest >= 5
    assert "the log goes on at offset" in caplog.text
    first = store.latest
    store.append(*encode_all([{"n": 9}]), 7)
    assert sorted(readable(store)) == [first], "left out, and no error"
    store.close()
    store = Store(tmp_path, SEGMENT_BYTES, Rebooted())
    assert store.latest == first + 1
    store.close()
