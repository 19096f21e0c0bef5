"""``siena rules review``: what is dead, equal or shadowed in a set, with proofs."""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.common.progress import Progress
from siena.cli.rules.event_options import ManyOption
from siena.cli.rules.options import (
    DialectOption,
    JobsOption,
    JsonOption,
    LogsourceOption,
    PipelineOption,
    RenameOption,
    RulesArgument,
    load,
    settings_of,
)
from siena.cli.rules.workers import share_of
from siena.cli.terminal.completion import one_of
from siena.errors import SienaError
from siena.rules.review import Finding, FindingKind, Review, review_rules

EXIT_FOUND = 1
# What a person is shown of each kind; --json and --html have more.
FINDINGS_SHOWN = 20
_QUIET = {FindingKind.RESIDUAL, FindingKind.UNDECIDED}


def rules_review(
    rules: RulesArgument,
    *,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a report with a graph of covering here.", show_default=False
        ),
    ] = None,
    overlaps: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Also find the rules that have an event in common with this one; as "
            "often as needed.",
            show_default=False,
        ),
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="Show all findings, and every proof.")
    ] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            help="Findings that do not matter to the exit code: unreadable, dead, "
            "equal, shadowed; as often as needed.",
            show_default=False,
            autocompletion=one_of(*FindingKind),
        ),
    ] = None,
    dialect: DialectOption = None,
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: RenameOption = None,
    pipeline: PipelineOption = None,
    jobs: JobsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find rules that are dead, equal to others, or shadowed by them, with proofs.

    A rule is shadowed if wherever it fires another one does, or one of several does.
    Each finding has its proof, constraint by constraint, and an event that shows it.
    The exit code is 0 if there is nothing of that, 1 if there is (a rule that cannot be
    read counts, too), 2 if there are no rules.  Rules with a residual are listed, for
    they are compared by their filters.  Disabled rules are left out.

    \b
    Examples:
      siena rules review sigma/rules
      siena rules review rules.csv --html review.html
      siena rules review sigma/rules --json | jq .counts
      siena rules review rules.ndjson --overlaps rule-17
    """  # noqa: D301 -- Typer needs the backspace itself
    ignored = _kinds(ignore)
    start = perf_counter()
    found = load(
        rules, dialect, settings_of(many, logsource, rename, pipeline), jobs=jobs
    )
    ids = {read.id for read in found.rules}
    for wanted in overlaps or ():
        if wanted not in ids:
            raise SienaError(f'there is no rule "{wanted}" in {rules}')
    progress = Progress(sys.stderr)
    review = review_rules(
        found.rules,
        found.set_aside,
        overlaps_of=overlaps or (),
        share=share_of(len(found.rules), jobs),
        on_progress=lambda n, of: progress.show(f"reviewing: {n:,} of {of:,} rules"),
    )
    progress.clear()
    seconds = perf_counter() - start
    if html is not None:
        from siena.rules.report import review_page

        # No time in it: the same rules give the same report, byte for byte.
        footer = f"siena rules review {rules}"
        html.write_text(review_page(review, str(rules), footer), encoding="utf-8")
    if as_json:
        print(json.dumps(review.to_json()))
    else:
        _show(review, seconds, show_all=show_all)
        if html is not None:
            print(f"the report is in {html}", file=sys.stderr)
    if any(finding.kind not in ignored for finding in review.faults()):
        raise typer.Exit(EXIT_FOUND)


def _kinds(names: list[str] | None) -> set[FindingKind]:
    try:
        return {FindingKind(name) for name in names or ()}
    except ValueError as error:
        hint = "findings are " + ", ".join(FindingKind)
        raise SienaError(str(error), hint=hint) from None


def _show(review: Review, seconds: float, *, show_all: bool) -> None:
    titles = {e.id: _title(e.id, e.title) for e in review.entries}
    names = review.names
    for kind in FindingKind:
        found = [f for f in review.findings if f.kind is kind]
        if not found or (kind in _QUIET and not show_all):
            continue
        print(f"{kind.value} ({len(found):,})")
        shown = found if show_all else found[:FINDINGS_SHOWN]
        for finding in shown:
            _show_finding(finding, titles, names, show_all=show_all)
        if len(found) > len(shown):
            print(f"  … and {len(found) - len(shown):,} more (--all, --json, --html)")
    counts = ", ".join(f"{n:,} {kind}" for kind, n in review.counts().items() if n)
    pairs = f"{len(review.pairs):,} covering pairs"
    print(
        f"{len(review.entries):,} rules: {counts or 'nothing found'}; {pairs}; "
        f"{review.needed:,} fire alone at some event ({seconds:.1f} s)"
    )


def _show_finding(
    finding: Finding, titles: dict[str, str], names: list[str], *, show_all: bool
) -> None:
    print(f"  {titles.get(finding.rule, finding.rule)}")
    joint = {
        FindingKind.EQUAL: "is the same as",
        FindingKind.OVERLAPS: "overlaps",
    }.get(finding.kind, "is covered by")
    for other in finding.others:
        print(f"    {joint} {titles[other]}")
    if finding.text:
        print(f"    {finding.text}")
    if finding.kind is FindingKind.OVERLAPS:
        print(f"    both fire at {finding.example}")
    for part in finding.proof if show_all else finding.proof[:1]:
        who = ", ".join(dict.fromkeys(names[number] for number, _ in part.by))
        print(f"    ✓ {part.filter}")
        print(f"      by {who}")
        for reason in part.reasons():
            print(f"      {reason.subject}  {reason.because}")
    more = len(finding.proof) - 1
    if more > 0 and not show_all:
        print(f"    … and {more:,} more of its filters, likewise (--all)")


def _title(rule_id: str, title: str) -> str:
    return f"{rule_id}  {title}" if title else rule_id
