"""What every store does: the same tests for a folder, JetStream and Kafka.

Kafka is tried by the servers that its client has for tests, and by real ones where
``SIENA_KAFKA`` names them.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from broker.kafka import ClientsOwnServer, new_topic, real_servers
from broker.logs import everything, readable
from broker.nats import NatsServer
from siena.block import encode
from siena.broker.log.limits import RECORD_BYTES_MAX
from siena.broker.log.store import Store
from siena.broker.log.stores.log_store import LogStore
from siena.broker.log.stores.opening import open_stream
from siena.broker.log.stores.remote_store import RemoteStore
from siena.broker.log.stores.stream import MessageStream
from siena.broker.log.stores.url import read_store_url
from siena.broker.settings import Log as LogSettings
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.matching.input.buffers import encode_all
from siena.model import Value

SEGMENT_BYTES = 4_096

Opened = Callable[[], LogStore]


def kill(store: LogStore) -> None:
    """Leave it as a process does that is killed."""
    assert isinstance(store, Store)
    store._let_go()
    if isinstance(store, RemoteStore):
        store._stream.close()


class Server(Protocol):
    """What keeps a stream for a test."""

    def stream(self) -> MessageStream: ...

    def kill(self) -> None: ...


class RealKafka:
    """A topic of the servers that the environment names."""

    def __init__(self) -> None:
        self._url = f"kafka://{real_servers()}/{new_topic()}"

    def stream(self) -> MessageStream:
        return open_stream(read_store_url(self._url), LogSettings())

    def kill(self) -> None:
        pass


def server_of(name: str, folder: Path) -> Server | None:
    match name:
        case "jetstream":
            server = NatsServer(folder / "nats")
            server.start()
            return server
        case "kafka's client":
            return ClientsOwnServer()
        case "kafka":
            return RealKafka()
        case _:
            return None


@pytest.fixture(params=["folder", "jetstream", "kafka's client", "kafka"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens the store, again and again; what is open at the end is left alone."""
    made: list[LogStore] = []
    server = server_of(request.param, tmp_path)

    def open_one() -> LogStore:
        folder = tmp_path / "log"
        if server is None:
            made.append(Store(folder, SEGMENT_BYTES))
        else:
            stream = server.stream()
            made.append(
                RemoteStore(folder, SEGMENT_BYTES, stream, "orders", SystemClock())
            )
        return made[-1]

    yield open_one
    if made and isinstance(made[-1], RemoteStore):
        made[-1]._stream.close()
    if server is not None:
        server.kill()


def append(store: LogStore, first: int, count: int, tag: int = 0) -> list[bytes]:
    values: list[dict[str, Value]]
    values = [{"n": n, "x": "x" * 40} for n in range(first, first + count)]
    store.append(*encode_all(values), first, tag)
    return [encode(value) for value in values]


def test_offsets_follow_each_other_and_all_is_read_as_it_was_written(
    opened: Opened,
) -> None:
    store = opened()
    written = [b for n in range(0, 300, 3) for b in append(store, n, 3, tag=n + 1)]
    assert (store.earliest, store.latest) == (0, 300)
    assert everything(store) == written
    store.sync()
    store.close()
    again = opened()
    assert (again.earliest, again.latest) == (0, 300)
    assert everything(again) == written
    [record, *_] = again.scan(157, 1)
    assert (record.first, record.time, record.tag) == (156, 156, 157)
    again.close()


def test_what_was_synced_outlives_a_kill_and_is_there_once(opened: Opened) -> None:
    written: list[bytes] = []
    for life in range(4):
        store = opened()
        assert everything(store) == written
        for n in range(10):
            written += append(store, 10 * life + n, 2)
        store.sync()
        kill(store)
    last = opened()
    assert everything(last) == written
    last.close()


def test_a_sync_of_another_thread_is_of_what_was_written_before(opened: Opened) -> None:
    store = opened()
    written = append(store, 0, 5)
    sync = store.syncing()
    thread = threading.Thread(target=sync)
    thread.start()
    written += append(store, 5, 5)
    thread.join()
    store.sync()
    kill(store)
    again = opened()
    assert everything(again) == written
    again.close()


def test_room_is_made_below_a_floor_and_offsets_stay(opened: Opened) -> None:
    store = opened()
    for n in range(0, 600, 2):
        append(store, n, 2)
    store.sync()
    assert store.make_room(200, 0, None) > 0
    assert 0 < store.earliest <= 200
    kept = everything(store)
    assert kept[-1] == encode({"n": 599, "x": "x" * 40})
    assert len(kept) == 600 - store.earliest
    store.sync()
    kill(store)
    again = opened()
    assert (again.earliest, again.latest) == (store.earliest, 600)
    again.close()


def test_an_offset_that_was_skipped_is_never_given(opened: Opened) -> None:
    store = opened()
    first = append(store, 0, 2)
    store.skip_to(50)
    second = append(store, 50, 2)
    store.sync()
    kill(store)
    again = opened()
    assert again.latest == 52
    assert readable(again) == dict(zip((0, 1, 50, 51), first + second, strict=True))
    again.close()


def test_a_record_may_be_as_long_as_records_are(opened: Opened) -> None:
    store = opened()
    block = b"\x81\xa1x\xc6" + (RECORD_BYTES_MAX - 8).to_bytes(4, "big")
    block += bytes(RECORD_BYTES_MAX - 8)
    store.append(block, np.array([0, len(block)], np.int64), 7)
    store.sync()
    store.close()
    again = opened()
    assert everything(again) == [block]
    again.close()


def test_a_folder_is_of_one_broker_at_a_time(opened: Opened) -> None:
    store = opened()
    with pytest.raises(SienaError, match="another broker that runs"):
        opened()
    store.close()
