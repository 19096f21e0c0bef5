"""``siena sift``: who wants each of these notifications?"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.subscriptions import read_subscriptions
from siena.errors import LimitError, SienaError
from siena.lang.parser import parse_notification
from siena.matching import COMPILED
from siena.matching.matcher import Matcher
from siena.model import Notification

# One line of input; what is longer is refused and skipped.
LINE_BYTES_MAX = 4 * 1_048_576
# What is read at a time: lines that are there are matched together, and none waits.
CHUNK_BYTES = 65_536


def _engine() -> Matcher:
    from siena.matching.table import ForwardingTable

    return ForwardingTable()


def _counting() -> Matcher:
    from siena.matching.counting import CountingMatcher

    return CountingMatcher()


def _tree() -> Matcher:
    from siena.matching.tree import TreeMatcher

    return TreeMatcher()


def _poset() -> Matcher:
    from siena.matching.poset_matcher import PosetMatcher

    return PosetMatcher()


def _reference() -> Matcher:
    from siena.matching.reference import ReferenceMatcher

    return ReferenceMatcher()


MATCHERS: dict[str, Callable[[], Matcher]] = {
    "engine": _engine,
    "counting": _counting,
    "tree": _tree,
    "poset": _poset,
    "reference": _reference,
}


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
    matcher: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(MATCHERS)}; all give the same answers."),
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
    never ends can be sifted too.  A line that cannot be read is reported with its
    number and skipped.

    \b
    Examples:
      siena sift flights.ndjson --subscriptions subscriptions.csv
      tail -f events.ndjson | siena sift -s subscriptions.ndjson --json
    """  # noqa: D301 -- Typer needs the backspace itself
    if matcher not in MATCHERS:
        raise SienaError(
            f"{matcher!r} is not a matcher", hint=f"one of {', '.join(MATCHERS)}"
        )
    sifter = _Sifter(MATCHERS[matcher](), as_json=as_json, strict=strict)
    sifter.subscribe(subscriptions)
    if matcher in {"engine", "counting"} and not COMPILED:
        print("siena: warning: the kernels are not compiled", file=sys.stderr)
    if notifications is None:
        sifter.run(sys.stdin.fileno())
    else:
        with notifications.open("rb") as source:
            sifter.run(source.fileno())


@dataclass(slots=True)
class _Tally:
    lines: int = 0
    bad: int = 0
    wanted: int = 0
    deliveries: int = 0


class _Sifter:
    """Subscribers in a matcher, and what has been sifted so far."""

    def __init__(self, matcher: Matcher, *, as_json: bool, strict: bool) -> None:
        self.matcher = matcher
        self.as_json = as_json
        self.strict = strict
        self.subscribers: list[str] = []
        self.tally = _Tally()

    def subscribe(self, path: Path) -> None:
        numbers: dict[str, int] = {}
        for subscriber, interest in read_subscriptions(path):
            number = numbers.setdefault(subscriber, len(numbers))
            self.matcher.add(number, interest)
        self.subscribers = list(numbers)

    def run(self, source: int) -> None:
        """Sift until the end, and say how it went."""
        start = perf_counter()
        shows_progress = sys.stderr.isatty()
        for lines in _chunks(source):
            for line in lines:
                self._sift(line)
            sys.stdout.flush()
            if shows_progress:
                print(f"\r{self._summary()}", end="", file=sys.stderr, flush=True)
        rate = self.tally.lines / max(perf_counter() - start, 1e-9)
        end = "\r" if shows_progress else ""
        print(f"{end}{self._summary()}, {rate:,.0f} lines/s", file=sys.stderr)

    def _sift(self, line: bytes) -> None:
        self.tally.lines += 1
        try:
            wanted = self.matcher.match(_read(line))
        except SienaError as error:
            self._report(error)
            return
        names = sorted(self.subscribers[number] for number in wanted)
        self.tally.wanted += bool(names)
        self.tally.deliveries += len(names)
        if self.as_json:
            print(json.dumps({"line": self.tally.lines, "subscribers": names}))
        else:
            print(f"{self.tally.lines}: {', '.join(names)}")

    def _report(self, error: SienaError) -> None:
        self.tally.bad += 1
        if self.strict:
            raise SienaError(f"line {self.tally.lines}: {error}")
        if self.as_json:
            print(json.dumps({"line": self.tally.lines, "error": str(error)}))
        print(f"siena: line {self.tally.lines}: {error}", file=sys.stderr)

    def _summary(self) -> str:
        tally = self.tally
        return (
            f"{tally.lines:,} lines, {tally.wanted:,} wanted, "
            f"{tally.deliveries:,} deliveries, {tally.bad:,} bad"
        )


def _read(line: bytes) -> Notification:
    if len(line) > LINE_BYTES_MAX:
        raise LimitError("LINE_BYTES_MAX", LINE_BYTES_MAX, "bytes in a line")
    try:
        return parse_notification(line.decode())
    except UnicodeDecodeError as error:
        raise SienaError(f"byte {error.start + 1} is not UTF-8") from None


def _chunks(source: int) -> Iterator[list[bytes]]:
    """The lines, as many at a time as are there; of a long one, enough to refuse it."""
    rest = b""
    while chunk := os.read(source, CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > 2 * LINE_BYTES_MAX:
            rest = rest[: LINE_BYTES_MAX + 1]
        yield lines
    if rest:
        yield [rest]
