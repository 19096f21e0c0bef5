"""redis-server, for ``siena bench broker``: a channel for each symbol."""

from pathlib import Path
from typing import ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire, other_line
from siena.bench.broker.kernels import cutting
from siena.bench.broker.workload import Workload, symbol_name
from siena.errors import SienaError

# Lines that answer one subscription.
ANSWER_LINES = 6


class Redis(Contender):
    """PUBLISH and SUBSCRIBE of Redis; every publication is answered with a number."""

    name = "redis"
    program = "redis-server"
    package = "redis-server"
    protocol = cutting.REDIS
    barrier = b"PING\r\n"
    answer = b"+PONG\r\n"
    complaint: ClassVar[bytes | None] = b"-"

    def command(self, folder: Path, port: int) -> list[str]:
        """Nothing is kept on disk, and a burst is not a reason to disconnect."""
        options = {
            "port": str(port),
            "bind": "127.0.0.1",
            "dir": str(folder),
            "save": "",
            "appendonly": "no",
            "daemonize": "no",
        }
        words = [word for key, value in options.items() for word in (f"--{key}", value)]
        limit = ["--client-output-buffer-limit", "pubsub", "0", "0", "0"]
        return [self.find(), *words, *limit]

    def greet(self, wire: Wire) -> None:
        """See that it is there."""
        wire.send(self.barrier)
        if wire.line() != b"+PONG":
            raise SienaError("what answers there is not a Redis server")

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """Each symbol once; each is answered by an array of three."""
        topics = workload.topics(connection)
        for topic in topics:
            wire.send(b"SUBSCRIBE " + symbol_name(topic).encode() + b"\r\n")
        for _ in range(ANSWER_LINES * len(topics)):
            line = wire.line()
            if line.startswith(b"-"):
                raise SienaError(f"redis: {line.decode(errors='replace')}")

    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:
        """An array of PUBLISH, channel and block."""
        head = f"*3\r\n$7\r\nPUBLISH\r\n${len(symbol)}\r\n{symbol}\r\n${len(block)}\r\n"
        return head.encode(), b"\r\n"

    def other(self, data: bytes) -> int:
        """A line."""
        return other_line(self.name, data)
