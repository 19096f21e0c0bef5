"""Who sends a request: ``Authorization: Bearer TOKEN``, ``Basic``, or a certificate.

Never a part of the address, which ends up in logs and histories.  A browser cannot give
a WebSocket a header; so on ``/ws`` the first message may say it instead.
"""

import base64
import binascii

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from siena.broker.access.authenticator import Shown, not_admitted
from siena.broker.access.principal import ANONYMOUS, LOCAL, Principal
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.faults import answer_of
from siena.protocol.error_codes import ProtocolError

# Where a request's principal, and the certificate of its connection, are found.
PRINCIPAL = "siena.principal"
CERTIFICATE = "siena.certificate"
# What everybody may ask: whether it is well; and the pages' own files, which tell
# nothing, and without which no page could ask for a token.
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/", "/console", "/siena.js"})
OPEN_FOLDER = "/console/"
# Of what is read by those who have shown who they are.
UNKEPT = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class Authentication:
    """Gives every request its principal, or an answer."""

    def __init__(self, app: ASGIApp, entry: InProcessEntry) -> None:
        self._app = app
        self._entry = entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who it is, and let it in."""
        if scope["type"] in {"http", "websocket"}:
            try:
                scope[PRINCIPAL] = await self._principal(scope)
            except ProtocolError as error:
                await _refuse(error, scope, receive, send)
                return
            if scope.get("method") == "GET" and not is_open(scope["path"]):
                send = _unkept(send)
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal:
        access = self._entry.broker.access
        if not access.is_asking:
            return LOCAL
        shown = shown_by(scope)
        found = access.at_once(shown)
        if found is not None:
            return found
        if shown.token is None:
            # Those of a WebSocket have not said it yet: see the handlers.
            if scope["type"] == "websocket" or is_open(scope["path"]):
                return ANONYMOUS
            refusal = not_admitted()
            access.refused(shown, refusal)
            raise refusal
        return await access.check(shown)


def is_open(path: str) -> bool:
    """Whether strangers may ask for it, too.

    >>> is_open("/healthz"), is_open("/console/app.js"), is_open("/api/tables")
    (True, True, False)
    """
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def shown_by(scope: Scope, token: str | None = None) -> Shown:
    """What a request shows; or what one said later, in the first message."""
    client = scope.get("client")
    address = f"{client[0]}:{client[1]}" if client else ""
    said = token or token_in(Headers(scope=scope).getlist("authorization"))
    return Shown(said, scope.get(CERTIFICATE), address)


def token_in(said: list[str]) -> str | None:
    """The credential of a header, as CONNECT would have it.

    >>> token_in(["Bearer siena1.a.b"]), token_in(["basic YW5uOnNlY3JldA=="])
    ('siena1.a.b', 'ann:secret')
    >>> token_in([])
    >>> token_in(["Digest nothing"])
    '?'
    """
    if not said:
        return None
    scheme, _, value = said[0].strip().partition(" ")
    if len(said) > 1 or not value:
        return "?"  # which nobody has
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic":
            try:
                return base64.b64decode(value.strip(), validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                return "?"
        case _:
            return "?"


def principal_of(scope: Scope) -> Principal:
    """Who sends a request; the guard of all paths has found it out."""
    found = scope[PRINCIPAL]
    assert isinstance(found, Principal)
    return found


def _unkept(send: Send) -> Send:
    """What sends an answer that is for one principal: no cache keeps it."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(UNKEPT)
        await send(message)

    return sent


def current_principal(request: Request) -> Principal:
    """Who sends a request, after its body was read, which may take long.

    Raises:
        ProtocolError: if the credential counts no more.
    """
    entry: InProcessEntry = request.app.state.entry
    return entry.broker.access.current(principal_of(request.scope))


async def _refuse(
    error: ProtocolError, scope: Scope, receive: Receive, send: Send
) -> None:
    if scope["type"] == "websocket":
        await receive()  # that somebody wants to connect
        await answer_of(error)(scope, receive, send)  # before it is accepted
    else:
        await answer_of(error)(scope, receive, send)
