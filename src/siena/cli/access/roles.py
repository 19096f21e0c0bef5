"""The roles that commands about grants look at: those of a broker's settings."""

import os
from pathlib import Path
from typing import Annotated

import typer

from siena.broker.access.grants.roles import Roles
from siena.broker.access.opening import read_roles
from siena.broker.settings import gather
from siena.errors import SienaError

VARIABLE = "SIENA_CONFIG"
CONFIG = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help=f"The broker's settings, as for siena serve [default: {VARIABLE}].",
    ),
]


def read(config: Path | None) -> Roles:
    """The roles of a file, or of the one that the environment names.

    Raises:
        SienaError: if there is none, or a role cannot be read.
        OSError: if the file cannot be.
    """
    path = config or Path(os.environ.get(VARIABLE, ""))
    if path == Path():
        raise SienaError(
            "which settings?", hint=f"--config FILE, or {VARIABLE} in the environment"
        )
    settings = gather(path, {}, {})
    if settings.access is None:
        raise SienaError(
            f"{path} has no [access]: everybody may everything",
            hint="add [access.roles.NAME]",
        )
    return read_roles(settings)
