"""``/api/*``, ``/healthz`` and ``/readyz``: snapshots, and whether it is well."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.door.authentication import principal_of
from siena.broker.inspect import inspect
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import LOOK_DEFAULT, LOOK_MAX

# Zeros may stand before it, but not so many that the number is cut.
LIMIT_DIGITS_MAX = 9


def watch(what: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers with a snapshot."""

    async def answer(request: Request) -> Response:
        entry: InProcessEntry = request.app.state.entry
        principal = principal_of(request.scope)
        return JSONResponse(inspect(entry.broker, principal, what, _limit(request)))

    return answer


async def health(request: Request) -> Response:
    """Whether it serves."""
    entry: InProcessEntry = request.app.state.entry
    said: dict[str, object] = {"ok": not entry.is_draining}
    if principal_of(request.scope).is_known:
        said["broker"] = entry.broker.name
    return JSONResponse(said, 503 if entry.is_draining else 200)


async def readiness(request: Request) -> Response:
    """Whether it serves with all the links that it was told to have, and has settled.

    It has settled once its router has done all that it put off: what links that came
    up had to be told.  What is put off later does not take that back, for a broker is
    always busy with something; a link that goes missing does.
    """
    state = request.app.state
    entry: InProcessEntry = state.entry
    missing = [link for link in entry.broker.wanted_links() if not link["up"]]
    if missing:
        state.has_settled = False
    elif not entry.broker.state.router.backlog:
        state.has_settled = True
    is_ready = state.has_settled and not entry.is_draining
    said: dict[str, object] = {"ready": is_ready}
    if principal_of(request.scope).is_known:
        said |= {
            "broker": entry.broker.name,
            "settled": state.has_settled,
            "missing": missing,
        }
    return JSONResponse(said, 200 if is_ready else 503)


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(LOOK_DEFAULT))
    is_number = text.isascii() and text.isdigit() and len(text) <= LIMIT_DIGITS_MAX
    if not is_number or int(text) > LOOK_MAX:
        said = f"limit is a number up to {LOOK_MAX}"
        raise ProtocolError(Fault.BAD_REQUEST, said)
    return int(text)
