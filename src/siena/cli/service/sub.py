"""``siena sub``: print what comes."""

import contextlib
import sys
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import typer

from siena.cli.common.client_options import (
    EXIT_TIMEOUT,
    Deadline,
    JsonOption,
    ServerOption,
    TimeoutOption,
    open_server,
)
from siena.cli.common.durable_options import durable_options
from siena.cli.terminal.completion import dialects, one_of
from siena.cli.terminal.foreign import printable, safe_json
from siena.client.blocking import Subscription
from siena.client.durable.blocking import DurableSubscription
from siena.client.durable.subscription import Delivered
from siena.client.interests import as_interest
from siena.errors import NotSettledError, SienaError
from siena.lang.notification_form import notification_to_json
from siena.model import Filter, Notification, Pattern, Predicate
from siena.model.expression.residual import ResidualPredicate

# So many lines are written at a time; whoever reads them sees each at once anyway.
LINES_AT_ONCE = 1_024
# How others write "all of it".
EVERYTHING = frozenset({"*", "#", ">", "**"})


def sub(
    interests: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILTER]…",
            help="Filters, of which one has to match, or one pattern; without any, "
            "everything.",
            show_default=False,
        ),
    ] = None,
    *,
    count: Annotated[
        int | None,
        typer.Option(
            "--count", "-n", "-C", min=1, help="End after so many.", show_default=False
        ),
    ] = None,
    durable: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Read what the broker remembers under this name; each is acknowledged "
            "when it is printed. The broker needs a log.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="WHERE",
            help="Where a durable subscription begins that is not there yet: new, all, "
            "an offset, or a time such as 2026-11-15T02:40:03Z.",
            show_default=False,
            autocompletion=one_of("new", "all"),
        ),
    ] = None,
    ack_wait: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="What is not acknowledged for so long comes again.",
            show_default=False,
        ),
    ] = None,
    max_deliver: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="After so many deliveries it is a dead letter; 0: never.",
            show_default=False,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Of those with the same value one is under way at a time, in order.",
            show_default=False,
        ),
    ] = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="The language of the filter, if it is another: sql, amqp, azure, "
            "eventbridge, sns, cesql, cloudevents, sigma.",
            show_default=False,
            autocompletion=dialects,
        ),
    ] = None,
    timeout: TimeoutOption = None,
    server: ServerOption = None,
    as_json: JsonOption = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Do not say when it is in force.")
    ] = False,
) -> None:
    """Subscribe, and print every notification that comes, a line each.

    Without a filter, or with '*', '#' or '>', that is everything, as with '[]'.  What
    several filters select is printed once.  For a pattern (F then G) a line has all
    notifications of a match; with --json it is an array.  Once the subscription is in
    force throughout the network, a line on stderr says so.  It lives until Ctrl-C,
    --count or --timeout, through restarts of the broker; what was lost is reported on
    stderr.

    \b
    Exit codes: 0 done; 2 misuse; 3 no broker answers; 4 the time was over before
    --count notifications came, or without --count before any did; 1 other failures.

    \b
    Examples:
      siena sub 'symbol = DIS and change < 0'
      siena sub 'what = login then what = alarm' --json
      siena sub 'level > 3' 'what = alarm'
      siena sub 'order any' --durable billing --start all
      siena sub --dialect sql "bid < ask AND symbol LIKE 'D%'"
      siena sub --count 10 --timeout 60         (-C and -W, as elsewhere)
    """  # noqa: D301 -- Typer needs the backspace itself
    wanted = read_interests(interests or ["[]"], dialect if interests else None)
    deadline = Deadline(timeout)
    how = durable_options(
        durable,
        start=start,
        ack_wait_s=ack_wait,
        max_deliver=max_deliver,
        key=key,
    )
    with deadline.kept(), open_server(server, "siena sub", deadline) as client:
        subscribe: Callable[..., Any] = client.subscribe
        subscription = subscribe(wanted, **how)
        printer = _Printer(subscription, as_json=as_json)
        with contextlib.suppress(TimeoutError):
            _settle(subscription, deadline)
            if not quiet:
                what = "" if interests else " to everything"
                where = f"{client.url}{_less(subscription)}"
                print(f"siena: subscribed{what} at {where}", file=sys.stderr)
            printer.run(count, deadline)
        printer.report_lost()
    if printer.printed < (count or 1):
        of_count = "" if count is None else f" of {count}"
        came = f"{printer.printed}{of_count} came within {timeout:g} s"
        print(f"siena: error: {came}", file=sys.stderr)
        raise typer.Exit(EXIT_TIMEOUT)


