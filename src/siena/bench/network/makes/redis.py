"""redis-server as a cluster: each node tells all others of each publication."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.contenders.redis import ANSWER_LINES, Redis
from siena.bench.broker.processes import free_port
from siena.bench.broker.workload import Workload
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import Deadline, Make, Place
from siena.errors import SienaError

PROBE = b"siena-bench-probe"


class RedisNode(Redis):
    """A node of a cluster, with a port of its own for other nodes."""

    def __init__(self, bus_port: int) -> None:
        self._bus_port = bus_port

    def command(self, folder: Path, port: int) -> list[str]:
        """As one that is alone, in a cluster."""
        cluster = ["--cluster-enabled", "yes", "--cluster-port", str(self._bus_port)]
        return [*super().command(folder, port), *cluster]


class FarRedis(Redis):
    """A client whose publications come from another node.

    Everything is told to all nodes; when something that is published there arrives
    here, the nodes are linked.
    """

    def __init__(self, publisher_port: int) -> None:
        self._publisher_port = publisher_port

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """A probe, until it gets something, and then each symbol once."""
        channel = PROBE + b"-%d" % connection
        wire.send(b"SUBSCRIBE " + channel + b"\r\n")
        for _ in range(ANSWER_LINES):
            wire.line()
        prober = Wire(self._publisher_port)
        deadline = Deadline("redis: a publication does not reach another node")
        while True:
            prober.send(b"PUBLISH " + channel + b" x\r\n")
            prober.line()
            deadline.pause()
            # A subscriber's PING is answered by an array.
            wire.send(b"PING\r\n")
            if self._until(wire, b"pong"):
                break
        wire.send(b"UNSUBSCRIBE " + channel + b"\r\n")
        self._until(wire, b"unsubscribe")
        wire.line(), wire.line(), wire.line()  # its length, its name, and how many left
        prober.socket.close()
        super().subscribe(wire, workload, connection)

    @staticmethod
    def _until(wire: Wire, word: bytes) -> bool:
        """Read lines until a word, and what ends its answer; whether a probe came."""
        heard = False
        while (line := wire.line()) != word:
            if line.startswith(b"-"):
                raise SienaError(f"redis: {line.decode(errors='replace')}")
            heard |= line == b"message"
        if word == b"pong":
            wire.line(), wire.line()  # an empty string, with its length
        return heard


class RedisCluster(Make):
    """Nodes that have met."""

    name: ClassVar[str] = "redis"

    def __init__(self) -> None:
        self._bus_ports: dict[int, int] = {}

    def why_not(self, layout: Layout) -> str | None:
        """A cluster links all with all."""
        if layout.is_complete:
            return None
        return "a cluster of Redis links all nodes with each other"

    def broker(self, place: Place) -> Contender:
        """A node that knows none yet."""
        self._bus_ports[place.number] = bus = free_port()
        return Redis() if place.is_alone else RedisNode(bus)

    def client(self, layout: Layout, ports: Mapping[int, int]) -> Contender:
        """One that makes sure that publications come."""
        if len(layout.topology) == 1:
            return Redis()
        return FarRedis(ports[layout.publisher])

    def link(self, layout: Layout, ports: Mapping[int, int]) -> None:
        """Let the first meet all others: they tell each other the rest."""
        if len(layout.topology) == 1:
            return
        (_, first), *others = ports.items()
        wire = Wire(first)
        for number, port in others:
            bus = self._bus_ports[number]
            wire.send(f"CLUSTER MEET 127.0.0.1 {port} {bus}\r\n".encode())
            if (said := wire.line()) != b"+OK":
                raise SienaError(f"redis: {said.decode(errors='replace')}")
        wire.socket.close()
