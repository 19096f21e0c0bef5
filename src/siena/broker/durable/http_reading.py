"""Durable subscriptions by HTTP: read as events, answered by requests.

``GET /subscribe?durable=NAME&filter=…`` reads; ``POST /durables/NAME/ack`` and ``/nak``
answer, with offsets, from wherever; ``DELETE /durables/NAME`` ends it.
"""

import asyncio

import msgspec
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.durable.owners import check_owner
from siena.broker.http.body import kind_of, read_body
from siena.broker.http.door.authentication import principal_of
from siena.broker.http.limits import HOLD_SECONDS_MAX
from siena.protocol.control_frames import Done, Error, unpack
from siena.protocol.durable.reading import DurableSubscribe, Forget, Offsets, Seconds
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Splitter

# What can be said in a query, beside the name and the filter.
_OPTIONS = ("start", "credit", "ack_wait", "max_deliver", "key")

# The digits of an offset: of very many, Python makes no number.
DIGITS_MAX = 19


class AnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of ``POST /durables/NAME/ack`` or ``/nak``."""

    offsets: Offsets = []
    up_to: int | None = None
    delay: Seconds = 0.0


def subscription_of(query: QueryParams) -> DurableSubscribe:
    """What a query asks for.

    >>> subscription_of(QueryParams("durable=b&filter=x any&start=7&credit=10"))
    DurableSubscribe(number=1, filter='x any', name='b', start='offset', at=7, \
credit=10, ack_wait=30.0, max_deliver=0, key=None)

    Raises:
        ProtocolError: if that cannot be understood.
    """
    unknown = query.keys() - {"durable", "filter", *_OPTIONS}
    filters = query.getlist("filter")
    if unknown or len(filters) != 1:
        text = f"durable=… has one filter=…, and maybe {', '.join(_OPTIONS)}"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    start = query.get("start", "new")
    said: dict[str, object] = {
        name: query[name] for name in _OPTIONS[1:] if name in query
    }
    is_offset = start.isascii() and start.isdecimal() and len(start) <= DIGITS_MAX
    said["start"] = "offset" if is_offset else start
    said["at"] = int(start) if is_offset else 0
    said |= {"number": 1, "filter": filters[0], "name": query["durable"]}
    fields = [
        said.get(name, default)
        for name, default in zip(
            DurableSubscribe.__struct_fields__,
            (None, None, None, *DurableSubscribe.__struct_defaults__),
            strict=True,
        )
    ]
    try:
        return msgspec.convert(fields, DurableSubscribe, strict=False)
    except msgspec.ValidationError as error:
        raise ProtocolError(Fault.BAD_REQUEST, str(error)) from None


async def answer(request: Request) -> Response:
    """Acknowledge, or have delivered again."""
    kind_of(request.headers)
    try:
        said = msgspec.json.decode(await read_body(request.receive), type=AnswerBody)
    except (msgspec.MsgspecError, ValueError) as error:
        raise ProtocolError(Fault.BAD_REQUEST, str(error)) from None
    entry: InProcessEntry = request.app.state.entry
    principal = principal_of(request.scope)
    in_process_session = entry.enter(name="POST /durables", principal=principal)
    try:
        durable = entry.broker.log_service.durable
        name = request.path_params["name"]
        what = "the durable subscription"
        owner = check_owner(
            entry.broker.state, in_process_session.client.session, what, name
        )
        if request.url.path.endswith("/ack"):
            count = durable.ack(owner, name, said.offsets, said.up_to)
        else:
            count = durable.nak(owner, name, said.offsets, said.delay)
    finally:
        entry.leave(in_process_session)
    body = msgspec.json.encode({"answered": count})
    return Response(body, media_type="application/json")


async def forget(request: Request) -> Response:
    """End a durable subscription; answered when the disk knows."""
    entry: InProcessEntry = request.app.state.entry
    principal = principal_of(request.scope)
    in_process_session = entry.enter(name="DELETE /durables", principal=principal)
    try:
        body = Forget(request.path_params["name"][:255])
        entry.broker.requests.handle(in_process_session.client.session, body)
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            while True:
                for op, said in Splitter().feed(
                    await in_process_session.in_process_client.read()
                ):
                    told = unpack(op, said)
                    if isinstance(told, Error):
                        raise ProtocolError(Fault.of(told.fault), told.text)
                    if isinstance(told, Done):
                        return Response(status_code=204)
    finally:
        entry.leave(in_process_session)
