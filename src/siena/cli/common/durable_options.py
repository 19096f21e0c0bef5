"""How durable subscriptions are spelled on the command line."""

from datetime import datetime
from typing import Any, Literal, cast

from siena.client.durable.subscription import Begin
from siena.errors import SienaError


def durable_options(
    name: str | None, *, start: str | None, **more: object
) -> dict[str, Any]:
    """What is said of a durable subscription, as a client wants it.

    >>> durable_options("billing", start="7", key=None)
    {'durable': 'billing', 'start': 7}

    Raises:
        SienaError: if something is said, and no name.
    """
    said = {key: value for key, value in more.items() if value is not None}
    if start is not None:
        said["start"] = read_start(start)
    if name is None and said:
        raise SienaError(
            "--start, --ack-wait, --max-deliver and --key are for --durable NAME"
        )
    return {} if name is None else {"durable": name, **said}


def read_start(text: str) -> Begin:
    """Where to begin.

    >>> read_start("all"), read_start("7"), read_start("2026-11-15T02:40:03Z").year
    ('all', 7, 2026)

    Raises:
        SienaError: if that is no place.
    """
    if text in {"new", "all"}:
        return cast("Literal['new', 'all']", text)
    if text.isascii() and text.isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise SienaError(
            f"{text!r} is no place to begin at",
            hint="new, all, an offset, or a time such as 2026-11-15T02:40:03Z",
        ) from None
    if time.tzinfo is None:
        raise SienaError(f"the time {text} has no zone", hint=f"in UTC: {text}Z")
    return time
