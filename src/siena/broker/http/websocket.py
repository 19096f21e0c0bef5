"""``/ws``: a WebSocket on which JSON objects go both ways.

Ownership: the handler owns two tasks, one for each direction; when one of them ends, so
does the other, and the guest leaves.
"""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.http.faults import HttpError, answer_of
from siena.broker.http.json_requests import JsonRequests
from siena.broker.io.role import carry_out
from siena.protocol.control_frames import Connect
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import VERSIONS
from siena.protocol.server import ServerConversation
from siena.protocol.text.output import error_line

# As WebSockets number the reasons for their end.
GOING_AWAY = 1001
TRY_LATER = 1013
# And HTTP, for who does not ask for one.
UPGRADE_REQUIRED = 426


class _HungUpError(Exception):
    """The other end has gone."""


async def converse(socket: WebSocket) -> None:
    """Serve one WebSocket until one of both ends."""
    entry: InProcessEntry = socket.app.state.entry
    await socket.accept()
    try:
        visit = entry.enter(name="/ws", transcript=entry.broker.lines)
    except ProtocolError as error:
        await socket.send_text(error_line(error).decode().rstrip("\n"))
        await socket.close(TRY_LATER)
        return
    try:
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(_listen(socket, entry, visit))
            await _speak(socket, visit)
            listening.cancel()
        await socket.close(GOING_AWAY)
    except* (_HungUpError, WebSocketDisconnect):
        pass
    finally:
        entry.leave(visit)


def refuse_plain(text: str) -> Callable[[Request], Awaitable[Response]]:
    """What tells those who come without a WebSocket that one is wanted."""

    async def answer(_: Request) -> Response:
        error = HttpError(Fault.BAD_REQUEST, text, status=UPGRADE_REQUIRED)
        found = answer_of(error)
        found.headers.update({"Upgrade": "websocket", "Connection": "Upgrade"})
        return found

    return answer


async def _listen(
    socket: WebSocket, entry: InProcessEntry, visit: InProcessSession
) -> None:
    requests, conversation = JsonRequests(), ServerConversation()
    conversation.admit(Connect(VERSIONS[1]))
    client, broker, to = visit.client, entry.broker, visit.local_client
    while True:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            raise _HungUpError
        text = message.get("text")
        if text is None:
            text = (message.get("bytes") or b"").decode(errors="replace")
        try:
            events = conversation.feed(requests.read(text))
        except ProtocolError as error:
            events = [error]
        for event in events:
            carry_out(event, client, broker, to)
        broker.route()
        await to.may_publish()


async def _speak(socket: WebSocket, visit: InProcessSession) -> None:
    while lines := await visit.local_client.read():
        for line in lines.splitlines():
            await socket.send_text(line.decode())
