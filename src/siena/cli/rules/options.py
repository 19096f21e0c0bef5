"""Options of all commands about rule sets, and how a set is loaded for them."""

import gc
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from siena.cli.common.progress import Progress
from siena.cli.rules.workers import JOBS_MAX, share_of
from siena.cli.terminal.completion import LOG_SOURCES, dialects, one_of
from siena.dialects import check_pipeline
from siena.errors import SienaError
from siena.rules import ReadRule, RuleSettings, SetAside, load_rules, read_rules

RulesArgument = Annotated[
    Path,
    typer.Argument(
        help="A folder, or a file: Sigma rules (.yml), CSV or NDJSON with the columns "
        "id, dialect, text, severity, enabled, version.",
        show_default=False,
    ),
]
DialectOption = Annotated[
    str | None,
    typer.Option(
        help="The dialect of rules that name none; files such as .json and .sql are "
        "then rules, too.",
        show_default=False,
        autocompletion=dialects,
    ),
]
LogsourceOption = Annotated[
    str,
    typer.Option(
        help="Where Sigma's log sources are found: attributes (logsource.product and "
        "so on), windows (channel and number of an event), none.",
        autocompletion=one_of(*LOG_SOURCES),
    ),
]
RenameOption = Annotated[
    list[str] | None,
    typer.Option(
        help="FIELD=ATTRIBUTE: an attribute that rules, or events, call otherwise; as "
        "often as needed.",
        show_default=False,
    ),
]
FieldsOption = Annotated[
    list[str] | None,
    typer.Option(
        help="FIELD=ATTRIBUTE: an attribute that fields of Sigma's rules call "
        "otherwise; as often as needed.",
        show_default=False,
    ),
]
PipelineOption = Annotated[
    Path | None,
    typer.Option(
        help="A processing pipeline of pySigma's, in YAML, for Sigma's rules.",
        show_default=False,
    ),
]
JobsOption = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=JOBS_MAX,
        help="How many processes share the work on a large set; without it, one for "
        "each processor core. The answer is the same.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


@dataclass(frozen=True, slots=True)
class Loaded:
    """The rules of a set that can be read, and what was put aside."""

    rules: tuple[ReadRule, ...]
    set_aside: tuple[SetAside, ...]


def renamed(pairs: list[str] | None) -> dict[str, str]:
    """The pairs of ``--rename``."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, sign, other = pair.partition("=")
        if not sign or not name or not other:
            raise SienaError(f'"{pair}" is no FIELD=ATTRIBUTE')
        found[name] = other
    return found


def settings_of(
    many: list[str] | None,
    logsource: str,
    rename: list[str] | None,
    pipeline: Path | None,
) -> RuleSettings:
    """How rules are read, from the options.

    Raises:
        SienaError: if they say what cannot be.
    """
    if logsource not in LOG_SOURCES:
        raise SienaError(f'"{logsource}" is no log source', hint=" ".join(LOG_SOURCES))
    found = RuleSettings(frozenset(many or ()), logsource, renamed(rename), pipeline)
    text = found.pipeline_text()
    if text is not None:
        check_pipeline(text)
    return found


def load(
    path: Path, dialect: str | None, settings: RuleSettings, *, jobs: int | None = None
) -> Loaded:
    """The enabled rules of a set, read; with progress on a terminal."""
    found = load_rules(path, dialect=dialect)
    progress = Progress(sys.stderr)
    rules: list[ReadRule] = []
    aside = list(found.set_aside)
    enabled = found.enabled
    reading = read_rules(enabled, settings, share=share_of(len(enabled), jobs))
    for number, read in enumerate(reading, start=1):
        if isinstance(read, SetAside):
            aside.append(read)
        else:
            rules.append(read)
        progress.show(f"reading: {number:,} of {len(enabled):,} rules")
    progress.clear()
    # Hundreds of thousands of values that stay: the collector need not walk them.
    gc.freeze()
    return Loaded(tuple(rules), tuple(aside))


def say_aside(aside: tuple[SetAside, ...], shown: int = 10) -> None:
    """What was put aside, on stderr."""
    for place, reason, rule in aside[:shown]:
        where = reason if rule and reason.startswith(rule) else f"{place}: {reason}"
        print(f"siena: put aside: {where}", file=sys.stderr)
    if len(aside) > shown:
        print(f"siena: … and {len(aside) - shown:,} more", file=sys.stderr)
