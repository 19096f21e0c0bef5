"""Brokers whose log is in JetStream: not even the loss of a machine loses anything."""

import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import generate_latest

import siena
from broker.logs import kept_in, url
from broker.nats import NatsServer
from siena.broker.access.principal import LOCAL
from siena.broker.broker import Broker
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.metrics import registry_of
from siena.broker.log.stores import remote_store
from siena.broker.webhooks.mapping import Handlers
from siena.client.durable.subscription import Delivered
from siena.testing.in_process import ProcessBroker
from wire import serving, until

SECONDS = 30.0


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    server = NatsServer(tmp_path / "nats")
    server.start()
    yield server
    server.kill()


class Publishing:
    """A client that publishes one after the other, and notes each receipt."""

    def __init__(self, broker: ProcessBroker) -> None:
        self.receipts: dict[int, int | None] = {}
        self._broker = broker
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._publish)
        self._thread.start()

    def _publish(self) -> None:
        with siena.connect(self._broker.url, patient=True) as client:
            n = 0
            while not self._stop.is_set():
                self.receipts[n] = client.publish(n=n, ack=True)
                n += 1

    def wait_for(self, count: int) -> None:
        while len(self.receipts) < count:
            assert self._thread.is_alive()
            self._thread.join(0.01)

    def end(self) -> None:
        self._stop.set()
        self._thread.join()


def check_log(broker: ProcessBroker, receipts: dict[int, int | None]) -> None:
    """All that has a receipt is in the log, and nothing is there twice."""
    with siena.connect(broker.url) as client:
        found = {x.offset: x.notification["n"] for x in client.log.read()}
    assert Counter(found.values()).most_common(1)[0][1] == 1
    for n, offset in receipts.items():
        assert offset is None or found[offset] == n
        assert n in found.values()


def test_kills_of_broker_and_server_under_load_lose_nothing(
    nats: NatsServer, tmp_path: Path
) -> None:
    """In turns, and both at once; in the end the folder is lost as well."""
    broker = ProcessBroker(["--log", str(tmp_path / "log"), "--store", nats.url()])
    broker.start()
    publishing = Publishing(broker)
    try:
        for life, killed in enumerate(["broker", "server", "both", "server"], 1):
            publishing.wait_for(30 * life)
            if killed != "broker":
                nats.kill()
            if killed != "server":
                broker.kill()
            if killed != "broker":
                nats.start()
            if killed != "server":
                broker.start()
        publishing.wait_for(150)
        publishing.end()
        broker.kill()
        shutil.rmtree(tmp_path / "log")
        broker.start()
        check_log(broker, publishing.receipts)
    finally:
        publishing.end()
        broker.kill()


def test_machines_that_are_lost_lose_nothing(nats: NatsServer, tmp_path: Path) -> None:
    """Each life begins with an empty folder; a durable subscription goes on."""
    broker = ProcessBroker(["--log", str(tmp_path / "log"), "--store", nats.url()])
    broker.start()
    publishing = None
    try:
        with siena.connect(broker.url, patient=True) as client:
            read = client.subscribe("n any", durable="billing").settled()
            publishing = Publishing(broker)
            offsets: dict[int, object] = {}
            for life in range(1, 4):
                publishing.wait_for(25 * life)
                broker.kill()
                shutil.rmtree(tmp_path / "log")
                broker.start()
            publishing.end()
            wanted = set(publishing.receipts)
            while not wanted <= set(offsets.values()):
                for message in _some(read.get_many(timeout_s=SECONDS)):
                    offsets[message.offset] = message["n"]
                    message.ack()
            client.flush()
        check_log(broker, publishing.receipts)
    finally:
        if publishing is not None:
            publishing.end()
        broker.kill()


def _some(messages: list[Delivered]) -> list[Delivered]:
    assert messages, "it stays away"
    return messages


def test_a_broker_that_was_displaced_acknowledges_nothing(
    nats: NatsServer, tmp_path: Path
) -> None:
    first = ProcessBroker(["--log", str(tmp_path / "a"), "--store", nats.url()])
    second = ProcessBroker(["--log", str(tmp_path / "b"), "--store", nats.url()])
    first.start()
    try:
        with siena.connect(first.url) as client:
            assert client.publish(n=0, ack=True) == 0
            second.start()
            with pytest.raises(siena.SienaError, match="another broker writes"):
                client.publish(n=1, ack=True)
        with siena.connect(second.url) as client:
            assert client.publish(n=2, ack=True) == 1
    finally:
        first.kill()
        second.kill()


def metrics_of(broker: Broker) -> str:
    entry, sight = InProcessEntry(broker), broker.state.gate.sight(LOCAL)
    return generate_latest(registry_of(entry, Handlers(entry), sight)).decode()


async def test_publishers_are_held_while_the_server_is_away_and_are_told_why(
    nats: NatsServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(remote_store, "BEHIND_BYTES_MAX", 2_000)
    async with serving(kept_in(tmp_path / "log", store=nats.url())) as broker:
        journal = broker.log_service.journal
        assert journal is not None
        nats.kill()
        async with siena.connect(url(broker)) as client:
            sent = 0
            while not journal.holds:
                await client.publish(n=sent)
                sent += 1
            assert "bytes wait for nats://127.0.0.1" in journal.trouble
            behind = journal.snapshot()["store_behind_bytes"]
            assert f"siena_store_behind_bytes {float(str(behind))}" in metrics_of(
                broker
            )
            nats.start()
            await until(lambda: not journal.holds)
            assert "the broker: publishers wait: the log cannot be" in caplog.text
            assert await client.publish(n=sent, ack=True) is not None
            found = [x.notification["n"] async for x in client.log.read()]
            assert found == [*range(sent + 1)]
