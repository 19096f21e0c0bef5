"""Networks as processes: brokers on their cores, linked, and ended afterwards."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import NamedTuple

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.processes import Cores, cpu_seconds, family, running
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import Make, Place


class RunningBrokers(NamedTuple):
    """Brokers that know each other, by their numbers."""

    ports: dict[int, int]
    processes: dict[int, tuple[int, ...]]  # of each broker, all
    client: Contender

    def cpu_seconds(self) -> dict[int, float]:
        """The time that each has computed so far."""
        return {number: cpu_seconds(own) for number, own in self.processes.items()}


@contextmanager
def running_brokers(make: Make, layout: Layout) -> Iterator[RunningBrokers]:
    """Start the brokers of a layout one after the other, and link them."""
    ports: dict[int, int] = {}
    with ExitStack() as stack:
        started = {}
        for at, (number, called) in enumerate(layout.order):
            contender = make.broker(Place(number, called, layout, ports))
            cores = Cores(core_of(at), 0)
            started[number] = stack.enter_context(running(contender, cores))
            ports[number] = started[number].port
        make.link(layout, ports)
        processes = {
            number: tuple(family(each.process)) for number, each in started.items()
        }
        if make.is_spread:
            for each in chain.from_iterable(processes.values()):
                os.sched_setaffinity(each, os.sched_getaffinity(0))
        yield RunningBrokers(ports, processes, make.client(layout, ports))


def core_of(place: int) -> int:
    """The core of a broker: in turn, without the last, which is the generator's."""
    allowed = sorted(os.sched_getaffinity(0))
    cores = allowed[:-1] or allowed
    return cores[place % len(cores)]
