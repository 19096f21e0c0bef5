"""What the objects and parties of a scenario do, whatever service carries it.

The same timeline runs against simulated brokers and against an oracle that only counts
(:mod:`siena.research.scenarios.cost_oracle`): every object and every party draws from a
generator of its own, so that what they do depends on what they receive, and not on who
receives first.

Reference:
    CU-CS-888-99, section 6.2; our specification, F.3, also for what is left open there.
"""

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from siena.research.scenarios.scenario import Faults, Objects, Scenario
from siena.sim.network import Account, Fault
from siena.sim.scheduler import Scheduler

# The papers do not say when anything begins: objects within the longest interval
# between publications of their reference scenario, parties at once.
FIRST_ADVERTISEMENT = 2_500.0
FIRST_SUBSCRIPTION = 1.0
PAUSE = 1.0


class Service(Protocol):
    """Carries what objects and parties ask for, at the virtual time of a scheduler."""

    scheduler: Scheduler
    account: Account

    def subscribe(self, who: "Party") -> None:
        """A party wants an event."""

    def unsubscribe(self, who: "Party") -> None:
        """A party wants it no longer."""

    def advertise(self, name: str, site: int, event: str) -> None:
        """An object is about to publish."""

    def unadvertise(self, name: str, site: int, event: str) -> None:
        """An object has finished."""

    def publish(self, name: str, site: int, event: str) -> None:
        """An object publishes."""

    def spoil(self, fault: Fault, rng: random.Random, /) -> None:
        """The next frame of a random link is lost, or comes twice."""

    def finish(self) -> None:
        """Hand over what parties have not been told of yet."""


@dataclass(slots=True)
class Totals:
    """What a run came to."""

    requests: int = 0
    publications: int = 0
    deliveries: int = 0


class Receive(Protocol):
    """Takes some notifications at once; one, unless it is said."""

    def __call__(self, count: int = 1) -> None:
        """Take them; with the last that is missing, unsubscribe."""


class Party:
    """An interested party: subscribes, waits for its notifications, unsubscribes."""

    def __init__(self, name: str, site: int, event: str, rng: random.Random) -> None:
        self.name = name
        self.site = site
        self.event = event
        self.is_active = False
        self.missing = 0
        self._rng = rng

    def begin(self, service: Service, each: int, cycles: int, totals: Totals) -> None:
        """Live through all cycles, the first of which begins soon."""

        def subscribe() -> None:
            self.is_active = True
            self.missing = each
            totals.requests += 1
            service.subscribe(self)

        def receive(count: int = 1) -> None:
            nonlocal cycles
            totals.deliveries += count
            self.missing -= count
            if self.missing == 0:
                self.is_active = False
                totals.requests += 1
                service.unsubscribe(self)
                cycles -= 1
                if cycles:
                    service.scheduler.after(self._rng.uniform(0, PAUSE), subscribe)

        self.receive: Receive = receive
        if each and cycles:
            first = self._rng.uniform(0, FIRST_SUBSCRIPTION)
            service.scheduler.after(first, subscribe)


def places(sites: Iterable[int], seed: int) -> Iterator[int]:
    """Where the clients of a scenario are, in the order in which it names them."""
    rng = random.Random(f"{seed}/places")
    where = list(sites)
    while True:
        yield rng.choice(where)


def run_scenario(
    scenario: Scenario, sites: Iterable[int], service: Service, seed: int
) -> Totals:
    """Let everything in a scenario happen, and count it."""
    totals = Totals()
    place = places(sites, seed)
    number = 0
    for section in scenario.sections:
        if isinstance(section, Faults):
            _schedule(section, service, random.Random(f"{seed}/faults"))
            continue
        for _ in range(section.number):
            number += 1
            site = next(place)
            rng = random.Random(f"{seed}/{number}")
            if isinstance(section, Objects):
                _Object(section, f"o{number}", site, rng, service, totals).begin()
            else:
                party = Party(f"p{number}", site, section.pattern, rng)
                party.begin(service, section.notifications, section.cycles, totals)
    service.scheduler.run()
    service.finish()
    return totals


def _schedule(faults: Faults, service: Service, rng: random.Random) -> None:
    counts: tuple[tuple[Fault, int], ...] = (
        ("lost", faults.lost),
        ("duplicated", faults.duplicated),
    )
    for fault, count in counts:
        for _ in range(count):
            spoil = partial(service.spoil, fault, rng)
            service.scheduler.after(rng.uniform(*faults.time), spoil)


@dataclass(slots=True)
class _Object:
    """An object of interest: advertises, publishes, stops advertising, again."""

    section: Objects
    name: str
    site: int
    rng: random.Random
    service: Service
    totals: Totals

    def begin(self) -> None:
        cycles = self.section.cycles
        if not cycles:
            return
        mean = self.rng.uniform(*self.section.interval)
        first = self.rng.uniform(0, FIRST_ADVERTISEMENT)
        self.service.scheduler.after(first, lambda: self._cycle(mean, cycles))

    def _cycle(self, mean: float, cycles: int) -> None:
        self.totals.requests += 1
        self.service.advertise(self.name, self.site, self.section.event)
        self._next(mean, self.section.publications, cycles)

    def _next(self, mean: float, publications: int, cycles: int) -> None:
        if publications:
            pause = self.rng.expovariate(1 / mean) if mean else 0.0
            act = lambda: self._publish(mean, publications, cycles)  # noqa: E731
            self.service.scheduler.after(pause, act)
            return
        self.totals.requests += 1
        self.service.unadvertise(self.name, self.site, self.section.event)
        if cycles > 1:
            pause = self.rng.uniform(0, PAUSE)
            self.service.scheduler.after(pause, lambda: self._cycle(mean, cycles - 1))

    def _publish(self, mean: float, publications: int, cycles: int) -> None:
        self.totals.requests += 1
        self.totals.publications += 1
        self.service.publish(self.name, self.site, self.section.event)
        self._next(mean, publications - 1, cycles)
