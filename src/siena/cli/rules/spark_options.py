"""What commands that put rules on Spark have in common."""

import re
import sys
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from siena.cli.terminal.completion import dialects
from siena.errors import SienaError

if TYPE_CHECKING:
    from siena.rules.entry import SetAside
    from siena.spark.rules import LiveRules, Suppression

# What was put aside that is said one by one; --json has it all.
ASIDE_SHOWN = 10
_SPAN = re.compile(r"([0-9]+)(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

RulesPath = Annotated[
    Path,
    typer.Argument(
        metavar="RULES",
        help="Rules in CSV, JSON lines or parquet, with the columns id and text, and "
        "perhaps dialect, severity, enabled and version; Sigma's YAML; a folder of "
        "such files; or one of siena rules publish.",
    ),
]
Events = Annotated[
    Path,
    typer.Argument(
        metavar="EVENTS",
        help="Parquet, CSV, JSON lines, ORC or Delta: a file, or a folder of files.",
    ),
]
Dialect = Annotated[
    str,
    typer.Option(
        help="The dialect of rules that name none; see siena translate.",
        autocompletion=dialects,
    ),
]
Column = Annotated[
    str | None,
    typer.Option(
        help="The one column that is the whole event: JSON, map, variant or struct.",
        show_default=False,
    ),
]


def live_rules(path: Path) -> "LiveRules | None":
    """The live rules of a folder, if it is one of those."""
    from siena.spark.rules import LiveRules

    if path.is_dir():
        rules = LiveRules(path)
        return rules if rules.revisions() else None
    return None


def read_span(text: str) -> timedelta:
    """A span of time.

    >>> print(read_span("90m"))
    1:30:00
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        raise SienaError(f"{text!r} is no span of time", hint="30s, 5m, 2h or 1d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def read_suppression(text: str | None) -> "Suppression | None":
    """What is to be suppressed: ``host,user:5m``."""
    from siena.spark.rules import Suppression

    if text is None:
        return None
    names, _, span = text.rpartition(":")
    if not names:
        raise SienaError(
            f"{text!r} does not say by what", hint="columns and a span: host,user:5m"
        )
    return Suppression(tuple(names.split(",")), read_span(span))


def say_aside(rejects: "Iterable[SetAside]") -> int:
    """Say what was put aside; how many that were."""
    found = list(rejects)
    for aside in found[:ASIDE_SHOWN]:
        print(f"siena: set aside: {aside.place}: {aside.reason}", file=sys.stderr)
    if len(found) > ASIDE_SHOWN:
        more = len(found) - ASIDE_SHOWN
        print(f"siena: and {more:,} more were set aside", file=sys.stderr)
    return len(found)
