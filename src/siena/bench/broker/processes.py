"""Servers as processes: started on one core, watched through ``/proc``, and ended."""

import multiprocessing
import os
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from types import TracebackType
from typing import NamedTuple, Self

from siena.bench.broker.contenders.contender import Contender
from siena.errors import SienaError

# A server that does not listen by then has failed; RabbitMQ takes half a minute.
START_SECONDS = 120.0
# And one that has not ended by then is killed.
END_SECONDS = 10.0
POLL_SECONDS = 0.02
# A server is quiet if it computes for no more than this share of such a time; one that
# never is has only so long.
QUIET_SECONDS = 0.2
QUIET_SHARE = 0.1
QUIET_SECONDS_MAX = 60.0
# How much of what a failed server has said is repeated.
SAID_BYTES = 400


class Cores(NamedTuple):
    """Which core is whose; the same one for both if there is only one."""

    server: int
    generator: int

    @classmethod
    def choose(cls) -> "Cores":
        """The first for the server, the last for the generator."""
        allowed = sorted(os.sched_getaffinity(0))
        return cls(allowed[0], allowed[-1])

    @property
    def are_shared(self) -> bool:
        """Whether server and generator are in each other's way."""
        return self.server == self.generator


class Running(NamedTuple):
    """A server that listens."""

    port: int
    process: int


@contextmanager
def running(contender: Contender, cores: Cores) -> Iterator[Running]:
    """Start a server on a free port of the loopback, with a folder of its own."""
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(TemporaryDirectory(prefix="siena-bench-broker-"))
        )
        port = free_port()
        stack.enter_context(contender.companion(folder, port))
        log = stack.enter_context((folder / "said").open("wb+"))
        with pinned(cores.server):  # what it starts inherits it
            process = subprocess.Popen(  # noqa: S603 -- ours, and servers from the PATH
                contender.command(folder, port),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **contender.environment(folder, port)},
            )
        stack.callback(end, process)
        _wait(contender, process, port, Path(log.name))
        yield Running(port, process.pid)


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Stay on this core, with all processes that are started meanwhile."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    """A port at which no process listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and see that it and those it started do."""
    others = family(process.pid)[1:]
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # A shell script does not hand the signal on.
    for signal in (15, 9):
        deadline = perf_counter() + END_SECONDS
        for other in others:
            with suppress(ProcessLookupError):
                os.kill(other, signal)
        while any(map(_lives, others)) and perf_counter() < deadline:
            sleep(POLL_SECONDS)


def family(process: int) -> list[int]:
    """A process, and all that it has started, and they, that still live."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                parents[int(folder.name)] = int(_stat(int(folder.name))[1])
    found = [process]
    for each in found:  # grows
        found += [child for child, parent in parents.items() if parent == each]
    return found


def cpu_seconds(processes: Sequence[int]) -> float:
    """The time that all these have computed, in themselves and in the kernel."""
    ticks = 0
    for process in processes:
        fields = _stat(process)
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def wait_until_quiet(
    processes: Sequence[int], seconds: float = QUIET_SECONDS_MAX
) -> bool:
    """Wait until these have nothing to do, or almost nothing; whether they came to.

    What a server does behind its answers, say to tidy its tables, is not to be taken
    for what its next task costs.
    """
    deadline = perf_counter() + seconds
    while perf_counter() < deadline:
        before = cpu_seconds(processes)
        sleep(QUIET_SECONDS)
        if cpu_seconds(processes) - before <= QUIET_SHARE * QUIET_SECONDS:
            return True
    return False


def resident_bytes(processes: Sequence[int]) -> int:
    """The memory that all these hold."""
    pages = sum(
        int(Path(f"/proc/{process}/statm").read_text().split()[1])
        for process in processes
    )
    return pages * os.sysconf("SC_PAGE_SIZE")


def _stat(process: int) -> list[str]:
    # From the state on: what stands before, a name in parentheses, may hold anything.
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def _lives(process: int) -> bool:
    try:
        return _stat(process)[0] != "Z"
    except OSError:
        return False


def _wait(
    contender: Contender, process: subprocess.Popen[bytes], port: int, log: Path
) -> None:
    deadline = perf_counter() + START_SECONDS
    while perf_counter() < deadline and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        sleep(POLL_SECONDS)
    said = log.read_bytes()[-SAID_BYTES:].decode(errors="replace").strip()
    raise SienaError(f"{contender.name} does not start: {said or 'it says nothing'}")


class Companion:
    """A process of our own on the other end of a pipe, for a ``with`` block."""

    def __init__(self, target: Callable[..., None], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=target, args=(there, *arguments), daemon=True
        )
        self._process.start()
        there.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._here.close()
        self._process.terminate()
        self._process.join()
