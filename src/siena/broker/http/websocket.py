"""``/ws``: a WebSocket on which JSON objects go both ways.

Ownership: the handler owns two tasks, one for each direction; when one of them ends, so
does the other, and the guest leaves.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import (
    WebSocketsSansIOProtocol,
)
from websockets.protocol import State

from siena.broker.access.authenticator import not_admitted
from siena.broker.access.principal import ANONYMOUS, Principal
from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.http.door.authentication import (
    CERTIFICATE,
    principal_of,
    shown_by,
)
from siena.broker.http.faults import HttpError, answer_of
from siena.broker.http.json_requests import JsonRequests
from siena.broker.http.limits import STREAM_BYTES_AT_ONCE
from siena.broker.io.role import carry_out
from siena.broker.limits import HANDSHAKE_SECONDS_MAX
from siena.client.tokens import TOKEN_CHARACTERS_MAX
from siena.protocol.control_frames import Connect
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import VERSIONS
from siena.protocol.server import ServerConversation
from siena.protocol.text.output import error_line

# What a message of ASGI has instead of a text, if it is several: lines of text.
LINES = "siena.lines"
# The head of a frame: that it is a text and whole, and its length.
_SHORT = struct.Struct(">BBH")
_LONG = struct.Struct(">BBQ")
# As WebSockets number the reasons for their end.
GOING_AWAY = 1001
NOT_ALLOWED = 1008
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
        principal, first = await _introduced(socket, entry)
    except ProtocolError as error:
        await socket.send_text(error_line(error).decode().rstrip("\n"))
        await socket.close(NOT_ALLOWED)
        return
    except (_HungUpError, WebSocketDisconnect):
        return
    try:
        in_process_session = entry.enter(
            principal=principal, name="/ws", transcript=entry.broker.lines
        )
    except ProtocolError as error:
        await socket.send_text(error_line(error).decode().rstrip("\n"))
        await socket.close(TRY_LATER)
        return
    try:
        async with asyncio.TaskGroup() as tasks:
            listening = tasks.create_task(
                _listen(socket, entry, in_process_session, first)
            )
            await _speak(socket, in_process_session)
            listening.cancel()
        await socket.close(GOING_AWAY)
    except* (_HungUpError, WebSocketDisconnect):
        pass
    finally:
        entry.leave(in_process_session)


async def _introduced(
    socket: WebSocket, entry: InProcessEntry
) -> tuple[Principal, str | None]:
    """Who is there: as the request has shown it, or else the first message.

    Those who show nothing may be let in, too; then the first message is what they ask
    for.

    Raises:
        ProtocolError: if neither shows it.
    """
    principal = principal_of(socket.scope)
    if principal.is_known:
        return principal, None
    try:
        async with asyncio.timeout(HANDSHAKE_SECONDS_MAX):
            text = await _next_text(socket)
    except TimeoutError:
        said = f"no token in {HANDSHAKE_SECONDS_MAX:g} seconds"
        raise ProtocolError(Fault.TIMED_OUT, said) from None
    access = entry.broker.access
    try:
        said = msgspec.json.decode(text, type=_Introduction).token
    except (msgspec.MsgspecError, RecursionError):
        if principal is not ANONYMOUS:  # and nobody need say more
            return principal, text
        refusal = not_admitted()
        access.refused(shown_by(socket.scope), refusal)
        raise refusal from None
    shown = shown_by(socket.scope, said)
    return access.at_once(shown) or await access.check(shown), None


class _Introduction(Struct, frozen=True, forbid_unknown_fields=True):
    """The first message of those who could not send a header."""

    token: Annotated[str, Meta(min_length=1, max_length=TOKEN_CHARACTERS_MAX)]


async def _next_text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] != "websocket.receive":
        raise _HungUpError
    text = message.get("text")
    if text is None:
        text = (message.get("bytes") or b"").decode(errors="replace")
    assert isinstance(text, str)
    return text


def refuse_plain(text: str) -> Callable[[Request], Awaitable[Response]]:
    """What tells those who come without a WebSocket that one is wanted."""

    async def answer(_: Request) -> Response:
        error = HttpError(Fault.BAD_REQUEST, text, status=UPGRADE_REQUIRED)
        found = answer_of(error)
        found.headers.update({"Upgrade": "websocket", "Connection": "Upgrade"})
        return found

    return answer


async def _listen(
    socket: WebSocket,
    entry: InProcessEntry,
    in_process_session: InProcessSession,
    first: str | None,
) -> None:
    requests, conversation = JsonRequests(), ServerConversation()
    conversation.admit(Connect(VERSIONS[1]))
    client, broker, to = (
        in_process_session.client,
        entry.broker,
        in_process_session.in_process_client,
    )
    while True:
        text, first = first or await _next_text(socket), None
        try:
            events = conversation.feed(requests.read(text))
        except ProtocolError as error:
            events = [error]
        for event in events:
            carry_out(event, client, broker, to)
        broker.route()
        await to.may_publish()


async def _speak(socket: WebSocket, in_process_session: InProcessSession) -> None:
    while lines := await in_process_session.in_process_client.read():
        at = 0
        while at < len(lines):
            # As far as the end of a line, and at least so far.
            end = lines.find(b"\n", at + STREAM_BYTES_AT_ONCE) + 1 or len(lines)
            await socket.send({"type": "websocket.send", LINES: lines[at:end]})
            at = end


class ManyMessages(WebSocketsSansIOProtocol):
    """A connection to which many messages can be written at once.

    To send them one by one takes ten times as long as all else that is done for them.
    """

    async def run_asgi(self) -> None:
        """Serve it, with what its connection has shown."""
        scope: dict[str, Any] = self.scope  # type: ignore[assignment]
        scope[CERTIFICATE] = self.transport.get_extra_info("peercert")
        await super().run_asgi()

    async def send(self, message: Any) -> None:  # noqa: ANN401 -- as ASGI has it
        """Write what an application sends; of lines, each is a message."""
        lines = message.get(LINES)
        if lines is None or not self.handshake_complete:
            await super().send(message)
            return
        if self.close_sent:  # the other end has closed while this one spoke
            raise ClientDisconnected
        await self.writable.wait()
        if self.disconnected or self.conn.state is not State.OPEN:
            raise ClientDisconnected
        self.transport.write(text_frames(lines))


def text_frames(lines: bytes) -> bytes:
    r"""Lines as messages, each in one frame, which a server does not mask (RFC 6455).

    >>> text_frames(b"{}\n[1]\n")
    b'\x81\x02{}\x81\x03[1]'
    """
    parts: list[bytes] = []
    for line in lines.splitlines():
        parts += (_head(len(line)), line)
    return b"".join(parts)


def _head(size: int) -> bytes:
    if size < 126:
        return bytes((0x81, size))
    if size < 65_536:
        return _SHORT.pack(0x81, 126, size)
    return _LONG.pack(0x81, 127, size)
