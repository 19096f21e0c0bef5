"""A log that is kept in Kafka: what is kept there is enough to have it again.

What is tried with the client's own servers, which do not fence and delete nothing, and
what with real ones only, is said in ``tests/support/broker/kafka.py``.
"""

import random
import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from broker.kafka import ClientsOwnServer, new_topic, real_servers
from broker.logs import everything
from siena.block import encode
from siena.broker.log.store import Store
from siena.broker.log.stores import remote_store, writer as writer_module
from siena.broker.log.stores.opening import open_store
from siena.broker.log.stores.remote_store import RemoteStore
from siena.broker.log.stores.stream import Outgoing
from siena.broker.log.stores.url import read_store_url
from siena.broker.log.stores.writer import FencedError
from siena.broker.settings import Log as LogSettings
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.matching.input.buffers import encode_all

if TYPE_CHECKING:
    from confluent_kafka import Producer

    from siena.broker.log.stores.kafka import KafkaTopic

# Where it is missing, all of these are skipped.
client: Any = pytest.importorskip(
    "confluent_kafka", reason="there is no confluent-kafka"
)
kafka: Any = pytest.importorskip("siena.broker.log.stores.kafka")

SEGMENT_BYTES = 4_096


class Servers:
    """Where the topics of a test are, and how a store is opened there."""

    def __init__(self, own: ClientsOwnServer | None) -> None:
        self.own = own
        self._real = "" if own is not None else real_servers()
        self.topic = new_topic()

    def opened(self, folder: Path) -> RemoteStore:
        if self.own is not None:
            stream = self.own.stream(self.topic)
            clock = SystemClock()
            return RemoteStore(folder, SEGMENT_BYTES, stream, "the topic", clock)
        settings = LogSettings(
            path=str(folder), store=self.url, segment_bytes=SEGMENT_BYTES
        )
        store = open_store(folder, settings, SystemClock())
        assert isinstance(store, RemoteStore)
        return store

    @property
    def url(self) -> str:
        return f"kafka://{self._real}/{self.topic}"


@pytest.fixture
def own() -> Iterator[Servers]:
    server = ClientsOwnServer()
    yield Servers(server)
    server.kill()


@pytest.fixture
def real() -> Servers:
    return Servers(None)


@pytest.fixture(params=["own", "real"])
def servers(request: pytest.FixtureRequest) -> Servers:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Servers)
    return found


def append(store: Store, first: int, count: int) -> list[bytes]:
    values = [{"n": n} for n in range(first, first + count)]
    store.append(*encode_all(values), 7, tag=first)
    return [encode(value) for value in values]


def kill(store: RemoteStore) -> None:
    """Leave it as a process does that is killed."""
    store._let_go()
    store._stream.close()


def test_a_folder_that_is_lost_is_made_anew(servers: Servers, tmp_path: Path) -> None:
    """The machine is gone: log, cursors and all else are as they were."""
    store = servers.opened(tmp_path / "a")
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
    again = servers.opened(tmp_path / "b")
    assert everything(again) == written
    assert [r.tag for r in again.scan(0, 10**9)] == [*range(0, 3_000, 30)]
    assert (tmp_path / "b" / "cursors.state").read_bytes() == b"later"
    assert (tmp_path / "b" / "readers.json").read_bytes() == b"{}"
    again.close()


def test_while_servers_answer_nothing_it_is_waited_for_and_then_there_once(
    own: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_store, "BEHIND_BYTES_MAX", 500)
    monkeypatch.setattr(kafka, "ANSWER_SECONDS", 0.3)
    assert own.own is not None
    store = own.opened(tmp_path / "a")
    own.own.pause()
    written = append(store, 0, 10)
    sync = threading.Thread(target=store.syncing())
    sync.start()
    while not store.snapshot()["store_trouble"]:
        sync.join(0.01)
        assert sync.is_alive(), "nothing is acknowledged"
    while store.behind_bytes <= 500:
        written += append(store, len(written), 10)
    with pytest.raises(OSError, match=r"\d+ bytes wait for kafka"):
        append(store, len(written), 10)
    own.own.go_on()
    sync.join()
    store.sync()
    assert not store.snapshot()["store_trouble"]
    written += append(store, len(written), 10)
    store.close()
    again = own.opened(tmp_path / "b")
    assert everything(again) == written
    again.close()


