"""What all commands share that talk to a broker: options, connection, exit codes."""

import logging
import sys
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.common.contexts import context_names, find_server
from siena.cli.terminal.foreign import printable
from siena.client import connect
from siena.client.connect import Connecting

EXIT_FAILURE = 1  # as in main: not all was done
EXIT_TIMEOUT = 4

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


def open_server(said: str | None, name: str) -> Connecting:
    """A connection to the server that is meant; what it logs is said as we say it."""
    if _SAYING not in CLIENT_LOG.handlers:
        CLIENT_LOG.addHandler(_SAYING)
    server = find_server(said)
    return connect(server.url, token=server.token, tls=server.tls, name=name)


class Deadline:
    """The moment when a command ends, if there is one."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = None if seconds is None else perf_counter() + seconds

    @property
    def left_s(self) -> float | None:
        """The seconds that are left, not below 0; ``None`` if there is no end."""
        return None if self._end is None else max(0.0, self._end - perf_counter())
