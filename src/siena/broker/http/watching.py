"""``/api/*`` and ``/healthz``: snapshots, and whether it is well."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from siena.broker.lobby import Lobby
from siena.broker.snapshots import SNAPSHOTS
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.limits import LOOK_DEFAULT, LOOK_MAX


def watch(what: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers with a snapshot."""
    take = SNAPSHOTS[what]

    async def answer(request: Request) -> Response:
        lobby: Lobby = request.app.state.lobby
        return JSONResponse(take(lobby.broker, _limit(request)))

    return answer


async def health(request: Request) -> Response:
    """Whether it serves."""
    lobby: Lobby = request.app.state.lobby
    said = {"ok": not lobby.is_draining, "broker": lobby.broker.name}
    return JSONResponse(said, 503 if lobby.is_draining else 200)


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(LOOK_DEFAULT))
    if not (text.isascii() and text.isdigit() and int(text[:9]) <= LOOK_MAX):
        said = f"limit is a number up to {LOOK_MAX}"
        raise ProtocolError(Fault.BAD_REQUEST, said)
    return int(text)
