"""``siena may``: whether a role may publish, or hear, something."""

import json
from typing import Annotated, Literal

import typer

from siena.broker.access.grants.grant import Grant
from siena.broker.access.grants.review import Answer, may as decide, sample
from siena.broker.access.principal import Principal
from siena.cli.access.roles import CONFIG, read
from siena.cli.main import EXIT_FAILURE
from siena.errors import SienaError
from siena.lang.parser import parse_interest


def may(
    role: Annotated[str, typer.Argument(help="A role of the settings.")],
    verb: Annotated[
        Literal["publish", "subscribe", "import", "export"],
        typer.Argument(help="publish or subscribe; of neighbours, import or export."),
    ],
    text: Annotated[str, typer.Argument(help="What: a filter, or a pattern.")],
    *,
    config: CONFIG = None,
    identity: Annotated[
        str | None,
        typer.Option("--as", metavar="IDENTITY", help="Who has the role."),
    ] = None,
    claim: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="What they claim: ${claim.NAME}."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON object.")
    ] = False,
) -> None:
    """Whether a role grants something, with a notification that shows it.

    The code is 0 for a yes and 1 for a no.

    \b
    Examples:
      siena may trader publish 'what = order' --config broker.toml
      siena may trader subscribe '[]' --config broker.toml --as ann
    """  # noqa: D301 -- Typer needs the backspace itself
    roles = read(config)
    if role not in roles.by_name:
        known = ", ".join(roles.by_name) or "none"
        raise SienaError(f"there is no role {role}", hint=f"there are: {known}")
    known_role = roles.by_name[role]
    somebody = sample(known_role) if identity is None else sample(known_role, identity)
    claims = {**somebody.claims, **dict(_claim(each) for each in claim or ())}
    grant = Grant.of(Principal(somebody.identity, (role,), claims), roles)
    granted = {
        "publish": grant.publish,
        "subscribe": grant.subscribe,
        "import": grant.imports,
        "export": grant.exports,
    }[verb]
    narrows = verb == "subscribe" and grant.narrows
    answer = decide(granted, parse_interest(text), narrows=narrows)
    _say(answer, as_json=as_json)
    if not answer.holds:
        raise typer.Exit(EXIT_FAILURE)


def _claim(text: str) -> tuple[str, str]:
    name, is_there, value = text.partition("=")
    if not is_there:
        raise typer.BadParameter(f"{text} is not NAME=VALUE", param_hint="--claim")
    return name, value


def _say(answer: Answer, *, as_json: bool) -> None:
    shown = None if answer.shown is None else str(answer.shown)
    if as_json:
        said = {"may": answer.holds, "shown": shown, "in_force": answer.in_force}
        print(json.dumps(said))
        return
    print("yes" if answer.holds else "no", end="")
    print(f", for example: {shown}" if shown is not None else "")
    if answer.in_force is not None:
        print(f"it is narrowed to: {answer.in_force}")
