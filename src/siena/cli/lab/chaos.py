"""``siena chaos``: hurt a network of real brokers, and see what it promises."""

import asyncio
import json
import logging
import signal
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from siena.cli.terminal.completion import one_of
from siena.cli.terminal.termination import EXIT_TERMINATED
from siena.errors import SienaError
from siena.testing.chaos.faults import FAULTS, UNNOTICED
from siena.testing.chaos.ledger import Report
from siena.testing.chaos.run import Plan, run


def chaos(
    *,
    seconds: Annotated[
        float, typer.Option(min=1, help="For how long faults follow each other.")
    ] = 60.0,
    minutes: Annotated[
        float | None, typer.Option(min=0.1, help="The same in minutes.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="What the run follows from.")] = 1,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Only these, of: {', '.join(FAULTS)}.",
            show_default=False,
            autocompletion=one_of(*FAULTS),
        ),
    ] = None,
    fault_seconds: Annotated[
        float, typer.Option(min=0.1, max=600, help="How long a fault lasts at most.")
    ] = 5.0,
    rate: Annotated[
        float, typer.Option(min=1, max=1000, help="Publications a second, of each.")
    ] = 20.0,
    recover_seconds: Annotated[
        float, typer.Option(min=1, help="How soon all must be well after a fault.")
    ] = 10.0,
    ack: Annotated[
        bool, typer.Option(help="Publishers wait for the disk; the logs are judged.")
    ] = False,
    durable: Annotated[
        bool,
        typer.Option(
            help="The same, and durable subscriptions: nothing may be lost at all."
        ),
    ] = False,
    faults: Annotated[
        int | None, typer.Option(min=1, help="So many at most.", show_default=False)
    ] = None,
    together: Annotated[int, typer.Option(min=1, max=5, help="So many at once.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object.")] = False,
) -> None:
    """Start five brokers, hurt them, and say which promises were kept.

    Brokers are processes on free ports of this machine, in a mesh whose links go
    through proxies of our own; five publishers and five subscribers count everything.
    Faults follow each other: brokers are killed (one, all), ended and frozen, links are
    cut, reset and slow, the store is cut off or a bit of it flipped, a disk is full, a
    clock is wrong.
    After each it is waited until everything comes again.  All ends by itself, and
    leaves nothing behind.

    With --durable brokers are a tree, publications are acknowledged, and subscriptions
    are durable: all that is acknowledged must come, in order, and again only from the
    same offset.  A reader and a publisher in processes of their own are killed, too.

    With --ack publications are acknowledged when the disk has them, and in the end
    each must be in the log of its broker, once.

    What is acknowledged and then damaged on the one disk that has it is lost: with
    --ack and --durable it is counted apart if the log names it (`named lost`), and
    breaks a promise if not.  The fault `truncate`, of which a log cannot know, is left
    out then, unless it is asked for.

    \b
    Exit codes: 0 every promise was kept; 1 one was not; 2 misuse; 143 ended by SIGTERM.

    \b
    Examples:
      siena chaos --seconds 60 --seed 1
      siena chaos --durable --minutes 10
      siena chaos --durable --fault kill-all --faults 200 --minutes 60
      siena chaos --durable --minutes 10 --fault partition --fault-seconds 30
      siena chaos --durable --minutes 10 --together 2
      siena chaos --minutes 10 --fault kill --fault partition --json
    """  # noqa: D301 -- Typer needs the backspace itself
    unknown = set(fault or ()) - set(FAULTS)
    if unknown:
        raise SienaError(
            f"there is no fault {min(unknown)!r}", hint=f"known: {', '.join(FAULTS)}"
        )
    left_out = UNNOTICED if ack or durable else set()
    left_out = left_out if durable else {*left_out, "kill-client"}
    plan = Plan(
        seconds=60 * minutes if minutes is not None else seconds,
        seed=seed,
        faults=tuple(fault or sorted(FAULTS.keys() - left_out)),
        fault_s=fault_seconds,
        rate=rate,
        recover_s=recover_seconds,
        acked=ack,
        durable=durable,
        faults_max=faults,
        together=together,
    )
    logging.getLogger("siena.client").setLevel(logging.ERROR)
    try:
        report = asyncio.run(_run(plan))
    except asyncio.CancelledError:
        _tell("ended before its time, and so are its brokers")
        raise typer.Exit(EXIT_TERMINATED) from None
    if as_json:
        form = {**asdict(report), "verdicts": report.verdicts(), "good": report.is_good}
        print(json.dumps(form))
    else:
        _print(report)
    if not report.is_good:
        raise typer.Exit(1)


async def _run(plan: Plan) -> Report:
    """Run it, until SIGTERM at the most; Ctrl-C cancels by itself."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await run(plan, _tell)


def _tell(text: str) -> None:
    print(f"siena: {text}", file=sys.stderr, flush=True)


def _print(report: Report) -> None:
    print(
        f"{len(report.outcomes)} faults in {report.seconds:.0f} s, seed {report.seed}"
    )
    names = (
        *("attempted", "acknowledged", "expected", "delivered", "lost", "lost_quiet"),
        *("again", "duplicated", "out_of_order", "not_matching", "gaps"),
        *("acknowledged_lost", "stored_twice", "named_lost"),
    )
    for name in names:
        print(f"  {name.replace('_', ' '):<18} {getattr(report, name):>9,}")
    print(f"  longest wait for a receipt: {report.longest_wait_s:g} s")
    for promise, is_kept in report.verdicts().items():
        print(f"{'✓' if is_kept else '✗'} {promise}")
