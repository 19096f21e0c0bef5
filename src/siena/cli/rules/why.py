"""``siena rules why``: which rules fire at an event, by what, and which almost did."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

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
from siena.model.expression import spell_expression
from siena.model.spelling import spell, spell_string
from siena.rules.events import Event, read_event
from siena.rules.firing import Firing, almost, fired

EXIT_NONE = 1
# An event in a file.
EVENT_BYTES_MAX = 4 * 1_048_576


def rules_why(
    rules: RulesArgument,
    event: Annotated[
        str,
        typer.Argument(
            help="The event: JSON, our notation (x = 1, y = two), a file with it, or - "
            "for standard input."
        ),
    ],
    *,
    near: Annotated[
        int,
        typer.Option(min=0, max=1_000, help="How many that almost fired are shown."),
    ] = 5,
    dialect: DialectOption = None,
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: RenameOption = None,
    pipeline: PipelineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which rules fire at an event, by which constraints, and which almost did.

    Rules that almost fire lack the fewest constraints.  The exit code is 0 if a rule
    fires, 1 if none does.

    \b
    Examples:
      siena rules why rules.csv 'symbol = DIS, change = -4'
      siena rules why sigma/rules event.json --logsource windows --near 10
    """  # noqa: D301 -- Typer needs the backspace itself
    given = read_event(_text(event), renamed(rename))
    found = load(rules, dialect, settings_of(many, logsource, rename, pipeline))
    say_aside(found.set_aside, shown=3)
    firing = sorted(fired(found.rules, given), key=lambda each: each.rank)
    nearly = almost(found.rules, given, near)
    if as_json:
        answer = {
            "fires": [_form(each, given) for each in firing],
            "almost": [_form(each, given) for each in nearly],
        }
        print(json.dumps(answer))
    else:
        print(f"{len(firing):,} of {len(found.rules):,} rules fire")
        for each in firing:
            _show(each, given)
        if nearly:
            print("almost:")
            for each in nearly:
                _show(each, given)
    if not firing:
        raise typer.Exit(EXIT_NONE)


def _show(firing: Firing, event: Event) -> None:
    entry = firing.rule.entry
    print(f"  {entry.id}  {entry.title}".rstrip())
    for constraint, holds in zip(firing.filter, firing.held, strict=True):
        value = _value(event, constraint.name)
        print(f"    {'✓' if holds else '✗'} {constraint}    {value}")
    if firing.residual is not None:
        assert firing.rule.rule.residual is not None
        text = spell_expression(firing.rule.rule.residual)
        print(f"    {'✓' if firing.residual else '✗'} if {text}")


def _form(firing: Firing, event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {
        "rule": firing.rule.id,
        "severity": firing.rule.entry.severity,
        "constraints": [
            {
                "constraint": str(constraint),
                "holds": holds,
                "found": _value(event, constraint.name),
            }
            for constraint, holds in zip(firing.filter, firing.held, strict=True)
        ],
    }
    if firing.residual is not None:
        assert firing.rule.rule.residual is not None
        found["residual"] = spell_expression(firing.rule.rule.residual)
        found["residual_holds"] = firing.residual
    return found


def _value(event: Event, name: str) -> str:
    value = event.get(name)
    if value is None:
        return f"no {spell_string(name)}"
    values = value if isinstance(value, tuple) else (value,)
    return f"{spell_string(name)} = {', '.join(map(spell, values))}"


def _text(event: str) -> str:
    if event == "-":
        if sys.stdin is None:
            raise SienaError("there is no standard input to read")
        return sys.stdin.read(EVENT_BYTES_MAX)
    if len(event) > 255 or "\n" in event or event.lstrip().startswith("{"):
        return event
    path = Path(event)
    if not path.is_file():
        return event
    if path.stat().st_size > EVENT_BYTES_MAX:
        raise SienaError(f"{event} is longer than an event may be")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SienaError(f"{event} is not a text in UTF-8") from None
