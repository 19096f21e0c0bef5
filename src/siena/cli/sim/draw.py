"""``siena sim draw``: what does a network look like, and what does it hold?"""

from pathlib import Path
from typing import Annotated, cast

import typer

from siena.cli.sim import picture as sim_picture
from siena.cli.sim.topology import HELP, SEED_HELP, read_plan
from siena.errors import SienaError
from siena.routing.options import Forwarding, Options
from siena.sim.architecture import as_architecture
from siena.sim.picture.drawing import draw
from siena.sim.script import read_script
from siena.sim.steps import perform
from siena.sim.world import World


def sim_draw(
    output: Annotated[
        Path,
        typer.Argument(help="The picture: .png, .svg or .pdf.", show_default=False),
    ],
    *,
    topology: Annotated[
        str,
        typer.Option(help=HELP, show_default=False),
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
    seed: Annotated[int, typer.Option(min=0, help=SEED_HELP)] = 0,
) -> None:
    """Draw a network with the tables of its brokers.

    Beside each filter are those who hold it: clients by name, brokers by number.
    A number on a link is its weight, if it is not 1.

    \b
    Examples:
      siena sim draw network.png --topology tree:3x2 --script script.ndjson
      siena sim draw sites.svg --topology transit-stub --architecture general
    """  # noqa: D301 -- Typer needs the backspace itself
    sim_picture.check(output)
    options = Options(forwarding=cast("Forwarding", forwarding))
    kind = as_architecture(architecture)
    network, sides = read_plan(topology, kind, seed=seed)
    world = World(network, kind, options, sides=sides)
    if script is not None:
        for line, step in read_script(script.read_text(encoding="utf-8-sig")):
            try:
                perform(world, step)
            except SienaError as error:
                raise error.about(f"line {line}") from None
            world.run()
            world.scheduler.now += 1
    sim_picture.save(draw(world), output)
