"""Surveying a network: from one broker to its neighbours, and on to theirs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace as replace_host

from msgspec import structs

from siena.cli.common.contexts import Server
from siena.cli.common.observing import Form, Observer
from siena.client.connect import check_token
from siena.errors import SienaError
from siena.model import Notification
from siena.protocol.address import Address, parse_address
from siena.protocol.limits import LOOK_MAX

# Brokers that are looked at; those behind them are not drawn.
BROKERS_MAX = 1_000
# How long each may take to answer.
SECONDS_MAX = 3.0
EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 -- compared


@dataclass(slots=True)
class Found:
    """A broker, as far as it could be looked at."""

    name: str
    url: str = ""
    counters: Form = field(default_factory=dict)
    links: list[Form] = field(default_factory=list)
    missing: list[Form] = field(default_factory=list)
    tables: Form = field(default_factory=dict)
    # Who wants what it is about; brokers before this version do not say.
    wanting: Form | None = None
    error: str = ""

    @classmethod
    def of(cls, url: str, counters: Form, links: Form) -> "Found":
        """A broker that was looked at; not yet at its tables."""
        # Brokers before this version do not say which links they should have.
        missing = [link for link in links.get("wanted", []) if not link["up"]]
        return cls(counters["broker"], url, counters, links["links"], missing)

    def form(self) -> Form:
        """As JSON, for scripts."""
        said: Form = {"broker": self.name, "url": self.url}
        if self.error:
            return {**said, "error": self.error}
        return {
            **said,
            "counters": self.counters,
            "links": self.links,
            "missing": self.missing,
        }


def survey(
    servers: Iterable[Server], about: Notification | None = None
) -> dict[str, Found]:
    """All brokers that can be found from some, by name, nearest first.

    With their tables, if it is about a notification, and who wants that there.

    Raises:
        ServiceError: if one of those that were named does not answer.
    """
    found: dict[str, Found] = {}
    known: dict[str, Server] = {}
    for server in servers:
        first = _look(server, about)
        found.setdefault(first.name, first)
        known[first.name] = server
    return _spread(found, known, about)


def survey_from(
    first: Found, server: Server, about: Notification | None
) -> dict[str, Found]:
    """All that can be found from a broker that was looked at, and is there."""
    return _spread({first.name: first}, {first.name: server}, about)


def _spread(
    found: dict[str, Found], known: dict[str, Server], about: Notification | None
) -> dict[str, Found]:
    """Those that were found, and whom they name, and so on."""
    queue = list(found.values())
    for broker in queue:  # it grows
        for link in broker.links:
            name = link["name"]
            if name in found or len(found) >= BROKERS_MAX:
                continue
            known[name] = known[broker.name]
            found[name] = _reach(name, link, known[name], about)
            queue.append(found[name])
    return found


def _reach(name: str, link: Form, known: Server, about: Notification | None) -> Found:
    """A neighbour, at the first of its addresses where it really is.

    It is shown what the broker was shown that named it, if only its owner can read
    that.
    """
    error = "it has not said where it is"
    for address in addresses_of(link["urls"], link["address"]):
        try:
            check_token(address, known.token)
            server = structs.replace(known, url=str(address))
            found = _look(server, about)
        except (SienaError, TimeoutError) as problem:
            error = str(problem)
            continue
        if found.name == name:
            return found
        error = f"at {address} is {found.name}"
    return Found(name, error=error)


def addresses_of(urls: Sequence[str], seen_at: str) -> list[Address]:
    """Where a neighbour may be that is seen at an address and port.

    >>> [str(address) for address in addresses_of(["siena://0.0.0.0:7"], "10.0.0.1:9")]
    ['siena://10.0.0.1:7']
    """
    host = seen_at.rpartition(":")[0].strip("[]")
    found = []
    for url in urls:
        address = parse_address(url)
        is_everywhere = address.host in EVERYWHERE
        found.append(replace_host(address, host=host) if is_everywhere else address)
    return found


def _look(server: Server, about: Notification | None) -> Found:
    with Observer(server, seconds=SECONDS_MAX) as observer:
        counters = observer.look("counters")
        seen = observer.look("links", LOOK_MAX)
        found = Found.of(str(observer.address), counters, seen)
        if about is not None:
            found.tables = observer.look("tables", LOOK_MAX)
            found.wanting = observer.wanting(about, LOOK_MAX)
        return found
