"""``siena bench``: how fast is it, here, against its baselines in the same run?"""

import typer

from siena.cli.lab.bench_broker import bench_broker
from siena.cli.lab.bench_client import bench_client
from siena.cli.lab.bench_covering import bench_covering
from siena.cli.lab.bench_http import bench_http
from siena.cli.lab.bench_match import bench_match
from siena.cli.lab.bench_network import bench_network
from siena.cli.lab.bench_spark import bench_spark

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
app.command("client")(bench_client)
app.command("spark")(bench_spark)
app.command("covering")(bench_covering)
