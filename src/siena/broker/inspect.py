"""Snapshots: what a broker knows, as plain structures for those who watch it.

Tables can be long.  Each snapshot shows the first so many, looks at a bounded part, and
says whether that was all.  Of what others want, a viewer sees what its *sight* has
(:mod:`siena.broker.access.grants.sight`), in frames, in lines and by HTTP.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, Protocol, TypeVar

from siena.algebra.poset.poset import Poset
from siena.broker.access.grants.sight import Sight
from siena.broker.access.principal import Principal
from siena.broker.clients.session import Session
from siena.broker.io.connection import Connection
from siena.broker.log.service import LogService
from siena.broker.questions.wanting import read_block, wanting
from siena.broker.state import BrokerState
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Notification
from siena.protocol.control_frames import Look, Seen
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import WANTING
from siena.protocol.limits import FRAME_BYTES_MAX
from siena.routing.mailbox import Mailboxes
from siena.routing.neighbour import Neighbour

# Interests that are looked at for a snapshot; and by those of whom each is to be asked
# whether they may see it, which takes some ten microseconds.
LOOKED_AT_MAX = 20_000
DECIDED_MAX = 1_000
# The characters of an interest that are shown, those who hold it, and the interests of
# one session.
CHARACTERS_MAX = 500
HOLDERS_MAX = 20
INTERESTS_MAX = 10


class Inspected(Protocol):
    """What is looked at."""

    name: str
    state: BrokerState
    log_service: LogService

    def snapshot(self) -> dict[str, object]:
        """What there is to know in short."""
        ...

    def wanted_links(self) -> list[dict[str, object]]:
        """The links that it was told to have, and of those that are not up why."""
        ...


Form = dict[str, Any]
F = TypeVar("F", Filter, Advertisement)


def look(broker: Inspected, session: Session, body: Look) -> None:
    """Answer a client that looks.

    Raises:
        ProtocolError: if there is no such thing to see, or too much of it.
    """
    if body.what == WANTING:
        notification = read_block(body.about)
        seen = who_wants(broker, session.principal, notification, body.limit)
    elif body.what in SNAPSHOTS:
        seen = inspect(broker, session.principal, body.what, body.limit)
    else:
        text = f"there is {', '.join(SNAPSHOTS)} to look at"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    frame = Seen(body.what, seen).pack()
    if len(frame) > FRAME_BYTES_MAX:
        text = "too much to be seen at once; look at less of it"
        raise ProtocolError(Fault.TOO_MANY, text)
    session.reply(frame)


def inspect(broker: Inspected, principal: Principal, what: str, limit: int) -> Form:
    """One of the snapshots, as far as a principal may see it.

    Raises:
        ProtocolError: if they may not look at all.
    """
    gate = broker.state.gate
    gate.inspect(principal, what)
    return SNAPSHOTS[what](broker, limit, gate.sight(principal))


def who_wants(
    broker: Inspected, principal: Principal, notification: Notification, limit: int
) -> Form:
    """Who would get a notification, as far as a principal may look at tables.

    Raises:
        ProtocolError: if they may not.
    """
    gate = broker.state.gate
    gate.inspect(principal, "tables")
    return wanting(broker.state, gate.sight(principal), notification, limit)


def counters(broker: Inspected, limit: int, sight: Sight) -> Form:  # noqa: ARG001 -- as the others
    """What the broker has done since it started."""
    return {**broker.snapshot(), "refusals": broker.state.gate.snapshot(sight)}


def links(broker: Inspected, limit: int, sight: Sight) -> Form:  # noqa: ARG001 -- as above
    """The neighbours, what went to them and came from them; and who should be one."""
    found = broker.state.links.values()
    shown = [link.snapshot() for link in islice(found, limit)]
    wanted = broker.wanted_links()[:limit]
    return {
        "broker": broker.name,
        "count": len(found),
        "links": shown,
        "wanted": wanted,
    }


def tables(broker: Inspected, limit: int, sight: Sight) -> Form:
    """Who wants what, and who advertises what."""
    return {
        "broker": broker.name,
        "filters": _table(_wanted(broker), limit, sight),
        "advertisements": _table(_offered(broker), limit, sight),
    }


def poset(broker: Inspected, limit: int, sight: Sight) -> Form:
    """The filters by covering: the widest first, and what each covers at once.

    A router has no such picture of its table, so it is made here, of some filters.
    """
    looked_at = list(islice(_seen(_widest_first(broker), sight), limit))
    covering = broker.state.router.options.covering
    drawn = Poset.of_filters("pairwise" if covering == "pairwise" else "exact")
    for f in looked_at:
        drawn.add(f)
    nodes: dict[Filter, list[str]] = {}
    queue = sorted(drawn.roots, key=str)
    for f in queue:  # it grows, level by level
        if f not in nodes:
            below = sorted(drawn.successors(f), key=str)
            nodes[f] = [*map(_cut, below)]
            queue += below
    shown = [{"filter": _cut(f), "covers": below} for f, below in nodes.items()]
    return {"broker": broker.name, "roots": len(drawn.roots), "filters": shown}


def sessions(broker: Inspected, limit: int, sight: Sight) -> Form:
    """The clients, those who are away included."""
    everybody = broker.state.sessions.values()
    found = [each for each in everybody if sight.of_principal(each.principal)]
    mailboxes = broker.state.router.mailboxes
    shown = [_session(session, mailboxes) for session in islice(found, limit)]
    return {"broker": broker.name, "count": len(found), "sessions": shown}


def durables(broker: Inspected, limit: int, sight: Sight) -> Form:
    """The durable subscriptions, and how far each is; and neighbours that get more."""
    durable = broker.log_service.durable
    if sight.is_whole:
        shown, count = durable.durables(limit), durable.count
    else:
        mine = sight.principal.identity
        everybody = durable.durables(durable.count)
        own = [each for each in everybody if mine and each["owner"] == mine]
        shown, count = own[:limit], len(own)
    return {
        "broker": broker.name,
        "count": count,
        "durables": shown,
        "relays": durable.relays(limit) if sight.is_whole else [],
    }


def told(broker: Inspected, limit: int, sight: Sight) -> Form:
    """What each neighbour was told of what is wanted here: it sends what matches."""
    state = broker.state
    neighbours = state.router.tables.neighbours
    shown = [
        {
            "name": link.snapshot()["name"],
            "count": len(neighbours[number].filters.told),
            "filters": [
                *map(_cut, islice(_seen(_told(neighbours[number]), sight), limit))
            ],
        }
        for number, link in islice(state.links.items(), limit)
        if number in neighbours
    ]
    return {"broker": broker.name, "links": shown}


SNAPSHOTS: dict[str, Callable[[Inspected, int, Sight], Form]] = {
    "counters": counters,
    "links": links,
    "tables": tables,
    "told": told,
    "poset": poset,
    "sessions": sessions,
    "durables": durables,
}


def _told(neighbour: Neighbour) -> Iterator[Filter]:
    return (f for f, _ in neighbour.filters.told)


def _seen(filters: Iterator[Filter], sight: Sight) -> Iterator[Filter]:
    """Those that may be seen, of a bounded number."""
    if sight.is_whole:
        return filters
    return filter(sight.chooser(), islice(filters, DECIDED_MAX))


# An item, who holds it (no principal, but a neighbour), and what that is called.
Held = tuple[F, Principal | None, str]


def _wanted(broker: Inspected) -> Iterator[Held[Filter]]:
    """What is wanted, and by whom; clients are asked themselves.

    The router is not told of them before it has a neighbour.
    """
    state = broker.state
    for number, link in state.links.items():
        for f in state.router.tables.filters.held_by(number):
            yield f, None, f"broker {link.snapshot()['name']}"
    for session in state.sessions.values():
        for number, interest in session.interests.items():
            who = f"client {session.party(number)}"
            for f in filters_of(interest):
                yield f, session.principal, who


def _offered(broker: Inspected) -> Iterator[Held[Advertisement]]:
    state = broker.state
    for number, link in state.links.items():
        for a in state.router.tables.advertisements.held_by(number):
            yield a, None, f"broker {link.snapshot()['name']}"
    for session in state.sessions.values():
        for number, a in session.advertisements.items():
            yield a, session.principal, f"client {session.party(number)}"


def _table(held: Iterator[Held[F]], limit: int, sight: Sight) -> Form:
    holders: dict[F, list[tuple[Principal | None, str]]] = {}
    is_complete = True
    sees = sight.chooser()
    for item, who, name in islice(
        held, LOOKED_AT_MAX if sight.is_whole else DECIDED_MAX
    ):
        if not sees(item):
            continue
        if item in holders or len(holders) < limit:
            holders.setdefault(item, []).append((who, name))
        else:
            is_complete = False
    shown = [
        {
            "text": _cut(item),
            "held": len(names),
            "holders": sight.names(names[:HOLDERS_MAX]),
        }
        for item, names in holders.items()
    ]
    is_complete &= next(held, None) is None
    return {"shown": shown, "complete": is_complete}


def _widest_first(broker: Inspected) -> Iterator[Filter]:
    """What is wanted, each once: first what neighbours were told."""
    tables = broker.state.router.tables
    told = (f for n in tables.neighbours.values() for f in _told(n))
    wanted = (f for f, _, _ in _wanted(broker))
    yield from dict.fromkeys(chain(told, tables.filters, wanted))


def _session(session: Session, mailboxes: Mailboxes) -> Form:
    mailbox = mailboxes.find(session.client)
    return {
        "number": session.number,
        "name": session.name,
        "identity": session.identity,
        "connected": session.sink is not None,
        "suspended": mailbox is not None and mailbox.is_suspended,
        "subscriptions": len(session.interests),
        "advertisements": len(session.advertisements),
        "kept": len(mailbox.kept) if mailbox is not None else 0,
        "lost": session.lost,
        "waiting": waiting_bytes(session),
        "interests": [*map(_cut, islice(session.interests.values(), INTERESTS_MAX))],
    }


def waiting_bytes(session: Session) -> int:
    """What is to be sent to a client and was not taken yet: of slow ones, much."""
    sink = session.sink
    if not isinstance(sink, Connection) or sink.is_closing:
        return 0
    return sink.waiting


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= CHARACTERS_MAX else f"{text[: CHARACTERS_MAX - 1]}…"
