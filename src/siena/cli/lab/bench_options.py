"""What the commands of ``siena bench`` share that load servers."""

from pathlib import Path
from typing import Annotated

import typer

from siena.errors import SienaError

RoundsOption = Annotated[int, typer.Option(min=1, help="Rounds; the median counts.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def check_machine(command: str) -> None:
    """Refuse to measure where CPU time cannot be counted.

    Raises:
        SienaError: if it cannot.
    """
    if not Path("/proc/self/stat").exists():
        raise SienaError(f"{command} counts CPU time in /proc, which is not here")
