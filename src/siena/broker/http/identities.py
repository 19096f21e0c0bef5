"""``/api/identities``: which handlers there are, and who gets another one."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from siena.broker.http.body import read_body
from siena.broker.http.door.authentication import current_principal, principal_of
from siena.broker.http.faults import HttpError
from siena.broker.http.limits import FILTERS_MAX
from siena.broker.webhooks.durable import WantedDurable
from siena.broker.webhooks.mapping import Handlers
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import NAME_CHARACTERS_MAX

Subscriptions = Annotated[list[str], Meta(max_length=FILTERS_MAX)]


class Mapped(Struct, frozen=True, forbid_unknown_fields=True):
    """What is wanted for an identity."""

    handler: str
    subscriptions: Subscriptions | None = None
    durable: WantedDurable | None = None


async def list_identities(request: Request) -> Response:
    """All identities that have a handler, and belong to the principal that asks."""
    handlers: Handlers = request.app.state.handlers
    owns = principal_of(request.scope).owns
    found = handlers.snapshot()
    return JSONResponse({name: said for name, said in found.items() if owns(name)})


async def map_identity(request: Request) -> Response:
    """Give an identity a handler, and subscriptions if they are said."""
    identity = _identity(request)
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        text = "the content type is application/json"
        raise HttpError(Fault.BAD_REQUEST, text, status=415)
    try:
        wanted = msgspec.json.decode(await read_body(request.receive), type=Mapped)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProtocolError(Fault.BAD_REQUEST, str(error)) from None
    handlers: Handlers = request.app.state.handlers
    principal = current_principal(request)
    if wanted.durable is None:
        handlers.map(identity, wanted.handler, wanted.subscriptions, principal)
    elif wanted.subscriptions is None:
        await handlers.map_durable(identity, wanted.handler, wanted.durable, principal)
    else:
        text = "a handler has subscriptions, or one that is durable"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    await handlers.save()
    return JSONResponse(handlers.snapshot()[identity])


async def forget_identity(request: Request) -> Response:
    """Take the handler of an identity away, and its subscriptions."""
    handlers: Handlers = request.app.state.handlers
    await handlers.forget(_identity(request))
    await handlers.save()
    return JSONResponse({"forgotten": True})


async def unsubscribe_identity(request: Request) -> Response:
    """End all subscriptions of an identity that a filter covers."""
    handlers: Handlers = request.app.state.handlers
    filters = request.query_params.getlist("filter")
    if len(filters) != 1:
        raise ProtocolError(Fault.BAD_REQUEST, "?filter= says, once, what is to end")
    ended = handlers.unsubscribe(_identity(request), filters[0])
    return JSONResponse({"ended": ended})


def _identity(request: Request) -> str:
    identity: str = request.path_params["identity"]
    if len(identity) > NAME_CHARACTERS_MAX or not identity.isprintable():
        text = f"an identity is printable, and has up to {NAME_CHARACTERS_MAX} letters"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    # Whether it has a handler is not told, either.
    principal = principal_of(request.scope)
    if not principal.owns(identity):
        gate = request.app.state.entry.broker.state.gate
        fault = Fault.IDENTITY_REFUSED
        raise gate.refuse(principal, "own", repr(identity[:80]), fault=fault)
    return identity
