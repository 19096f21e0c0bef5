"""``siena bench client``: what a notification costs a program in Python."""

import json
import sys
from contextlib import ExitStack
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from typing import Annotated

import typer

from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.processes import Cores
from siena.bench.front.clients import once
from siena.bench.front.measured import Line, as_object, measure, show
from siena.bench.front.servers import broker, peer as other
from siena.cli.common.bench_options import JsonOption, RoundsOption, check_machine
from siena.cli.common.progress import Progress
from siena.errors import SienaError


class PeerClient(StrEnum):
    """Clients of other makers."""

    NATS = "nats"


def bench_client(
    *,
    notifications: Annotated[
        int, typer.Option(min=1_000, max=1_000_000, help="Of a round.")
    ] = 50_000,
    peer: Annotated[
        list[PeerClient] | None,
        typer.Option(help="Another client, the same work in turn."),
    ] = None,
    rounds: RoundsOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure the Python client, for a CPU second of the program that uses it.

    A program publishes notifications of five attributes one by one, and another one
    receives them one by one; with await, and without.  The peer nats is nats-py, with
    msgspec for its payloads, and a callback for what it receives; nats-server comes
    from the PATH.

    \b
    Examples:
      siena bench client
      siena bench client --peer nats --rounds 3
    """  # noqa: D301 -- Typer needs the backspace itself
    check_machine("bench client")
    has_nats = PeerClient.NATS in (peer or [])
    if has_nats:
        Nats().find()
        if find_spec("nats") is None:
            raise SienaError(
                "--peer nats: there is no nats-py", hint="pip install nats-py"
            )
    cores, progress = Cores.choose(), Progress(sys.stderr)
    lines: list[Line] = []
    with ExitStack() as stack:
        stack.callback(progress.clear)
        ours = stack.enter_context(broker(cores))
        servers = {"siena": ours, "blocking": ours}
        if has_nats:
            servers["nats"] = stack.enter_context(other(Nats(), cores))
        for task in ("publish", "receive"):
            contenders = {
                name: partial(once, name, task, server, notifications, cores)
                for name, server in servers.items()
            }
            lines += measure(task, "each", contenders, rounds, progress.show)
    if as_json:
        print(json.dumps(as_object(lines)))
    else:
        show(lines)
