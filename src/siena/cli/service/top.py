"""``siena top``: what brokers are doing, again and again."""

import json
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from math import ceil
from time import perf_counter, sleep
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.console import Console, Group, JustifyMethod
from rich.live import Live
from rich.markup import escape
from rich.table import Table

from siena.cli.common.observing import Form, Observer, ServersOption, servers_of
from siena.protocol.handshake import DURABLE
from siena.protocol.limits import LOOK_MAX

# A line of small bars says how a number went lately.
BARS = "▁▂▃▄▅▆▇█"
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
# Columns of a terminal that the names of counters take, and of each broker its counts,
# its rates and how those went.
NAMES_WIDE, COUNTS_WIDE, RATES_WIDE, LATELY_WIDE = 16, 12, 10, HISTORY + 2
LINK_COLUMNS = ("interests", "forwarded", "received", "router_out", "router_in")
# What a table of links has, and what it goes without, in turn, in a narrow terminal.
LINK_TITLES = {
    "broker": "broker",
    "name": "link to",
    "side": "as",
    "address": "address",
    **{name: name.replace("_", " ") for name in LINK_COLUMNS},
}
LINK_LESS = (("address",), ("side",), ("router_out", "router_in"), ("interests",))
# Columns of a terminal between two of a table.
BETWEEN = 2

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
    and how that went in the last 30 looks, as far as the terminal is wide enough for
    all brokers.  A narrow one shows fewer columns of links; --json has all.

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
            live.update(picture(seen, rates, console.width), refresh=True)
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


def picture(seen: list[Form], rates: Rates, width: int) -> Group:
    """Tables of what was seen, and how it grew, for a terminal so wide."""
    beside = max(1, (width - NAMES_WIDE) // COUNTS_WIDE)
    tables: list[Table | str] = []
    for first in range(0, len(seen), beside):
        shown = range(first, min(first + beside, len(seen)))
        tables += [_counters(seen, shown, rates, width), ""]
    tables += [_links(seen, width), *_refusals(seen), *_durables(seen)]
    return Group(*tables)


def _counters(seen: list[Form], shown: range, rates: Rates, width: int) -> Table:
    """A column for each of these brokers, and beside it its rates if there is room."""
    room = (width - NAMES_WIDE) // len(shown)
    has_rates = room >= COUNTS_WIDE + RATES_WIDE
    has_lately = room >= COUNTS_WIDE + RATES_WIDE + LATELY_WIDE
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for place in shown:
        name = escape(str(seen[place]["broker"]))
        table.add_column(name, justify="right", no_wrap=True)
        if has_rates:
            table.add_column("a second", justify="right", style="dim", no_wrap=True)
        if has_lately:
            table.add_column("lately", style="dim", no_wrap=True)
    for name in (*NOW, *GROWING):
        row = [name.removesuffix("_now").replace("_", " ")]
        for place in shown:
            lately = rates.of(place, name)
            row.append(f"{seen[place]['counters'][name]:,}")
            if has_rates:
                row.append(f"{lately[-1]:,.0f}" if lately else "")
            if has_lately:
                row.append(sparkline(lately))
        table.add_row(*row)
    return table


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
        # Filters take more lines rather than that a name or a number is cut.
        table.add_column(title, no_wrap=title != "filter")
    for title in DURABLE_COLUMNS:
        table.add_column(title.replace("_", " "), justify="right", no_wrap=True)
    found.sort(key=lambda pair: pair[1]["lag"], reverse=True)
    for broker, durable in found[:DURABLES_SHOWN]:
        numbers = (f"{durable[name]:,}" for name in DURABLE_COLUMNS)
        table.add_row(str(broker), durable["name"], durable["filter"][:40], *numbers)
    return ["", table]


def _links(seen: list[Form], width: int) -> Table:
    """A row for each link: rather fewer columns than names and numbers that are cut."""
    links = [(broker, link) for broker in seen for link in broker["links"]]
    columns = {
        name: [title, *(_of_link(broker, link, name) for broker, link in links)]
        for name, title in LINK_TITLES.items()
    }
    for names in LINK_LESS:
        if _wide(columns.values()) > width:
            columns = {name: columns[name] for name in columns if name not in names}
    table = Table(box=None, pad_edge=False)
    for name in columns:
        justify: JustifyMethod = "right" if name in LINK_COLUMNS else "left"
        table.add_column(LINK_TITLES[name], justify=justify, no_wrap=True)
    for row in zip(*(texts[1:] for texts in columns.values()), strict=True):
        table.add_row(*map(escape, row))
    return table


def _of_link(broker: Form, link: Form, name: str) -> str:
    if name == "broker":
        return str(broker["broker"])
    return f"{link[name]:,}" if name in LINK_COLUMNS else str(link[name])


def _wide(columns: Iterable[list[str]]) -> int:
    """How wide a table of these columns is, if nothing is cut.

    >>> _wide([["broker", "a"], ["interests", "12"]])
    17
    """
    each = [max(map(cell_len, texts)) for texts in columns]
    return sum(each) + BETWEEN * (len(each) - 1)


def sparkline(values: Sequence[float]) -> str:
    """A bar for each value; the largest is as high as they get, and nothing is lowest.

    >>> sparkline([0, 1, 2, 4, 8])
    '▁▂▃▅█'
    >>> sparkline([0, 0])
    '▁▁'
    >>> sparkline([])
    ''
    >>> sparkline([0.1 + 0.2, 7.1])  # a quotient of at most 1, also when rounded
    '▂█'
    """
    most = max(values, default=0)
    if most <= 0:
        return BARS[0] * len(values)
    steps = len(BARS) - 1
    # Rounded up: whatever is more than nothing is seen to be.
    return "".join(BARS[ceil(value / most * steps)] for value in values)
