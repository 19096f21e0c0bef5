"""``siena rules diff``: what a change of a rule set would add and remove."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from siena.cli.common.progress import Progress
from siena.cli.rules.event_options import ManyOption
from siena.cli.rules.options import (
    DialectOption,
    JsonOption,
    LogsourceOption,
    PipelineOption,
    RenameOption,
    load,
    say_aside,
    settings_of,
)
from siena.lang.notification_form import notification_to_json
from siena.rules.comparing import Change, ChangeKind, compare_sets

EXIT_CHANGED = 1


def rules_diff(
    old: Annotated[Path, typer.Argument(help="The rules as they were.")],
    new: Annotated[Path, typer.Argument(help="The rules as they are now.")],
    *,
    show_all: Annotated[
        bool, typer.Option("--all", help="Also show the rules that are equal.")
    ] = False,
    dialect: DialectOption = None,
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: RenameOption = None,
    pipeline: PipelineOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two versions of a rule set by what the rules match, not by their text.

    Rules are compared by id.  The new version of a rule is wider, narrower, equal,
    disjoint or incomparable, each with an event that only one of them matches; or the
    rule was added or removed.  The exit code is 1 if anything differs.

    \b
    Examples:
      siena rules diff before/rules after/rules
      siena rules diff old.csv new.csv --json
    """  # noqa: D301 -- Typer needs the backspace itself
    settings = settings_of(many, logsource, rename, pipeline)
    before, after = load(old, dialect, settings), load(new, dialect, settings)
    say_aside((*before.set_aside, *after.set_aside))
    progress = Progress(sys.stderr)
    changes = list(
        compare_sets(
            before.rules,
            after.rules,
            lambda n, of: progress.show(f"comparing: {n:,} of {of:,} rules"),
            many=settings.many,
        )
    )
    progress.clear()
    counts = {
        kind.value: sum(change.kind is kind for change in changes)
        for kind in ChangeKind
    }
    if as_json:
        shown = [_form(c) for c in changes if show_all or _is_change(c)]
        print(json.dumps({"counts": counts, "changes": shown}))
    else:
        for change in changes:
            if show_all or _is_change(change):
                _show(change)
        print(", ".join(f"{n:,} {kind}" for kind, n in counts.items() if n) or "equal")
    if any(map(_is_change, changes)) or before.set_aside or after.set_aside:
        raise typer.Exit(EXIT_CHANGED)


def _is_change(change: Change) -> bool:
    return change.kind is not ChangeKind.EQUAL


def _show(change: Change) -> None:
    print(f"{change.rule}: {change.kind}")
    if change.gained is not None:
        print(f"  + {change.gained}")
    if change.lost is not None:
        print(f"  - {change.lost}")


def _form(change: Change) -> dict[str, Any]:
    found: dict[str, Any] = {"rule": change.rule, "change": change.kind.value}
    for key, event in (("gained", change.gained), ("lost", change.lost)):
        if event is not None:
            found[key] = notification_to_json(event)
    return found
