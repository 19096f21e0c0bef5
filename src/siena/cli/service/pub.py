"""``siena pub``: publish from the command line, from a file or a pipe."""

import json
import random
import sys
from collections.abc import Iterator
from itertools import chain
from time import perf_counter, sleep
from typing import Annotated

import typer

from siena.block import Attributes
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
from siena.cli.common.notification_lines import lines_of, read_notification
from siena.cli.common.pairs import read_attributes
from siena.cli.common.progress import Progress
from siena.cli.common.templates import Template
from siena.client.blocking import Client
from siena.errors import RequestRefusedError, SienaError
from siena.model import Notification

STDIN = 0
# So many are handed to the client at a time.
BATCH = 1_000
# Notifications; ``None`` stands where the next may take a while.
Source = Iterator[Attributes | None]


def pub(
    attributes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME=VALUE…",
            help="The attributes, or one JSON object; without any, standard input has "
            "a notification on each line, as text or JSON.",
            show_default=False,
        ),
    ] = None,
    *,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            "-n",
            min=1,
            help="How many: 1, or all lines of standard input.",
            show_default=False,
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0.001, help="So many a second.", show_default=False),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(help="Decides what {random} gives.", show_default=False),
    ] = None,
    ack: Annotated[
        bool,
        typer.Option(
            "--ack",
            help="Wait until the broker has them on its disk; what is lost on the way "
            "is sent again. The broker needs a log (siena serve --log DIR).",
        ),
    ] = False,
    advertise: AdvertiseOption = None,
    timeout: TimeoutOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first line that is bad.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not say what was published.")
    ] = False,
) -> None:
    """Publish a notification, or many; ends when the broker has them.

    Values are written as in the language: numbers, true and false, times such as
    2026-11-15T02:40:03Z, words, and "anything else" in quotes of its own.  With
    --count, {i} counts from 1, {random} is a number from 0 to 1, {random:1:6} one from
    1 to 6, {choice:a|b} one of these, {now} the time.  A line of standard input that
    cannot be read is reported with its number and skipped.  A terminal is told what was
    published; who gets it is not told, but see siena trace and siena why.

    \b
    Exit codes: 0 all were published; 1 some were not; 2 misuse; 3 no broker answers;
    4 the time was over.

    \b
    Examples:
      siena pub symbol=DIS change=-4
      siena pub 'text="two words"' urgent=true
      siena pub 'symbol={choice:DIS|MSFT}' 'price={random:90:110}' --count 100 --rate 10
      siena flights --limit 1000 | siena pub
      siena pub order=4711 total=12.5 --ack
      siena pub what=alarm level=5 --advertise 'what = alarm, integer level any'
    """  # noqa: D301 -- Typer needs the backspace itself
    chance = random.Random(seed)
    advertisements = read_advertisements(advertise)
    deadline = Deadline(timeout)
    source = _Lines(deadline, strict=strict)
    if attributes:
        notifications = _from_arguments(attributes, count or 1, chance)
    else:
        notifications = _first(source.read(), count)
        if sys.stdin.isatty():
            hint = "one notification on each line; Ctrl-D ends"
            print(f"siena: {hint}", file=sys.stderr)
    with deadline.kept(), open_server(server, "siena pub", deadline) as client:
        publisher = _Publisher(client, deadline, ack=ack)
        with advertised(client, advertisements, deadline):
            is_complete = publisher.run(notifications, rate)
            is_confirmed = publisher.flush()
            if as_json:
                print(json.dumps(publisher.told | {"bad": source.bad}))
            elif not quiet and is_confirmed and sys.stderr.isatty():
                print(f"siena: {publisher.said} at {client.url}", file=sys.stderr)
            if not (is_complete and is_confirmed):
                # Inside: who leaves like this waits for nothing more.
                done = f"{publisher.published} published within {timeout:g} s"
                if not is_confirmed:
                    done += f", of which {client.url} has not said that it has them"
                print(f"siena: error: {done}", file=sys.stderr)
                raise typer.Exit(EXIT_TIMEOUT)
    if source.bad:
        raise typer.Exit(EXIT_FAILURE)


