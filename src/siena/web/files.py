"""The console's files as routes: read once, sent with their checks, all of them ours.

They tell nothing and are for all who may reach the port; what a page then asks is
answered behind the door, like everything else.
"""

import hashlib
from importlib.resources import files
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

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
    "icon.svg",
    "app.js",
    "parts/asking.js",
    "parts/charts.js",
    "parts/layout.js",
    "parts/shown.js",
    "parts/streaming.js",
    "parts/way.js",
    "parts/writing.js",
    "pages/access.js",
    "pages/durable.js",
    "pages/interests.js",
    "pages/link.js",
    "pages/live.js",
    "pages/network.js",
    "pages/why.js",
    "pages/workbench.js",
    "siena.js",
    "example/index.html",
    "example/page.js",
    "vendor/htm-preact.mjs",
)
# Scripts, styles and answers of our own only; nothing inline, nothing of others, and no
# page of others around it.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}


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


def file_routes() -> list[BaseRoute]:
    """What answers for the files, which are read now, not when asked for."""
    known = read_files()

    async def page(request: Request) -> Response:
        name = request.path_params.get("name", "")
        if not name or name.endswith("/"):
            name += "index.html"
        return _sent(known, name, request)

    async def client(request: Request) -> Response:
        return _sent(known, "siena.js", request)

    async def home(request: Request) -> Response:  # noqa: ARG001 -- Starlette's signature
        return RedirectResponse("/console/")

    return [
        Route("/", home),
        Route("/console", home),
        Route("/siena.js", client),
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
