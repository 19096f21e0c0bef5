"""The pages as routes: read once, sent with their checks, and never from elsewhere."""

import hashlib
from importlib.resources import files
from typing import Any, NamedTuple, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from siena.errors import SienaError
from siena.lang.parser import parse_notification
from siena.model import Notification
from siena.web.questions import Trace, answered, relations, why

KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "mjs": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
NAMES = (
    "index.html",
    "style.css",
    "app.js",
    "pages/network.js",
    "pages/workbench.js",
    "pages/live.js",
    "pages/why.js",
    "parts.js",
    "siena.js",
    "example/index.html",
    "example/page.js",
    "vendor/htm-preact.mjs",
)
# Scripts and styles of our own only, and nothing that talks to other machines.
HEADERS = {
    "content-security-policy": "default-src 'self'; style-src 'self'; "
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


class Around(Protocol):
    """What there is to see beyond the broker; both may take a while."""

    def survey(self) -> list[dict[str, Any]]:
        """All brokers that are found from here, with their links."""
        ...

    def trace(self, notification: Notification) -> list[dict[str, Any]]:
        """Publish, and what each broker on the way says of it."""
        ...


class File(NamedTuple):
    """One file, as it is sent."""

    body: bytes
    kind: str
    tag: str


def read_files() -> dict[str, File]:
    """All files of the console, by name."""
    found = {}
    for name in NAMES:
        body = files("siena.web").joinpath("static", *name.split("/")).read_bytes()
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        found[name] = File(body, KINDS[name.rpartition(".")[2]], tag)
    return found


def console_routes(around: Around) -> list[BaseRoute]:
    """What answers for the console; its files are read now, not when asked for.

    Args:
        around: what is seen of the network, asked in a thread.
    """
    known = read_files()

    async def network(request: Request) -> Response:  # noqa: ARG001 -- as below
        try:
            return JSONResponse({"brokers": await run_in_threadpool(around.survey)})
        except (SienaError, TimeoutError) as error:
            return JSONResponse({"brokers": [], "error": str(error)})

    async def trace(request: Request) -> Response:
        def follow(asked: Trace) -> dict[str, Any]:
            try:
                notification = parse_notification(asked.notification)
                return {"hops": around.trace(notification)}
            except (SienaError, TimeoutError) as error:
                return {"error": str(error)}

        return await answered(request, Trace, follow)

    async def page(request: Request) -> Response:
        return _sent(known, request.path_params.get("name") or "index.html", request)

    async def client(request: Request) -> Response:
        return _sent(known, "siena.js", request)

    async def home(request: Request) -> Response:  # noqa: ARG001 -- Starlette's signature
        return RedirectResponse("/console/")

    return [
        Route("/", home),
        Route("/console", home),
        Route("/siena.js", client),
        Route("/console/network", network),
        Route("/console/trace", trace, methods=["POST"]),
        Route("/console/relations", relations, methods=["POST"]),
        Route("/console/why", why, methods=["POST"]),
        Route("/console/", page),
        Route("/console/{name:path}", page),
    ]


def _sent(known: dict[str, File], name: str, request: Request) -> Response:
    """A file, unless the browser has it already."""
    if name not in known:
        return Response("there is no such page", 404)
    file = known[name]
    headers = {**HEADERS, "etag": file.tag}
    if request.headers.get("if-none-match") == file.tag:
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.kind)
