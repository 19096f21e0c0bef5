"""``siena log read``: print what a broker has kept, by offset."""

import json
import sys
from typing import Annotated

import typer

from siena.cli.common.client_options import JsonOption, ServerOption, open_server
from siena.cli.terminal.colour import Paint
from siena.client.log import Logged
from siena.errors import SienaError
from siena.lang.notification_form import notification_to_json
from siena.lang.parser import parse_predicate


def read(
    interest: Annotated[
        str,
        typer.Argument(
            metavar="FILTER",
            help="What to print; everything without it.",
            show_default=False,
        ),
    ] = "[]",
    *,
    start: Annotated[
        int | None,
        typer.Option(
            "--from",
            min=0,
            metavar="OFFSET",
            help="The first offset; the oldest there is.",
            show_default=False,
        ),
    ] = None,
    end: Annotated[
        int | None,
        typer.Option(
            "--to",
            min=0,
            metavar="OFFSET",
            help="The offset to stop before; the end of the log at this moment.",
            show_default=False,
        ),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", "-C", min=1, help="End after so many.", show_default=False
        ),
    ] = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print what a broker has kept in its log, a line each: its offset, and what it is.

    What is too old to be there is not an error: it begins with the oldest that there
    is, and says on stderr how many are gone.  The word read may be left out.

    \b
    Exit codes: 0 all was printed; 1 the broker keeps no log, or other failures;
    2 misuse; 3 no broker answers.

    \b
    Examples:
      siena log read --from 0 'level > 3'
      siena log read --count 10 --json
      siena log read --from 1000 --to 2000
    """  # noqa: D301 -- Typer needs the backspace itself
    wanted = parse_predicate(interest)
    paint = Paint(sys.stdout)
    with open_server(server, "siena log") as client:
        extent = client.log.extent()
        first = extent.earliest if start is None else max(start, extent.earliest)
        if start is not None and start < extent.earliest:
            gone = f"{extent.earliest - start} before {extent.earliest} are gone"
            print(f"siena: {gone}", file=sys.stderr)
        if start is not None and start > extent.latest:
            hint = f"the log ends at {extent.latest}"
            raise SienaError(f"there is no offset {start} yet", hint=hint)
        for printed, entry in enumerate(client.log.read(wanted, first, end), 1):
            print(_as_json(entry) if as_json else _as_text(entry, paint))
            if printed == count:
                break


def _as_text(entry: Logged, paint: Paint) -> str:
    return f"{paint('dim', str(entry.offset))}  {entry.notification}"


def _as_json(entry: Logged) -> str:
    form = notification_to_json(entry.notification)
    return json.dumps({"offset": entry.offset, "notification": form})
