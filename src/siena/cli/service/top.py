"""``siena top``: what brokers are doing, again and again."""

import json
import sys
from collections import deque
from contextlib import ExitStack
from time import perf_counter, sleep
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from siena.cli.common.observing import Form, Observer, ServersOption, servers_of
from siena.cli.service.sparkline import sparkline
from siena.protocol.handshake import DURABLE
from siena.protocol.limits import LOOK_MAX

# What is shown of the counters: those that grow by their rate as well.
NOW = (
    "connections_now",
    "subscriptions_now",
    "advertisements_now",
    "longest_tick_us_now",
)
GROWING = (
    "publications",
    "deliveries",
    "pattern_matches",
    "lost",
    "rejected",
    "forwarded",
    "received",
    "duplicates",
    "router_out",
    "router_in",
    "faults",
    "logins",
    "logins_refused",
    "bytes_in",
    "bytes_out",
)

# So many rates are drawn behind each counter.
HISTORY = 30

# Durable subscriptions: which of their numbers, and of how many.
DURABLE_COLUMNS = ("lag", "under_way", "readers", "dead")
DURABLES_SHOWN = 20
REFUSALS_SHOWN = 20


def top(
    server: ServersOption = None,
    *,
    interval: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds between two looks.")
    ] = 1.0,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            min=1,
            help="So many looks; without it, until Ctrl-C, and one with --json.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print a JSON object for each broker and look."),
    ] = False,
) -> None:
    """Watch counters and links of brokers.

    Beside each counter stands how much it grew in a second, from the second look on,
    and how that went in the last 30 looks.

    \b
    Examples:
      siena top
      siena top --server siena://127.0.0.1:2606 --server siena://127.0.0.1:2607
      siena top --json
      siena top --json --count 60 >> hour.ndjson
    """  # noqa: D301 -- Typer needs the backspace itself
    if count is None and (as_json or not sys.stdout.isatty()):
        count = 1
    with ExitStack() as stack:
        observers = [stack.enter_context(Observer(one)) for one in servers_of(server)]
        if as_json:
            _print_json(observers, interval, count or 1)
        else:
            _show(observers, interval, count)


def _print_json(observers: list[Observer], interval: float, count: int) -> None:
    for look in range(count):
        if look:
            sleep(interval)
        for observer in observers:
            print(json.dumps(_look(observer)), flush=True)


def _look(observer: Observer) -> Form:
    links = observer.look("links", LOOK_MAX)["links"]
    looked = {**observer.look("counters"), "links": links}
    if observer.info is not None and DURABLE in observer.info.features:
        looked["durables"] = observer.look("durables", LOOK_MAX)["durables"]
    return looked


def _show(observers: list[Observer], interval: float, count: int | None) -> None:
    console = Console()
    rates = Rates()
    looks = 0
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            seen = [_look(observer) for observer in observers]
            rates.add(seen, perf_counter())
            live.update(picture(seen, rates), refresh=True)
            looks += 1
            if count is not None and looks >= count:
                return
            try:
                sleep(interval)
            except KeyboardInterrupt:
                return


class Rates:
    """How much the counters of brokers grew in a second, look by look."""

    def __init__(self) -> None:
        self._before: list[Form] = []
        self._then = 0.0
        self._rates: dict[tuple[int, str], deque[float]] = {}

    def add(self, seen: list[Form], now: float) -> None:
        """Add what was seen of each broker, at this second of any clock."""
        for place, (broker, before) in enumerate(zip(seen, self._before, strict=False)):
            for name in GROWING:
                grown = broker["counters"][name] - before["counters"][name]
                # A broker that began anew counts from nothing again.
                rate = max(grown, 0) / (now - self._then)
                self._rates.setdefault((place, name), deque(maxlen=HISTORY)).append(
                    rate
                )
        self._before, self._then = seen, now

    def of(self, place: int, name: str) -> list[float]:
        """The rates of a counter of the broker at this place, the latest last."""
        return list(self._rates.get((place, name), ()))


def picture(seen: list[Form], rates: Rates) -> Group:
    """Tables of what was seen, and how it grew."""
    counters = Table(box=None, pad_edge=False)
    counters.add_column("")
    for broker in seen:
        counters.add_column(escape(str(broker["broker"])), justify="right")
        counters.add_column("a second", justify="right", style="dim")
        counters.add_column("lately", style="dim")
    for name in (*NOW, *GROWING):
        row = [name.removesuffix("_now").replace("_", " ")]
        for place, broker in enumerate(seen):
            lately = rates.of(place, name)
            row += [
                f"{broker['counters'][name]:,}",
                f"{lately[-1]:,.0f}" if lately else "",
                sparkline(lately),
            ]
        counters.add_row(*row)
    return Group(counters, "", _links(seen), *_refusals(seen), *_durables(seen))


def _refusals(seen: list[Form]) -> list[Table | str]:
    """What was refused, by reason and roles: what most often first."""
    found = [(b["broker"], r) for b in seen for r in b.get("refusals", ())]
    if not found:
        return []
    table = Table(box=None, pad_edge=False)
    for title in ("broker", "refused", "to those with roles"):
        table.add_column(title)
    table.add_column("times", justify="right")
    found.sort(key=lambda pair: pair[1]["count"], reverse=True)
    for broker, refused in found[:REFUSALS_SHOWN]:
        texts = (str(broker), refused["verb"], refused["roles"])
        table.add_row(*map(escape, texts), f"{refused['count']:,}")
    return ["", table]


def _durables(seen: list[Form]) -> list[Table | str]:
    """Durable subscriptions, those that lag most first."""
    found = [(b["broker"], d) for b in seen for d in b.get("durables", ())]
    if not found:
        return []
    table = Table(box=None, pad_edge=False)
    for title in ("broker", "durable", "filter"):
        table.add_column(title)
    for title in DURABLE_COLUMNS:
        table.add_column(title.replace("_", " "), justify="right")
    found.sort(key=lambda pair: pair[1]["lag"], reverse=True)
    for broker, durable in found[:DURABLES_SHOWN]:
        numbers = (f"{durable[name]:,}" for name in DURABLE_COLUMNS)
        table.add_row(str(broker), durable["name"], durable["filter"][:40], *numbers)
    return ["", table]


def _links(seen: list[Form]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("broker", "link to", "as", "address"):
        table.add_column(title)
    for title in ("interests", "forwarded", "received", "router_out", "router_in"):
        table.add_column(title, justify="right")
    for broker in seen:
        for link in broker["links"]:
            table.add_row(
                escape(str(broker["broker"])),
                *(escape(str(link[name])) for name in ("name", "side", "address")),
                *(
                    f"{link[name]:,}"
                    for name in (
                        "interests",
                        "forwarded",
                        "received",
                        "router_out",
                        "router_in",
                    )
                ),
            )
    return table
