"""A broker that is elsewhere: one of its links, with what is asked there; its clients.

What a broker tells over the wire to all who may look at it is enough: the filters that
it told a neighbour, and who wants what.  Which of these a filter stands for is decided
here, among the first of them.
"""

from time import perf_counter
from typing import Any

from siena.algebra.relations import covers
from siena.cli.common.contexts import Server
from siena.cli.common.observing import Observer
from siena.errors import RequestRefusedError, SienaError
from siena.lang.parser import parse_filter
from siena.model import Filter
from siena.protocol.limits import LOOK_MAX

# How long each of its answers may take, and how long filters are compared.
ANSWER_SECONDS_MAX = 3.0
SECONDS_MAX = 0.25
# Filters of each neighbour that are listed, and clients whose names are asked for.
TOLD_MAX = 200
SESSIONS_MAX = 300
# Clients that are listed.
CLIENTS_MAX = 100
# How a broker ends a filter that is too long to be shown.
CUT = "…"

Form = dict[str, Any]


def look_at_link(
    server: Server, broker: str, neighbour: str, explain: str | None
) -> Form:
    """What a broker asked of a neighbour, and that of it; maybe why it asks a filter.

    Raises:
        SienaError: if another broker is there, or it has no such link, or does not say.
        TimeoutError: if it does not answer.
    """
    with Observer(server, seconds=ANSWER_SECONDS_MAX) as observer:
        told = observer.look("told", TOLD_MAX)
        if told["broker"] != broker:
            raise SienaError(f"at {server.url} is {told['broker']}")
        links = {link["name"]: link for link in told["links"]}
        if neighbour not in links:
            raise SienaError(f"{broker} has no link to {neighbour}")
        wanted: Form = observer.look("tables", LOOK_MAX)["filters"]
        names = {} if explain is None else _names(observer)
    that = f"broker {neighbour}"
    theirs = [row["text"] for row in wanted["shown"] if that in row["holders"]]
    said: Form = {
        "broker": broker,
        "neighbour": neighbour,
        "count": links[neighbour]["count"],
        "filters": links[neighbour]["filters"],
        "theirs": theirs,
        "complete": wanted["complete"],
    }
    if explain is None:
        return said
    if explain.endswith(CUT):
        raise SienaError(f"it is too long to be told whole; ask at {broker} itself")
    return {**said, **_stands_for(parse_filter(explain), wanted, that, names)}


def look_at_clients(server: Server, broker: str) -> Form:
    """Who is connected to a broker, as far as it shows that to who asks.

    Raises:
        SienaError: if another broker is there, or it does not say.
        TimeoutError: if it does not answer.
    """
    with Observer(server, seconds=ANSWER_SECONDS_MAX) as observer:
        found: Form = observer.look("sessions", CLIENTS_MAX)
    if found["broker"] != broker:
        raise SienaError(f"at {server.url} is {found['broker']}")
    others = [s for s in found["sessions"] if str(s["number"]) != observer.session]
    count = found["count"] - (len(found["sessions"]) - len(others))
    return {**found, "count": count, "sessions": others}  # without who asks


def _names(observer: Observer) -> dict[str, str]:
    """What the clients of a broker are called, if it says so."""
    try:
        seen = observer.look("sessions", SESSIONS_MAX)
    except RequestRefusedError:  # that is not granted, or it is too much at once
        return {}
    called = {
        str(each["number"]): each["identity"] or each["name"]
        for each in seen["sessions"]
    }
    return {number: name for number, name in called.items() if name}


def _stands_for(
    asked: Filter, wanted: Form, neighbour: str, names: dict[str, str]
) -> Form:
    """What others than the neighbour want that a filter covers."""
    end = perf_counter() + SECONDS_MAX
    found: list[Form] = []
    is_complete: bool = wanted["complete"]
    too_long = 0
    for row in wanted["shown"]:
        holders = [who for who in row["holders"] if who != neighbour]
        if not holders:
            continue
        if row["text"].endswith(CUT):
            too_long += 1
        elif perf_counter() > end:
            is_complete = False
        elif covers(asked, parse_filter(row["text"])):
            held = row["held"] - (len(row["holders"]) - len(holders))
            called = [_called(who, names) for who in holders]
            found.append({"text": row["text"], "held": held, "holders": called})
    return {
        "covers": {"count": len(found), "shown": found},
        "too_long": too_long,
        "complete": is_complete,
    }


def _called(holder: str, names: dict[str, str]) -> str:
    """A client by its name, as its own broker calls it.

    >>> _called("client 3/1", {"3": "desk"}), _called("broker b", {})
    ('desk (3/1)', 'broker b')
    """
    party = holder.removeprefix("client ")
    name = names.get(party.partition("/")[0])
    return f"{name} ({party})" if name and party != holder else holder
