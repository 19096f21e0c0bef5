"""Brokers in processes of their own: they can be killed, and frozen."""

import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Sequence

from siena.errors import SienaError
from siena.testing.running import START_SECONDS, STOP_SECONDS, RunningBroker


class ProcessBroker(RunningBroker):
    """``siena serve`` as a child process, with these options besides.

    Ownership: the process ends with :meth:`stop` or :meth:`kill`.

    Args:
        options: what is said to ``siena serve``.
        entry: what Python is told to run, if it is not ``siena`` itself.
    """

    def __init__(
        self, options: Sequence[str] = (), *, entry: Sequence[str] = ("-m", "siena")
    ) -> None:
        super().__init__()
        self._entry = list(entry)
        self._options = list(options)
        self._process: subprocess.Popen[bytes] | None = None
        self.http_url: str | None = None
        """Where it is reached by HTTP, if it is."""

    @property
    def pid(self) -> int:
        """The number of its process, while it runs."""
        assert self._process is not None, "start it first"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started, and neither stopped nor killed."""
        return self._process is not None

    def start(self) -> None:
        """Start it; returns when it says that it is ready."""
        assert self._process is None, "it runs already"
        command = [sys.executable, *self._entry, "serve", "--json"]
        command += ["--listen", f"127.0.0.1:{self._port}", *self._options]
        if self._name and "--name" not in self._options:
            command += ["--name", self._name]
        # What it says besides goes where the test's own errors go.
        self._process = subprocess.Popen(  # noqa: S603 -- our own command
            command, stdout=subprocess.PIPE
        )
        try:
            ready = json.loads(_first_line(self._process))
        except (SienaError, ValueError):
            self.kill()
            raise SienaError("the broker did not start; see what it wrote") from None
        self._name = ready["broker"]
        self.http_url = ready["http"]
        self._port = int(ready["urls"][0].rpartition(":")[2])

    def stop(self) -> None:
        """End it in good order (SIGTERM), if it runs."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)  # it may be frozen
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            finally:
                self.kill()

    def kill(self) -> None:
        """End it without a word (SIGKILL), if it runs."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()

    def freeze(self) -> None:
        """Stop it in its tracks (SIGSTOP); connections stand, and nothing answers."""
        assert self._process is not None, "start it first"
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on (SIGCONT)."""
        assert self._process is not None, "start it first"
        self._process.send_signal(signal.SIGCONT)


def _first_line(process: "subprocess.Popen[bytes]") -> bytes:
    """What it says first.

    Raises:
        SienaError: if it ends before, or says nothing for too long.
    """
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(START_SECONDS):
                raise SienaError("it says nothing")
            byte = os.read(descriptor, 1)
            if not byte:
                raise SienaError("it has ended")
            line += byte
    return line
