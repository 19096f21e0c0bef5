"""``siena rules``: sets of rules, reviewed, compared, tried, and asked why."""

import typer

from siena.cli.rules.diff import rules_diff
from siena.cli.rules.review import rules_review
from siena.cli.rules.test import rules_test
from siena.cli.rules.why import rules_why

app = typer.Typer(
    help="Review rule sets with proofs, compare versions, try them on events.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("review")(rules_review)
app.command("diff")(rules_diff)
app.command("test")(rules_test)
app.command("why")(rules_why)
