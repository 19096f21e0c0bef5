"""The supervisor: the process that starts the workers of a broker, and ends them.

A worker that dies is started anew, under its own number: clients connect again, and the
links of the others come back by themselves.  If workers die again and again, the broker
ends.
"""

import logging
import multiprocessing
import secrets
import shutil
import socket
import tempfile
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from msgspec.structs import replace

from siena.broker.access.authenticator import Authenticator
from siena.broker.access.certificates import Certificates
from siena.broker.counters import Counters
from siena.broker.io.listen import check_listening, listen
from siena.broker.limits import DRAIN_SECONDS_MAX
from siena.broker.settings import Settings
from siena.broker.workers.process import START_SECONDS_MAX, Ready, RunLoop, work
from siena.broker.workers.worker import Worker
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.protocol.address import Address, read_address

log = logging.getLogger("siena.broker")

# More than any machine has cores for.
WORKERS_MAX = 256
# How many may die within so many seconds before something is wrong with all of them.
DEATHS_MAX = 8
DEATHS_SECONDS = 60.0
# How often it is looked whether the settings are to be read again; and how long a
# worker may take to answer that it has them.
LOOK_SECONDS = 0.25
ANSWER_SECONDS_MAX = 5.0


class _Process(NamedTuple):
    process: BaseProcess
    pipe: Pipe


class Workers:
    """The workers of one broker, from ``with`` to its end."""

    def __init__(self, settings: Settings, count: int, runner: RunLoop) -> None:
        if not 1 <= count <= WORKERS_MAX:
            raise SienaError(f"there are 1 to {WORKERS_MAX} workers, not {count}")
        if not hasattr(socket, "SO_REUSEPORT"):  # nor has Windows AF_UNIX in Python
            raise SienaError("several workers cannot share a port on this system")
        if any(read_address(text).is_secure for text in settings.listen):
            # A connection with an identity is handed over to the hub, and its keys
            # cannot be.
            hint = (
                "serve with one worker, or let a proxy that talks TLS stand before it"
            )
            raise SienaError("several workers do not talk TLS", hint=hint)
        self._given = self._settings = settings
        self._count = count
        self._runner = runner
        self._context = multiprocessing.get_context("spawn")
        self._workers: dict[int, _Process] = {}
        self._reserved: list[socket.socket] = []
        self._folder: Path | None = None
        self._secret = secrets.token_hex(16)
        self._hub = Address("", 0)
        self._deaths: deque[float] = deque(maxlen=DEATHS_MAX)
        self._clock = SystemClock()
        self._is_hung_up = False
        self.addresses: list[Address] = []
        self.name = ""
        self.http: str | None = None
        """Where the hub serves HTTP, if it does."""

    def __enter__(self) -> Self:
        """Start the hub, and then the others.

        Raises:
            SienaError: if one of them cannot.
        """
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="siena-workers-"))
            self._reserve()
            for number in range(self._count):
                self._start(number)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for worker in self._workers.values():
            worker.process.terminate()
        for worker in self._workers.values():
            worker.process.join(2 * DRAIN_SECONDS_MAX)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
            worker.pipe.close()
        for each in self._reserved:
            each.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def hang_up(self) -> None:
        """Read the settings again, as soon as nothing else is done: for a signal."""
        self._is_hung_up = True

    def supervise(self, on_hang_up: Callable[[], None]) -> None:
        """Start anew whatever dies, and look at the settings when told to.

        Raises:
            SienaError: when too many have died, or one does not start again.
        """
        while True:
            by_sentinel = {w.process.sentinel: n for n, w in self._workers.items()}
            ended = wait(list(by_sentinel), LOOK_SECONDS)
            if self._is_hung_up:
                self._is_hung_up = False
                on_hang_up()
            for sentinel in ended:
                assert isinstance(sentinel, int)
                self._replace(by_sentinel[sentinel])

    def reload(self, settings: Settings) -> list[str]:
        """Let all workers take over what can change; the names of what cannot.

        Raises:
            SienaError: if something is wrong with them, and then nothing has changed.
        """
        Certificates(settings.tls and settings.tls.of(self.name))
        Authenticator(settings.access, self._clock, Counters())
        left = {
            name
            for name in ("name", "listen")
            if getattr(settings, name) != getattr(self._given, name)
        }
        settings = self._settings = self._named(settings)
        for number, worker in self._workers.items():
            try:
                worker.pipe.send(settings)
                if worker.pipe.poll(ANSWER_SECONDS_MAX):
                    left.update(worker.pipe.recv())
                else:
                    log.warning("worker %d does not answer", number)
            except (EOFError, OSError):
                continue  # it has died, and gets them when it is started anew
        return [name for name in settings.__struct_fields__ if name in left]

    def _replace(self, number: int) -> None:
        dead = self._workers.pop(number)
        dead.process.join()
        dead.pipe.close()
        code = dead.process.exitcode
        log.warning("worker %d has ended (%s), and is started anew", number, code)
        self._deaths.append(self._clock.elapsed())
        within = self._deaths[-1] - self._deaths[0]
        if len(self._deaths) == DEATHS_MAX and within < DEATHS_SECONDS:
            raise SienaError("workers die again and again")
        self._start(number)

    def _reserve(self) -> None:
        """Find out all ports, and keep others from taking them."""
        wanted = [read_address(text) for text in self._settings.listen]
        check_listening(
            wanted,
            insecure=self._settings.insecure_listen,
            is_asking=self._settings.access is not None,
        )
        wanted.append(Address(wanted[0].host, 0))  # where the hub is called
        for address in wanted:
            self._reserved.append(listen(address, is_shared=True))
        found = [Address(*s.getsockname()[:2]) for s in self._reserved]
        self.addresses, self._hub = found[:-1], found[-1]
        self.name = self._settings.name or self.addresses[0].place
        self._settings = self._named(self._settings)

    def _named(self, settings: Settings) -> Settings:
        """With the ports that were found."""
        places = tuple(a.place for a in self.addresses)
        return replace(settings, name=self.name, listen=places)

    def _start(self, number: int) -> None:
        assert self._folder is not None
        path = self._folder / "hub"
        worker = Worker(number, self._hub, self._secret, path)
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=work,
            args=(
                self._settings,
                worker,
                self._runner,
                theirs,
                logging.getLogger().getEffectiveLevel(),
            ),
            name=f"siena worker {number}",
        )
        process.start()
        theirs.close()
        self._workers[number] = _Process(process, ours)
        said = _await_ready(ours, process)
        if worker.is_hub:
            self.http = said.http


def _await_ready(pipe: Pipe, process: BaseProcess) -> Ready:
    try:
        said = pipe.recv() if pipe.poll(START_SECONDS_MAX) else Ready("it is too slow")
    except EOFError:
        said = Ready("it has ended")
    assert isinstance(said, Ready)
    if said.error:
        raise SienaError(f"{process.name} did not start: {said.error}")
    return said
