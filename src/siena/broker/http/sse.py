"""``GET /subscribe?filter=…``: what is wanted, as server-sent events."""

import asyncio
from collections.abc import AsyncIterator
from typing import cast, get_args

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.durable.http_reading import subscription_of
from siena.broker.http.door.authentication import principal_of
from siena.broker.http.events import HEARTBEAT
from siena.broker.http.faults import HttpError
from siena.broker.http.limits import (
    FILTERS_MAX,
    HEARTBEAT_SECONDS,
    STREAM_BYTES_AT_ONCE,
)
from siena.errors import SienaError
from siena.model.expression.residual import interest_of
from siena.protocol.control_frames import Policy, Subscribe
from siena.protocol.error_codes import Fault, ProtocolError

HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}
# That publishers wait for a page somewhere is for those who have connected properly.
POLICIES = tuple(policy for policy in get_args(Policy) if policy != "block")


async def subscribe(request: Request) -> StreamingResponse:
    """Subscribe to what any of the filters, or patterns, selects."""
    if request.method != "GET":  # HEAD, which would never end
        raise HttpError(Fault.BAD_REQUEST, "not with this method", status=405)
    filters = request.query_params.getlist("filter")
    policy = request.query_params.get("policy", "drop")
    if "durable" in request.query_params:
        return _read_durable(request)
    dialect = request.query_params.get("dialect")
    unknown = request.query_params.keys() - {"filter", "policy", "dialect"}
    if not filters or unknown:
        text = (
            "a subscription has filter=…, as often as wanted, and maybe policy=… and "
            "dialect=…"
        )
        raise ProtocolError(Fault.BAD_REQUEST, text)
    if len(filters) > FILTERS_MAX:
        raise ProtocolError(Fault.TOO_MANY, f"more than {FILTERS_MAX} filters")
    if policy not in POLICIES:
        text = f"a policy is one of {', '.join(POLICIES)}"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    if dialect is not None:
        filters = [_read(dialect, text) for text in filters]
    entry: InProcessEntry = request.app.state.entry
    in_process_session = entry.enter(
        name="GET /subscribe",
        principal=principal_of(request.scope),
        policy=cast("Policy", policy),
        transcript=request.app.state.events,
    )
    try:
        for number, text in enumerate(filters, 1):
            entry.broker.route()  # what was published before
            entry.broker.requests.handle(
                in_process_session.client.session, Subscribe(number, text)
            )
    except BaseException:
        entry.leave(in_process_session)
        raise
    return EventStream(entry, in_process_session, dict(HEADERS))


def _read_durable(request: Request) -> StreamingResponse:
    """Read a durable subscription; what is read is acknowledged in other requests."""
    body = subscription_of(request.query_params)
    entry: InProcessEntry = request.app.state.entry
    in_process_session = entry.enter(
        name="GET /subscribe",
        principal=principal_of(request.scope),
        transcript=request.app.state.events,
    )
    try:
        entry.broker.route()  # what was published before
        entry.broker.requests.handle(in_process_session.client.session, body)
    except BaseException:
        entry.leave(in_process_session)
        raise
    return EventStream(entry, in_process_session, dict(HEADERS))


def _read(dialect: str, text: str) -> str:
    """A rule of another language, as the broker reads it."""
    from siena.dialects import read_rule  # noqa: PLC0415 -- seldom asked for

    try:
        return str(interest_of(read_rule(dialect, text)))
    except SienaError as error:
        raise ProtocolError.because(Fault.BAD_INTEREST, error) from None


class EventStream(StreamingResponse):
    """Events for one guest, who leaves with the answer, whatever ends it."""

    def __init__(
        self,
        entry: InProcessEntry,
        in_process_session: InProcessSession,
        headers: dict[str, str],
    ) -> None:
        super().__init__(
            _events(in_process_session), headers=headers, media_type="text/event-stream"
        )
        self._entry, self._in_process_session = entry, in_process_session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until one of both ends."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._entry.leave(self._in_process_session)


async def _events(in_process_session: InProcessSession) -> AsyncIterator[bytes]:
    while True:
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                events = await in_process_session.in_process_client.read()
        except TimeoutError:
            yield HEARTBEAT
            continue
        if not events:
            return
        for start in range(0, len(events), STREAM_BYTES_AT_ONCE):
            yield events[start : start + STREAM_BYTES_AT_ONCE]
