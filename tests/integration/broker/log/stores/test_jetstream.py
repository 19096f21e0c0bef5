"""A log that is kept in JetStream: what is kept there is enough to have it again."""

import asyncio
import shutil
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from broker.logs import everything
from broker.nats import NatsServer
from siena.block import encode
from siena.broker.log.limits import RECORD_COUNT_MAX
from siena.broker.log.offline.folder import OfflineLog
from siena.broker.log.store import Store
from siena.broker.log.stores import remote_store
from siena.broker.log.stores.opening import open_store
from siena.broker.log.stores.remote_store import RemoteStore
from siena.broker.log.stores.stream import Message, StreamError
from siena.broker.log.stores.writer import FencedError
from siena.broker.settings import Log as LogSettings
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.matching.input.buffers import encode_all

# Where it is missing, all of these are skipped.
nats_py: Any = pytest.importorskip("nats", reason="there is no nats-py")
jetstream: Any = pytest.importorskip("siena.broker.log.stores.jetstream")

SEGMENT_BYTES = 4_096


def opened(nats: NatsServer, folder: Path) -> RemoteStore:
    settings = LogSettings(
        path=str(folder),
        store=nats.url(),
        segment_bytes=SEGMENT_BYTES,
        bytes=4 * SEGMENT_BYTES,
    )
    store = open_store(folder, settings, SystemClock())
    assert isinstance(store, RemoteStore)
    return store


def append(store: Store, first: int, count: int) -> list[bytes]:
    values = [{"n": n} for n in range(first, first + count)]
    store.append(*encode_all(values), 7, tag=first)
    return [encode(value) for value in values]


def kill(store: RemoteStore) -> None:
    """Leave it as a process does that is killed."""
    store._let_go()
    store._stream.close()


def test_a_folder_that_is_lost_is_made_anew(nats: NatsServer, tmp_path: Path) -> None:
    """The machine is gone: log, cursors and all else are as they were."""
    store = opened(nats, tmp_path / "a")
    written = [b for n in range(0, 3_000, 30) for b in append(store, n, 30)]
    (tmp_path / "a" / "cursors.state").write_bytes(b"c" * 3_000_000)
    (tmp_path / "a" / "readers.json").write_bytes(b"{}")
    store.want_states()
    store.sync()
    (tmp_path / "a" / "cursors.state").write_bytes(b"later")
    store.want_states()
    store.sync()
    kill(store)
    shutil.rmtree(tmp_path / "a")
    again = opened(nats, tmp_path / "b")
    assert everything(again) == written
    assert [r.tag for r in again.scan(0, 10**9)] == [*range(0, 3_000, 30)]
    assert (tmp_path / "b" / "cursors.state").read_bytes() == b"later"
    assert (tmp_path / "b" / "readers.json").read_bytes() == b"{}"
    again.close()


def test_of_two_brokers_the_second_displaces_the_first(
    nats: NatsServer, tmp_path: Path
) -> None:
    first = opened(nats, tmp_path / "a")
    written = append(first, 0, 3)
    first.sync()
    second = opened(nats, tmp_path / "b")
    append(first, 3, 3)  # never acknowledged
    with pytest.raises(FencedError, match="another broker writes"):
        first.sync()
    written += append(second, 10, 3)
    second.sync()
    assert everything(second) == written
    kill(first)
    kill(second)
    # What it had beyond the stream is out of the way, and not mixed with the rest.
    again = opened(nats, tmp_path / "a")
    assert everything(again) == written
    assert list((tmp_path / "a" / "replaced").glob("*.log"))
    again.close()


def test_a_server_that_is_killed_under_load_has_everything_once(
    nats: NatsServer, tmp_path: Path
) -> None:
    store = opened(nats, tmp_path / "a")
    stop = threading.Event()
    written: list[bytes] = []

    def write() -> None:
        while not stop.is_set() and len(written) < RECORD_COUNT_MAX:
            written.extend(append(store, len(written), 7))
            store.sync()

    thread = threading.Thread(target=write)
    thread.start()
    for life in range(1, 6):
        while len(written) < 300 * life:
            thread.join(0.01)
        nats.kill()
        nats.start()
    stop.set()
    thread.join()
    kill(store)
    again = opened(nats, tmp_path / "b")
    assert everything(again) == written
    again.close()


def test_while_the_server_is_away_so_much_is_taken_and_no_more(
    nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_store, "BEHIND_BYTES_MAX", 500)
    store = opened(nats, tmp_path / "a")
    nats.kill()
    written = append(store, 0, 10)
    sync = threading.Thread(target=store.syncing())
    sync.start()
    while store.behind_bytes <= 500:
        written += append(store, len(written), 10)
    with pytest.raises(OSError, match=rf"\d+ bytes wait for nats.*{nats.port}/orders"):
        append(store, len(written), 10)
    assert len(written) < 100
    nats.start()
    sync.join()
    store.sync()
    written += append(store, len(written), 10)
    store.close()
    again = opened(nats, tmp_path / "b")
    assert everything(again) == written
    again.close()


