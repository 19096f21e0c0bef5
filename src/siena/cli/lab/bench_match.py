"""``siena bench match``: the engine against counting, the tree and a plain loop."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from siena.bench.match.plot import check, draw
from siena.bench.match.report import show
from siena.bench.match.rounds import Progress, Run, measure, why_no_tree
from siena.bench.match.workload import NAMES, Question
from siena.cli.terminal.completion import one_of
from siena.errors import SienaError
from siena.matching import COMPILED


def bench_match(
    *,
    workload: Annotated[
        str,
        typer.Option(
            help="Which of the papers' workloads: tr0605 or ssbg.",
            autocompletion=one_of("tr0605", "ssbg"),
        ),
    ] = "tr0605",
    filters: Annotated[
        str, typer.Option(help="How many filters: one or more sizes, with commas.")
    ] = "1000,10000,100000",
    names: Annotated[
        int | None,
        typer.Option(
            help=f"How many attribute names tr0605 has; {NAMES} if not given.",
            show_default=False,
        ),
    ] = None,
    distribution: Annotated[
        str,
        typer.Option(
            help="How popular the names are: zipf or uniform.",
            autocompletion=one_of("zipf", "uniform"),
        ),
    ] = "zipf",
    interfaces: Annotated[
        str,
        typer.Option(
            help="all: one for each filter, and all matching filters are wanted.  A "
            "number: filters are dealt to so many, and the interfaces are wanted."
        ),
    ] = "all",
    constraints_min: Annotated[
        int, typer.Option(help="Only filters with so many constraints or more.")
    ] = 1,
    messages: Annotated[int, typer.Option(help="How many notifications.")] = 2000,
    batch: Annotated[int, typer.Option(help="How many at a time.")] = 256,
    rounds: Annotated[int, typer.Option(help="Rounds; the median counts.")] = 3,
    seconds: Annotated[
        float, typer.Option(help="A round lasts at least so long, for each matcher.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    threads: Annotated[
        str,
        typer.Option(
            help="Also with so many threads on one table, against the first: 1,2.",
            show_default=False,
        ),
    ] = "",
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw time per message against filters into this .png, .svg or .pdf.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Match a workload of the papers with each matcher, on the same messages.

    All matchers must agree before a number is shown; rounds alternate between them.
    "engine" and "counting" get notifications whose names and strings were found
    beforehand, so that matching alone is compared.  "engine-bytes" reads msgpack
    itself, as a broker does, and "engine-one" takes one block at a time.  "tree" and
    "reference", the loop, are Python, and get fewer messages.  Seconds are those of
    the thread's CPU; with --threads, those of the clock.

    \b
    Examples:
      siena bench match
      siena bench match --filters 1000000 --messages 500
      siena bench match --names 50 --distribution uniform --json
      siena bench match --interfaces 20 --constraints-min 3
      siena bench match --filters 10000 --threads 1,2
      siena bench match --filters 1000,10000,100000,1000000 --plot growth.png
    """  # noqa: D301 -- Typer needs the backspace itself
    if not COMPILED:
        raise SienaError(
            "the kernels are not compiled, and would be measured as Python",
            hint="install a C compiler and run make setup",
        )
    sizes = _numbers("--filters", filters, "1000,10000")
    thread_counts = _numbers("--threads", threads, "1,2") if threads else []
    _at_least_one("--messages", messages)
    _at_least_one("--batch", batch)
    _at_least_one("--rounds", rounds)
    question = Question(
        workload=workload,
        names=names,
        distribution=distribution,
        interfaces=_interfaces(interfaces),
        constraints_min=constraints_min,
        batch=batch,
        seed=seed,
    )
    if plot is not None:
        check(plot)
    sent = question.notifications(messages)
    progress = Progress()
    runs: list[Run] = []
    try:
        for size in sizes:
            runs += measure(
                question,
                size,
                sent,
                rounds=rounds,
                seconds=seconds,
                threads=thread_counts,
                progress=progress,
            )
    finally:
        progress.say("")  # an error begins on a line of its own
    if as_json:
        print(json.dumps({"runs": [asdict(run) for run in runs]}))
    else:
        show(runs)
    for size in sizes:
        why = why_no_tree(size)
        if why is not None:
            print(f"{size:,} filters without the {why}", file=sys.stderr)
    if plot is not None:
        draw(runs, plot)


def _numbers(option: str, text: str, example: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise SienaError(
            f"{option} {text!r} is not a list of numbers", hint=f"write {example}"
        ) from None
    _at_least_one(option, min(numbers))
    # Each once: a size that is asked for twice is one row.
    return list(dict.fromkeys(numbers))


def _interfaces(text: str) -> int | None:
    if text == "all":
        return None
    try:
        number = int(text)
    except ValueError:
        raise SienaError(
            f"--interfaces {text!r} is not a number", hint="write all, or 20"
        ) from None
    _at_least_one("--interfaces", number)
    return number


def _at_least_one(option: str, number: int) -> None:
    if number < 1:
        raise SienaError(f"{option} is at least 1, and not {number}")
