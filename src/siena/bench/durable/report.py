"""The figures of ``siena bench durable``: a line for each store, ratios by round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from siena.bench.broker.report import machine
from siena.bench.durable.flood import StoreRound

# Below this share of idle time it is the generator that is measured.
IDLE_MIN = 0.10


@dataclass
class StoreResult:
    """What one store did."""

    name: str
    version: str
    rounds: list[StoreRound] = field(default_factory=list)
    stored: int = 0
    acknowledged: int = 0

    @property
    def rate(self) -> float:
        """Acknowledged in a second, the median of the rounds."""
        return median(each.rate for each in self.rounds)

    def wait(self, share: float) -> float:
        """What this share of the batches waited at most, the median of the rounds."""
        return median(each.wait(share) for each in self.rounds)

    @property
    def idle(self) -> float:
        """The generator's share of idle time, at the least."""
        return min(each.idle for each in self.rounds)


def show(results: Sequence[StoreResult], sync: float, workload: str) -> None:
    """Print a table, what the disk does, and on what machine."""
    table = Table(box=None, header_style="dim")
    table.add_column("store")
    for column in (
        *("acknowledged/s", "spread", "per CPU second", "p50", "p99"),
        *("first / this", "generator idle"),
    ):
        table.add_column(column, justify="right", no_wrap=True)
    ours = results[0]
    for result in results:
        rates = [each.rate for each in result.rounds]
        of = [a.rate / b.rate for a, b in zip(ours.rounds, result.rounds, strict=True)]
        per_cpu = median(e.acknowledged / max(e.cpu, 0.01) for e in result.rounds)
        ratio = f"{median(of):.2f} ({min(of):.2f} … {max(of):.2f})"
        table.add_row(
            result.name,
            f"{result.rate:,.0f}",
            f"{min(rates):,.0f} … {max(rates):,.0f}",
            f"{per_cpu:,.0f}",
            f"{result.wait(0.5) * 1e3:.1f} ms",
            f"{result.wait(0.99) * 1e3:.1f} ms",
            "" if result is ours else ratio,
            f"{result.idle:.0%}" + (" (!)" if result.idle < IDLE_MIN else ""),
        )
    console = Console(highlight=False, width=max(Console().width, 140))
    console.print(table)
    p99 = ours.wait(0.99) / sync
    console.print(
        f"{workload}; this disk syncs a page in {sync * 1e3:.2f} ms (median), "
        f"and {ours.name}'s p99 is {p99:.1f} times that",
        *(
            f"{each.name}: {each.version}; acknowledged {each.acknowledged:,}, "
            f"stored {each.stored:,}"
            for each in results
        ),
        sep="\n",
        soft_wrap=True,
    )
    known = machine()
    console.print(
        f"{known['processor']}, {known['cores']} cores, {known['system']}, "
        f"Python {known['python']}",
        soft_wrap=True,
    )


def as_object(
    results: Sequence[StoreResult], sync: float, plan: Mapping[str, object]
) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "machine": machine(),
        "plan": dict(plan),
        "sync_seconds": sync,
        "stores": [
            {
                "name": each.name,
                "version": each.version,
                "acknowledged": each.acknowledged,
                "stored": each.stored,
                "rounds": [
                    {
                        "acknowledged": one.acknowledged,
                        "seconds": one.seconds,
                        "cpu_seconds": one.cpu,
                        "generator_idle": one.idle,
                        "p50_seconds": one.wait(0.5),
                        "p99_seconds": one.wait(0.99),
                    }
                    for one in each.rounds
                ],
            }
            for each in results
        ],
    }
