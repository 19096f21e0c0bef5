"""``siena trace``: publish, and see hop by hop where it went."""

import json
import secrets
from collections.abc import Iterator
from typing import Annotated

import msgspec
import typer
from msgspec import convert, to_builtins

from siena.block import encode
from siena.cli.common.client_options import EXIT_FAILURE, EXIT_TIMEOUT, ServerOption
from siena.cli.common.contexts import Server, find_server
from siena.cli.common.observing import Form, Observer
from siena.cli.common.pairs import read_attributes
from siena.cli.terminal.colour import say
from siena.cli.terminal.foreign import printable_form
from siena.model import Notification
from siena.protocol.control_frames import Hop, Trace
from siena.protocol.data_frames import pack_traced
from siena.protocol.limits import NUMBER_MAX

# So begins a filter because of which it went to another broker.
TO_BROKER = "→ "


def trace(
    attributes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help="The attributes, or one JSON object.",
            show_default=False,
        ),
    ],
    *,
    server: ServerOption = None,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1, max=3600, metavar="SECONDS", help="How long to wait for a broker."
        ),
    ] = 3.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object for each broker.")
    ] = False,
) -> None:
    """Publish a notification, and say which brokers it came to, and who wanted it.

    It is really published: clients that want it get it.  Times are those of the
    brokers' own clocks, from when the first of them had it.

    \b
    Exit codes: 0 a client wanted it; 1 none did, or the broker said no; 2 misuse; 3
    no broker answers; 4 not all brokers on the way have answered in time.

    \b
    Examples:
      siena trace symbol=DIS change=-4
      siena trace '{"symbol": "DIS"}' --server siena://127.0.0.1:2606 --json
    """  # noqa: D301 -- Typer needs the backspace itself
    notification = read_attributes(attributes)
    hops: dict[str, Hop] = {}
    for hop in traced(find_server(server), notification, timeout):
        hops[hop.broker] = hop
        start = min(known.arrived for known in hops.values())
        if as_json:
            print(json.dumps(form_of(hop)), flush=True)
        else:
            _show(hop, start)
    silent = missing(hops)
    if silent or not hops:
        who = ", ".join(silent) or "the broker"
        typer.echo(f"siena: error: not heard of in time: {who}", err=True)
        raise typer.Exit(EXIT_TIMEOUT)
    matched = [text for hop in hops.values() for text in hop.matched]
    if all(text.startswith(TO_BROKER) for text in matched):
        raise typer.Exit(EXIT_FAILURE)


def traced(server: Server, notification: Notification, seconds: float) -> Iterator[Hop]:
    """Publish, and yield what each broker on the way says of it."""
    token = secrets.randbelow(NUMBER_MAX + 1)
    with Observer(server, seconds=seconds) as observer:
        observer.send(pack_traced(token, encode(notification)))
        yield from _hops(observer, token)


def _hops(observer: Observer, token: int) -> Iterator[Hop]:
    """What brokers answer, until all on the way have, or the time is over."""
    hops: dict[str, Hop] = {}
    while not hops or missing(hops):
        try:
            event = observer.next()
        except TimeoutError:
            return
        if isinstance(event, Trace) and event.token == token:
            # What brokers and clients call themselves.
            hop = convert(printable_form(to_builtins(event.hop)), Hop)
            hops[hop.broker] = hop
            yield hop


def missing(hops: dict[str, Hop]) -> list[str]:
    """The brokers to which it went, and that have not answered.

    >>> missing({"a": Hop("a", 0.0, 0.0, "a client", ["b", "c"], []),
    ...          "c": Hop("c", 0.0, 0.0, "a", [], [])})
    ['b']
    """
    went = {name for hop in hops.values() for name in hop.went_to}
    return sorted(went - hops.keys())


def _show(hop: Hop, start: float) -> None:
    after = f"{(hop.arrived - start) * 1_000:+.2f} ms"
    onward = f" → {', '.join(hop.went_to)}" if hop.went_to else ""
    took = f"routed in {hop.seconds * 1_000:.2f} ms"
    print(f"{hop.broker} ← {hop.came_from}  {after}, {took}{onward}")
    for text in hop.matched:
        say(f"  {text}" if text.startswith(TO_BROKER) else f"  ✓ {text}")
    if not hop.matched and not hop.went_to:
        say("  ✗ nobody here wants it")


def form_of(hop: Hop) -> Form:
    """As JSON, for scripts and pages."""
    return msgspec.structs.asdict(hop)
