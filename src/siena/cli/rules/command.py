"""``siena rules``: sets of rules, reviewed, compared, tried, and put on Spark."""

import typer

from siena.cli.rules.apply import rules_apply
from siena.cli.rules.diff import rules_diff
from siena.cli.rules.event_options import CommandOnEvents
from siena.cli.rules.history import rules_backtest
from siena.cli.rules.publish import rules_publish
from siena.cli.rules.review import rules_review
from siena.cli.rules.test import rules_test
from siena.cli.rules.why import rules_why

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def rules() -> None:
    """Review rule sets with proofs, compare versions, try them, put them on Spark.

    \b
    Examples:
      siena rules review rules.csv
      siena rules why rules.csv '{"level": 5}'
    """  # noqa: D301 -- Typer needs the backspace itself


app.command("review")(rules_review)
app.command("diff")(rules_diff)
app.command("test")(rules_test)
app.command("why")(rules_why)
app.command("apply", cls=CommandOnEvents)(rules_apply)
app.command("backtest", cls=CommandOnEvents)(rules_backtest)
app.command("publish")(rules_publish)
