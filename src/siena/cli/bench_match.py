"""``siena bench match``: the engine against counting and a plain loop."""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from siena.errors import SienaError
from siena.matching import COMPILED
from siena.matching.blocks import encode_all
from siena.matching.counting import CountingMatcher
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification
from siena.sim.workload import TR0605, Distribution

# The loop is asked about fewer messages, and above this many filters not at all.
REFERENCE_WORK = 2_000_000
# Messages on which all matchers must agree before anything is measured.
MESSAGES_VERIFIED = 50


@dataclass(frozen=True, slots=True)
class Run:
    """One matcher at one size: the median of the rounds, and their spread."""

    matcher: str
    filters: int
    names: int
    distribution: str
    interfaces: str
    messages_per_second: float
    slowest: float
    fastest: float
    matches_per_message: float
    bytes_per_filter: float | None
    build_seconds: float


def bench_match(
    *,
    filters: Annotated[
        str, typer.Option(help="How many filters: one or more sizes, with commas.")
    ] = "1000,10000,100000",
    names: Annotated[int, typer.Option(help="How many attribute names.")] = 500,
    distribution: Annotated[
        str, typer.Option(help="How popular the names are: zipf or uniform.")
    ] = "zipf",
    messages: Annotated[int, typer.Option(help="How many notifications.")] = 2000,
    batch: Annotated[int, typer.Option(help="How many at a time.")] = 256,
    rounds: Annotated[int, typer.Option(help="Rounds; the median counts.")] = 3,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Match the papers' workload W-TR0605 with each matcher, on the same messages.

    All matching filters are wanted.  Messages are encoded beforehand, for the engine
    as bytes that it reads itself.  All matchers must agree before a number is shown;
    rounds alternate between them.

    \b
    Examples:
      siena bench match
      siena bench match --filters 1000000 --messages 500
      siena bench match --names 50 --distribution uniform --json
    """  # noqa: D301 -- Typer needs the backspace itself
    if not COMPILED:
        raise SienaError(
            "the kernels are not compiled, and would be measured as Python",
            hint="install a C compiler and run make setup",
        )
    sizes = _sizes(filters)
    if distribution not in {"zipf", "uniform"}:
        raise SienaError(f"{distribution!r} is not a distribution")
    shape: Distribution = "zipf" if distribution == "zipf" else "uniform"
    workload = TR0605(names=names, distribution=shape, seed=seed)
    sent = list(workload.notifications(messages))
    runs: list[Run] = []
    for size in sizes:
        bench = _Bench(workload, list(workload.filters(size)), sent, batch)
        runs += bench.measure(rounds)
    if as_json:
        print(json.dumps({"runs": [asdict(run) for run in runs]}))
    else:
        _show(runs)


class _Bench:
    """The matchers of one size, built and ready."""

    def __init__(
        self,
        workload: TR0605,
        filters: Sequence[Filter],
        sent: list[Notification],
        batch: int,
    ) -> None:
        self.workload = workload
        self.filters = filters
        self.sent = sent
        self.build_seconds: dict[str, float] = {}
        self.engine = self._build("engine", ForwardingTable)
        self.counting = self._build("counting", CountingMatcher)
        self.reference = self._build("reference", ReferenceMatcher)
        groups = [sent[i : i + batch] for i in range(0, len(sent), batch)]
        self.blocks = [encode_all(group) for group in groups]
        self.encoded = [self.counting.encode(group) for group in groups]
        # The loop gets as many messages as it can stand.
        self.asked = sent[: max(1, min(len(sent), REFERENCE_WORK // len(filters)))]

    def measure(self, rounds: int) -> list[Run]:
        self._verify()
        runners: dict[str, Callable[[], int]] = {
            "engine": self._run_engine,
            "counting": self._run_counting,
            "reference": self._run_reference,
        }
        rates: dict[str, list[float]] = {name: [] for name in runners}
        for _ in range(rounds):
            for name, run in runners.items():
                start = perf_counter()
                count = run()
                rates[name].append(count / (perf_counter() - start))
        return [self._result(name, found) for name, found in rates.items()]

    def _build(self, name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401
        start = perf_counter()
        matcher = make()
        for number, f in enumerate(self.filters):
            matcher.add(number, f)
        if name == "engine":
            matcher.consolidate()
        matcher.match_filters(self.sent[0])  # compiles what is compiled late
        self.build_seconds[name] = perf_counter() - start
        return matcher

    def _verify(self) -> None:
        for message in self.sent[:MESSAGES_VERIFIED]:
            expected = self.engine.match_filters(message)
            if self.counting.match_filters(message) != expected:
                raise AssertionError(f"engine and counting disagree about {message}")
        for message in self.asked[:MESSAGES_VERIFIED]:
            expected = self.engine.match_filters(message)
            if self.reference.match_filters(message) != expected:
                raise AssertionError(f"engine and reference disagree about {message}")

    def _run_engine(self) -> int:
        for blocks, offsets in self.blocks:
            self.engine.match_buffer(blocks, offsets)
        return len(self.sent)

    def _run_counting(self) -> int:
        for encoded in self.encoded:
            self.counting.match_encoded(encoded)
        return len(self.sent)

    def _run_reference(self) -> int:
        for message in self.asked:
            self.reference.match_filters(message)
        return len(self.asked)

    def _result(self, name: str, rates: list[float]) -> Run:
        sizes = {
            "engine": lambda: self.engine.stats().arena_bytes,
            "counting": lambda: self.counting.sizes.bytes,
        }
        matches = self.engine.match_batch(self.sent).counts
        return Run(
            matcher=name,
            filters=len(self.filters),
            names=self.workload.names,
            distribution=self.workload.distribution,
            interfaces="all",
            messages_per_second=statistics.median(rates),
            slowest=min(rates),
            fastest=max(rates),
            matches_per_message=float(np.mean(matches)),
            bytes_per_filter=sizes[name]() / len(self.filters)
            if name in sizes
            else None,
            build_seconds=self.build_seconds[name],
        )


def _sizes(text: str) -> list[int]:
    try:
        sizes = [int(part) for part in text.split(",")]
    except ValueError:
        raise SienaError(
            f"{text!r} is not a list of sizes", hint="write 1000,10000"
        ) from None
    if min(sizes) < 1:
        raise SienaError("a size is at least 1")
    return sizes


def _show(runs: list[Run]) -> None:
    table = Table(box=None, header_style="dim")
    for column in ("filters", "matcher", "messages/s", "spread", "/ counting",
                   "/ loop", "bytes/filter", "build s"):  # fmt: skip
        table.add_column(column, justify="left" if column == "matcher" else "right")
    for run in runs:
        beside = {r.matcher: r for r in runs if r.filters == run.filters}
        table.add_row(
            f"{run.filters:,}",
            run.matcher,
            f"{run.messages_per_second:,.0f}",
            f"{run.slowest:,.0f} … {run.fastest:,.0f}",
            f"{run.messages_per_second / beside['counting'].messages_per_second:.1f}",
            f"{run.messages_per_second / beside['reference'].messages_per_second:,.0f}",
            "" if run.bytes_per_filter is None else f"{run.bytes_per_filter:.0f}",
            f"{run.build_seconds:.2f}",
        )
    console = Console(highlight=False)
    console.print(table)
    for matcher in ("engine", "counting"):
        slope = _slope([r for r in runs if r.matcher == matcher])
        if slope is not None:
            console.print(f"{matcher}: time per message grows as filters^{slope:.2f}")


def _slope(runs: list[Run]) -> float | None:
    """The exponent with which the time per message grows, from first to last size."""
    if len(runs) < 2 or runs[0].filters == runs[-1].filters:
        return None
    times = runs[0].messages_per_second / runs[-1].messages_per_second
    return math.log(times) / math.log(runs[-1].filters / runs[0].filters)
