"""``siena sim play``: who receives what, and what goes over which link?"""

import json
from pathlib import Path
from typing import Annotated, cast

import typer

from siena.cli.sim.topology import HELP, SEED_HELP, read_plan
from siena.errors import SienaError
from siena.routing.options import Covering, Forwarding, Merging, Options
from siena.sim.architecture import as_architecture
from siena.sim.script import read_script
from siena.sim.steps import Step, perform
from siena.sim.world import World


def sim_play(
    script: Annotated[
        Path,
        typer.Argument(
            help="A file with a JSON object on each line: op, client, at, …",
            show_default=False,
        ),
    ],
    *,
    topology: Annotated[
        str,
        typer.Option(help=HELP, show_default=False),
    ],
    architecture: Annotated[
        str,
        typer.Option(help="centralised, hierarchical, acyclic, general or hybrid."),
    ] = "acyclic",
    forwarding: Annotated[
        str, typer.Option(help="subscription or advertisement.")
    ] = "subscription",
    covering: Annotated[str, typer.Option(help="exact, pairwise or none.")] = "exact",
    merging: Annotated[str, typer.Option(help="none, perfect or imperfect.")] = "none",
    seed: Annotated[int, typer.Option(min=0, help=SEED_HELP)] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each step.")
    ] = False,
) -> None:
    """Play a script in a simulated network, step by step.

    Before each step everything has arrived that was sent before.  Brokers are numbered
    from 1, which is the root of a hierarchy and the only broker of a centralised
    network.

    \b
    Examples:
      siena sim play script.ndjson --topology chain:4
      siena sim play script.ndjson --topology tree:3x2 --architecture hierarchical
      siena sim play script.ndjson --topology chain:4 --forwarding advertisement --json
    """  # noqa: D301 -- Typer needs the backspace itself
    options = Options(
        forwarding=cast("Forwarding", forwarding),
        covering=cast("Covering", covering),
        merging=cast("Merging", merging),
    )
    kind = as_architecture(architecture)
    network, sides = read_plan(topology, kind, seed=seed)
    world = World(network, kind, options, sides=sides)
    steps = list(read_script(script.read_text(encoding="utf-8-sig")))
    for number, (line, step) in enumerate(steps, start=1):
        try:
            _play(world, step, number, as_json=as_json)
        except SienaError as error:
            raise error.about(f"line {line}") from None


def _play(world: World, step: Step, number: int, *, as_json: bool) -> None:
    before = {name: len(client.received) for name, client in world.clients.items()}
    found = {name: len(client.found) for name, client in world.clients.items()}
    world.network.sent.clear()
    perform(world, step)
    world.run()
    # The next step is later: patterns ask for times that differ.
    world.scheduler.now += 1
    sent = [list(message) for message in world.network.sent]
    receivers = sorted(
        client.reached
        for name, client in world.clients.items()
        if len(client.received) > before.get(name, 0)
        or len(client.found) > found.get(name, 0)
    )
    if as_json:
        answer: dict[str, object] = {"step": number}
        if step.op == "publish":
            answer["receivers"] = receivers
        print(json.dumps({**answer, "sent": sent}))
        return
    said = [f"{number}: {step.op}"]
    if step.op == "publish":
        said.append(f"received by {', '.join(receivers) or 'nobody'}")
    said += [f"{source}→{target} {kind}" for source, target, kind in sent]
    print("; ".join(said))
