"""Our own brokers as a network, and several processes that serve one port."""

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.contenders.siena import Siena, expect, take_frame
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import (
    ASK_SECONDS,
    LINK_SECONDS,
    Deadline,
    Make,
    Place,
)
from siena.errors import SienaError
from siena.protocol.control_frames import Look, Seen, unpack
from siena.protocol.frames import Op
from siena.protocol.handshake import read_info


class LinkedSiena(Siena):
    """A broker that others may link to, and that links to others."""

    def __init__(self, *arguments: str) -> None:
        self._arguments = arguments

    def command(self, folder: Path, port: int) -> list[str]:
        """The command that people type, and the links."""
        return [*super().command(folder, port), "--accept-peers", *self._arguments]


class SienaNetwork(Make):
    """Brokers that call each other: peers in a tree, a mesh where there are cycles."""

    name: ClassVar[str] = "siena"

    def broker(self, place: Place) -> Contender:
        """A broker that calls these."""
        side = "--peer" if place.layout.is_tree else "--mesh"
        urls = [f"siena://127.0.0.1:{place.ports[each]}" for each in place.called]
        words = [(side, url) for url in urls]
        name = ("--name", f"b{place.number}")
        return LinkedSiena(*name, *(word for pair in words for word in pair))

    def client(self, layout: Layout, ports: Mapping[int, int]) -> Contender:  # noqa: ARG002 -- SETTLED says it
        """As any client: it is told when a subscription is in force everywhere."""
        return Siena()

    def link(self, layout: Layout, ports: Mapping[int, int]) -> None:
        """Look at all brokers until each has all its links."""
        for number, port in ports.items():
            wait_for_links(port, len(layout.topology.neighbours(number)))


class SienaWorkers(Make):
    """One broker of several processes; of one, it is the broker as it is.

    They are not pinned: several processes are for several cores.
    """

    name: ClassVar[str] = "siena"
    is_spread: ClassVar[bool] = True

    def __init__(self, count: int) -> None:
        self.count = count

    def broker(self, place: Place) -> Contender:
        """All of its processes are started as one."""
        assert place.is_alone, "it is the only one"
        return LinkedSiena("--workers", str(self.count))

    def client(self, layout: Layout, ports: Mapping[int, int]) -> Contender:  # noqa: ARG002 -- SETTLED says it
        """As any client."""
        return Siena()

    def link(self, layout: Layout, ports: Mapping[int, int]) -> None:  # noqa: ARG002 -- it is alone
        """Wait until all of them serve: the first would get all connections.

        Whom the system gives a connection to is chance, and the greeting says it.
        """
        deadline = Deadline(f"not all of {self.count} workers come to serve")
        (port,) = ports.values()
        serving: set[str] = set()
        while True:
            wire = Wire(port)
            serving.add(read_info(wire.line()).broker)
            wire.socket.close()
            if len(serving) == self.count:
                return
            deadline.pause()


def wait_for_links(port: int, count: int) -> None:
    """Look at a broker until it has so many links.

    Raises:
        SienaError: if it does not come to that.
    """
    if not comes_to_links(port, count, LINK_SECONDS):
        raise SienaError(f"a broker does not come to have {count} links")


def comes_to_links(port: int, count: int, seconds: float) -> bool:
    """Look at a broker for so long at most; whether it has so many links."""
    wire = Wire(port)
    Siena().greet(wire)
    deadline = perf_counter() + seconds
    while not (found := look(wire, "links")["count"] >= count):
        if perf_counter() > deadline:
            break
        sleep(ASK_SECONDS)
    wire.socket.close()
    return bool(found)


def look(wire: Wire, what: str) -> dict[str, Any]:
    """What a broker knows."""
    wire.send(Look(what).pack())
    frame = take_frame(wire)
    expect(frame, Op.SEEN)
    seen = unpack(frame.op, frame.body)
    assert isinstance(seen, Seen)
    return seen.seen
