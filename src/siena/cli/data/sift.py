"""``siena sift``: who wants each of these notifications?"""

import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from siena.cli.common.notification_lines import lines_of, read_notification, text_of
from siena.cli.common.progress import Progress
from siena.cli.common.subscriptions import read_subscriptions
from siena.cli.data.matchers import SIEVES, Notifications, SeveralSieve, Sieve
from siena.cli.rules.event_options import ManyOption, NestedOption
from siena.cli.terminal.completion import dialects, one_of
from siena.errors import SienaError
from siena.matching import COMPILED
from siena.model import Filter, Predicate, Value
from siena.model.expression.residual import ResidualPredicate
from siena.rules.events import Nested, checked_nested, read_nested, read_several

STDIN = 0


def sift(
    notifications: Annotated[
        Path | None,
        typer.Argument(
            help="A file with a notification on each line, as JSON object or text; "
            "standard input if there is none.",
            show_default=False,
        ),
    ] = None,
    *,
    subscriptions: Annotated[
        Path,
        typer.Option(
            "--subscriptions",
            "-s",
            help='A file with {"subscriber": …, "filter": …} on each line, or CSV with '
            "these two columns.",
            show_default=False,
        ),
    ],
    dialect: Annotated[
        str | None,
        typer.Option(
            help="The language of the filters, if it is another: sql, eventbridge, "
            "cesql, …; a line may name its own as dialect.",
            show_default=False,
            autocompletion=dialects,
        ),
    ] = None,
    many: ManyOption = None,
    nested: NestedOption = None,
    matcher: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(SIEVES)}; all give the same answers.",
            autocompletion=one_of(*SIEVES),
        ),
    ] = "engine",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each line.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first line that is bad.")
    ] = False,
) -> None:
    """Say for each notification who wants it.

    Notifications are read line by line and answered as they come, so a stream that
    never ends can be sifted too.  With --json an answer is an object, such as
    {"line": 1, "subscribers": ["alice", "bob"]}.  A line that cannot be read is
    reported on stderr with its number and skipped, and so is an empty one, in silence.
    A summary follows at the end, also after Ctrl-C.  If no line at all could be read,
    the exit code is 2.

    \b
    Examples:
      siena sift flights.ndjson --subscriptions subscriptions.csv
      siena sift events.ndjson -s selectors.csv --dialect sql
      siena sift trail.ndjson -s subscriptions.csv --nested --many detail.tags
      tail -f events.ndjson | siena sift -s subscriptions.ndjson --json
    """  # noqa: D301 -- Typer needs the backspace itself
    if matcher not in SIEVES:
        raise SienaError(
            f"{matcher!r} is not a matcher", hint=f"one of {', '.join(SIEVES)}"
        )
    several = frozenset(many or ())
    read = _reader(several, checked_nested(nested))
    if read is not read_notification and matcher != "engine":
        raise SienaError(
            f"the matcher {matcher!r} knows one value of each attribute",
            hint="--matcher engine, for --nested and --many",
        )
    sieve = SIEVES[matcher]() if read is read_notification else SeveralSieve(several)
    sifter = _Sifter(sieve, read, as_json=as_json, strict=strict)
    sifter.subscribe(subscriptions, dialect, several)
    if matcher in {"engine", "counting"} and not COMPILED:
        print("siena: warning: the kernels are not compiled", file=sys.stderr)
    if notifications is None:
        sifter.run(STDIN)
    else:
        with notifications.open("rb") as source:
            sifter.run(source.fileno())


Read = Callable[[bytes], Mapping[str, Any]]


def _reader(many: frozenset[str], nested: Nested | None) -> Read:
    """What reads a line."""
    if not many and nested is None:
        return read_notification

    def read(line: bytes) -> Mapping[str, Any]:
        text = text_of(line)
        if text.lstrip()[:1] not in {"{", "["}:
            return read_notification(line)
        return read_several(text, many) if nested is None else read_nested(text, nested)

    return read


@dataclass(slots=True)
class _Tally:
    lines: int = 0
    wanted: int = 0
    deliveries: int = 0
    bad: int = 0
    good: int = 0

    def __str__(self) -> str:
        return (
            f"{self.lines:,} lines, {self.wanted:,} wanted, "
            f"{self.deliveries:,} deliveries, {self.bad:,} bad"
        )


