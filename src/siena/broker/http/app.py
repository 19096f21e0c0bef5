"""The application: which path is answered by what."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Route, WebSocketRoute

from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.durable.http_reading import answer, forget
from siena.broker.http.door.authentication import Authentication
from siena.broker.http.door.guard import Guard
from siena.broker.http.events import Events
from siena.broker.http.faults import on_http_error, on_our_mistake, on_protocol_error
from siena.broker.http.identities import (
    forget_identity,
    list_identities,
    map_identity,
    unsubscribe_identity,
)
from siena.broker.http.inspect import health, readiness, watch
from siena.broker.http.metrics import metrics
from siena.broker.http.publish import Publishing
from siena.broker.http.sse import subscribe
from siena.broker.http.websocket import converse, refuse_plain
from siena.broker.inspect import SNAPSHOTS
from siena.broker.peers.destination import LINK_PATH
from siena.broker.peers.websocket_called import link
from siena.broker.questions.over_http import Questions
from siena.broker.webhooks.mapping import Handlers
from siena.protocol.error_codes import ProtocolError

WANTED = "a WebSocket is wanted here"


def make_app(
    entry: InProcessEntry,
    handlers: Handlers,
    hosts: tuple[str, ...],
    more: Sequence[BaseRoute] = (),
) -> Starlette:
    """The application of a broker, which knows itself by these names.

    ``more`` is what others serve beside it, behind the same guards.
    """
    questions = Questions(entry)
    app = Starlette(
        routes=[
            Route("/subscribe", subscribe, methods=["GET"]),
            WebSocketRoute("/ws", converse),
            Route(
                "/ws", refuse_plain(f"{WANTED}; GET /subscribe has server-sent events")
            ),
            WebSocketRoute(LINK_PATH, link),
            Route(LINK_PATH, refuse_plain(f"{WANTED}, with which brokers link")),
            Route("/metrics", metrics),
            Route("/healthz", health),
            Route("/readyz", readiness),
            *(Route(f"/api/{what}", watch(what)) for what in SNAPSHOTS),
            *(
                Route(f"/durables/{{name}}/{verb}", answer, methods=["POST"])
                for verb in ("ack", "nak")
            ),
            Route("/durables/{name}", forget, methods=["DELETE"]),
            Route("/api/identities", list_identities),
            Route("/api/identities/{identity}", map_identity, methods=["PUT"]),
            Route("/api/identities/{identity}", forget_identity, methods=["DELETE"]),
            Route(
                "/api/identities/{identity}/subscriptions",
                unsubscribe_identity,
                methods=["DELETE"],
            ),
            *questions.routes(),
            *more,
        ],
        middleware=[
            Middleware(Guard, hosts=hosts),
            Middleware(Authentication, entry=entry),
            Middleware(Publishing, entry=entry),
        ],
        exception_handlers={
            ProtocolError: on_protocol_error,
            HTTPException: on_http_error,
            Exception: on_our_mistake,
        },
    )
    app.state.entry, app.state.handlers = entry, handlers
    app.state.questions = questions
    app.state.events = Events(entry.broker.block_texts)
    app.state.has_settled = False
    return app
