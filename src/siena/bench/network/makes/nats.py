"""nats-server as a network: a cluster, or leaf nodes.

A cluster links all servers with each other by *routes*, and a publication crosses one
of them at most; so it can be no chain of three.  Trees are made of *leaf nodes*.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.processes import free_port
from siena.bench.broker.workload import Workload
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import Deadline, Make, Place

ROUTES = """\
server_name: "s{number}"
cluster {{
  name: "siena-bench"
  host: 127.0.0.1
  port: {port}
  routes: [{urls}]
}}
"""
LEAVES = """\
server_name: "s{number}"
leafnodes {{
  host: 127.0.0.1
  port: {port}
  remotes: [{urls}]
}}
"""
# A subject beside those of symbols, and its number beside those of subscriptions.
PROBE, PROBE_NUMBER = "siena-bench-probe", 0


class LinkedNats(Nats):
    """A server with more settings than one that is alone."""

    def __init__(self, settings: str) -> None:
        self._settings = settings

    def command(self, folder: Path, port: int) -> list[str]:
        """Those settings besides."""
        command = super().command(folder, port)
        with (folder / "nats.conf").open("a") as file:
            file.write(self._settings)
        return command


class FarNats(Nats):
    """A client whose publications come from another server.

    NATS does not say when a subscription is in force there.  Subscriptions travel in
    order: when a subject that was subscribed to last gets what is published there, the
    others are in force, too.
    """

    def __init__(self, publisher_port: int) -> None:
        self._publisher_port = publisher_port

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """Each symbol once, and then a probe, until it gets something."""
        super().subscribe(wire, workload, connection)
        subject = f"{PROBE}.{connection}"
        wire.send(f"SUB {subject} {PROBE_NUMBER}\r\n".encode())
        prober = Wire(self._publisher_port)
        self.greet(prober)
        deadline = Deadline("nats: a subscription is not known at another server")
        wire.socket.setblocking(True)
        while True:
            prober.send(f"PUB {subject} 0\r\n\r\n".encode() + self.barrier)
            self._wait(prober)
            deadline.pause()
            wire.send(self.barrier)
            if self._heard(wire):
                break
        wire.send(f"UNSUB {PROBE_NUMBER}\r\n".encode() + self.barrier)
        self._wait(wire)
        prober.socket.close()

    def _heard(self, wire: Wire) -> bool:
        """Whether the probe has come, of what came before the answer to a barrier."""
        heard = False
        while (line := wire.line()) != b"PONG":
            heard |= line.startswith(b"MSG ")
        return heard


class _NatsNetwork(Make):
    """What both ways have in common: a port of their own for other servers."""

    settings: ClassVar[str]
    scheme: ClassVar[str]

    def __init__(self) -> None:
        self._ports: dict[int, int] = {}

    def broker(self, place: Place) -> Contender:
        """A server that calls these."""
        self._ports[place.number] = port = free_port()
        if place.is_alone:
            return Nats()
        urls = ", ".join(
            self.remote(f"{self.scheme}://127.0.0.1:{self._ports[each]}")
            for each in place.called
        )
        return LinkedNats(
            self.settings.format(number=place.number, port=port, urls=urls)
        )

    def client(self, layout: Layout, ports: Mapping[int, int]) -> Contender:
        """One that makes sure of its subscriptions."""
        if len(layout.topology) == 1:
            return Nats()
        return FarNats(ports[layout.publisher])

    def remote(self, url: str) -> str:
        """How a server is named that is called."""
        return f'"{url}"'


class NatsRoutes(_NatsNetwork):
    """A cluster."""

    name: ClassVar[str] = "nats"
    settings = ROUTES
    scheme = "nats-route"

    def why_not(self, layout: Layout) -> str | None:
        """A cluster links all with all."""
        if layout.is_complete:
            return None
        return "a cluster of NATS links all servers with each other"


class NatsLeaves(_NatsNetwork):
    """Leaf nodes."""

    name: ClassVar[str] = "nats-leaf"
    settings = LEAVES
    scheme = "nats-leaf"

    def why_not(self, layout: Layout) -> str | None:
        """Leaf nodes must not make a cycle."""
        return None if layout.is_tree else "leaf nodes of NATS make a tree"

    def remote(self, url: str) -> str:
        """A leaf node's remote is an object."""
        return f'{{url: "{url}"}}'
