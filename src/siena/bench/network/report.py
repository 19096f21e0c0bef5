"""What ``siena bench network`` found: tables for people, an object for programs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from siena.bench.broker.contenders.siena import Siena
from siena.bench.broker.report import machine
from siena.bench.broker.rounds import IDLE_MIN
from siena.bench.broker.workload import Workload
from siena.bench.network.floods import (
    ALONE,
    Contest,
    Crossing,
    Entry,
    Span,
    link_cost,
    ratio,
)
from siena.bench.network.pinging import Waits
from siena.bench.network.settling import Coming, FirstLink

WIDTH_MIN = 150


@dataclass
class Report:
    """All that was measured, part by part."""

    contests: list[Contest] = field(default_factory=list)
    workers: list[tuple[int, Entry]] = field(default_factory=list)
    comings: list[Coming] = field(default_factory=list)
    first_links: list[FirstLink] = field(default_factory=list)


# --- For people ----------------------------------------------------------------------


def show(report: Report) -> None:
    """Print a table for each part, and what follows from it."""
    # As wide as it is: a number that is cut off is no number.
    console = Console(highlight=False, width=max(Console().width, WIDTH_MIN))
    for contest in report.contests:
        console.print(_question(contest.workload))
        console.print(_table(ENTRY_COLUMNS, contest.entries))
        for line in conclusions(contest):
            console.print(line, soft_wrap=True)
        console.print()
    if report.workers:
        console.print("One port served by several processes")
        console.print(_table(WORKER_COLUMNS, report.workers))
        for line in worker_conclusions(report.workers):
            console.print(line, soft_wrap=True)
        console.print()
    if report.comings:
        console.print("Interests through two brokers, while another client pings")
        console.print(_table(COMING_COLUMNS, report.comings))
        console.print()
    if report.first_links:
        console.print("A first link to a broker with interests, while a client pings")
        console.print(_table(LINK_COLUMNS, report.first_links))
        console.print()
    known = machine()
    console.print(
        f"{known['processor']}, {known['cores']} cores, {known['system']}, "
        f"Python {known['python']}; {', '.join(_versions(report))}",
        soft_wrap=True,
    )


def conclusions(contest: Contest) -> Iterator[str]:
    """What a link costs each make, and ours against theirs."""
    ours = [each for each in contest.entries if each.make == "siena"]
    for entry in contest.entries:
        if entry.failure:
            yield f"{title(entry)} has no figures: {entry.failure}"
        alone = _alone(contest, entry)
        if alone is not None and entry.layout != ALONE:
            cost = link_cost(entry, alone)
            if cost is not None:
                yield (
                    f"{title(entry)}: a link costs {_span(cost)} times a delivery by "
                    "one broker" + _doubt(entry, alone)
                )
    for mine in ours:
        for entry in contest.entries:
            if entry.make != "siena" and entry.layout == mine.layout:
                found = ratio(mine, entry)
                if found is not None:
                    yield (
                        f"siena / {title(entry)}: {_span(found)} "
                        "times the publications per CPU second of all brokers"
                        + _doubt(mine, entry)
                    )
    checked = sum(r.flood.deliveries for e in contest.entries for r in e.rounds)
    yield (
        f"{checked:,} deliveries checked: all of them came, in order, unchanged, with "
        "a bound on those under way"
    )


def worker_conclusions(workers: Sequence[tuple[int, Entry]]) -> Iterator[str]:
    """Several processes against the first entry, which has the fewest."""
    base_count, base = workers[0]
    for count, entry in workers:
        if entry.failure:
            yield f"{count} processes have no figures: {entry.failure}"
        found = ratio(entry, base) if entry is not base else None
        if found is not None:
            rates = [
                a.flood.rate / b.flood.rate
                for a, b in zip(entry.rounds, base.rounds, strict=True)
            ]
            yield (
                f"{count} processes / {base_count}: {_span(found)} times the "
                f"publications per CPU second, {_span(Span.of(rates))} by the clock"
            )


def title(entry: Entry) -> str:
    """What an entry is called: the make and the shape, or that it is alone."""
    where = "alone" if entry.layout == ALONE else entry.layout.shape
    return f"{entry.make} {where}"


def _doubt(*entries: Entry) -> str:
    """What to think of a ratio if the generator had no time to spare."""
    if not any(entry.is_generator_bound for entry in entries):
        return ""
    return f" (!: the generator was idle less than {IDLE_MIN:.0%} of the time)"


def _alone(contest: Contest, entry: Entry) -> Entry | None:
    """The broker alone that an entry is compared with: leaf nodes with any NATS."""
    return contest.entry(entry.make.removesuffix("-leaf"), ALONE)


def _versions(report: Report) -> list[str]:
    entries = [e for contest in report.contests for e in contest.entries]
    entries += [entry for _, entry in report.workers]
    ours = Siena().version(0)
    return list(dict.fromkeys([ours, *(entry.version for entry in entries)]))


def _question(workload: Workload) -> str:
    return (
        f"{workload.interests:,} interests on {workload.connections:,} connections, "
        f"{workload.matches:g} met by a notification of {len(workload.blocks[0])} bytes"
    )


def _table(columns: "dict[str, Callable[[Any], str]]", rows: Sequence[Any]) -> Table:
    table = Table(box=None, header_style="dim")
    for column in columns:
        left = column in {"server", "shape", "processes"}
        table.add_column(column, justify="left" if left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(cell(row) for cell in columns.values()))
    return table


def _span(found: Span) -> str:
    return f"{found.middle:.3g} ({found.lowest:.3g} … {found.highest:.3g})"


def _of(entry: Entry, number: Callable[[Crossing], float], form: str = ",.0f") -> str:
    return format(entry.median(number), form) if entry.rounds else "none"


def _middle(entry: Entry) -> str:
    numbers = entry.layout.middle
    return _of(entry, lambda each: each.per_cpu_second(numbers)) if numbers else ""


def _idle(entry: Entry) -> str:
    bound = " !" if entry.rounds and entry.is_generator_bound else ""
    return _of(entry, lambda each: each.flood.idle, ".0%") + bound


def _low_high(entry: Entry) -> str:
    if not entry.rounds:
        return ""
    rates = [each.per_cpu_second() for each in entry.rounds]
    return f"{min(rates):,.0f} … {max(rates):,.0f}"


def _micro(seconds: float) -> str:
    return f"{seconds * 1e6:,.0f}"


def _milli(seconds: float) -> str:
    return f"{seconds * 1e3:,.1f}"


def _pings(waits: Waits) -> str:
    return " / ".join(_milli(each) for each in (waits.p50, waits.p99, waits.highest))


ENTRY_COLUMNS: dict[str, Callable[[Entry], str]] = {
    "server": title,
    "publications/s": lambda entry: _of(entry, lambda each: each.flood.rate),
    "per CPU second of all": lambda entry: _of(entry, Crossing.per_cpu_second),
    "spread": _low_high,
    "of the middle": _middle,
    "generator idle": _idle,
    "lost": lambda entry: "some" if entry.failure else "0",
}
WORKER_COLUMNS: dict[str, Callable[[tuple[int, Entry]], str]] = {
    "processes": lambda row: str(row[0]),
    **{
        name: lambda row, cell=cell: cell(row[1])  # type: ignore[misc]
        for name, cell in ENTRY_COLUMNS.items()
        if name not in {"server", "of the middle"}
    },
}
COMING_COLUMNS: dict[str, Callable[[Coming], str]] = {
    "shape": lambda row: row.shape,
    "settled": lambda row: (
        f"{row.settled:,}" + ("" if row.settled == row.asked else f" of {row.asked:,}")
    ),
    "per second": lambda row: f"{row.rate:,.0f}",
    "CPU µs each, first, second": lambda row: ", ".join(map(_micro, row.cpu_each)),
    "growth": lambda row: "" if row.growth is None else f"n^{row.growth:.2f}",
    "bytes each, first, second": lambda row: ", ".join(
        f"{each / row.settled:,.0f}" for each in row.memory
    ),
    "ping ms, p50 / p99 / max": lambda row: _pings(row.waits),
    "quiet": lambda row: _pings(row.quiet),
}
LINK_COLUMNS: dict[str, Callable[[FirstLink], str]] = {
    "shape": lambda row: row.shape,
    "interests": lambda row: f"{row.interests:,}",
    "seconds": lambda row: (
        f"{row.seconds:,.1f}" + ("" if row.is_done else " (not yet)")
    ),
    "CPU s of the first": lambda row: f"{row.cpu[0]:,.2f}",
    "ping ms, p50 / p99 / max": lambda row: _pings(row.waits),
    "quiet": lambda row: _pings(row.quiet),
}


# --- For programs --------------------------------------------------------------------


def as_object(report: Report) -> dict[str, Any]:
    """All of it; times in seconds, memory in bytes."""
    return {
        "machine": machine(),
        "contests": [_contest(each) for each in report.contests],
        "workers": [
            {"processes": count, **_entry(entry)} for count, entry in report.workers
        ],
        "comings": [
            {
                **each._asdict(),
                "marks": [mark._asdict() for mark in each.marks],
                "quiet": each.quiet._asdict(),
                "waits": each.waits._asdict(),
                "settled": each.settled,
                "rate": each.rate,
                "cpu_each": each.cpu_each,
                "growth": each.growth,
            }
            for each in report.comings
        ],
        "first_links": [
            {
                **each._asdict(),
                "quiet": each.quiet._asdict(),
                "waits": each.waits._asdict(),
            }
            for each in report.first_links
        ],
    }


def _contest(contest: Contest) -> dict[str, Any]:
    workload = contest.workload
    return {
        "workload": {
            "interests": workload.interests,
            "connections": workload.connections,
            "matches": workload.matches,
            "notification_bytes": len(workload.blocks[0]),
            "seed": workload.seed,
        },
        "entries": [
            {**_entry(each), "link_cost": _ratio_form(_cost(contest, each))}
            for each in contest.entries
        ],
        "ratios": [
            {"peer": each.make, "layout": each.layout.shape, **form}
            for each in contest.entries
            if each.make != "siena" and (form := _against(contest, each)) is not None
        ],
    }


def _cost(contest: Contest, entry: Entry) -> Span | None:
    alone = _alone(contest, entry)
    if alone is None or entry.layout == ALONE:
        return None
    return link_cost(entry, alone)


def _against(contest: Contest, entry: Entry) -> dict[str, float] | None:
    ours = contest.entry("siena", entry.layout)
    return None if ours is None else _ratio_form(ratio(ours, entry))


def _ratio_form(found: Span | None) -> dict[str, float] | None:
    return None if found is None else asdict(found)


def _entry(entry: Entry) -> dict[str, Any]:
    known = bool(entry.rounds)
    middle = entry.layout.middle
    return {
        "make": entry.make,
        "version": entry.version,
        "layout": entry.layout.shape,
        "failure": entry.failure or None,
        "per_cpu_second": entry.median(Crossing.per_cpu_second) if known else None,
        "per_cpu_second_of_the_middle": (
            entry.median(lambda each: each.per_cpu_second(middle))
            if known and middle
            else None
        ),
        "rounds": [
            {**each.flood._asdict(), "cpu_seconds_of_brokers": each.brokers}
            for each in entry.rounds
        ],
    }
