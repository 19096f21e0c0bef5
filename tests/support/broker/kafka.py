"""Servers that speak Kafka's protocol: a real one that is named, and one of its client.

The client of Kafka has servers of its own for tests, which keep messages in memory and
speak the protocol through sockets.  They know transactions and offsets, but *do not
fence*: an older epoch may go on.  They make no topics and delete nothing, nor do they
say how a topic is kept.  What needs that is tried with a real server only, which
``SIENA_KAFKA`` names.
"""

import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from siena.broker.log.stores.stream import MessageStream
from siena.broker.log.stores.url import read_store_url

if TYPE_CHECKING:
    from siena.broker.log.stores.kafka import KafkaTopic

SERVERS = "SIENA_KAFKA"

_PROGRAM = """
import sys
from confluent_kafka import Producer

holder = Producer({
    "bootstrap.servers": "127.0.0.1:1",
    "test.mock.num.brokers": 1,
    "log_level": 0,
})
(server,) = holder.list_topics(timeout=20).brokers.values()
print(f"{server.host}:{server.port}", flush=True)
sys.stdin.read()
"""


def skip_without_client() -> None:
    """Skip the test if there is no client for Kafka."""
    if find_spec("confluent_kafka") is None:
        pytest.skip("there is no confluent-kafka")


def real_servers() -> str:
    """The servers that the environment names; without any the test is skipped."""
    skip_without_client()
    named = os.environ.get(SERVERS)
    if not named:
        pytest.skip(f"{SERVERS} names no server of Kafka, as in 127.0.0.1:9092")
    return named


def new_topic() -> str:
    """A name that no topic has."""
    return f"siena-test-{uuid4().hex}"


class ClientsOwnServer:
    """A server of the client's maker for tests, in a process of its own.

    Ownership: of the process, from making it to :meth:`kill`.
    """

    def __init__(self) -> None:
        skip_without_client()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()
        assert self.address, "the client's server does not start"

    def stream(self, topic: str = "orders") -> MessageStream:
        return topic_without_asking(f"kafka://{self.address}/{topic}")

    def pause(self) -> None:
        """Let it answer nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


def topic_without_asking(url: str, credentials: Path | None = None) -> "KafkaTopic":
    """A topic of servers that cannot be asked how it is kept."""
    from siena.broker.log.stores.kafka import KafkaTopic  # noqa: PLC0415 -- an extra

    class Unasked(KafkaTopic):
        def _prepare(self) -> int:
            self._admin.list_topics(self._topic, timeout=20)  # which makes it
            return 1_000_000

    return Unasked(read_store_url(url), credentials)
