"""``siena log``: look after the folder of a log that no broker has open."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from siena.block import decode
from siena.broker.durable.cursors.registry import needed_from
from siena.broker.durable.relays.relay_file import needed_by_neighbours
from siena.broker.log.filter_cache import RecordFilter
from siena.broker.log.offline.folder import OfflineLog, Report
from siena.cli.common.progress import Progress
from siena.lang.notification_form import notification_to_json

FolderArgument = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="The folder, as `siena serve --log` has it."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

app = typer.Typer(
    name="log",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Check, repair, export or compact the log of a broker that does not run.",
)


@app.command()
def check(folder: FolderArgument, *, as_json: JsonOption = False) -> None:
    """Look at every record of a log, and change nothing.

    \b
    Exit codes: 0 all is good; 1 something is damaged or missing, and is named; 2 there
    is no such folder, or a broker has it open.

    \b
    Examples:
      siena log check /var/lib/siena
      siena log check /var/lib/siena --json | jq .lost
    """  # noqa: D301 -- Typer needs the backspace itself
    progress = Progress(sys.stderr)
    with OfflineLog(folder) as offline:
        report = offline.check(progress.show)
    progress.clear()
    if as_json:
        print(json.dumps(report.form()))
    else:
        _print(report)
    if report.all_problems:
        raise typer.Exit(1)


def _print(report: Report) -> None:
    for problem in report.all_problems:
        print(f"✗ {problem}")
    count = sum(file.notifications for file in report.files)
    size = sum(file.bytes for file in report.files)
    print(
        f"{count:,} notifications in {len(report.files)} files, {size:,} bytes: ",
        end="",
    )
    lost = sum(gap.end - gap.first for gap in report.lost)
    if not report.all_problems:
        print("all good")
    else:
        print(f"{lost:,} offsets lost; `siena log repair` takes it out of the way")


@app.command()
def repair(folder: FolderArgument, *, as_json: JsonOption = False) -> None:
    """Take what is damaged out of the way, so that a broker can go on with the rest.

    What is good stays, at its offsets.  Nothing is deleted: files as they were are in
    the folder "damaged" beside them.

    \b
    Exit codes: 0 all is good now; 2 there is no such folder, or a broker has it open.

    \b
    Examples:
      siena log repair /var/lib/siena
    """  # noqa: D301 -- Typer needs the backspace itself
    progress = Progress(sys.stderr)
    with OfflineLog(folder) as offline:
        done = offline.repair(progress.show)
        left = offline.check(progress.show).all_problems
    progress.clear()
    if as_json:
        print(json.dumps({"done": done, "problems": left}))
    else:
        for each in done or ["nothing was damaged"]:
            print(each)
        for each in left:
            print(f"✗ {each}")
    if left:
        raise typer.Exit(1)


@app.command()
def export(
    folder: FolderArgument,
    interest: Annotated[
        str, typer.Argument(metavar="FILTER", help="Only what this selects.")
    ] = "[]",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="A file; else stdout."),
    ] = None,
    start: Annotated[
        int, typer.Option("--from", min=0, help="The first offset that is wanted.")
    ] = 0,
    end: Annotated[
        int | None, typer.Option("--to", min=0, help="The offset behind the last.")
    ] = None,
) -> None:
    """Write what is good in a log as JSON, a line for each notification.

    A line has its offset, when it was written, and the notification; what is damaged
    is left out, and `siena log check` names it.

    \b
    Examples:
      siena log export /var/lib/siena > log.ndjson
      siena log export /var/lib/siena 'level > 3' --from 1000 -o some.ndjson
    """  # noqa: D301 -- Typer needs the backspace itself
    sieve = RecordFilter(interest)
    progress = Progress(sys.stderr)
    stream = sys.stdout if output is None else output.open("w", encoding="utf-8")
    count = 0
    with OfflineLog(folder) as offline:
        for record in offline.records(progress.show):
            if record.end <= start or (end is not None and record.first >= end):
                continue
            blocks = record.all_blocks()
            time = datetime.fromtimestamp(record.time / 1e6, UTC).isoformat()
            for index in sieve.select(record).nonzero()[0].tolist():
                offset = record.first + index
                if offset < start or (end is not None and offset >= end):
                    continue
                form = notification_to_json(decode(blocks[index]))
                line = {"offset": offset, "time": time, "notification": form}
                print(json.dumps(line), file=stream)
                count += 1
    progress.clear()
    if output is not None:
        stream.close()
        print(f"{count:,} notifications in {output}")


@app.command()
def compact(
    folder: FolderArgument,
    before: Annotated[
        int | None,
        typer.Option(min=0, help="What ends here; else what all readers have read."),
    ] = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Delete the files of a log that no reader needs any more.

    A log is deleted file by file: what a reader, a durable subscription or a
    neighbour still needs keeps its whole file.

    \b
    Examples:
      siena log compact /var/lib/siena
      siena log compact /var/lib/siena --before 120000
    """  # noqa: D301 -- Typer needs the backspace itself
    with OfflineLog(folder) as offline:
        needed = [needed_from(folder), needed_by_neighbours(folder)]
        floor = min((each for each in needed if each is not None), default=None)
        count, size = offline.compact(before, floor)
    if as_json:
        print(json.dumps({"files": count, "bytes": size}))
    else:
        print(f"deleted {count:,} files of {size:,} bytes")
