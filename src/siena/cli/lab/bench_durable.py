"""``siena bench durable``: publications acknowledged once they are on the disk."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from siena.bench.broker.processes import Cores, pinned, running
from siena.bench.durable.flood import StoreFlood, sync_seconds
from siena.bench.durable.report import StoreResult, as_object, show
from siena.bench.durable.stores import STORES
from siena.cli.common.bench_options import JsonOption, RoundsOption, check_machine
from siena.cli.common.progress import Progress
from siena.errors import SienaError

WARM_UP_SECONDS = 0.3


def bench_durable(
    *,
    publishers: Annotated[
        int, typer.Option(min=1, max=1_000, help="Who publish, side by side.")
    ] = 20,
    batch: Annotated[
        int, typer.Option(min=1, max=10_000, help="Publications sent together.")
    ] = 100,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=600, help="How long a round takes.")
    ] = 3.0,
    rounds: RoundsOption = 5,
    load: Annotated[
        float | None,
        typer.Option(min=1, help="Publish no more than so many/s, in even turns."),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(help="Another store: jetstream or redis; may be repeated."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure publications that are acknowledged when they are on the disk.

    Each publisher sends a batch, and the next when all of it is acknowledged; with
    --load, not before its turn, and what makes it late counts as waiting.  Our broker
    has a log; NATS JetStream syncs always, and so does Redis, with a stream.  Servers
    take turns, round by round, on one core; at the end each says how many it has
    stored, which must be what it has acknowledged.  Their files are in the folder
    for temporary files (TMPDIR): it should be on a disk.

    \b
    Examples:
      siena bench durable
      siena bench durable --peer jetstream --peer redis
      siena bench durable --load 100000
      siena bench durable --publishers 1 --batch 1 --json
    """  # noqa: D301 -- Typer needs the backspace itself
    check_machine("bench durable")
    if unknown := set(peer or ()) - (STORES.keys() - {"siena"}):
        raise SienaError(f"--peer is jetstream or redis, and not {unknown.pop()}")
    cores, progress = Cores.choose(), Progress(sys.stderr)
    results: list[StoreResult] = []
    with ExitStack() as stack:
        stack.callback(progress.clear)
        stack.enter_context(pinned(cores.generator))
        floods = []
        for name in ("siena", *dict.fromkeys(peer or ())):
            progress.show(f"starting {name}")
            store = STORES[name]()
            server = stack.enter_context(running(store.contender, cores))
            flood = StoreFlood(store, server, publishers, batch, load)
            stack.callback(flood.close)
            floods.append(flood)
            results.append(StoreResult(name, store.contender.version(server.port)))
            flood.run(WARM_UP_SECONDS)
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="siena-bench-")))
        sync = sync_seconds(folder)
        for number in range(rounds):
            for result, flood in zip(results, floods, strict=True):
                progress.show(f"round {number + 1} of {rounds}: {result.name}")
                result.rounds.append(flood.run(seconds))
        for result, flood in zip(results, floods, strict=True):
            result.stored, result.acknowledged = flood.stored(), flood.acknowledged
            if result.stored != result.acknowledged:
                raise SienaError(
                    f"{result.name} has acknowledged {result.acknowledged:,} "
                    f"publications, and stored {result.stored:,}"
                )
    if as_json:
        plan = {
            "publishers": publishers,
            "batch": batch,
            "seconds": seconds,
            "load": load,
        }
        print(json.dumps(as_object(results, sync, plan)))
    else:
        at_most = "" if load is None else f", at most {load:,.0f} a second"
        show(results, sync, f"{publishers} publishers, batches of {batch}{at_most}")
