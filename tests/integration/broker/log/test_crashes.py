"""Brokers that are killed, files that are damaged: what was answered is there."""

import random
import threading
from pathlib import Path

import numpy as np
import pytest

import siena
from broker.logs import blocks, everything
from siena.broker.log.records import DamagedLogError, pack_record
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
    ends = [0]
    for first, count in [(0, 1), (1, 5), (6, 2), (8, 3)]:
        packed, offsets = encode_all({"n": n} for n in range(first, first + count))
        lengths = np.diff(offsets).astype(np.uint32)
        ends.append(ends[-1] + sum(map(len, pack_record(first, 7, 0, lengths, packed))))
    assert ends[-1] == len(whole)
    for size in range(len(whole) + 1):
        caplog.clear()
        path.write_bytes(whole[:size])
        store = Store(tmp_path, 4_096)
        complete = sum(size >= end for end in ends) - 1
        assert store.latest == sum(counts[:complete])
        assert everything(store) == blocks(store.latest)
        assert bool(caplog.messages) == (size not in ends)
        # And it goes on from there.
        store.append(*encode_all([{"n": store.latest}]), 7)
        assert everything(store) == blocks(store.latest)
        store.close()


def test_damage_is_found_and_never_read(tmp_path: Path) -> None:
    rng = random.Random(5)
    filled(tmp_path, [100] * 50, segment_bytes=10**9)
    (path,) = tmp_path.glob("*.log")
    whole = path.read_bytes()
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        store = Store(tmp_path, 10**9)
        assert store.latest < 5_000
        assert everything(store) == blocks(store.latest)
        store.close()
    assert [*tmp_path.glob("*.cut")], "a copy of what was there"


def test_damage_in_a_file_that_is_complete_is_an_error(tmp_path: Path) -> None:
    filled(tmp_path, [50] * 100)
    first, second, *_ = sorted(tmp_path.glob("*.log"))
    damaged = bytearray(second.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    second.write_bytes(damaged)
    store = Store(tmp_path, 4_096)
    with pytest.raises(DamagedLogError):
        everything(store)
    store.close()
    second.unlink()
    store = Store(tmp_path, 4_096)
    with pytest.raises(DamagedLogError, match=r"ends at offset|should be"):
        everything(store)
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
            killer = threading.Timer(0.3, broker.kill)
            try:
                with siena.connect(broker.url, reconnect=None) as client:
                    killer.start()
                    while True:
                        for _ in range(100):
                            client.publish(n=sent, filling="x" * 100)
                            sent += 1
                        client.flush()
                        answered = sent
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
