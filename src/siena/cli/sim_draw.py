"""``siena sim draw``: what does a network look like, and what does it hold?"""

from pathlib import Path
from typing import Annotated, cast

import typer

from siena.cli.sim_play import read_topology
from siena.errors import SienaError
from siena.routing.options import Forwarding, Options
from siena.sim.architecture import as_architecture
from siena.sim.drawing import draw
from siena.sim.script import read_script
from siena.sim.steps import perform
from siena.sim.world import World


def sim_draw(
    output: Annotated[
        Path, typer.Argument(help="The picture: a file .svg.", show_default=False)
    ],
    *,
    topology: Annotated[
        str,
        typer.Option(
            help="chain:N, star:N, ring:N, tree:BxD, or a JSON file.",
            show_default=False,
        ),
    ],
    script: Annotated[
        Path | None,
        typer.Option(help="A script to play before.", show_default=False),
    ] = None,
    architecture: Annotated[
        str,
        typer.Option(help="centralised, hierarchical, acyclic, general or hybrid."),
    ] = "acyclic",
    forwarding: Annotated[
        str, typer.Option(help="subscription or advertisement.")
    ] = "subscription",
) -> None:
    """Draw a network with the tables of its brokers.

    \b
    Examples:
      siena sim draw network.svg --topology tree:3x2 --script script.ndjson
    """  # noqa: D301 -- Typer needs the backspace itself
    if output.suffix.lower() != ".svg":
        raise SienaError(f"{output} is not a file .svg")
    options = Options(forwarding=cast("Forwarding", forwarding))
    world = World(read_topology(topology), as_architecture(architecture), options)
    if script is not None:
        for line, step in read_script(script.read_text(encoding="utf-8-sig")):
            try:
                perform(world, step)
            except SienaError as error:
                raise error.about(f"line {line}") from None
            world.run()
            world.scheduler.now += 1
    output.write_text(draw(world), encoding="utf-8")
