"""A server that ``siena bench broker`` measures: how to start it, how to talk to it.

Each server has a file of its own with a subclass.  Talking is in two halves: setting up
happens once and one step after the other, through a :class:`Wire`; what happens while
time is taken is prepared as bytes, and what comes is cut by a compiled kernel.
"""

import os
import shutil
import socket
import subprocess
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import ClassVar

from siena.bench.broker.workload import Workload
from siena.errors import SienaError

# How long a server may take to answer while connections are set up.
ANSWER_SECONDS = 600.0
# What is read at a time while connections are set up.
READ_BYTES = 65_536
# An answer that is longer is none.
LINE_BYTES_MAX = 1 << 20


class Wire:
    """A connection while it is set up: send, and wait for what comes."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._come = b""

    def send(self, data: bytes) -> None:
        """Send all of it."""
        self.socket.sendall(data)

    def line(self) -> bytes:
        """The next line, without its end."""
        while b"\n" not in self._come:
            self._more()
            if len(self._come) > LINE_BYTES_MAX:
                raise SienaError("a server's answer has no end")
        line, _, self._come = self._come.partition(b"\n")
        return line.rstrip(b"\r")

    def take(self, size: int) -> bytes:
        """The next so many bytes."""
        while len(self._come) < size:
            self._more()
        taken, self._come = self._come[:size], self._come[size:]
        return taken

    def finish(self) -> socket.socket:
        """The socket, to be used from now on without waiting."""
        if self._come:
            raise SienaError("a server said more than it was asked for")
        self.socket.setblocking(False)
        return self.socket

    def _more(self) -> None:
        try:
            data = self.socket.recv(READ_BYTES)
        except TimeoutError:
            raise SienaError("a server did not answer in time") from None
        except ConnectionError:
            data = b""
        if not data:
            raise SienaError("a server closed the connection while it was set up")
        self._come += data


class Contender(ABC):
    """One make of server.

    Attributes:
        name: as the command line has it.
        program: the file on the PATH.
        package: what to install for it.
        protocol: its number in the kernel that cuts deliveries.
        by_topic: whether it knows topics only; its clients filter the rest.
        barrier: what a publisher sends to be answered when all before is done.
        answer: what that answer is.
        complaint: how an error begins.
    """

    name: ClassVar[str]
    program: ClassVar[str]
    package: ClassVar[str]
    protocol: ClassVar[int]
    by_topic: ClassVar[bool] = True
    barrier: ClassVar[bytes]
    answer: ClassVar[bytes]
    complaint: ClassVar[bytes | None] = None

    # --- The server ------------------------------------------------------------------

    def find(self) -> str:
        """Where its program is.

        Raises:
            SienaError: if it is not installed.
        """
        # Servers are often where only administrators have their PATH.
        path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
        found = shutil.which(self.program, path=path)
        if found is None:
            raise SienaError(
                f"--peer {self.name}: there is no {self.program} on the PATH",
                hint=f"install {self.package}; no daemon needs to run",
            )
        return found

    @abstractmethod
    def command(self, folder: Path, port: int) -> list[str]:
        """What starts it on this port of the loopback, with its files in a folder."""

    def companion(
        self,
        folder: Path,  # noqa: ARG002
        port: int,  # noqa: ARG002
    ) -> AbstractContextManager[object]:
        """What else must run while it does."""
        return nullcontext()

    def environment(self, folder: Path, port: int) -> dict[str, str]:  # noqa: ARG002
        """What it needs in its environment besides what is there."""
        return {}

    def version(self, port: int) -> str:  # noqa: ARG002 -- its program says it
        """What it says of itself, while it listens to a port."""
        return output([self.find(), "--version"])

    # --- Setting up ------------------------------------------------------------------

    @abstractmethod
    def greet(self, wire: Wire) -> None:
        """Do what a new connection must."""

    @abstractmethod
    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """Ask for what this connection wants, and wait until it is in force."""

    # --- While time is taken ---------------------------------------------------------

    @abstractmethod
    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:
        """What stands before and behind a block when it is published."""

    def answers(self, data: bytes) -> tuple[int, bytes]:
        """How many barriers were answered, and what is not complete yet.

        Raises:
            SienaError: if the server complains.
        """
        if self.complaint is not None and self.complaint in data:
            text = data[data.index(self.complaint) :][:200].decode(errors="replace")
            raise SienaError(f"{self.name} complains to a publisher: {text!r}")
        count = data.count(self.answer)
        behind = data.rfind(self.answer) + len(self.answer) if count else 0
        return count, data[max(behind, len(data) - len(self.answer) + 1) :]

    @abstractmethod
    def other(self, data: bytes) -> int:
        """How long what stands here is, which is no delivery; 0 if it is not complete.

        Raises:
            SienaError: if it says that something was lost, or is a complaint.
        """


def other_line(name: str, data: bytes) -> int:
    """The length of a line that is no delivery, unless it is a complaint."""
    end = data.find(b"\n")
    if end >= 0 and data[:1] == b"-":
        text = data[:end].decode(errors="replace").strip()
        raise SienaError(f"{name} complains to a subscriber: {text}")
    return end + 1


def output(command: list[str]) -> str:
    """The first line that a command says."""
    done = subprocess.run(  # noqa: S603 -- ours, and servers from the PATH
        command, capture_output=True, text=True, check=False, timeout=60
    )
    said = (done.stdout or done.stderr).strip().splitlines()
    return said[0] if said else "unknown"
