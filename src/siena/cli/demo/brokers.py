"""The demonstration's brokers: ``siena serve --network``, in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from siena.cli.common.contexts import Server
from siena.cli.common.surveying import Found, survey
from siena.cli.demo.day import BROKERS, LINKS
from siena.errors import SienaError

# With --serve, if they are free.
FIRST_PORT = 2611
STOP_SECONDS = 15.0


def network_file(*, covering: str = "exact", first_port: int | None = None) -> str:
    """The network, as ``siena serve --network`` reads it."""
    lines = ['architecture = "acyclic"', "", "brokers = ["]
    for place, name in enumerate(BROKERS):
        port = 0 if first_port is None else first_port + place
        lines.append(f'  {{ name = "{name}", listen = "127.0.0.1:{port}" }},')
    lines += ["]", "", "links = ["]
    lines += [f'  {{ from = "{one}", to = "{other}" }},' for one, other in LINKS]
    return "\n".join([*lines, "]", "", "[routing]", f'covering = "{covering}"', ""])


class Brokers:
    """Brokers between entering and leaving a ``with`` block.

    Ownership: the process ends with the block.  It has a session of its own, so that
    Ctrl-C comes to us alone, and we end it in good order.
    """

    def __init__(self, file: Path) -> None:
        self._command = [
            *(sys.executable, "-m", "siena", "serve"),
            *("--json", "--network", str(file)),
        ]
        self.log = file.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None
        self.urls: dict[str, str] = {}

    def __enter__(self) -> Self:
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 -- our own command
                self._command,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        try:
            for line in iter(self._process.stdout.readline, b""):
                ready = json.loads(line)
                self.urls[ready["broker"]] = ready["urls"][0]
                if len(self.urls) == len(BROKERS):
                    return self
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.__exit__(None, None, None)
        raise SienaError("the brokers did not start", hint=f"see {self.log}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.terminate()
        try:
            self._process.communicate(timeout=STOP_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()

    def look(self) -> dict[str, Found]:
        """What each of them says of itself and of its links."""
        return survey([Server(self.urls[BROKERS[0]])])

    def told(self) -> int:
        """How many messages about subscriptions have gone over all links so far."""
        return sum(
            link["router_out"]
            for broker in self.look().values()
            for link in broker.links
        )

    def carried(self) -> dict[tuple[str, str], int]:
        """How many notifications have gone over each link so far, each way."""
        return {
            (broker.name, link["name"]): link["forwarded"]
            for broker in self.look().values()
            for link in broker.links
        }
