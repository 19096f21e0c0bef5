"""A nats-server for each test that asks for one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker.nats import NatsServer


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    server = NatsServer(tmp_path / "nats")
    server.start()
    yield server
    server.kill()
