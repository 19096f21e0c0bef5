"""``siena study``: the figures and claims of the papers, and what we find."""

import typer

from siena.cli.lab.study_compare import study_compare
from siena.cli.lab.study_list import study_list
from siena.cli.lab.study_report import study_report
from siena.cli.lab.study_run import study_run
from siena.cli.lab.study_show import study_show

app = typer.Typer(
    help="Compute the papers' figures, and check what the papers say.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("list")(study_list)
app.command("run")(study_run)
app.command("show")(study_show)
app.command("report")(study_report)
app.command("compare")(study_compare)
