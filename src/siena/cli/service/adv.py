"""``siena adv``: advertise, and see whether it is wanted."""

import contextlib
import json
import sys
from typing import Annotated

import typer

from siena.cli.common.client_options import (
    EXIT_TIMEOUT,
    Deadline,
    JsonOption,
    ServerOption,
    TimeoutOption,
    open_server,
)
from siena.lang.parser import parse_advertisement


def adv(
    advertisement: Annotated[
        str, typer.Argument(metavar="FILTER", help="What may be published.")
    ],
    *,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", min=1, help="End after so many lines.", show_default=False
        ),
    ] = None,
    until_wanted: Annotated[
        bool, typer.Option("--until-wanted", help="End when somebody wants it.")
    ] = False,
    timeout: TimeoutOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Advertise what will be published, and print whether it is wanted.

    Says "wanted" or "quenched" at once, and again whenever that changes: quenched means
    that no client wants anything that the advertisement admits, so that there is no
    point in publishing it.  The advertisement stands until Ctrl-C, --count or
    --timeout.

    \b
    Exit codes: 0 done; 2 misuse; 3 no broker answers; 4 the time was over before
    --count lines, a client that wants it, or any answer came; 1 other failures.

    \b
    Examples:
      siena adv 'symbol any, change any'
      siena adv 'what = alarm' --until-wanted && siena pub what=alarm level=5
    """  # noqa: D301 -- Typer needs the backspace itself
    promised = parse_advertisement(advertisement)
    deadline = Deadline(timeout)
    is_met = False
    with deadline.kept(), open_server(server, "siena adv", deadline) as client:
        if sys.stderr.isatty():
            until = "Ctrl-C" if timeout is None else f"Ctrl-C, or for {timeout:g} s"
            said = f"advertised at {client.url}; it stands until {until}"
            print(f"siena: {said}", file=sys.stderr)
        states = client.advertise(promised).states(deadline.left_s)
        with contextlib.suppress(TimeoutError):
            for printed, is_quenched in enumerate(states, start=1):
                _print(is_quenched=is_quenched, as_json=as_json)
                # Without any condition it is enough that the broker has answered.
                is_met = count is None and not until_wanted
                if printed == count or (until_wanted and not is_quenched):
                    is_met = True
                    break
    if not is_met:
        print(f"siena: error: not within {timeout:g} s", file=sys.stderr)
        raise typer.Exit(EXIT_TIMEOUT)


def _print(*, is_quenched: bool, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"quenched": is_quenched}), flush=True)
    elif is_quenched:
        print("quenched: nobody wants any of it now", flush=True)
    else:
        print("wanted: somebody wants some of it", flush=True)