def test_what_came_while_the_server_was_away_follows_at_the_next_start(
    nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_store, "CLOSE_SECONDS", 0.0)
    store = opened(nats, tmp_path / "a")
    written = append(store, 0, 10)
    nats.kill()
    store.close()
    nats.start()
    again = opened(nats, tmp_path / "a")
    again.sync()
    kill(again)
    elsewhere = opened(nats, tmp_path / "b")
    assert everything(elsewhere) == written
    elsewhere.close()


def test_a_server_that_lost_its_end_gets_it_again(
    nats: NatsServer, tmp_path: Path
) -> None:
    """As with its default, which syncs every two minutes, and a loss of power."""
    store = opened(nats, tmp_path / "a")
    written = append(store, 0, 10)
    store.sync()
    nats.kill()
    shutil.copytree(nats.folder, tmp_path / "before")
    nats.start()
    written += append(store, 10, 10)
    store.sync()
    nats.kill()
    shutil.rmtree(nats.folder)
    shutil.copytree(tmp_path / "before", nats.folder)
    nats.start()
    written += append(store, 20, 10)
    store.sync()
    kill(store)
    again = opened(nats, tmp_path / "b")
    assert everything(again) == written
    again.close()


def test_a_server_that_lost_everything_gets_it_again(
    nats: NatsServer, tmp_path: Path
) -> None:
    store = opened(nats, tmp_path / "a")
    written = append(store, 0, 10)
    store.close()
    nats.kill()
    shutil.rmtree(nats.folder)
    nats.start()
    again = opened(nats, tmp_path / "a")
    again.sync()
    kill(again)
    elsewhere = opened(nats, tmp_path / "b")
    assert everything(elsewhere) == written
    elsewhere.close()


def test_a_log_of_before_goes_to_a_new_stream(nats: NatsServer, tmp_path: Path) -> None:
    plain = Store(tmp_path / "a", SEGMENT_BYTES)
    written = append(plain, 0, 500)
    plain.close()
    opened(nats, tmp_path / "a").close()
    elsewhere = opened(nats, tmp_path / "b")
    assert everything(elsewhere) == written
    elsewhere.close()


def test_the_stream_forgets_what_the_log_does(nats: NatsServer, tmp_path: Path) -> None:
    store = opened(nats, tmp_path / "a")
    for n in range(0, 3_000, 30):
        append(store, n, 30)
        store.sync()
    store.make_room(store.latest, 2 * SEGMENT_BYTES, None)
    earliest = store.earliest
    assert earliest > 1_000
    store.sync()
    kill(store)
    again = opened(nats, tmp_path / "b")
    assert earliest - 30 < again.earliest <= earliest
    assert again.latest == 3_000
    again.close()


def test_a_folder_of_something_else_is_refused(
    nats: NatsServer, tmp_path: Path
) -> None:
    opened(nats, tmp_path / "a").close()
    with pytest.raises(SienaError, match="is the working copy of the stream orders"):
        open_store(tmp_path / "a", LogSettings(path="a"), SystemClock())
    other = LogSettings(path="a", store=nats.url("other"))
    with pytest.raises(SienaError, match="and not of the stream other"):
        open_store(tmp_path / "a", other, SystemClock())
    plain = Store(tmp_path / "plain", SEGMENT_BYTES)
    append(plain, 0, 5)
    plain.close()
    with pytest.raises(SienaError, match="has a log of its own"):
        opened(nats, tmp_path / "plain")
    with (
        OfflineLog(tmp_path / "a") as offline,
        pytest.raises(SienaError, match="which has what is damaged here"),
    ):
        offline.repair(lambda _: None)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"max_age": 60.0}, "deletes what is old"),
        ({"max_msgs": 10}, "deletes what is too many"),
        ({"max_bytes": 10_000}, "deletes what is too much"),
        ({"storage": "memory"}, "kept in memory"),
        ({"subjects": ["a.>"]}, "its subjects are"),
    ],
)
def test_a_stream_that_would_lose_something_is_refused(
    nats: NatsServer, tmp_path: Path, how: dict[str, object], said: str
) -> None:
    async def make() -> None:
        client = await nats_py.connect(nats.url().rpartition("/")[0])
        wanted = {"subjects": ["siena.orders.>"], "discard": "old", **how}
        await client.jetstream().add_stream(name="orders", **wanted)
        await client.close()

    asyncio.run(make())
    with pytest.raises(SienaError, match=said):
        opened(nats, tmp_path / "a")


