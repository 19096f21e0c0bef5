"""What a page asks about the network around its broker.

``/api/network`` draws it; ``/api/way`` says where a notification would come, and which
links it would not take; ``/api/trace`` publishes one, and says where it went;
``/api/link`` says what is asked across a link of any of the brokers, and why;
``/api/clients`` who is connected to one of them.  Who looks around is told by
``siena serve``: this room knows no broker.
"""

import asyncio
from collections.abc import Awaitable, Callable
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
Answer = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")
Read = TypeVar("Read", bound=Struct)


class Around(Protocol):
    """The network around a broker, as a viewer may see it."""

    def here(self, scope: Scope, about: Notification | None) -> object:
        """The broker itself, for the others, and who wants something there; at once."""
        ...

    def survey(self, scope: Scope, here: object) -> list[Form]:
        """All brokers that are found from here, with their links; takes a while."""
        ...

    def link(self, scope: Scope, here: object, asked: "Beside") -> Form:
        """What is asked across one link, as a broker beside it says; takes a while."""
        ...

    def clients(self, scope: Scope, here: object, asked: "At") -> Form:
        """Who is connected to a broker, as it says itself; takes a while."""
        ...

    def way(self, scope: Scope, here: object, notification: Notification) -> Form:
        """Where a notification would come; takes a while."""
        ...

    def trace(self, scope: Scope, notification: Notification) -> list[Form]:
        """Publish, and what each broker on the way says of it; takes a while."""
        ...


Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]


class Posted(Struct, frozen=True, forbid_unknown_fields=True):
    """A notification, to be looked for or published."""

    notification: Text


class At(Struct, frozen=True, forbid_unknown_fields=True):
    """A broker."""

    broker: Text


class Beside(Struct, frozen=True, forbid_unknown_fields=True):
    """A link from one broker to another, and maybe a filter that was told there."""

    broker: Text
    neighbour: Text
    explain: Text | None = None


class _Looks:
    """Looks around: few at a time, each in a thread."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(LOOKS_MAX)

    async def at(self, do: Callable[..., T], *args: object) -> T:
        """What is seen."""
        async with self._turns:
            return await run_in_threadpool(do, *args)

    async def said(self, do: Callable[..., Form], *args: object) -> Response:
        """What is seen, or why nothing is."""
        try:
            return JSONResponse(await self.at(do, *args))
        except (SienaError, TimeoutError) as error:
            return JSONResponse({"error": str(error)})


def _at_one(
    around: Around, looks: _Looks, kind: type[Struct], look: Callable[..., Form]
) -> Answer:
    """What asks one broker, which may be any of them."""

    async def answer(request: Request) -> Response:
        asked = await _read(request, kind)
        if isinstance(asked, Response):
            return asked
        here = around.here(request.scope, None)
        return await looks.said(look, request.scope, here, asked)

    return answer


def around_routes(around: Around) -> list[BaseRoute]:
    """What answers about the network."""
    looks = _Looks()
    link = _at_one(around, looks, Beside, around.link)
    clients = _at_one(around, looks, At, around.clients)

    async def network(request: Request) -> Response:
        here = around.here(request.scope, None)
        try:
            found = await looks.at(around.survey, request.scope, here)
        except (SienaError, TimeoutError) as error:
            return JSONResponse({"brokers": [], "error": str(error)})
        return JSONResponse({"brokers": found})

    async def way(request: Request) -> Response:
        posted = await _posted(request)
        if isinstance(posted, Response):
            return posted
        here = around.here(request.scope, posted)
        return await looks.said(around.way, request.scope, here, posted)

    async def trace(request: Request) -> Response:
        posted = await _posted(request)
        if isinstance(posted, Response):
            return posted

        def hops() -> Form:
            return {"hops": around.trace(request.scope, posted)}

        return await looks.said(hops)

    return [
        Route("/api/network", network),
        Route("/api/link", link, methods=["POST"]),
        Route("/api/clients", clients, methods=["POST"]),
        Route("/api/way", way, methods=["POST"]),
        Route("/api/trace", trace, methods=["POST"]),
    ]


async def _read(request: Request, kind_of: type[Read]) -> Read | Response:
    """What is posted, or what is wrong with it."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # which a form of another site cannot send
        return JSONResponse({"error": "the content type is application/json"}, 415)
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            return JSONResponse({"error": f"more than {BODY_BYTES_MAX} bytes"}, 413)
    try:
        return msgspec.json.decode(bytes(body), type=kind_of)
    except (msgspec.MsgspecError, RecursionError) as error:
        return JSONResponse({"error": str(error)}, 400)


async def _posted(request: Request) -> Notification | Response:
    """The notification of a request, or what is wrong with it."""
    asked = await _read(request, Posted)
    if isinstance(asked, Response):
        return asked
    try:
        return parse_notification(asked.notification)
    except SienaError as error:
        said: Form = {"error": error.message, "hint": error.hint}
        if error.place is not None:
            said["position"] = error.place.position
        return JSONResponse(said)
