"""The rounds of ``siena bench broker``: all servers in turn, with the same work."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from statistics import median

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.loadgen.generator import Flood, Load, Pace
from siena.bench.broker.loadgen.worker import Settling, Subscribed, Worker
from siena.bench.broker.processes import Cores, family, running
from siena.bench.broker.workload import Workload
from siena.errors import SienaError

# A row is the generator's and not the server's if it had less than this to spare.
IDLE_MIN = 0.10
# A flood is cut into so many slices, unless it is short: what else happens on a machine
# for a second or two then happens to all servers alike.
SLICES = 5
SLICED_SECONDS_MIN = 0.5
# Published before anything is measured, in seconds.
WARM_UP_SECONDS = 0.3
PUBLISHERS_MAX = 1_000
# A flood shorter than this is a few ticks of the clock that counts CPU time.
SECONDS_MIN = 0.05
SECONDS_MAX = 3_600
RATE_MAX = 1e6
# New subscriptions in each round.
PROBES = 10


@dataclass(frozen=True)
class Plan:
    """What is asked."""

    workload: Workload
    publishers: int
    unbatched: bool
    rounds: int
    seconds: float  # of each part of a round
    rate: float  # publications in a second, at which latency is taken besides half load
    load: float = inf  # publications in a second, at most, in a flood

    def __post_init__(self) -> None:
        for option, value, least, most in (
            ("--publishers", self.publishers, 1, PUBLISHERS_MAX),
            ("--rounds", self.rounds, 1, inf),
            ("--seconds", self.seconds, SECONDS_MIN, SECONDS_MAX),
            ("--rate", self.rate, 1, RATE_MAX),
            ("--load", self.load, 1, inf),
        ):
            if not least <= value <= most:  # nor if it is no number
                up_to = f" to {most:g}" if most < inf else " or more"
                raise SienaError(f"{option} is {least:g}{up_to}, and not {value:g}")


@dataclass(frozen=True)
class Round:
    """What one server did in one round."""

    flood: Flood
    steady: Pace
    half: Pace
    settling: Settling | None  # of a server that knows content


@dataclass
class Result:
    """What one server did."""

    name: str
    version: str
    subscribed: Subscribed
    rounds: list[Round] = field(default_factory=list)

    def median(self, number: Callable[[Round], float]) -> float:
        """The median over the rounds."""
        return median(map(number, self.rounds))

    def spread(self, number: Callable[[Round], float]) -> tuple[float, float]:
        """The lowest and the highest of the rounds."""
        numbers = list(map(number, self.rounds))
        return min(numbers), max(numbers)

    @property
    def is_generator_bound(self) -> bool:
        """Whether the generator may have been slower than the server."""
        return self.median(lambda each: each.flood.idle) < IDLE_MIN

    @property
    def settled_seconds(self) -> list[float]:
        """How long each new subscription took."""
        return [
            seconds
            for each in self.rounds
            if each.settling is not None
            for seconds in each.settling.seconds
        ]


@dataclass(frozen=True)
class Ratio:
    """Ours against a peer's, round by round: the median, the lowest, the highest.

    ``None`` if one of the two shows the generator's speed instead of its own.
    """

    peer: str
    per_cpu_second: tuple[float, float, float] | None
    steady_p50: tuple[float, float, float]


def ratio(ours: Result, peer: Result) -> Ratio:
    """Compare what was measured in the same rounds."""
    pairs = list(zip(ours.rounds, peer.rounds, strict=True))
    bound = ours.is_generator_bound or peer.is_generator_bound
    rates = [a.flood.per_cpu_second / b.flood.per_cpu_second for a, b in pairs]
    waits = [a.steady.p50 / b.steady.p50 for a, b in pairs if b.steady.p50 > 0]
    return Ratio(peer.name, None if bound else _summary(rates), _summary(waits))


def _summary(numbers: Sequence[float]) -> tuple[float, float, float]:
    if not numbers:  # nothing was delivered
        return 0.0, 0.0, 0.0
    return median(numbers), min(numbers), max(numbers)


def measure(
    contenders: Sequence[Contender],
    plan: Plan,
    cores: Cores,
    say: Callable[[str], None],
) -> list[Result]:
    """Start all servers, give each its connections, and load them in turn."""
    with ExitStack() as stack:
        workers, results = [], []
        for contender in contenders:
            say(f"{contender.name}: starting")
            server = stack.enter_context(running(contender, cores))
            load = Load(
                plan.workload,
                plan.publishers,
                plan.unbatched,
                server.port,
                tuple(family(server.process)),
            )
            worker = stack.enter_context(Worker(contender, load, cores.generator))
            say(f"{contender.name}: {plan.workload.interests:,} interests")
            subscribed = worker.subscribe()
            workers.append(worker)
            results.append(
                Result(contender.name, contender.version(server.port), subscribed)
            )
        for number in range(1, plan.rounds + 1):
            say(f"round {number} of {plan.rounds}: floods")
            floods = _floods(workers, plan)
            for contender, worker, flood, result in zip(
                contenders, workers, floods, results, strict=True
            ):
                say(f"round {number} of {plan.rounds}: {contender.name}")
                result.rounds.append(_round(contender, worker, flood, plan))
        return results


def _floods(workers: Sequence[Worker], plan: Plan) -> list[Flood]:
    """A flood of each server, cut into slices in which they take turns."""
    for worker in workers:
        worker.flood(WARM_UP_SECONDS, plan.load)
    slices = SLICES if plan.seconds >= SLICED_SECONDS_MIN else 1
    floods: list[list[Flood]] = [[] for _ in workers]
    for number in range(slices):
        turns = list(zip(workers, floods, strict=True))
        for worker, own in turns if number % 2 == 0 else reversed(turns):
            own.append(worker.flood(plan.seconds / slices, plan.load))
    return [Flood(*map(sum, zip(*own, strict=True))) for own in floods]


def _round(contender: Contender, worker: Worker, flood: Flood, plan: Plan) -> Round:
    steady = worker.pace(plan.rate, plan.seconds)
    half = worker.pace(flood.rate / 2, plan.seconds)
    settling = None
    if not contender.by_topic:
        settling = worker.settle(flood.rate / 2, PROBES)
    return Round(flood, steady, half, settling)
