"""What a page asks about the network around its broker.

``/api/network`` draws it; ``/api/way`` says where a notification would come, and which
links it would not take; ``/api/trace`` publishes one, and says where it went.  Who
looks around is told by ``siena serve``: this room knows no broker.
"""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Protocol, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from siena.errors import SienaError
from siena.lang.parser import parse_notification
from siena.model import Notification

TEXT_CHARACTERS_MAX = 20_000
BODY_BYTES_MAX = 100_000
# Looks around at a time: each calls all brokers, from a thread of its own.
LOOKS_MAX = 4

Form = dict[str, Any]
T = TypeVar("T")


class Around(Protocol):
    """The network around a broker, as a viewer may see it."""

    def here(self, scope: Scope, about: Notification | None) -> object:
        """The broker itself, for the others, and who wants something there; at once."""
        ...

    def survey(self, scope: Scope, here: object) -> list[Form]:
        """All brokers that are found from here, with their links; takes a while."""
        ...

    def way(self, scope: Scope, here: object, notification: Notification) -> Form:
        """Where a notification would come; takes a while."""
        ...

    def trace(self, scope: Scope, notification: Notification) -> list[Form]:
        """Publish, and what each broker on the way says of it; takes a while."""
        ...


class Posted(Struct, frozen=True, forbid_unknown_fields=True):
    """A notification, to be looked for or published."""

    notification: Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]


def around_routes(around: Around) -> list[BaseRoute]:
    """What answers about the network."""
    turns = asyncio.Semaphore(LOOKS_MAX)

    async def look(do: Callable[..., T], *args: object) -> T:
        async with turns:
            return await run_in_threadpool(do, *args)

    async def network(request: Request) -> Response:
        here = around.here(request.scope, None)
        try:
            found = await look(around.survey, request.scope, here)
        except (SienaError, TimeoutError) as error:
            return JSONResponse({"brokers": [], "error": str(error)})
        return JSONResponse({"brokers": found})

    async def way(request: Request) -> Response:
        posted = await _posted(request)
        if isinstance(posted, Response):
            return posted
        here = around.here(request.scope, posted)
        try:
            said = await look(around.way, request.scope, here, posted)
        except (SienaError, TimeoutError) as error:
            said = {"error": str(error)}
        return JSONResponse(said)

    async def trace(request: Request) -> Response:
        posted = await _posted(request)
        if isinstance(posted, Response):
            return posted
        try:
            hops = await look(around.trace, request.scope, posted)
        except (SienaError, TimeoutError) as error:
            return JSONResponse({"error": str(error)})
        return JSONResponse({"hops": hops})

    return [
        Route("/api/network", network),
        Route("/api/way", way, methods=["POST"]),
        Route("/api/trace", trace, methods=["POST"]),
    ]


async def _posted(request: Request) -> Notification | Response:
    """The notification of a request, or what is wrong with it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # which a form of another site cannot send
        return JSONResponse({"error": "the content type is application/json"}, 415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            return JSONResponse({"error": f"more than {BODY_BYTES_MAX} bytes"}, 413)
    try:
        asked = msgspec.json.decode(bytes(body), type=Posted)
    except (msgspec.MsgspecError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, 400)
    try:
        return parse_notification(asked.notification)
    except SienaError as error:
        said: Form = {"error": error.message, "hint": error.hint}
        if error.place is not None:
            said["position"] = error.place.position
        return JSONResponse(said)
