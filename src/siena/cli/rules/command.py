"""``siena rules``: sets of rules."""

import typer

from siena.cli.rules.apply import rules_apply
from siena.cli.rules.history import rules_backtest
from siena.cli.rules.publish import rules_publish

app = typer.Typer(
    help="Work with sets of rules, yours and those of others.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("apply")(rules_apply)
app.command("backtest")(rules_backtest)
app.command("publish")(rules_publish)
