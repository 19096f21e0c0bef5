"""``siena why``: why a notification would reach a subscriber, or would not."""

import json
from typing import Annotated

import typer

from siena.algebra.explanation import Reason, explain_matches
from siena.cli.common.observing import Form, ServersOption, servers_of
from siena.cli.common.pairs import read_attributes, split_attributes
from siena.cli.common.surveying import Found, survey
from siena.cli.common.ways import Step, ways
from siena.cli.terminal.colour import say
from siena.errors import FilterError, SienaError
from siena.lang.parser import parse_interest
from siena.model import Filter, Notification, Pattern, Predicate


def why(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE… [FILTER]…",
            help="The attributes, or one JSON object, as for siena pub; and what "
            "subscribers want.  What has NAME=VALUE without spaces is an attribute.",
            show_default=False,
        ),
    ],
    *,
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            "-f",
            metavar="FILTER",
            help="A filter, also if it looks like an attribute; as often as wanted.",
            show_default=False,
        ),
    ] = None,
    server: ServersOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say why a notification would, or would not, reach who has these filters.

    With --server, also which brokers it would come to if it were published there, who
    would get it from them, and because of which filters; and where none would, which
    filter came nearest and what it missed.

    \b
    Exit codes: 0 it would reach a client; 1 it would not; 2 misuse; 3 no broker
    answers.

    \b
    Examples:
      siena why symbol=DIS change=-4 'symbol = DIS and change < 0'
      siena why symbol=DIS change=4 'change < 0' 'symbol any'
      siena why symbol=DIS change=-4 --server siena://127.0.0.1:2606
    """  # noqa: D301 -- Typer needs the backspace itself
    attributes, filters = split_attributes(arguments)
    filters += wanted or []
    n = read_attributes(attributes)
    if not filters and not server:
        raise SienaError("which filter?", hint="give one, or --server")
    interests = [_read_filter(text, place) for place, text in enumerate(filters)]
    steps: list[Step] = []
    found: dict[str, Found] = {}
    if server:
        found = survey(servers_of(server), n)
        steps = ways(found, n)
    if as_json:
        print(json.dumps(_form(n, interests, steps)))
    else:
        for interest in interests:
            _show(interest, n)
        if server:
            _show_ways(steps, found)
    reaches = any(interest.matches(n) for interest in interests)
    reaches |= any(step.clients for step in steps)
    raise typer.Exit(0 if reaches else 1)


def _read_filter(text: str, place: int) -> Filter | Predicate:
    try:
        interest = parse_interest(text)
    except SienaError as error:
        raise error.about(f"filter {place + 1}") from None
    if isinstance(interest, Pattern):
        raise FilterError(
            "one notification is no match of a pattern", hint="ask for its steps"
        )
    return interest


def _show(interest: Filter | Predicate, n: Notification) -> None:
    print(f"{'yes' if interest.matches(n) else 'no'}: {interest}")
    reasons = explain_matches(interest, n)
    width = min(max((len(reason.subject) for reason in reasons), default=0), 60)
    for reason in reasons:
        mark = "✓" if reason.holds else "✗"
        say(f"  {mark} {reason.subject:{width}}  {reason.because}")


def _show_ways(steps: list[Step], found: dict[str, Found]) -> None:
    if not steps:
        print("no broker could be looked at")
    for step in steps:
        came = f" from {step.came_from}" if step.came_from else ""
        print(f"at {step.broker}{came}:")
        if step.error:
            print(f"  not reached: {step.error}")
        for who, text in (*step.clients, *step.brokers):
            say(f"  ✓ {who}  because of {text}")
        is_wanted = step.clients or step.brokers
        if not is_wanted and not step.error:
            say(f"  ✗ {_nobody(step)}")
        _show_nearest(step)
        if is_wanted and not step.is_complete:
            print("  its tables are long: not all of them was looked at, or is named")
    for name in sorted(found.keys() - {step.broker for step in steps}):
        print(f"at {name}: it does not come there")


def _nobody(step: Step) -> str:
    """That no filter matches, as far as that is known."""
    if step.is_complete:
        return "nobody here wants it"
    return f"among its first {step.compared:,} filters none wants it; it has more"


def _show_nearest(step: Step) -> None:
    if step.nearest is not None:
        of_many = "" if step.has_compared_all else f" of its first {step.compared:,}"
        print(f"    nearest{of_many}: {step.nearest.text}, of {step.nearest.who}")
        for reason in step.nearest.missed:
            say(f"    ✗ {reason.subject}  {reason.because}")


def _form(
    n: Notification, interests: list[Filter | Predicate], steps: list[Step]
) -> Form:
    return {
        "filters": [
            {
                "filter": str(interest),
                "matches": interest.matches(n),
                "reasons": [*map(_reason, explain_matches(interest, n))],
            }
            for interest in interests
        ],
        "brokers": [step.form() for step in steps],
    }


def _reason(reason: Reason) -> Form:
    return {
        "subject": reason.subject,
        "holds": reason.holds,
        "because": reason.because,
    }
