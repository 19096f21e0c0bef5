"""``siena bench``: how fast is it, here, against its baselines in the same run?"""

import json
from typing import Annotated

import typer
from rich.console import Console

from siena.bench.covering.report import object_of, table_of
from siena.bench.covering.routers import measure
from siena.bench.network.shapes import Shape
from siena.cli.lab.bench_broker import bench_broker
from siena.cli.lab.bench_client import bench_client
from siena.cli.lab.bench_durable import bench_durable
from siena.cli.lab.bench_http import bench_http
from siena.cli.lab.bench_match import bench_match
from siena.cli.lab.bench_network import bench_network
from siena.cli.lab.bench_spark import bench_spark

INTERESTS_MAX = 1_000_000

app = typer.Typer(
    help="Measure, against the baselines that ship with it, in one run.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("match")(bench_match)
app.command("broker")(bench_broker)
app.command("network")(bench_network)
app.command("http")(bench_http)
app.command("durable")(bench_durable)
app.command("client")(bench_client)
app.command("spark")(bench_spark)


@app.command("covering")
def bench_covering(
    *,
    shape: Annotated[
        list[Shape] | None,
        typer.Option(help="How interests look; may be repeated [default: all]."),
    ] = None,
    interests: Annotated[
        int, typer.Option(min=10, max=INTERESTS_MAX, help="How many of each shape.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Measure what two routers spend on interests, without sockets.

    A client of the first wants one interest after the other.  Each is parsed,
    registered, announced to the second router as brokers do it, and settled.  Then it
    wants everything, and no longer: all that was covered is told again.  In the end
    everything is cancelled.  Times are of the processor, for each of the two.

    \b
    Examples:
      siena bench covering
      siena bench covering --shape bands --shape w --interests 100000
    """  # noqa: D301 -- Typer needs the backspace itself
    rows = [measure(each, interests, seed) for each in shape or list(Shape)]
    if as_json:
        print(json.dumps(object_of(rows)))
    else:
        Console().print(table_of(rows))
