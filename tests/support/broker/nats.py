"""A nats-server with JetStream, from PATH and on a free port of this machine."""

import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from siena.broker.log.stores.opening import open_stream
from siena.broker.log.stores.stream import MessageStream
from siena.broker.log.stores.url import read_store_url
from siena.broker.settings import Log as LogSettings
from siena.clock import SystemClock

SECONDS = 20.0


class NatsServer:
    """One server, which may be killed and started again; its files stay.

    Ownership: of the process, from :meth:`start` to :meth:`kill`.
    """

    def __init__(
        self,
        folder: Path,
        *more: str,
        cluster: "Sequence[NatsServer] | None" = None,
    ) -> None:
        self._program = shutil.which("nats-server")
        if self._program is None:
            pytest.skip("there is no nats-server")
        if find_spec("nats") is None:
            pytest.skip("there is no nats-py")
        self.folder = folder
        self.port, self._route = _free_port(), _free_port()
        # Those of its cluster when it is started.
        self._cluster = cluster
        self._more = more
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, stream: str = "orders") -> str:
        return f"nats://127.0.0.1:{self.port}/{stream}"

    def stream(self, name: str = "orders") -> MessageStream:
        return open_stream(read_store_url(self.url(name)), LogSettings())

    def start(self) -> None:
        assert self._program is not None
        self._process = subprocess.Popen(
            [
                *(self._program, "-a", "127.0.0.1", "-p", str(self.port)),
                *("-js", "-sd", str(self.folder)),
                *(*self._in_cluster(), *self._more),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        clock = SystemClock()
        until = clock.elapsed() + SECONDS
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self.port), 1) as probe:
                    assert probe.recv(4) == b"INFO"
                    return
            except OSError:
                assert clock.elapsed() < until, "nats-server does not answer"
                time.sleep(0.02)

    def _in_cluster(self) -> list[str]:
        if self._cluster is None:
            return []
        others = [other._route for other in self._cluster if other is not self]
        return [
            *("-n", self.folder.name, "--cluster_name", "all"),
            *("--cluster", f"nats://127.0.0.1:{self._route}"),
            *("--routes", ",".join(f"nats://127.0.0.1:{route}" for route in others)),
        ]

    def kill(self) -> None:
        """As kill -9 does; if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
