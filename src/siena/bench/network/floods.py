"""Publications across links: all makes in turn, with the same work.

A publisher floods the first broker, and subscribers are at the last ones.  Deliveries
under way are bounded, so that no server has a reason to drop any, and each is checked
(:mod:`siena.bench.broker.loadgen`): a make that loses one has no figures, but a reason.
Beside every network runs one broker of its make that does the same work alone.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from statistics import median
from typing import NamedTuple

from siena.bench.broker.loadgen.generator import Flood, Load
from siena.bench.broker.loadgen.worker import Worker
from siena.bench.broker.rounds import IDLE_MIN, WARM_UP_SECONDS
from siena.bench.broker.workload import Workload
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import Make
from siena.bench.network.running import RunningBrokers, running_brokers
from siena.errors import SienaError

# One broker, to compare with.
ALONE = Layout("chain:1")


class Crossing(NamedTuple):
    """What one flood has shown, and what it took of each broker's CPU, in seconds."""

    flood: Flood
    brokers: dict[int, float]

    def per_cpu_second(self, numbers: Sequence[int] = ()) -> float:
        """Publications for a CPU second of some brokers, or of all together."""
        return 1 / self.cost(numbers)

    def cost(self, numbers: Sequence[int] = ()) -> float:
        """CPU seconds of some brokers, or of all together, for a publication."""
        seconds = sum(self.brokers[each] for each in numbers or self.brokers)
        # The clock of the CPU ticks: less than one tick is no time.
        return max(seconds, 0.01) / max(self.flood.publications, 1)


@dataclass
class Entry:
    """A make in a layout, and what it did in each round."""

    make: str
    version: str
    layout: Layout
    rounds: list[Crossing] = field(default_factory=list)
    failure: str = ""

    def median(self, number: Callable[[Crossing], float]) -> float:
        """The median over the rounds."""
        return median(map(number, self.rounds))

    @property
    def is_generator_bound(self) -> bool:
        """Whether the generator may have been slower than the brokers."""
        return self.median(lambda each: each.flood.idle) < IDLE_MIN

    @property
    def is_measured(self) -> bool:
        """Whether it went through all rounds."""
        return bool(self.rounds) and not self.failure


@dataclass(frozen=True)
class Span:
    """One entry against another, round by round: median, lowest and highest."""

    middle: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, numbers: Sequence[float]) -> "Span":
        """Of what each round says."""
        return cls(median(numbers), min(numbers), max(numbers))


def ratio(ours: Entry, theirs: Entry) -> Span | None:
    """Publications for a CPU second, ours against theirs, if both are known."""
    if not (ours.is_measured and theirs.is_measured):
        return None
    pairs = zip(ours.rounds, theirs.rounds, strict=True)
    return Span.of([a.per_cpu_second() / b.per_cpu_second() for a, b in pairs])


def link_cost(network: Entry, alone: Entry) -> Span | None:
    """What a link costs, in what one broker needs for the same work alone.

    >>> flood = Flood(1.0, 100, 100, 100, 0.0, 0.0, 0.0)
    >>> three = Entry("siena", "", Layout("chain:3"))
    >>> three.rounds.append(Crossing(flood, {1: 2.0, 2: 1.0, 3: 2.0}))
    >>> one = Entry("siena", "", ALONE, [Crossing(flood, {1: 1.0})])
    >>> link_cost(three, one).middle  # five seconds instead of one, for two links
    2.0
    """
    if not (network.is_measured and alone.is_measured):
        return None
    links = network.layout.links_crossed
    return Span.of(
        [
            (a.cost() / b.cost() - 1) / links
            for a, b in zip(network.rounds, alone.rounds, strict=True)
        ]
    )


@dataclass(frozen=True)
class FloodPlan:
    """What is asked of floods."""

    rounds: int
    seconds: float
    publishers: int = 1


class Contest(NamedTuple):
    """All that was measured in the same rounds: networks, and brokers alone."""

    workload: Workload
    entries: list[Entry]

    def entry(self, make: str, layout: Layout) -> Entry | None:
        """What a make did in a layout."""
        for each in self.entries:
            if (each.make, each.layout) == (make, layout):
                return each
        return None


class _Contestant:
    """An entry that runs."""

    def __init__(self, entry: Entry, brokers: RunningBrokers, worker: Worker) -> None:
        self.entry = entry
        self._brokers = brokers
        self._worker = worker

    def flood(self, seconds: float) -> Crossing | None:
        """Flood it, unless it has failed before, or does now."""
        if self.entry.failure:
            return None
        before = self._brokers.cpu_seconds()
        try:
            flood = self._worker.flood(seconds, inf)
        except SienaError as error:
            self.entry.failure = str(error)
            return None
        after = self._brokers.cpu_seconds()
        return Crossing(flood, {each: after[each] - before[each] for each in after})


def contend(
    makes: Sequence[tuple[Make, Layout]],
    asked: Workload,
    plan: FloodPlan,
    say: Callable[[str], None],
) -> Contest:
    """Run all of these beside each other, and flood them in turn."""
    with ExitStack() as stack:
        contestants = []
        workload = _common(makes, asked)
        for make, layout in makes:
            say(f"{make.name} {layout.shape}: starting")
            contestants.append(_enter(stack, make, layout, workload, plan))
        for number in range(1, plan.rounds + 1):
            turns = contestants if number % 2 else contestants[::-1]
            for each in turns:
                say(
                    f"round {number} of {plan.rounds}: "
                    f"{each.entry.make} {each.entry.layout.shape}"
                )
                each.flood(WARM_UP_SECONDS)
                done = each.flood(plan.seconds)
                if done is not None:
                    each.entry.rounds.append(done)
        return Contest(workload, [each.entry for each in contestants])


def _common(makes: Sequence[tuple[Make, Layout]], asked: Workload) -> Workload:
    """The work of the largest of them: a broker alone does what its network does."""
    return max(
        (layout.workload(asked) for _, layout in makes), key=lambda each: each.interests
    )


def _enter(
    stack: ExitStack, make: Make, layout: Layout, workload: Workload, plan: FloodPlan
) -> _Contestant:
    brokers = stack.enter_context(running_brokers(make, layout))
    load = Load(
        workload,
        plan.publishers,
        unbatched=False,
        port=brokers.ports[layout.publisher],
        processes=tuple(all_of(brokers)),
        subscriber_ports=tuple(brokers.ports[each] for each in layout.subscribers),
    )
    core = max(os.sched_getaffinity(0))
    worker = stack.enter_context(Worker(brokers.client, load, core))
    worker.subscribe()
    version = brokers.client.version(brokers.ports[layout.publisher])
    return _Contestant(Entry(make.name, version, layout), brokers, worker)


def all_of(brokers: RunningBrokers) -> Iterator[int]:
    """The processes of all brokers."""
    for own in brokers.processes.values():
        yield from own
