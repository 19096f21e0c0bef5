"""What all commands share that talk to a broker: options, connection, exit codes."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.common.contexts import context_names, find_server
from siena.cli.terminal.foreign import printable
from siena.client import connect
from siena.client.connect import Connecting
from siena.client.settings import CLOSE_SECONDS, CONNECT_SECONDS
from siena.errors import NoBrokerError

EXIT_FAILURE = 1  # as in main: not all was done
EXIT_TIMEOUT = 4
# However little time is said: a broker that is there, and asks for TLS and a password,
# needs a part of this.
CONNECT_SECONDS_MIN = 0.5
# Where a time is said, all that matters was waited for when a command leaves.
LEAVE_SECONDS = 0.5

ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        "-S",
        help="Address or context of the broker; otherwise SIENA_URL, the context in "
        "use, or siena://127.0.0.1:2606.",
        show_default=False,
        autocompletion=context_names,
    ),
]
TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        "-W",
        min=0,
        metavar="SECONDS",
        help="End after so long, with code 4 if not all was done.",
        show_default=False,
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON, an object on each line.")
]


class _Saying(logging.Handler):
    """Says what the client logs in a line of ours, where standard error is now."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"siena: {printable(record.getMessage())}", file=sys.stderr, flush=True)


CLIENT_LOG = logging.getLogger("siena.client")
_SAYING = _Saying()


class Deadline:
    """The moment when a command ends, if there is one."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else perf_counter() + seconds

    @property
    def left_s(self) -> float | None:
        """The seconds that are left, not below 0; ``None`` if there is no end."""
        return None if self._end is None else max(0.0, self._end - perf_counter())

    @property
    def is_over(self) -> bool:
        """Whether there is an end, and it has passed."""
        return self.left_s == 0

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Leave the block with code 4, and a line that says so, when the time is over.

        It is over when something says that it took too long, or when no broker has
        answered until then.
        """
        try:
            yield
        except (TimeoutError, NoBrokerError) as error:
            if self.seconds is None or (
                isinstance(error, NoBrokerError) and not self.is_over
            ):
                raise
            said = f"not done within {self.seconds:g} s"
            if isinstance(error, NoBrokerError):
                said = printable(str(error))
            print(f"siena: error: {said}", file=sys.stderr)
            raise typer.Exit(EXIT_TIMEOUT) from None


_NO_END = Deadline(None)


def open_server(
    said: str | None, name: str, deadline: Deadline = _NO_END
) -> Connecting:
    """A connection to the server that is meant; what it logs is said as we say it.

    With an end, neither coming nor going takes longer than fits.
    """
    if _SAYING not in CLIENT_LOG.handlers:
        CLIENT_LOG.addHandler(_SAYING)
    server = find_server(said)
    connect_s, close_s = CONNECT_SECONDS, CLOSE_SECONDS
    if deadline.seconds is not None:
        connect_s = min(CONNECT_SECONDS, max(CONNECT_SECONDS_MIN, deadline.seconds))
        close_s = LEAVE_SECONDS
    return connect(
        server.url,
        token=server.token,
        tls=server.tls,
        name=name,
        connect_s=connect_s,
        close_s=close_s,
    )
