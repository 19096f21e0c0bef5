"""Runs of CBCB: the set-up and the measures of the INFOCOM 2004 evaluation.

A run is decided by its plan.  Some brokers publish, some subscribe, predicates change,
advertisements are batched and requests sent from time to time; at regular intervals a
sample is taken.  What the papers plotted is a property of a sample or of two.

Reference:
    Our specification, C.6.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import floor
from random import Random

from siena.errors import SienaError
from siena.research.cbcb.node import Options
from siena.research.cbcb.world import CbcbWorld, Layer, Publication
from siena.routing.topology.topology import Broker, Topology
from siena.sim.workload import SSBG


@dataclass(frozen=True, slots=True)
class CbcbPlan:
    """All that decides a run; times are in seconds.

    Args:
        topology: the network.
        duration_s: how long it runs.
        sample_s: how often a sample is taken.
        publication_s: mean time between two publications of one publisher.
        change_s: mean time between two changes of one subscriber's predicate; None to
            keep the predicates of the beginning.
        batch_s: how often advertisements are sent; None for at once.
        request_s: how often each broker sends a request; None for never.
        options: how brokers behave; ``batches`` is set by ``batch_s``.
        workload: where predicates and notifications come from.
        publishers: which share of the brokers publishes.
        subscribers: which share subscribes.
        layer: the trees that messages travel on.
        delay_s: how long a link of weight 1 takes.
        seed: decides the rest.
    """

    topology: Topology
    duration_s: float
    sample_s: float
    publication_s: float = 10.0
    change_s: float | None = 30.0
    batch_s: float | None = None
    request_s: float | None = None
    options: Options = field(default_factory=Options)
    workload: SSBG = field(default_factory=SSBG)
    publishers: float = 0.2
    subscribers: float = 0.75
    layer: Layer = "shortest paths"
    # Brokers are some hundred units apart: half a second.
    delay_s: float = 0.001
    seed: int = 1

    def __post_init__(self) -> None:
        times = (self.duration_s, self.sample_s, self.publication_s)
        optional = (self.change_s, self.batch_s, self.request_s)
        if min(*times, *(time for time in optional if time is not None)) <= 0:
            raise SienaError("times are positive")
        if not (0 < self.publishers <= 1 and 0 <= self.subscribers <= 1):
            raise SienaError("a share is between 0 and 1, and somebody publishes")


@dataclass(frozen=True, slots=True)
class Sample:
    """What happened in one interval, and the memory at its end.

    ``expected`` and ``missing`` are about notifications published in the interval,
    whenever they arrived, and ``wanting`` says how many of them so many brokers wanted;
    the rest is about what happened in it.
    """

    time: float
    expected: int
    missing: int
    received: int
    unmatched: int
    useless: int
    packets: Counter[str]
    table_bytes: int
    wanting: Counter[int] = field(default_factory=Counter)

    @property
    def false_negatives(self) -> float:
        """Deliveries not made, as a share of those that should have been."""
        return self.missing / self.expected if self.expected else 0.0

    @property
    def useless_share(self) -> float:
        """Messages neither delivered nor sent on where they arrived, as a share."""
        return self.useless / self.received if self.received else 0.0

    @property
    def control_share(self) -> float:
        """Packets that are not notifications, as a share of all."""
        total = self.packets.total()
        return (total - self.packets["ME"]) / total if total else 0.0


def run(plan: CbcbPlan) -> list[Sample]:
    """Run a plan to its end.

    >>> from siena.sim.topologies.drawn import barabasi_albert
    >>> network = barabasi_albert(8, seed=3)
    >>> plan = CbcbPlan(network, 4, 1, publication_s=0.05, change_s=None)
    >>> samples = run(plan)
    >>> [sample.time for sample in samples]
    [1.0, 2.0, 3.0, 4.0]
    >>> samples[0].false_negatives > samples[-1].false_negatives == 0
    True
    """
    return _Run(plan).samples()


# More than any run asks for.
_ENDLESS = 2**62


class _Run:
    def __init__(self, plan: CbcbPlan) -> None:
        self.plan = plan
        options = Options(
            prunes=plan.options.prunes,
            batches=plan.batch_s is not None,
            skips_empty=plan.options.skips_empty,
            messages_min=plan.options.messages_min,
        )
        self.world = CbcbWorld(
            plan.topology, options, layer=plan.layer, delay_s=plan.delay_s
        )
        self.random = Random(f"{plan.seed}/cbcb")
        brokers = plan.topology.brokers
        self.publishers = self._some(plan.publishers, least=1)
        self.subscribers = self._some(plan.subscribers, least=0)
        self.predicates = plan.workload.predicates(_ENDLESS)
        self.notifications = plan.workload.notifications(_ENDLESS)
        self.brokers = brokers
        self.taken: list[tuple[float, Counter[str], Counter[str], int]] = []

    def samples(self) -> list[Sample]:
        plan, world = self.plan, self.world
        for broker in self.subscribers:
            world.want(broker, next(self.predicates))
            self._sometimes(plan.change_s, partial(self._change, broker))
        for broker in self.publishers:
            self._sometimes(plan.publication_s, partial(self._publish, broker))
        for broker in self.brokers:
            self._regularly(plan.batch_s, partial(world.advertise, broker))
            self._regularly(plan.request_s, partial(world.request, broker))
            # Who waits for answers gives up after two periods at most.
            self._regularly(plan.request_s, world.nodes[broker].expire)
        # A tenth of a second is no binary fraction: ten of them are a second.
        intervals = floor(plan.duration_s / plan.sample_s + 1e-9)
        for i in range(1, intervals + 1):
            world.run(until=float(i * plan.sample_s))
            self._take()
        world.run(until=world.now + self._settling_s())
        return list(self._samples())

    def _change(self, broker: Broker) -> None:
        self.world.want(broker, next(self.predicates))

    def _publish(self, broker: Broker) -> None:
        self.world.publish(broker, next(self.notifications))

    def _some(self, share: float, *, least: int) -> list[Broker]:
        brokers = self.plan.topology.brokers
        number = max(least, round(share * len(brokers)))
        return sorted(self.random.sample(brokers, number))

    def _sometimes(self, mean_s: float | None, action: Callable[[], None]) -> None:
        """Do something again and again, after delays that remember nothing."""
        if mean_s is not None:
            self._again(lambda: self.random.expovariate(1 / mean_s), action)

    def _regularly(self, period_s: float | None, action: Callable[[], None]) -> None:
        """Do something once in every period, first at a random time of the first."""
        if period_s is not None:
            first = self.random.uniform(0, period_s)
            delays = iter([first])
            self._again(lambda: next(delays, period_s), action)

    def _again(self, delay: Callable[[], float], action: Callable[[], None]) -> None:
        def act() -> None:
            action()
            self._again(delay, action)

        time = self.world.now + delay()
        if time <= self.plan.duration_s:
            self.world.at(time, act)

    def _settling_s(self) -> float:
        """Longer than any message travels: all links, one after the other."""
        total = sum(float(link.weight) for link in self.plan.topology.links)
        return total * self.plan.delay_s

    def _take(self) -> None:
        fates: Counter[str] = Counter()
        for node in self.world.nodes.values():
            fates["received"] += node.counters.received
            fates["unmatched"] += node.counters.unmatched
            fates["useless"] += node.counters.useless
        packets = Counter(self.world.packets)
        self.taken.append((self.world.now, fates, packets, self.world.table_bytes))

    def _samples(self) -> Iterator[Sample]:
        waiting = iter(self.world.publications)
        publication = next(waiting, None)
        fates_before: Counter[str] = Counter()
        packets_before: Counter[str] = Counter()
        for time, fates, packets, table_bytes in self.taken:
            published: list[Publication] = []
            while publication is not None and publication.time <= time:
                published.append(publication)
                publication = next(waiting, None)
            yield Sample(
                time=time,
                expected=sum(len(p.expected) for p in published),
                missing=sum(len(p.missing) for p in published),
                received=fates["received"] - fates_before["received"],
                unmatched=fates["unmatched"] - fates_before["unmatched"],
                useless=fates["useless"] - fates_before["useless"],
                packets=packets - packets_before,
                table_bytes=table_bytes,
                wanting=Counter(len(p.expected) for p in published),
            )
            fates_before, packets_before = fates, packets
