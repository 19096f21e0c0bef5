"""Clients of brokers in Python: what a program pays for each notification."""

import subprocess
import sys

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.contenders.siena import Siena
from siena.bench.broker.processes import Cores, pinned
from siena.bench.front.client_process import SUBJECT
from siena.bench.front.quotes import quotes
from siena.bench.front.servers import Server
from siena.errors import SienaError

# A program that has not ended by then has failed.
PROGRAM_SECONDS = 120.0
# The servers that the clients of :mod:`~siena.bench.front.client_process` talk to.
SPEAKS: dict[str, type[Contender]] = {
    "siena": Siena,
    "blocking": Siena,
    "nats": Nats,
}


def once(name: str, task: str, server: Server, count: int, cores: Cores) -> float:
    """Run a client in a process of its own; how many for a CPU second of it."""
    module = "siena.bench.front.client_process"
    command = [sys.executable, "-m", module, name, task]
    with pinned(cores.generator):
        process = subprocess.Popen(  # noqa: S603 -- our own
            [*command, str(server.ports[0]), str(count)],
            stdout=subprocess.PIPE,
            text=True,
        )
    try:
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise SienaError(f"the client {name} did not connect")
        if task == "receive":
            _publish(SPEAKS[name](), server.ports[0], count)
        said, _ = process.communicate(timeout=PROGRAM_SECONDS)
        if process.returncode:
            raise SienaError(f"the client {name} has failed")
    finally:
        process.kill()
        process.wait()
    return count / float(said)


def _publish(contender: Contender, port: int, count: int) -> None:
    """Publish all there is to receive, as bytes that were made before."""
    parts = []
    for quote in quotes(count):
        before, behind = contender.publication(SUBJECT, quote.block)
        parts += [before, quote.block, behind]
    wire = Wire(port)
    contender.greet(wire)
    wire.send(b"".join(parts) + contender.barrier)
    if wire.take(len(contender.answer)) != contender.answer:
        raise SienaError(f"{contender.name} did not take what was published")
    wire.socket.close()
