"""What the console sees of a network: as its viewer would from its broker.

The broker itself is looked at in its own process.  Others are called, and shown what
the page has shown: a token goes where ``siena topo`` would take it, and a page without
one is a stranger there.
"""

from typing import Any

from msgspec import structs
from starlette.datastructures import Headers
from starlette.types import Scope

from siena.broker.broker import Broker
from siena.broker.http.door.authentication import principal_of, token_in
from siena.broker.inspect import inspect, who_wants
from siena.cli.common.contexts import Server
from siena.cli.common.surveying import Found, addresses_of, survey_from
from siena.cli.common.ways import missing_routes, ways
from siena.cli.console.links import look_at_clients, look_at_link
from siena.cli.service.trace import form_of, traced
from siena.client.connect import check_token
from siena.errors import SienaError
from siena.model import Notification
from siena.protocol.address import parse_address
from siena.protocol.limits import LOOK_MAX
from siena.web.around import At, Beside

# How long a broker on the way of what is traced may take.
TRACE_SECONDS_MAX = 3.0

Form = dict[str, Any]


class LookAround:
    """The network around a broker."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        # Where the others are, by what was found last.
        self._urls: dict[str, str] = {}

    def here(self, scope: Scope, about: Notification | None) -> Found:
        """The broker itself; on its own loop.

        Raises:
            ProtocolError: if the viewer may not look at it, or not any more.
        """
        principal = self._broker.access.current(principal_of(scope))

        def look(what: str) -> Form:
            return inspect(self._broker, principal, what, LOOK_MAX)

        url = self._broker.addresses[0].url
        found = Found.of(url, look("counters"), look("links"))
        if about is not None:
            found.tables = look("tables")
            found.wanting = who_wants(self._broker, principal, about, LOOK_MAX)
        return found

    def survey(self, scope: Scope, here: object) -> list[Form]:
        """All brokers that are found from this one; in a thread."""
        assert isinstance(here, Found)
        found = self._survey(scope, here, None)
        return [broker.form() for broker in found.values()]

    def link(self, scope: Scope, here: object, asked: Beside) -> Form:
        """One link, as its broker knows it; in a thread.

        Raises:
            SienaError: if that is not found, or does not say.
        """
        server = self._server_of(scope, here, asked.broker)
        return look_at_link(server, asked.broker, asked.neighbour, asked.explain)

    def clients(self, scope: Scope, here: object, asked: At) -> Form:
        """Who is connected to a broker, as it says itself; in a thread.

        Raises:
            SienaError: if that is not found, or does not say.
        """
        return look_at_clients(self._server_of(scope, here, asked.broker), asked.broker)

    def way(self, scope: Scope, here: object, notification: Notification) -> Form:
        """Where a notification would come, and which links it would not take."""
        assert isinstance(here, Found)
        found = self._survey(scope, here, notification)
        steps = ways(found, notification)
        missing = missing_routes(found, steps, notification)
        return {
            "steps": [step.form() for step in steps],
            "missing": [route.form() for route in missing],
            "brokers": [broker.form() for broker in found.values()],
        }

    def trace(self, scope: Scope, notification: Notification) -> list[Form]:
        """Publish here, and what each broker on the way says of it; in a thread."""
        hops = traced(self._server(scope), notification, TRACE_SECONDS_MAX)
        return [form_of(hop) for hop in hops]

    def _survey(
        self, scope: Scope, here: Found, about: Notification | None
    ) -> dict[str, Found]:
        found = survey_from(here, self._server(scope), about)
        self._urls = _urls(found)
        return found

    def _server_of(self, scope: Scope, here: object, broker: str) -> Server:
        """Where a broker of the network is, with what the page has shown."""
        assert isinstance(here, Found)
        server = self._server(scope)
        if broker == here.name:
            return server
        # Another thread may find others meanwhile.
        url = self._urls.get(broker)
        if url is None:
            url = _urls(self._survey(scope, here, None)).get(broker)
        if url is None:
            raise SienaError(f"{broker} is not found")
        server = structs.replace(server, url=url)
        check_token(parse_address(server.url), server.token)
        return server

    def _server(self, scope: Scope) -> Server:
        # A broker that listens everywhere is found on this machine, too.
        (url, *_) = addresses_of([self._broker.addresses[0].url], "127.0.0.1:0")
        tls = self._broker.settings.tls
        token = token_in(Headers(scope=scope).getlist("authorization"))
        return Server(str(url), token, tls.ca if tls else None)


def _urls(found: dict[str, Found]) -> dict[str, str]:
    """Where those are that answered."""
    return {each.name: each.url for each in found.values() if not each.error}
