"""``siena grants``: what is odd about the roles, and who can see a notification."""

import json
from typing import Annotated, Literal

import typer

from siena.broker.access.grants.review import review as find, who as look
from siena.cli.access.roles import CONFIG, read
from siena.cli.main import EXIT_FAILURE
from siena.lang.parser import parse_notification

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def grants() -> None:
    """Review the roles of a broker's settings.

    \b
    Examples:
      siena grants review --config broker.toml
      siena grants who 'symbol = DIS and price = 3' --config broker.toml
    """  # noqa: D301 -- Typer needs the backspace itself


JSON = Annotated[bool, typer.Option("--json", help="Answer with one JSON object.")]


@app.command()
def review(*, config: CONFIG = None, as_json: JSON = False) -> None:
    """Find roles that grant nothing, the same, or no more than another.

    They are compared as one and the same person has them. The code is 1 if there are
    any.

    \b
    Example:
      siena grants review --config broker.toml
    """  # noqa: D301 -- Typer needs the backspace itself
    roles = read(config)
    findings = find(roles)
    if as_json:
        said = [
            {"kind": each.kind, "role": each.role, "other": each.other}
            for each in findings
        ]
        print(json.dumps({"roles": len(roles.by_name), "findings": said}))
    else:
        for each in findings:
            print(each)
        if not findings:
            print(f"{len(roles.by_name)} roles, and nothing odd about them")
    if findings:
        raise typer.Exit(EXIT_FAILURE)


@app.command()
def who(
    notification: Annotated[
        str, typer.Argument(help="As siena pub takes it: 'x = 1 and y = 2'.")
    ],
    *,
    verb: Annotated[
        Literal["subscribe", "publish", "import", "export"],
        typer.Option(help="Who may hear it, or else publish it."),
    ] = "subscribe",
    config: CONFIG = None,
    as_json: JSON = False,
) -> None:
    """Which roles may see a notification, and as whom.

    The code is 1 if none may.

    \b
    Example:
      siena grants who 'what = order and user = ann' --config broker.toml
    """  # noqa: D301 -- Typer needs the backspace itself
    found = list(look(read(config), parse_notification(notification), verb))
    if as_json:
        print(json.dumps([{"role": role, "as": values} for role, values in found]))
    else:
        for role, values in found:
            named = ", ".join(f"{name} {value}" for name, value in values.items())
            print(f"{role}, as {named}" if named else role)
        if not found:
            print("nobody")
    if not found:
        raise typer.Exit(EXIT_FAILURE)
