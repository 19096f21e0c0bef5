"""What the commands about credentials share: the file, roles, times."""

import os
import re
from pathlib import Path
from typing import Annotated

import typer

from siena.errors import SienaError

FILE_VARIABLE = "SIENA_CREDENTIALS"
DEFAULT_FILE = "credentials.json"
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(?P<count>[0-9]{1,6})(?P<unit>[smhdw])")

FileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="The file of credentials that the broker's settings name; otherwise "
        f"{FILE_VARIABLE}, or {DEFAULT_FILE} here.",
        show_default=False,
    ),
]
RolesOption = Annotated[
    list[str] | None,
    typer.Option("--role", "-r", help="A role, as often as wanted."),
]
SpanOption = Annotated[
    str | None,
    typer.Option("--for", metavar="TIME", help="For how long, such as 30m, 8h or 90d."),
]
AFTERWARDS = "a broker that runs takes it over at SIGHUP"


def file_of(said: Path | None) -> Path:
    """The file that is meant."""
    return said or Path(os.environ.get(FILE_VARIABLE) or DEFAULT_FILE)


def seconds_of(text: str) -> int:
    """How many seconds a span of time has.

    >>> seconds_of("90m"), seconds_of("1d")
    (5400, 86400)
    >>> seconds_of("soon")
    Traceback (most recent call last):
    siena.errors.SienaError: 'soon' is no span of time (as in 30m, 8h or 90d)
    """
    found = _SPAN.fullmatch(text)
    if found is None or not int(found["count"]):
        raise SienaError(f"{text!r} is no span of time", hint="as in 30m, 8h or 90d")
    return int(found["count"]) * _SECONDS[found["unit"]]
