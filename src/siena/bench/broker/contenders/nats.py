"""nats-server, for ``siena bench broker``: a subject for each symbol."""

from pathlib import Path
from typing import ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire, other_line
from siena.bench.broker.kernels import cutting
from siena.bench.broker.workload import Workload, symbol_name
from siena.errors import SienaError

SETTINGS = """\
host: 127.0.0.1
port: {port}
max_pending: 256MB
ping_interval: "1h"
"""


class Nats(Contender):
    """The text protocol of NATS, core subjects without persistence."""

    name = "nats"
    program = "nats-server"
    package = "nats-server"
    protocol = cutting.NATS
    barrier = b"PING\r\n"
    answer = b"PONG\r\n"
    complaint: ClassVar[bytes | None] = b"-ERR"

    def command(self, folder: Path, port: int) -> list[str]:
        """Its own settings: room for a burst, and no pings in a short run."""
        settings = folder / "nats.conf"
        settings.write_text(SETTINGS.format(port=port))
        return [self.find(), "--config", str(settings)]

    def greet(self, wire: Wire) -> None:
        """Read INFO, and send CONNECT without asking for confirmations."""
        if not wire.line().startswith(b"INFO"):
            raise SienaError("what answers there is not a NATS server")
        wire.send(b'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n')
        self._wait(wire)

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """Each symbol once."""
        lines = [
            f"SUB {symbol_name(topic)} {number}\r\n"
            for number, topic in enumerate(workload.topics(connection), start=1)
        ]
        wire.send("".join(lines).encode() + self.barrier)
        self._wait(wire)

    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:
        """PUB, subject and length on a line."""
        return f"PUB {symbol} {len(block)}\r\n".encode(), b"\r\n"

    def other(self, data: bytes) -> int:
        """A line."""
        return other_line(self.name, data)

    @staticmethod
    def _wait(wire: Wire) -> None:
        while (line := wire.line()) != b"PONG":
            if line.startswith(b"-ERR"):
                raise SienaError(f"nats: {line.decode(errors='replace')}")
