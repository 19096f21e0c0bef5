"""Servers as processes: our broker with its HTTP side, and empty applications."""

import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import NamedTuple

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.processes import (
    POLL_SECONDS,
    START_SECONDS,
    Cores,
    cpu_seconds,
    end,
    free_port,
    pinned,
)
from siena.errors import SienaError

# CPU time is counted in ticks of this length.
CLOCK_SECONDS = 0.01


class Server(NamedTuple):
    """A process that listens."""

    process: int
    ports: tuple[int, ...]

    def cpu_seconds(self) -> float:
        """How long it has computed."""
        return cpu_seconds([self.process])


@contextmanager
def broker(cores: Cores) -> Iterator[Server]:
    """A broker: the port of its frames, and that of HTTP."""
    frames, http = free_port(), free_port()
    listen = ["--listen", f"127.0.0.1:{frames}", "--http", f"127.0.0.1:{http}"]
    with _running(["-m", "siena", "serve", *listen], (frames, http), cores) as server:
        yield server


@contextmanager
def empty(name: str, cores: Cores) -> Iterator[Server]:
    """An application that does nothing."""
    port = free_port()
    module = ["-m", "siena.bench.front.empty_app", name, str(port)]
    with _running(module, (port,), cores) as server:
        yield server


@contextmanager
def peer(contender: Contender, cores: Cores) -> Iterator[Server]:
    """A server of another make."""
    port = free_port()
    with TemporaryDirectory(prefix="siena-bench-front-") as folder:
        command = contender.command(Path(folder), port)
        with _started(command, (port,), cores) as server:
            yield server


@contextmanager
def _running(
    arguments: Sequence[str], ports: tuple[int, ...], cores: Cores
) -> Iterator[Server]:
    with _started([sys.executable, *arguments], ports, cores) as server:
        yield server


@contextmanager
def _started(
    command: Sequence[str], ports: tuple[int, ...], cores: Cores
) -> Iterator[Server]:
    with pinned(cores.server):
        process = subprocess.Popen(  # noqa: S603 -- ours, and servers from the PATH
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    try:
        for port in ports:
            _wait(process, port)
        yield Server(process.pid, ports)
    finally:
        end(process)


def _wait(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = perf_counter() + START_SECONDS
    while perf_counter() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(POLL_SECONDS)
    raise SienaError(f"nothing listens at port {port}")
