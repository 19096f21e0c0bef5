"""What ``siena bench match`` found, for people: a table, and what follows from it."""

import math
from collections.abc import Callable, Iterator, Sequence

from rich.console import Console
from rich.table import Table

from siena.bench.match.rounds import Run

COLUMNS: dict[str, Callable[[Run, dict[str, Run]], str]] = {
    "filters": lambda run, _: f"{run.filters:,}",
    "matcher": lambda run, _: run.matcher,
    "from": lambda run, _: run.form,
    "messages/s": lambda run, _: _rate(run.messages_per_second),
    "spread": lambda run, _: f"{_rate(run.slowest)} … {_rate(run.fastest)}",
    "/ counting": lambda run, beside: _ratio(run, beside["counting"]),
    "/ loop": lambda run, beside: _ratio(run, beside["reference"]),
    "matches": lambda run, _: f"{run.matches_per_message:,.1f}",
    "bytes/filter": lambda run, _: _number(run.bytes_per_filter),
    "names, words": lambda run, _: _kilobytes(run.vocabulary_bytes),
    "build s": lambda run, _: f"{run.build_seconds:.2f}",
}


def show(runs: Sequence[Run]) -> None:
    """Print the table and the conclusions."""
    table = Table(box=None, header_style="dim")
    for column in COLUMNS:
        words = column in {"matcher", "from"}
        table.add_column(column, justify="left" if words else "right", no_wrap=True)
    for run in runs:
        beside = _beside(runs, run.filters)
        table.add_row(*(cell(run, beside) for cell in COLUMNS.values()))
    first = runs[0]
    wanted = "all matching filters" if first.interfaces == "all" else "interfaces"
    # As wide as it is: a number that is cut off is no number.
    console = Console(highlight=False, width=max(Console().width, 160))
    console.print(
        f"W-{first.workload.upper()}, {first.names} names {first.distribution}, "
        f"interfaces: {first.interfaces}, {wanted} wanted, batches of {first.batch}"
    )
    console.print(table)
    for line in conclusions(runs):
        console.print(line, soft_wrap=True)


def conclusions(runs: Sequence[Run]) -> Iterator[str]:
    """How time grows with filters and with matches, and what one by one costs."""
    for matcher in ("engine", "counting"):
        exponent = slope([run for run in runs if run.matcher == matcher])
        if exponent is not None:
            yield f"{matcher}: time per message grows as filters^{exponent:.2f}"
    for size in dict.fromkeys(run.filters for run in runs):
        beside = _beside(runs, size)
        yield from _of_one_size(beside)


def _of_one_size(beside: dict[str, Run]) -> Iterator[str]:
    size = f"{beside['engine'].filters:,} filters"
    if "engine-one" in beside:
        rate = beside["engine-one"].messages_per_second
        share = rate / beside["engine-bytes"].messages_per_second
        yield f"{size}: one by one at {share:.0%} of the rate of batches from bytes"
    threads = [run for name, run in beside.items() if "-thread" in name]
    for run in threads[1:]:
        times = run.messages_per_second / threads[0].messages_per_second
        yield f"{size}: {run.matcher} at {times:.2f} times {threads[0].matcher}"
    for name in ("engine", "counting"):
        parts = beside[name].by_matches
        if parts:
            pairs = ", ".join(
                f"{1e6 / part.messages_per_second:.3g} µs "
                f"({part.matches_per_message:,.1f})"
                for part in parts
            )
            yield f"{size}: {name}, time per message (matches), least first: {pairs}"


def slope(runs: Sequence[Run]) -> float | None:
    """The exponent with which the time per message grows, from first to last size."""
    if len(runs) < 2 or runs[0].filters == runs[-1].filters:
        return None
    times = runs[0].messages_per_second / runs[-1].messages_per_second
    return math.log(times) / math.log(runs[-1].filters / runs[0].filters)


def _beside(runs: Sequence[Run], size: int) -> dict[str, Run]:
    return {run.matcher: run for run in runs if run.filters == size}


def _ratio(run: Run, other: Run) -> str:
    times = run.messages_per_second / other.messages_per_second
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _kilobytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1000:,.0f} kB"
