"""Snapshots: what a broker knows, as plain structures for those who watch it.

Tables can be long: each snapshot shows the first so many, and says how many there are.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeVar

from siena.broker.broker import Broker
from siena.broker.session import Session
from siena.messages import Interface
from siena.model.filter import ConstraintSet
from siena.routing.interest import InterestTable

# What a snapshot shows of a table: unless said otherwise, and at most.
SHOWN = 100
SHOWN_MAX = 1_000
# The characters of an interest that are shown, and those who hold it.
CHARACTERS_MAX = 500
HOLDERS_MAX = 20

Form = dict[str, Any]
F = TypeVar("F", bound=ConstraintSet)


def counters(broker: Broker, limit: int) -> Form:  # noqa: ARG001 -- as the others
    """What the broker has done since it started."""
    return broker.snapshot()


def links(broker: Broker, limit: int) -> Form:
    """The neighbours, and what went to them and came from them."""
    found = broker.core.links.values()
    shown = [link.snapshot() for link in islice(found, limit)]
    return {"broker": broker.name, "count": len(found), "links": shown}


def tables(broker: Broker, limit: int) -> Form:
    """Who wants what, and who advertises what."""
    found = broker.core.router.tables
    return {
        "broker": broker.name,
        "filters": _table(broker, found.filters, limit),
        "advertisements": _table(broker, found.advertisements, limit),
    }


def poset(broker: Broker, limit: int) -> Form:
    """The filters by covering: the widest first, and what each covers at once."""
    table = broker.core.router.tables.filters
    order = table.order
    roots = order.roots()
    nodes: dict[Any, list[str]] = {}
    queue = sorted(islice(roots, limit), key=str)
    for f in queue:  # it grows, level by level
        if len(nodes) >= limit:
            break
        if f not in nodes:
            below = sorted(islice(order.successors(f), limit), key=str)
            nodes[f] = [*map(_cut, below)]
            queue += below
    return {
        "broker": broker.name,
        "count": len(table),
        "roots": len(roots),
        "filters": [{"filter": _cut(f), "covers": below} for f, below in nodes.items()],
    }


def sessions(broker: Broker, limit: int) -> Form:
    """The clients, those who are away included."""
    found = broker.core.sessions.values()
    shown = [_session(session) for session in islice(found, limit)]
    return {"broker": broker.name, "count": len(found), "sessions": shown}


SNAPSHOTS: dict[str, Callable[[Broker, int], Form]] = {
    "counters": counters,
    "links": links,
    "tables": tables,
    "poset": poset,
    "sessions": sessions,
}


def _table(broker: Broker, table: InterestTable[F], limit: int) -> Form:
    shown = [
        {"text": _cut(item), **_holders(broker, (h.hop for h in table.holders(item)))}
        for item in islice(table, limit)
    ]
    return {"count": len(table), "shown": shown}


def _holders(broker: Broker, hops: Iterable[Interface]) -> Form:
    names = sorted({_name(broker, hop) for hop in hops})
    return {"holders": names[:HOLDERS_MAX], "held": len(names)}


def _name(broker: Broker, hop: Interface) -> str:
    """A client, a neighbour or a monitor of ours, as people call it."""
    if isinstance(hop, str):
        return f"client {hop}"
    if hop < 0:
        return f"pattern {-hop}"
    link = broker.core.links.get(hop)
    return f"broker {link.snapshot()['name'] if link else hop}"


def _session(session: Session) -> Form:
    return {
        "number": session.number,
        "name": session.name,
        "identity": session.identity,
        "connected": session.sink is not None,
        "suspended": session.is_suspended,
        "subscriptions": len(session.interests),
        "advertisements": len(session.advertisements),
        "kept": len(session.kept.queue) if session.kept else 0,
        "lost": session.lost,
        "interests": [_cut(i) for i in islice(session.interests.values(), 10)],
    }


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= CHARACTERS_MAX else f"{text[: CHARACTERS_MAX - 1]}…"