def test_a_server_that_is_not_there_is_named(
    nats: NatsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jetstream, "OPEN_SECONDS", 0.2)
    nats.kill()
    with pytest.raises(SienaError, match=f"{nats.port}/orders does not answer"):
        opened(nats, tmp_path / "a")


def test_who_writes_shows_who_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a file, for a URL is shown to people."""
    server = NatsServer(tmp_path / "nats", "--user", "siena", "--pass", "good:one")
    server.start()
    secret = tmp_path / "nats.secret"
    settings = LogSettings(
        path=str(tmp_path / "a"), store=server.url(), store_credentials=str(secret)
    )
    try:
        monkeypatch.setattr(jetstream, "OPEN_SECONDS", 0.5)
        for wrong in ("siena:bad", "a token"):
            secret.write_text(wrong)
            with pytest.raises(SienaError, match="Authorization Violation"):
                open_store(tmp_path / "a", settings, SystemClock())
        monkeypatch.undo()
        secret.write_text("siena:good:one\n")
        open_store(tmp_path / "a", settings, SystemClock()).close()
    finally:
        server.kill()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_three_servers_each_may_lose_its_disk(tmp_path: Path) -> None:
    """One after the other is killed under load, and begins with an empty folder."""
    servers: list[NatsServer] = []
    for name in ("one", "two", "three"):
        servers.append(NatsServer(tmp_path / name, cluster=servers))
    hosts = ",".join(f"127.0.0.1:{server.port}" for server in servers)
    stop = threading.Event()
    written: list[bytes] = []
    thread = None
    try:
        for server in servers:
            server.start()

        def at(folder: Path) -> RemoteStore:
            store = f"nats://{hosts}/orders?replicas=3"
            settings = LogSettings(path=str(folder), store=store)
            opened = open_store(folder, settings, SystemClock())
            assert isinstance(opened, RemoteStore)
            return opened

        store = at(tmp_path / "a")

        def write() -> None:
            while not stop.is_set():
                written.extend(append(store, len(written), 7))
                store.sync()

        thread = threading.Thread(target=write)
        thread.start()
        for server in servers:
            wait_for(thread, written, len(written) + 200)
            server.kill()
            shutil.rmtree(server.folder)
            wait_for(thread, written, len(written) + 200)
            server.start()
            # What it lacks it gets from the others, before the next one goes.
            wait_until_whole(f"nats://127.0.0.1:{server.port}", thread)
        stop.set()
        thread.join()
        kill(store)
        again = at(tmp_path / "b")
        assert everything(again) == written
        again.close()
    finally:
        stop.set()
        if thread is not None:
            thread.join()
        for server in servers:
            server.kill()


def wait_for(thread: threading.Thread, written: list[bytes], count: int) -> None:
    while len(written) < count:
        assert thread.is_alive()
        thread.join(0.01)


def wait_until_whole(url: str, thread: threading.Thread) -> None:
    """Wait until all replicas of the stream have all of it."""

    async def look() -> bool:
        client = await nats_py.connect(url)
        try:
            info = await client.jetstream().stream_info("orders")
            replicas = info.cluster.replicas if info.cluster else None
            return len(replicas or ()) == 2 and all(r.current for r in replicas or ())
        except (nats_py.errors.Error, TimeoutError):
            return False
        finally:
            await client.close()

    while not asyncio.run(look()):
        assert thread.is_alive()
        thread.join(0.1)


async def test_of_long_messages_few_are_read_at_a_time() -> None:
    """So many as come within the time for an answer."""

    async def long() -> AsyncIterator[Message]:
        for number in range(1, 6):
            yield Message(number, b"x" * 300_000)

    messages = long()
    sizes = []
    while some := await jetstream._some(messages):
        sizes.append(len(some))
    assert sizes == [2, 2, 1]


def test_a_stream_that_is_gone_forgets_nothing(nats: NatsServer) -> None:
    stream: Any = nats.stream()
    stream._run(stream._js.delete_stream("orders"))
    with pytest.raises(StreamError, match="the stream orders is gone"):
        stream.forget("log", 5)
    stream.close()


def test_a_connection_that_its_client_closed_for_good_is_made_anew(
    nats: NatsServer, tmp_path: Path
) -> None:
    """As the client does at errors of the server that it takes for final."""
    store = opened(nats, tmp_path / "a")
    written: list[bytes] = []
    for n in range(3):
        stream: Any = store._stream
        closed = stream._client
        stream._run(closed._process_err("'Unknown Protocol Operation'"))
        while not closed.is_closed:
            stream._run(asyncio.sleep(0.01))
        written += append(store, n, 1)
        store.sync()
        assert stream._client is not closed
    kill(store)
    again = opened(nats, tmp_path / "b")
    assert everything(again) == written
    again.close()
