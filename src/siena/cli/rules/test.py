"""``siena rules test``: do rules fire at the events at which they should?"""

import json
from pathlib import Path
from typing import Annotated

import typer

from siena.cli.rules.event_options import ManyOption
from siena.cli.rules.options import (
    DialectOption,
    JsonOption,
    LogsourceOption,
    PipelineOption,
    RenameOption,
    RulesArgument,
    load,
    renamed,
    say_aside,
    settings_of,
)
from siena.errors import SienaError
from siena.rules import SetAside
from siena.rules.fixtures import Fixture, Outcome, load_fixtures, try_fixture

EXIT_WRONG = 1


def rules_test(
    rules: RulesArgument,
    fixtures: Annotated[
        Path,
        typer.Argument(
            help='Lines such as {"event": {…}, "fires": [ids], "silent": [ids]}, or a '
            "folder of events with an info.yml each, as SigmaHQ has them."
        ),
    ],
    *,
    dialect: DialectOption = None,
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: RenameOption = None,
    pipeline: PipelineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Try rules on events, and say where they do not do what they should.

    A fixture says which rules must fire at an event (fires), which must not (silent),
    or all that do (exactly).  Nested JSON is read by path (a.b), and events of Windows'
    log by the names that rules use; --rename says others.  The exit code is 1 if
    anything is wrong.

    \b
    Examples:
      siena rules test rules.csv events.ndjson
      siena rules test sigma/rules sigma/regression_data --logsource windows
    """  # noqa: D301 -- Typer needs the backspace itself
    found = load(rules, dialect, settings_of(many, logsource, rename, pipeline))
    outcomes: list[Outcome] = []
    bad: list[SetAside] = []
    for fixture in load_fixtures(fixtures, renamed(rename)):
        if isinstance(fixture, Fixture):
            outcomes.append(try_fixture(fixture, found.rules))
        else:
            bad.append(fixture)
    if not outcomes and not bad:
        raise SienaError(f"{fixtures}: there are no fixtures in it")
    wrong = [outcome for outcome in outcomes if not outcome.is_right]
    if as_json:
        _print_json(outcomes, wrong, bad)
    else:
        say_aside((*found.set_aside, *bad))
        for outcome in wrong:
            _show(outcome)
        right = len(outcomes) - len(wrong)
        print(
            f"{len(outcomes):,} events, {len(found.rules):,} rules: "
            f"{right:,} right, {len(wrong):,} wrong"
        )
    if wrong or bad:
        raise typer.Exit(EXIT_WRONG)


def _print_json(
    outcomes: list[Outcome], wrong: list[Outcome], bad: list[SetAside]
) -> None:
    answer = {
        "events": len(outcomes),
        "right": len(outcomes) - len(wrong),
        "wrong": [
            {
                "event": outcome.fixture.place,
                "missing": list(outcome.missing),
                "unwanted": list(outcome.unwanted),
                "unknown": list(outcome.unknown),
            }
            for outcome in wrong
        ],
        "bad": [{"place": each.place, "reason": each.reason} for each in bad],
    }
    print(json.dumps(answer))


def _show(outcome: Outcome) -> None:
    print(outcome.fixture.place)
    for label, ids in (
        ("should have fired", outcome.missing),
        ("should not have fired", outcome.unwanted),
        ("is not among the rules", outcome.unknown),
    ):
        for rule in ids:
            print(f"  ✗ {rule} {label}")
