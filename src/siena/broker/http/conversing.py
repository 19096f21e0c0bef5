"""``/ws``: a WebSocket on which JSON objects go both ways.

Ownership: the handler owns two tasks, one for each direction; when one of them ends, so
does the other, and the guest leaves.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from siena.broker.http.faults import HttpError, answer_of
from siena.broker.http.json_requests import JsonRequests
from siena.broker.intake import Run, cut_one_by_one
from siena.broker.lobby import Lobby, Visit
from siena.protocol.answers import error_line, told_in_lines
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.limits import FRAME_BYTES_MAX

# As WebSockets number the reasons for their end.
GOING_AWAY = 1001
TRY_LATER = 1013
# And HTTP, for who does not ask for one.
UPGRADE_REQUIRED = 426


class _HungUpError(Exception):
    """The other end has gone."""


async def converse(socket: WebSocket) -> None:
    """Serve one WebSocket until one of both ends."""
    lobby: Lobby = socket.app.state.lobby
    await socket.accept()
    try:
        visit = lobby.enter(name="/ws")
    except ProtocolError as error:
        await socket.send_text(error_line(error).decode().rstrip("\n"))
        await socket.close(TRY_LATER)
        return
    try:
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(_listen(socket, lobby, visit))
            await _speak(socket, visit)
            listening.cancel()
        await socket.close(GOING_AWAY)
    except* (_HungUpError, WebSocketDisconnect):
        pass
    finally:
        lobby.leave(visit)


async def refuse_plain(_: Request) -> Response:
    """Tell who comes without a WebSocket that one is wanted."""
    text = "a WebSocket is wanted here; GET /subscribe has server-sent events"
    answer = answer_of(HttpError(Fault.BAD_REQUEST, text, status=UPGRADE_REQUIRED))
    answer.headers.update({"Upgrade": "websocket", "Connection": "Upgrade"})
    return answer


async def _listen(socket: WebSocket, lobby: Lobby, visit: Visit) -> None:
    requests = JsonRequests()
    while True:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            raise _HungUpError
        text = message.get("text")
        if text is None:
            text = (message.get("bytes") or b"").decode(errors="replace")
        try:
            _ask(requests.read(text), lobby, visit)
        except ProtocolError as error:
            lobby.broker.route()
            lobby.broker.core.counters.faults += 1
            visit.guest.fail(error)
        await visit.guest.may_publish()


def _ask(frames: bytes, lobby: Lobby, visit: Visit) -> None:
    """Do what frames ask for, as if they had come over a connection."""
    found = cut_one_by_one(frames, FRAME_BYTES_MAX)
    for piece in found.pieces:
        if isinstance(piece, Run):
            visit.client.run(piece)
        else:
            visit.client.frame(piece)
    if found.error is not None:
        raise found.error
    lobby.broker.route()


async def _speak(socket: WebSocket, visit: Visit) -> None:
    while frames := await visit.guest.read():
        for line in told_in_lines(frames).splitlines():
            await socket.send_text(line.decode())