def _settle(
    subscription: Subscription[Any] | DurableSubscription, deadline: Deadline
) -> None:
    """Wait until it is in force; where it may not be, say so, and go on."""
    try:
        subscription.settled(deadline.left_s)
    except NotSettledError as error:
        print(f"siena: warning: {printable(error.message)}", file=sys.stderr)


def _less(subscription: Subscription[Any] | DurableSubscription) -> str:
    """What is in force, where not all that is wanted is granted."""
    if isinstance(subscription, DurableSubscription):
        wanted = subscription.filter
    else:
        wanted = subscription.interest
    if subscription.in_force == wanted:
        return ""
    return f", as far as you may: {printable(subscription.in_force)}"


def read_interests(
    texts: list[str], dialect: str | None = None
) -> Filter | Predicate | Pattern:
    """What is meant by one or more arguments.

    >>> print(read_interests(["x > 3", "y in (1, 2)"]))
    x > 3 or y = 1 or y = 2
    >>> print(read_interests(["#"]))
    []
    >>> read_interests(["x > 3", "x any then y any"])
    Traceback (most recent call last):
    siena.errors.SienaError: a pattern stands alone: x any then y any
    (a subscription each: siena sub twice)
    """
    found = [
        as_interest("[]" if dialect is None and t in EVERYTHING else t, dialect)
        for t in texts
    ]
    if len(found) == 1:
        return found[0]
    filters: list[Filter] = []
    for each in found:
        if isinstance(each, Pattern):
            hint = "a subscription each: siena sub twice"
            raise SienaError(f"a pattern stands alone: {each}", hint=hint)
        if isinstance(each, ResidualPredicate):
            hint = "a subscription each: siena sub twice"
            raise SienaError(
                f"a filter with a residual stands alone: {each}", hint=hint
            )
        filters += each.filters if isinstance(each, Predicate) else [each]
    return Predicate(filters)


class _Printer:
    """Prints what a subscription yields."""

    def __init__(
        self, subscription: Subscription[Any] | DurableSubscription, *, as_json: bool
    ) -> None:
        self._subscription = subscription
        self._spell = _as_json if as_json else _as_text
        self._lost = 0
        self.printed = 0

    def run(self, count: int | None, deadline: Deadline) -> None:
        """Print until there were enough.

        Raises:
            TimeoutError: if the time is over before.
        """
        while count is None or self.printed < count:
            most = LINES_AT_ONCE
            if count is not None:
                most = min(most, count - self.printed)
            found = self._subscription.get_many(most, deadline.left_s)
            sys.stdout.write("".join(f"{self._spell(each)}\n" for each in found))
            sys.stdout.flush()
            self.printed += len(found)
            for each in found:
                if isinstance(each, Delivered):
                    each.ack()
            self.report_lost()

    def report_lost(self) -> None:
        """Say how many were lost since this was last said."""
        if isinstance(self._subscription, DurableSubscription):
            return  # nothing ever is
        lost = self._subscription.lost
        if lost > self._lost:
            print(f"siena: {lost - self._lost} were lost", file=sys.stderr)
            self._lost = lost


def _as_text(found: Delivered | Notification | tuple[Notification, ...]) -> str:
    if isinstance(found, Delivered):
        found = found.notification
    if isinstance(found, Notification):
        return str(found)
    return " then ".join(map(str, found))


def _as_json(found: Delivered | Notification | tuple[Notification, ...]) -> str:
    if isinstance(found, Delivered):
        found = found.notification
    if isinstance(found, Notification):
        form: object = notification_to_json(found)
    else:
        form = [notification_to_json(each) for each in found]
    return safe_json(msgspec.json.encode(form).decode())
