"""Brokers that are killed, files that are damaged: what was answered is there."""

import random
import threading
from pathlib import Path

import numpy as np
import pytest

import siena
from broker.logs import blocks, everything
from siena.block import encode
from siena.broker.log.records import HEAD_BYTES, DamagedLogError, pack_record
from siena.broker.log.segment_file import HEADER_BYTES
from siena.broker.log.store import Store
from siena.errors import ConnectionLostError
from siena.matching.input.buffers import encode_all
from siena.testing.in_process import ProcessBroker


def filled(folder: Path, counts: list[int], segment_bytes: int = 4_096) -> None:
    """A log with so many notifications in each record."""
    store, first = Store(folder, segment_bytes), 0
    for count in counts:
        store.append(*encode_all({"n": n} for n in range(first, first + count)), 7)
        first += count
    store.close()


def test_a_log_can_be_cut_anywhere(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever is left of the last record, those before it are there."""
    counts = [1, 5, 2, 3]
    filled(tmp_path, counts)
    (path,) = tmp_path.glob("*.log")
    whole = path.read_bytes()
    ends = [HEADER_BYTES]
    for first, count in [(0, 1), (1, 5), (6, 2), (8, 3)]:
        packed, offsets = encode_all({"n": n} for n in range(first, first + count))
        lengths = np.diff(offsets).astype(np.uint32)
        ends.append(ends[-1] + sum(map(len, pack_record(first, 7, 0, lengths, packed))))
    assert ends[-1] == len(whole)
    for size in range(len(whole) + 1):
        caplog.clear()
        for other in (*tmp_path.glob("*.log"), *tmp_path.glob("*.index")):
            other.unlink()
        (tmp_path / "given.json").unlink()  # as if it were of an older version
        path.write_bytes(whole[:size])
        store = Store(tmp_path, 4_096)
        complete = max(sum(size >= end for end in ends) - 1, 0)
        there = sum(counts[:complete])
        # Offsets of which a reader may know are not given again.
        is_begun = size - ends[complete] >= HEAD_BYTES
        assert store.latest == there + (counts[complete] if is_begun else 0)
        assert everything(store) == blocks(there)
        assert bool(caplog.messages) == (size not in {0, *ends})
        # And it goes on from there.
        store.append(*encode_all([{"n": 99}]), 7)
        assert store.latest == there + (counts[complete] if is_begun else 0) + 1
        for opened in (store, reopened(store, tmp_path)):
            assert everything(opened) == [*blocks(there), encode({"n": 99})]
        store = opened
        store.close()


def reopened(store: Store, folder: Path) -> Store:
    store.close()
    return Store(folder, 4_096)


def test_a_flipped_bit_costs_one_record_and_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """In its size, its head or its blocks; those before and behind it are there."""
    rng = random.Random(5)
    filled(tmp_path, [100] * 50, segment_bytes=10**9)
    (path,) = tmp_path.glob("*.log")
    whole = path.read_bytes()
    size = (len(whole) - HEADER_BYTES) // 50  # of a record, more or less
    for number in range(120):
        damaged = bytearray(whole)
        at = rng.randrange(HEADER_BYTES, len(whole))
        if number % 2:  # in the head of a record
            at = HEADER_BYTES + (at - HEADER_BYTES) // size * size
        damaged[at] ^= 1 << rng.randrange(8)
        for other in tmp_path.glob("*.log"):
            other.unlink()
        path.write_bytes(damaged)
        caplog.clear()
        store = Store(tmp_path, 10**9)
        (said, *_) = [m for m in caplog.messages if "has lost offsets" in m]
        first, last = (int(word) for word in said.split() if word.isdigit())
        # Of the last record, whose head may be damaged, it is not known how many.
        is_last = first == 4_900
        assert first % 100 == 0
        assert is_last or last == first + 99
        assert all_good(store) == blocks(first) + blocks(5_000)[first + 100 :]
        store.append(*encode_all([{"n": 99}]), 7)
        assert store.latest > 5_000, "no offset is given twice"
        store.close()


def all_good(store: Store) -> list[bytes]:
    """What can be read, beyond what is damaged."""
    found: list[bytes] = []
    start = store.earliest
    while start < store.latest:
        before = start
        try:
            for record in store.scan(start, 10**9):
                found += record.all_blocks()
                start = record.end
        except DamagedLogError as error:
            start = end_of_damage(error)
        if start == before:  # offsets that were given up are all that is left
            break
    return found


def end_of_damage(error: DamagedLogError) -> int:
    assert error.gap is not None
    return error.gap[1]


def test_damage_in_a_file_that_is_complete_is_an_error(tmp_path: Path) -> None:
    """It is told when it is read; what stands before it comes first."""
    filled(tmp_path, [50] * 100)
    first, second, third, *_ = sorted(tmp_path.glob("*.log"))
    damaged = bytearray(second.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    second.write_bytes(damaged)
    store = Store(tmp_path, 4_096)
    with pytest.raises(DamagedLogError, match="are damaged"):
        everything(store)
    good = all_good(store)
    assert len(good) == 4_950
    assert set(good) < set(blocks(5_000))
    store.close()
    second.unlink()
    store = Store(tmp_path, 4_096)
    with pytest.raises(DamagedLogError, match="are damaged"):
        everything(store)
    lost = int(third.stem) - int(second.stem)
    assert len(all_good(store)) == 5_000 - lost
    store.close()
    assert first.exists()


@pytest.mark.parametrize("damage", ["missing", "garbage", "cut", "other"])
def test_the_index_is_no_more_than_a_help(tmp_path: Path, damage: str) -> None:
    # Records of about a KiB, and so several entries in each index.
    filled(tmp_path, [100] * 400, segment_bytes=200_000)
    paths = sorted(tmp_path.glob("*.index"))
    assert paths
    assert any(path.stat().st_size > 16 for path in paths)
    for path in paths:
        if damage == "missing":
            path.unlink()
        elif damage == "garbage":
            path.write_bytes(b"x" * 64)
        elif damage == "cut":
            path.write_bytes(path.read_bytes()[:-3])
        else:
            path.write_bytes(b"")
    store = Store(tmp_path, 200_000)
    for start in (0, 1, 17_777, 39_999):
        (record, *_) = store.scan(start, 1)
        assert record.first <= start < record.end
    assert everything(store) == blocks(40_000)
    store.close()


def test_what_came_at_once_becomes_several_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siena.broker.log.store.RECORD_BYTES_MAX", 100)
    monkeypatch.setattr("siena.broker.log.store.RECORD_COUNT_MAX", 7)
    filled(tmp_path, [1, 1_000, 3])
    store = Store(tmp_path, 4_096)
    assert everything(store) == blocks(1_004)
    store.close()


@pytest.mark.parametrize(
    "sync",
    [
        "second",
        pytest.param("never", marks=pytest.mark.slow),
        pytest.param("always", marks=pytest.mark.slow),
    ],
)
def test_what_was_answered_survives_a_kill(tmp_path: Path, sync: str) -> None:
    """Killed in the middle: all that was flushed is there, in order, and no more."""
    config = tmp_path / "b.toml"
    config.write_text(f'[log]\nsync = "{sync}"\nsegment_bytes = 65536\n')
    options = ["--config", str(config), "--log", str(tmp_path / "log")]
    with ProcessBroker(options) as broker:
        answered = sent = 0
        for life in range(2):
            killer, flushes = threading.Thread(target=broker.kill), 0
            try:
                with siena.connect(broker.url, reconnect=None) as client:
                    while True:
                        for _ in range(100):
                            client.publish(n=sent, filling="x" * 100)
                            sent += 1
                            # While more is on its way.
                            if flushes == 20 and not killer.ident:
                                killer.start()
                        client.flush()
                        answered, flushes = sent, flushes + 1
            except ConnectionLostError:
                pass
            killer.join()
            broker.start()
            with siena.connect(broker.url) as client:
                found = [logged.notification["n"] for logged in client.log.read()]
            assert answered > 100 * life
            assert answered <= len(found) <= sent
            assert found == [*range(len(found))]
            sent = len(found)
