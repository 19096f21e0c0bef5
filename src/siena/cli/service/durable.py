"""``siena durable``: the durable subscriptions of a broker."""

import json
from typing import Annotated, Any

import typer

from siena.cli.common.client_options import JsonOption, ServerOption, open_server
from siena.cli.common.contexts import find_server
from siena.cli.common.durable_options import read_start
from siena.cli.common.observing import Observer
from siena.cli.terminal.completion import one_of
from siena.errors import SienaError
from siena.protocol.limits import LOOK_MAX

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

NameArgument = Annotated[str, typer.Argument(metavar="NAME")]
_COLUMNS = ("name", "lag", "under_way", "readers", "dead", "filter")


@app.callback()
def durable() -> None:
    """Look after durable subscriptions: names under which a broker remembers.

    \b
    Examples:
      siena sub 'order any' --durable billing
      siena durable list
      siena durable show billing
      siena durable seek billing 2026-11-15T02:40:03Z
      siena durable rm billing
    """  # noqa: D301 -- Typer needs the backspace itself


@app.command("list")
def list_durables(*, server: ServerOption = None, as_json: JsonOption = False) -> None:
    """List them: how many of the log each has still to acknowledge, and who reads.

    \b
    Examples:
      siena durable list
    """  # noqa: D301 -- Typer needs the backspace itself
    with Observer(find_server(server)) as observer:
        seen = observer.look("durables", LOOK_MAX)
    if as_json:
        for each in seen["durables"]:
            print(json.dumps(each))
        return
    rows = [_COLUMNS, *(tuple(str(d[c]) for c in _COLUMNS) for d in seen["durables"])]
    widths = [
        max(len(row[place]) for row in rows) for place in range(len(_COLUMNS) - 1)
    ]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print("  ".join([*cells, row[-1]]).replace("under_way", "under way"))
    if seen["count"] > len(seen["durables"]):
        print(f"and {seen['count'] - len(seen['durables'])} more")


@app.command("show")
def show_durable(
    name: NameArgument, *, server: ServerOption = None, as_json: JsonOption = False
) -> None:
    """Show all there is to know of one.

    \b
    Examples:
      siena durable show billing --json
    """  # noqa: D301 -- Typer needs the backspace itself
    with Observer(find_server(server)) as observer:
        seen = observer.look("durables", LOOK_MAX)
    for each in seen["durables"]:
        if each["name"] == name:
            print(json.dumps(each) if as_json else _told(each))
            return
    shown, count = len(seen["durables"]), seen["count"]
    if count > shown:  # it may be one of the others
        text = f"{name!r} is not one of the first {shown} durable subscriptions"
        raise SienaError(text, hint=f"there are {count}")
    raise SienaError(
        f"there is no durable subscription {name!r}", hint="siena durable list has them"
    )


def _told(durable: dict[str, Any]) -> str:
    width = max(map(len, durable))
    return "\n".join(
        f"{key.replace('_', ' ').ljust(width)}  {value}"
        for key, value in durable.items()
        if value is not None and value != ""
    )


@app.command("seek")
def seek_durable(
    name: NameArgument,
    where: Annotated[
        str,
        typer.Argument(
            metavar="WHERE",
            help="new, all, an offset, or a time such as 2026-11-15T02:40:03Z.",
            autocompletion=one_of("new", "all"),
        ),
    ],
    *,
    server: ServerOption = None,
) -> None:
    """Let one go on from somewhere else in the log.

    \b
    Examples:
      siena durable seek billing all
    """  # noqa: D301 -- Typer needs the backspace itself
    with open_server(server, "siena durable") as client:
        client.seek_durable(name, read_start(where))


@app.command("rm")
def remove_durable(name: NameArgument, *, server: ServerOption = None) -> None:
    """End one: nothing is remembered of it, and those who read it hear of that.

    \b
    Examples:
      siena durable rm billing
    """  # noqa: D301 -- Typer needs the backspace itself
    with open_server(server, "siena durable") as client:
        client.forget_durable(name)
