"""Applications that do nothing but answer, behind the same server as ours.

``python -m siena.bench.front.empty_app NAME PORT`` serves one of them: what an answer
costs that no application can save.
"""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from siena.broker.http.server import BoundedHttp

ANSWER = b'{"published":1}'


async def bare(scope: Scope, receive: Receive, send: Send) -> None:
    """Read one piece of the body, and answer."""
    assert scope["type"] == "http"
    await receive()
    headers = [
        (b"content-length", b"%d" % len(ANSWER)),
        (b"content-type", b"application/json"),
    ]
    start = {"type": "http.response.start", "status": 200, "headers": headers}
    await send(start)
    await send({"type": "http.response.body", "body": ANSWER})


async def _publish(request: Request) -> JSONResponse:
    await request.body()
    return JSONResponse({"published": 1})


APPS: dict[str, ASGIApp] = {
    "bare": bare,
    "starlette": Starlette(routes=[Route("/publish", _publish, methods=["POST"])]),
}


def main(name: str, port: int) -> None:
    """Serve until the benchmark ends this process."""
    uvicorn.run(
        APPS[name],
        host="127.0.0.1",
        port=port,
        http=BoundedHttp,
        loop="auto",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