@pytest.mark.parametrize("seed", range(3))
def test_whatever_answers_are_lost_all_is_there_and_once(
    own: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Of transactions that were, and of some that never were; in several lives."""
    rng = random.Random(seed)
    commit = kafka.KafkaTopic._commit

    def lossy(
        topic: "KafkaTopic", producer: "Producer", messages: Sequence[Outgoing]
    ) -> int:
        accident = rng.randrange(6)
        if accident == 0:  # it is begun, and left
            producer.begin_transaction()
            for each in messages:
                producer.produce(topic._topic, each.data, each.key, 0)
            raise client.KafkaException(client.KafkaError(client.KafkaError._TIMED_OUT))
        after = commit(topic, producer, messages)
        if accident == 1:
            raise client.KafkaException(client.KafkaError(client.KafkaError._TRANSPORT))
        assert isinstance(after, int)
        return after

    monkeypatch.setattr(writer_module, "RETRY_SECONDS", 0.0)
    written: list[bytes] = []
    for _ in range(2):
        store = own.opened(tmp_path / "a")
        with monkeypatch.context() as patched:
            patched.setattr(kafka.KafkaTopic, "_commit", lossy)
            for _ in range(12):
                written += append(store, len(written), rng.choice((1, 3, 40)))
                store.sync()
        kill(store)
    again = own.opened(tmp_path / "b")
    assert everything(again) == written
    again.close()


def _fenced(*_: object) -> int:
    raise client.KafkaException(client.KafkaError(client.KafkaError._FENCED))


def test_who_hears_of_another_epoch_looks_who_wrote_last(
    own: Servers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it was another broker, it ends; if that never wrote, it goes on."""
    first = own.opened(tmp_path / "a")
    written = append(first, 0, 3)
    topic: Any = first._stream
    commit, wrong = topic._commit, [_fenced]

    def at_first_fenced(*arguments: object) -> object:
        return wrong.pop()() if wrong else commit(*arguments)

    monkeypatch.setattr(topic, "_commit", at_first_fenced)
    first.sync()
    assert not wrong
    second = own.opened(tmp_path / "b")
    append(first, 3, 3)  # never acknowledged
    # A real server says so by itself.
    monkeypatch.setattr(topic, "_commit", _fenced)
    with pytest.raises(FencedError, match="another broker writes"):
        first.sync()
    written += append(second, 10, 3)
    second.sync()
    assert everything(second) == written
    kill(first)
    kill(second)


def test_of_two_brokers_the_second_displaces_the_first(
    real: Servers, tmp_path: Path
) -> None:
    first = real.opened(tmp_path / "a")
    written = append(first, 0, 3)
    first.sync()
    second = real.opened(tmp_path / "b")
    append(first, 3, 3)  # never acknowledged
    with pytest.raises(FencedError, match="another broker writes"):
        first.sync()
    written += append(second, 10, 3)
    second.sync()
    assert everything(second) == written
    kill(first)
    kill(second)
    # What it had beyond the topic is out of the way, and not mixed with the rest.
    again = real.opened(tmp_path / "a")
    assert everything(again) == written
    again.close()


def test_the_topic_forgets_what_the_log_does(real: Servers, tmp_path: Path) -> None:
    store = real.opened(tmp_path / "a")
    (tmp_path / "a" / "handlers.json").write_bytes(b"{}")
    store.want_states()
    for n in range(0, 3_000, 30):
        append(store, n, 30)
        store.sync()
    store.make_room(store.latest, 2 * SEGMENT_BYTES, None)
    earliest = store.earliest
    assert earliest > 1_000
    store.sync()
    kill(store)
    again = real.opened(tmp_path / "b")
    assert earliest - 30 < again.earliest <= earliest
    assert again.latest == 3_000
    assert (tmp_path / "b" / "handlers.json").read_bytes() == b"{}"
    again.close()


def test_a_topic_that_would_lose_something_is_refused(
    real: Servers, tmp_path: Path
) -> None:
    admin: Any = pytest.importorskip("confluent_kafka.admin")
    (address,) = read_store_url(real.url).servers
    made = admin.NewTopic(real.topic, 1, 1, config={"retention.ms": "60000"})
    servers = admin.AdminClient({"bootstrap.servers": address})
    for each in servers.create_topics([made]).values():
        each.result(20)
    with pytest.raises(SienaError, match=r"cleanup\.policy is delete"):
        real.opened(tmp_path / "a")


def test_a_server_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic: Any = pytest.importorskip("siena.broker.log.stores.kafka_topic")
    monkeypatch.setattr(topic, "OPEN_SECONDS", 0.2)
    settings = LogSettings(path="a", store="kafka://127.0.0.1:1/orders")
    with pytest.raises(SienaError, match=r"127\.0\.0\.1:1/orders does not answer"):
        open_store(tmp_path / "a", settings, SystemClock())


def test_a_token_is_nothing_to_show_to_kafka(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a token")
    store = "kafka+tls://127.0.0.1:1/orders?sasl=SCRAM-SHA-512"
    settings = LogSettings(path="a", store=store, store_credentials=str(secret))
    with pytest.raises(SienaError, match="a user and a password"):
        open_store(tmp_path / "a", settings, SystemClock())
