"""``siena replay``: history into a broker, as fast as it was, or faster."""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import Annotated

import typer

from siena.cli.common.advertised import (
    AdvertiseOption,
    advertised,
    read_advertisements,
)
from siena.cli.common.client_options import (
    EXIT_FAILURE,
    EXIT_TIMEOUT,
    LEAVE_SECONDS,
    Deadline,
    JsonOption,
    ServerOption,
    TimeoutOption,
    open_server,
)
from siena.cli.common.history import read_history
from siena.cli.common.progress import Progress
from siena.cli.terminal.completion import one_of
from siena.client.blocking import Client
from siena.errors import ConnectionLostError, SienaError
from siena.model import Value

MAX = "max"
# So many are handed to the client at a time; and complaints that are printed.
PILE = 1_000
COMPLAINTS_MAX = 10


def replay(
    history: Annotated[
        Path,
        typer.Argument(
            metavar="HISTORY",
            help="Notifications: parquet, CSV, JSON lines or ORC; a file or a folder.",
        ),
    ],
    *,
    speed: Annotated[
        str,
        typer.Option(
            metavar="N|max",
            help="How many times as fast as it was; with --time.",
            autocompletion=one_of(MAX),
        ),
    ] = MAX,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="When each of them happened: a time, or a number of seconds.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help="So many at most."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first row that is bad.")
    ] = False,
    advertise: AdvertiseOption = None,
    timeout: TimeoutOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Publish what happened, in the order of the file; ends when the broker has it.

    With --speed 1 it takes as long as it took, with --speed 60 an hour is a minute.
    A row that is earlier than the one before it is published at once.  Rows that
    cannot be published are reported, counted and skipped.

    \b
    Exit codes: 0 all were published; 1 some were not; 2 misuse; 3 no broker answers;
    4 the time was over.

    \b
    Examples:
      siena replay flights.parquet
      siena replay flights.parquet --time time_hour --speed 3600
      siena replay trades.csv --time at --speed 1 --server siena://b1 --json
      siena replay trades.csv --advertise 'symbol any, price any, at any'
    """  # noqa: D301 -- Typer needs the backspace itself
    factor = _factor(speed, time)
    rows = read_history(history)
    advertisements = read_advertisements(advertise)
    deadline = Deadline(timeout)
    with (
        deadline.kept(),
        open_server(server, "siena replay", deadline) as client,
        advertised(client, advertisements, deadline),
    ):
        player = _Player(client, deadline, time, factor, strict=strict)
        if not player.run(rows, limit):
            # Inside: who leaves like this waits for nothing more.
            done = f"{player.published} published within {timeout:g} s"
            print(f"siena: error: {done}", file=sys.stderr)
            raise typer.Exit(EXIT_TIMEOUT)
    player.summarise(as_json=as_json)
    if player.bad:
        raise typer.Exit(EXIT_FAILURE)


def _factor(speed: str, time: str | None) -> float | None:
    """How much faster than it was; none for as fast as it goes."""
    if speed == MAX:
        return None
    try:
        factor = float(speed)
    except ValueError:
        factor = 0.0
    if not 0 < factor < float("inf"):
        raise typer.BadParameter("a number above 0, or max", param_hint="--speed")
    if time is None:
        raise typer.BadParameter(
            "say with --time when it happened", param_hint="--speed"
        )
    return factor


class _Player:
    """Publishes rows when it is their time."""

    def __init__(
        self,
        client: Client,
        deadline: Deadline,
        time: str | None,
        factor: float | None,
        *,
        strict: bool,
    ) -> None:
        self._client = client
        self._deadline = deadline
        self._time = time
        self._factor = factor
        self._is_strict = strict
        self._pile: list[dict[str, Value]] = []
        self._progress = Progress(sys.stderr)
        self._began = perf_counter()
        self._first: float | None = None
        self._at: Value | None = None
        self._number = 0
        self.published = 0
        self.bad = 0

    def run(self, rows: Iterator[object], limit: int | None) -> bool:
        """Publish all of them, or so many; whether the broker has them in time."""
        try:
            is_complete = self._play(rows, limit)
            self._flush()
        except TimeoutError:
            return False
        finally:
            self._progress.clear()
        return is_complete

    def _play(self, rows: Iterator[object], limit: int | None) -> bool:
        """Hand all of them to the client; whether there was time enough."""
        try:
            for row in rows:
                self._number += 1
                self._take(row)
                if self.published + len(self._pile) == limit:
                    break
                if self._deadline.is_over:
                    return False
        finally:
            self._send()
        return True

    def _take(self, row: object) -> None:
        try:
            if isinstance(row, SienaError):
                raise row
            assert hasattr(row, "items")
            notification = dict(row.items())
            if self._time is not None:
                self._wait_for(notification)
        except ConnectionLostError:  # of us, not of the row
            raise
        except SienaError as error:
            self._complain(error)
            return
        self._pile.append(notification)
        if len(self._pile) == PILE:
            self._send()

    def _wait_for(self, notification: dict[str, Value]) -> None:
        """Wait for the time of a row; what was before it is not kept waiting."""
        assert self._time is not None
        at = notification.get(self._time)
        if isinstance(at, datetime):
            seconds = at.timestamp()
        elif isinstance(at, int | float) and not isinstance(at, bool):
            seconds = float(at)
        else:
            raise SienaError(f"{self._time!r} is no time")
        self._at = at
        if self._factor is None:
            return
        if self._first is None:
            self._first = seconds
            self._began = perf_counter()
        due = self._began + (seconds - self._first) / self._factor
        if due > perf_counter():
            self._send()
            self._flush()
            pause, left_s = max(0.0, due - perf_counter()), self._deadline.left_s
            if left_s is not None and left_s < pause:
                sleep(left_s)
                raise TimeoutError
            sleep(pause)

    def _flush(self) -> None:
        """Wait until the broker has them; a moment, even if the time is over."""
        left_s = self._deadline.left_s
        self._client.flush(None if left_s is None else max(left_s, LEAVE_SECONDS))

    def _send(self) -> None:
        pile, self._pile = self._pile, []
        left_s = self._deadline.left_s
        self.published += self._client.publish_many(pile, timeout_s=left_s)
        at = "" if self._at is None else f", at {self._at}"
        self._progress.show(f"{self.published:,} published{at}")

    def _complain(self, error: SienaError) -> None:
        self.bad += 1
        if self._is_strict:
            raise SienaError(f"row {self._number}: {error}")
        if self.bad <= COMPLAINTS_MAX:
            self._progress.clear()
            print(f"siena: row {self._number}: {error}", file=sys.stderr)

    def summarise(self, *, as_json: bool) -> None:
        """Say what was done."""
        seconds = perf_counter() - self._began
        rate = self.published / max(seconds, 1e-9)
        if as_json:
            said = {
                "published": self.published,
                "bad": self.bad,
                "seconds": round(seconds, 3),
                "per_second": round(rate, 1),
            }
            print(json.dumps(said))
            return
        bad = f"; {self.bad:,} could not be" if self.bad else ""
        print(
            f"published {self.published:,} notifications in {seconds:.1f} s "
            f"({rate:,.0f} a second){bad}"
        )
