"""The roles that commands about grants look at: of a broker, or of a network."""

import os
from pathlib import Path
from typing import Annotated

import typer

from siena.broker.access.grants.roles import Roles
from siena.broker.access.opening import read_roles
from siena.broker.network import read_network
from siena.broker.settings import Settings, gather, read_toml
from siena.errors import SienaError

VARIABLE = "SIENA_CONFIG"
CONFIG = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The settings of a broker or of a network, as for siena serve "
        f"[default: {VARIABLE}].",
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
    if "brokers" in read_toml(path):
        access = read_network(path).access
    else:
        access = gather(path, {}, {}).access
    if access is None:
        raise SienaError(
            f"{path} has no [access]: everybody may everything",
            hint="add [access.roles.NAME]",
        )
    return read_roles(Settings(access=access))