class _Publisher:
    """Publishes at full speed, or at a rate."""

    def __init__(self, client: Client, deadline: Deadline, *, ack: bool) -> None:
        self._client = client
        self._ack = ack
        self.offset: int | None = None
        self._deadline = deadline
        self._progress = Progress(sys.stderr)
        self.published = 0
        self._last: Attributes = {}

    @property
    def said(self) -> str:
        """What was published, for a person."""
        stored = ", and on the disk" if self._ack else ""
        if self.published == 1:
            where = "" if self.offset is None else f" as offset {self.offset}"
            return f"published {Notification(self._last)}{stored}{where}"
        return f"{self.published:,} published{stored}"

    @property
    def told(self) -> dict[str, int | None]:
        """What was published, for a program."""
        told: dict[str, int | None] = {"published": self.published}
        if self._ack and self.published == 1:
            told["offset"] = self.offset
        return told

    def run(
        self, notifications: Iterator[Attributes | None], rate: float | None
    ) -> bool:
        """Publish all of them; whether there was time enough."""
        start = perf_counter()
        try:
            for batch in _batches(notifications, BATCH if rate is None else 1):
                if rate is not None:
                    self._wait_until(start + self.published / rate)
                if self._deadline.is_over:
                    return False
                self._publish(batch)
                self.published += len(batch)
                self._last = batch[-1]
                self._progress.show(f"{self.published:,} published")
        except TimeoutError:
            return False
        finally:
            self._progress.clear()
        return True

    def flush(self) -> bool:
        """Wait until the broker has them; whether it says so.

        If the time is over, for a moment: a broker that is there has them.
        """
        left_s = self._deadline.left_s
        try:
            self._client.flush(None if left_s is None else max(left_s, LEAVE_SECONDS))
        except RequestRefusedError:  # the client's log has said it when it came
            raise typer.Exit(EXIT_FAILURE) from None
        except TimeoutError:
            return False
        return True

    def _publish(self, batch: list[Attributes]) -> None:
        left_s = self._deadline.left_s
        if self._ack and len(batch) == 1:
            self.offset = self._client.publish(batch[0], ack=True, timeout_s=left_s)
        else:
            self._client.publish_many(batch, ack=self._ack, timeout_s=left_s)

    def _wait_until(self, when: float) -> None:
        """Wait for the moment, or for the end."""
        pause, left_s = max(0.0, when - perf_counter()), self._deadline.left_s
        sleep(pause if left_s is None else min(pause, left_s))


def _batches(notifications: Source, size: int) -> Iterator[list[Attributes]]:
    """Up to so many at a time, and fewer where the next may take a while."""
    batch: list[Attributes] = []
    try:
        for notification in notifications:
            if notification is not None:
                batch.append(notification)
            if batch and (notification is None or len(batch) >= size):
                yield batch
                batch = []
    except SienaError:  # with a bad line, too: what came before it is published
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _first(notifications: Source, count: int | None) -> Source:
    """So many of them."""
    if count is None:
        yield from notifications
        return
    for notification in notifications:
        yield notification
        count -= notification is not None
        if count == 0:
            return


def _from_arguments(arguments: list[str], count: int, chance: random.Random) -> Source:
    """The notifications that the arguments describe; mistakes are found at once."""
    templates = [Template(argument, chance) for argument in arguments]
    first = _notification(templates, 1)
    if all(template.is_constant for template in templates):
        return iter([first] * count)
    rest = (_notification(templates, number) for number in range(2, count + 1))
    return chain([first], rest)


def _notification(templates: list[Template], number: int) -> Notification:
    return read_attributes(template.fill(number) for template in templates)


class _Lines:
    """Notifications from the lines of standard input."""

    def __init__(self, deadline: Deadline, *, strict: bool) -> None:
        self._deadline = deadline
        self._strict = strict
        self._number = 0
        self.bad = 0

    def read(self) -> Source:
        """Those that can be read."""
        for lines in lines_of(STDIN, lambda: self._deadline.left_s):
            for line in lines:
                self._number += 1
                if line and not line.isspace():
                    try:
                        yield read_notification(line)
                    except SienaError as error:
                        self._report(error)
            yield None

    def _report(self, error: SienaError) -> None:
        self.bad += 1
        if self._strict:
            raise SienaError(f"line {self._number}: {error}")
        print(f"siena: line {self._number}: {error}", file=sys.stderr)
