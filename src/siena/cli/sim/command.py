"""``siena sim``: networks of brokers, simulated."""

import typer

from siena.cli.sim.check import sim_check
from siena.cli.sim.draw import sim_draw
from siena.cli.sim.play import sim_play
from siena.cli.sim.run import sim_run

app = typer.Typer(
    help="Simulate networks of brokers, with the router of the real ones.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("play")(sim_play)
app.command("run")(sim_run)
app.command("check")(sim_check)
app.command("draw")(sim_draw)
