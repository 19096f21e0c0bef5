"""``siena study``: the figures and claims of the papers, and what we find."""

import typer

from siena.cli.study.check import study_check
from siena.cli.study.compare import study_compare
from siena.cli.study.listing import study_list
from siena.cli.study.new import study_new
from siena.cli.study.report import study_report
from siena.cli.study.run import study_run
from siena.cli.study.show import study_show

app = typer.Typer(
    help="Compute the papers' figures, check what the papers say, and ask your own.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("list")(study_list)
app.command("run")(study_run)
app.command("show")(study_show)
app.command("report")(study_report)
app.command("compare")(study_compare)
app.command("new")(study_new)
app.command("check")(study_check)