class _Sifter:
    """Subscribers in a sieve, and what has gone through it so far."""

    def __init__(
        self, sieve: Sieve, read: Read, *, as_json: bool, strict: bool
    ) -> None:
        self.sieve = sieve
        self.read = read
        self.strict = strict
        self.spell = json.dumps if as_json else _visible
        self.form = '{{"line": {}, "subscribers": [{}]}}\n' if as_json else "{}: {}\n"
        # As they are printed, in the order in which they are printed.
        self.subscribers: list[str] = []
        # If there are residuals: whose subscription it is, by its number, and those
        # that have one.  Else the sieve knows subscribers only.
        self.owners: list[int] = []
        self.residuals: dict[int, ResidualPredicate] = {}
        self.tally = _Tally()
        self.progress = Progress(sys.stderr)

    def subscribe(self, path: Path, dialect: str | None, many: frozenset[str]) -> None:
        subscriptions = list(read_subscriptions(path, dialect, many))
        names = sorted({subscription.subscriber for subscription in subscriptions})
        numbers = {name: number for number, name in enumerate(names)}
        self.residuals = {
            number: interest
            for number, (_, interest) in enumerate(subscriptions)
            if isinstance(interest, ResidualPredicate)
        }
        for number, (name, interest) in enumerate(subscriptions):
            if self.residuals:
                self.owners.append(numbers[name])
                self.sieve.add(number, _cover(interest))
            else:
                self.sieve.add(numbers[name], interest)
        self.subscribers = [self.spell(name) for name in names]

    def run(self, source: int) -> None:
        """Sift until the end, until the first bad line or until interrupted."""
        start = perf_counter()
        try:
            for lines in lines_of(source):
                for i in range(0, len(lines), self.sieve.batch):
                    self._sift(lines[i : i + self.sieve.batch])
        except (KeyboardInterrupt, SienaError):
            self._sum_up(start)  # who ends a stream that never ends wants it, too
            raise
        self._sum_up(start)
        if self.tally.bad and not self.tally.good:
            raise SienaError(
                "no line is a notification",
                hint='a line is JSON, {"x": 1}, or text, x = 1; siena match reads CSV',
            )

    def _sift(self, lines: Sequence[bytes]) -> None:
        numbers: list[int] = []
        notifications: list[Mapping[str, Any]] = []
        try:
            for line in lines:
                self.tally.lines += 1
                if not line or line.isspace():
                    continue  # as at the end of many files
                try:
                    notifications.append(self.read(line))
                except SienaError as error:
                    self._report(error, self.tally.lines)
                else:
                    numbers.append(self.tally.lines)
                    self.tally.good += 1
        finally:  # with a bad line, too: what came before it has its answers
            self._answer(numbers, notifications)

    def _answer(self, numbers: list[int], notifications: Notifications) -> None:
        answers: list[str] = []
        wanted = self.sieve.who_wants(notifications) if notifications else ()
        bad = self.sieve.reasons if isinstance(self.sieve, SeveralSieve) else {}
        try:
            for place, (number, notification, found) in enumerate(
                zip(numbers, notifications, wanted, strict=True)
            ):
                if place in bad:
                    self.tally.good -= 1
                    self._report(SienaError(bad[place]), number)
                    continue
                who = self._decided(found, notification) if self.residuals else found
                self.tally.wanted += bool(who)
                self.tally.deliveries += len(who)
                names = ", ".join([self.subscribers[n] for n in sorted(who)])
                answers.append(self.form.format(number, names))
        finally:  # with a bad line, too
            self.progress.clear()
            sys.stdout.write("".join(answers))
            sys.stdout.flush()
        self.progress.show(str(self.tally))

    def _decided(
        self, found: Collection[int], notification: Mapping[str, Value]
    ) -> Collection[int]:
        """Whose subscriptions these are, without those whose residual does not hold."""
        return {
            self.owners[number]
            for number in found
            if number not in self.residuals
            or self.residuals[number].lets_through(notification)
        }

    def _report(self, error: SienaError, line: int) -> None:
        self.tally.bad += 1
        if self.strict:
            raise SienaError(f"line {line}: {error}")
        self.progress.clear()
        print(f"siena: line {line}: {error}", file=sys.stderr)

    def _sum_up(self, start: float) -> None:
        rate = self.tally.lines / max(perf_counter() - start, 1e-9)
        self.progress.clear()
        print(f"{self.tally}, {rate:,.0f} lines/s", file=sys.stderr)


def _cover(interest: Filter | Predicate) -> Filter | Predicate:
    return interest.cover if isinstance(interest, ResidualPredicate) else interest


def _visible(name: str) -> str:
    """A name that stays on its line."""
    return name if name.isprintable() else json.dumps(name)
