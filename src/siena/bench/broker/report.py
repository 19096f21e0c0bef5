"""What ``siena bench broker`` found: a table for people, an object for programs."""

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from statistics import mean, median
from typing import Any

from rich.console import Console
from rich.table import Table

from siena.bench.broker.rounds import IDLE_MIN, Plan, Ratio, Result, Round

# Below so many interests, memory for each is noise.
INTERESTS_MIN = 1_000
# The share of the slowest flood that leaves a generator time enough.
LOAD_HINT = 0.75


def show(results: Sequence[Result], ratios: Sequence[Ratio], plan: Plan) -> None:
    """Print the table, and what follows from it."""
    table = Table(box=None, header_style="dim")
    for column in COLUMNS:
        left = column == "server"
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for result in results:
        table.add_row(*(cell(result, plan) for cell in COLUMNS.values()))
    # As wide as it is: a number that is cut off is no number.
    console = Console(highlight=False, width=max(Console().width, 180))
    console.print(_question(plan), soft_wrap=True)
    console.print(table)
    for line in conclusions(results, ratios, plan):
        console.print(line, soft_wrap=True)


def conclusions(
    results: Sequence[Result], ratios: Sequence[Ratio], plan: Plan
) -> Iterator[str]:
    """Ratios, what was checked, and on what machine."""
    for each in ratios:
        if each.per_cpu_second is None:
            load = LOAD_HINT * min(result.median(_rate) for result in results)
            yield (
                f"siena / {each.peer}: no ratio, for the generator was idle less than "
                f"{IDLE_MIN:.0%} of the time (!); all servers can be given the same "
                f"load below that: --load {round(load, -3):.0f}"
            )
        else:
            yield (
                f"siena / {each.peer}: {_times(each.per_cpu_second)} publications "
                "per CPU second"
            )
        yield (
            f"siena / {each.peer}: {_times(each.steady_p50)} latency at the median, at "
            f"{plan.rate:,.0f}/s"
        )
    checked = sum(_checked(each) for result in results for each in result.rounds)
    yield (
        f"{checked:,} deliveries checked: each the right one, once, in order, "
        "unchanged, for the right interests"
    )
    known = machine()
    yield (
        f"{known['processor']}, {known['cores']} cores, {known['system']}, "
        f"Python {known['python']}; {', '.join(result.version for result in results)}"
    )


def as_object(
    results: Sequence[Result], ratios: Sequence[Ratio], plan: Plan
) -> dict[str, Any]:
    """All of it; times in seconds, memory in bytes."""
    workload = plan.workload
    return {
        "workload": {
            "interests": workload.interests,
            "connections": workload.connections,
            "matches": workload.matches,
            "matches_met": float(mean(workload.match_counts.tolist())),
            "symbols": workload.symbols,
            "notification_bytes": len(workload.blocks[0]),
            "publishers": plan.publishers,
            "unbatched": plan.unbatched,
            "load": plan.load if isfinite(plan.load) else None,
            "seed": workload.seed,
        },
        "machine": machine(),
        "servers": [_server(result) for result in results],
        "ratios": [
            {
                "peer": each.peer,
                "per_cpu_second": _named(each.per_cpu_second),
                "steady_p50": _named(each.steady_p50),
            }
            for each in ratios
        ],
    }


def machine() -> dict[str, str | int]:
    """What it was measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2] for line in lines if line.startswith("model name")]
    return {
        "processor": models[0].strip() if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _server(result: Result) -> dict[str, Any]:
    subscribed = result.subscribed
    return {
        "name": result.name,
        "version": result.version,
        "is_generator_bound": result.is_generator_bound,
        "per_cpu_second": result.median(_per_cpu),
        "subscribed": subscribed._asdict(),
        "settled_seconds": result.settled_seconds,
        "rounds": [
            {
                "flood": {
                    **each.flood._asdict(),
                    "rate": each.flood.rate,
                    "per_cpu_second": each.flood.per_cpu_second,
                    "generator_idle": each.flood.idle,
                    "server_busy": each.flood.busy,
                },
                "steady": each.steady._asdict(),
                "half_load": each.half._asdict(),
            }
            for each in result.rounds
        ],
    }


def _question(plan: Plan) -> str:
    workload = plan.workload
    met = mean(workload.match_counts.tolist())
    how = "one at a time" if plan.unbatched else "in batches"
    if isfinite(plan.load):
        how += f" {plan.load:,.0f}/s"
    return (
        f"{workload.interests:,} interests on {workload.connections:,} connections, "
        f"{met:.1f} met by a notification of {len(workload.blocks[0])} bytes, "
        f"{workload.symbols:,} symbols; {plan.publishers} publishing {how}; "
        f"median of {plan.rounds} rounds of {plan.seconds:g} s; steady is "
        f"{plan.rate:,.0f}/s"
    )


def _rate(each: Round) -> float:
    return each.flood.rate


def _per_cpu(each: Round) -> float:
    return each.flood.per_cpu_second


def _deliveries(each: Round) -> float:
    return each.flood.deliveries / each.flood.seconds


def _checked(each: Round) -> int:
    settling = 0 if each.settling is None else each.settling.deliveries
    parts = (each.flood, each.steady, each.half)
    return settling + sum(part.deliveries for part in parts)


def _memory(result: Result, plan: Plan) -> str:
    if plan.workload.interests < INTERESTS_MIN:
        return ""
    more = result.subscribed.memory_after - result.subscribed.memory_before
    return f"{more / plan.workload.interests:,.0f}"


def _span(low: float, high: float) -> str:
    return f"{low:,.0f} … {high:,.0f}"


def _times(numbers: tuple[float, float, float]) -> str:
    middle, low, high = numbers
    return f"{middle:.2f} ({low:.2f} … {high:.2f}) times the"


def _time(seconds: float) -> str:
    """A time with its unit.

    >>> _time(0.000123), _time(0.0123), _time(1.5)
    ('123 µs', '12.3 ms', '1.5 s')
    """
    if seconds < 0.001:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _named(numbers: tuple[float, float, float] | None) -> dict[str, float] | None:
    if numbers is None:
        return None
    return dict(zip(("median", "lowest", "highest"), numbers, strict=True))


COLUMNS: dict[str, Callable[[Result, Plan], str]] = {
    "server": lambda result, _: result.name,
    "publications/s": lambda result, _: f"{result.median(_rate):,.0f}",
    "per CPU second": lambda result, _: f"{result.median(_per_cpu):,.0f}",
    "spread": lambda result, _: _span(*result.spread(_per_cpu)),
    "busy": lambda result, _: f"{result.median(lambda each: each.flood.busy):.0%}",
    "generator idle": lambda result, _: (
        f"{result.median(lambda each: each.flood.idle):.0%}"
        + (" !" if result.is_generator_bound else "")
    ),
    "deliveries/s": lambda result, _: f"{result.median(_deliveries):,.0f}",
    "p50, p99 steady": lambda result, _: (
        f"{_time(result.median(lambda each: each.steady.p50))}, "
        f"{_time(result.median(lambda each: each.steady.p99))}"
    ),
    "p50, p99 half load": lambda result, _: (
        f"{_time(result.median(lambda each: each.half.p50))}, "
        f"{_time(result.median(lambda each: each.half.p99))}"
    ),
    "bytes/interest": _memory,
    "in force": lambda result, _: (
        _time(median(result.settled_seconds)) if result.settled_seconds else ""
    ),
}
