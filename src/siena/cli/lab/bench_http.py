"""``siena bench http``: what deliveries and posts cost the HTTP side of a broker."""

import json
import sys
from contextlib import ExitStack
from functools import partial
from itertools import count
from typing import Annotated

import typer

from siena.bench.broker.processes import Cores, pinned
from siena.bench.front.measured import Line, as_object, measure, show
from siena.bench.front.posts import post
from siena.bench.front.readers import (
    EventReader,
    FrameReader,
    LineReader,
    Reader,
    SocketReader,
)
from siena.bench.front.servers import broker, empty
from siena.bench.front.streams import flood
from siena.cli.common.progress import Progress
from siena.cli.lab.bench_options import JsonOption, RoundsOption, check_machine

READERS_MAX = 5_000
KINDS: dict[str, type[Reader]] = {
    "events": EventReader,
    "lines": LineReader,
    "WebSockets": SocketReader,
    "frames": FrameReader,
}


def bench_http(
    *,
    readers: Annotated[
        int, typer.Option(min=1, max=READERS_MAX, help="Who read server-sent events.")
    ] = 100,
    publications: Annotated[
        int, typer.Option(min=1_000, help="Publications of a flood.")
    ] = 10_000,
    connections: Annotated[
        int, typer.Option(min=1, max=1_000, help="Who post, one request at a time.")
    ] = 8,
    posts: Annotated[int, typer.Option(min=100, help="Requests of a round.")] = 8_000,
    rounds: RoundsOption = 5,
    as_json: JsonOption = False,
) -> None:
    """Measure deliveries as text and POST /publish, for a CPU second of the server.

    Many readers get the same, of one filter, or each another share of it, of filters
    that differ: as server-sent events, lines, or messages of WebSockets, and beside
    them as many clients get frames.  Posts carry one notification
    each and keep their connections; beside our broker stand applications that only
    answer, behind the same server.  Everything that comes is checked.

    \b
    Examples:
      siena bench http
      siena bench http --readers 1000 --publications 2000 --rounds 3
      siena bench http --connections 1 --json
    """  # noqa: D301 -- Typer needs the backspace itself
    check_machine("bench http")
    cores, progress = Cores.choose(), Progress(sys.stderr)
    lines: list[Line] = []
    with ExitStack() as stack:
        stack.callback(progress.clear)
        stack.enter_context(pinned(cores.generator))
        ours = stack.enter_context(broker(cores))
        # No two floods have a notification in common: none is remembered.
        numbers = (range(at, at + publications) for at in count(0, publications))
        for question, apart in (("one filter", False), ("filters that differ", True)):
            lines += measure(
                f"{readers} readers, {question}",
                "deliveries",
                {
                    name: lambda kind=kind, apart=apart: flood(  # type: ignore[misc]
                        ours, kind, readers, next(numbers), apart=apart
                    )
                    for name, kind in KINDS.items()
                },
                rounds,
                progress.show,
            )
        servers = {
            "siena": ours,
            "an empty Starlette": stack.enter_context(empty("starlette", cores)),
            "a bare ASGI function": stack.enter_context(empty("bare", cores)),
        }
        lines += measure(
            f"POST, {connections} connections",
            "requests",
            {
                name: partial(post, server, connections, posts)
                for name, server in servers.items()
            },
            rounds,
            progress.show,
        )
    if as_json:
        print(json.dumps(as_object(lines)))
    else:
        show(lines)
