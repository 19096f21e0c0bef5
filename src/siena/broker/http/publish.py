"""``POST /publish``: one notification or many, all of them or none.

With ``?advertise=…`` what is advertised first, for as long as the request takes: where
brokers forward advertisements nothing else may be published.  With ``?ack=1`` the
answer comes when all of it is on the disk of the broker, and says where.

Most requests are for this, and of one notification each.  So it stands behind the guard
and before Starlette, whose routing and requests would take as long as all the rest.
"""

import asyncio

from starlette.datastructures import Headers, QueryParams
from starlette.types import ASGIApp, Receive, Scope, Send

from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.durable.over_http import store, wanted_receipt
from siena.broker.http.body import (
    Posted,
    kind_of,
    read_body,
    read_notifications,
    wanted_nesting,
)
from siena.broker.http.door.authentication import principal_of
from siena.broker.http.faults import HttpError, answer_of
from siena.broker.http.limits import FILTERS_MAX, HOLD_SECONDS_MAX
from siena.protocol.control_frames import Advertise, Error, Quench, unpack
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Splitter

PATH = "/publish"


class Publishing:
    """Publishes what is posted, and leaves all other requests to an application."""

    def __init__(self, app: ASGIApp, entry: InProcessEntry) -> None:
        self._app = app
        self._entry = entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Publish, and answer when it has been routed."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        if scope["method"] != "POST":
            wrong = HttpError(Fault.BAD_REQUEST, "not with this method", status=405)
            answer = answer_of(wrong)
            answer.headers["allow"] = "POST"
            await answer(scope, receive, send)
            return
        try:
            published = await self._publish(scope, receive)
        except ProtocolError as error:
            await answer_of(error)(scope, receive, send)
            return
        posted, is_stored, offset = published
        more = b',"left_out":%d' % posted.left_out if posted.left_out else b""
        if offset is not None:
            more += b',"offset":%d' % offset
        body = b'{"published":%d%b}' % (posted.run.total, more)
        headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", b"application/json"),
        ]
        status = 202 if is_stored else 200
        start = {"type": "http.response.start", "status": status, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": body})

    async def _publish(
        self, scope: Scope, receive: Receive
    ) -> tuple[Posted, bool, int | None]:
        """What was published; whether it is stored, and from which offset on.

        Raises:
            ProtocolError: if nothing was.
        """
        kind = kind_of(Headers(scope=scope))
        advertisements = _advertisements(scope["query_string"])
        receipt = wanted_receipt(scope["query_string"])
        nested = wanted_nesting(scope["query_string"])
        posted = await read_notifications(kind, await read_body(receive), nested)
        entry = self._entry
        in_process_session = entry.enter(
            name="POST /publish", principal=principal_of(scope)
        )
        in_process_client, client = in_process_session
        offset = None
        try:
            if advertisements:
                await _advertise(entry, in_process_session, advertisements)
            if posted.run.total:
                await _until_there_is_room(entry, in_process_client)
                client.check_run(posted.run)
                if receipt is not None:
                    offset = await store(entry, in_process_session, posted.run, receipt)
                else:
                    client.run(posted.run)
                    entry.broker.route()
            if said := in_process_client.outbox.take():
                _raise_first(b"".join(said))
            if in_process_client.is_held:
                try:
                    async with asyncio.timeout(HOLD_SECONDS_MAX):
                        await in_process_client.may_publish()
                except TimeoutError:
                    pass  # it was published; only the answer has waited
        finally:
            entry.leave(in_process_session)
        return posted, receipt is not None, offset


def _advertisements(query: bytes) -> list[str]:
    if not query:  # most often
        return []
    texts = QueryParams(query).getlist("advertise")
    if len(texts) > FILTERS_MAX:
        raise ProtocolError(Fault.TOO_MANY, f"more than {FILTERS_MAX} advertisements")
    return texts


async def _advertise(
    entry: InProcessEntry, in_process_session: InProcessSession, texts: list[str]
) -> None:
    """Advertise, and wait until the whole network knows it.

    Raises:
        ProtocolError: if one cannot be read, or that takes too long.
    """
    entry.broker.route()  # what was published before
    for number, text in enumerate(texts):
        entry.broker.requests.handle(
            in_process_session.client.session, Advertise(number, text)
        )
    unanswered = set(range(len(texts)))
    try:
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            while unanswered:
                frames = await in_process_session.in_process_client.read()
                _raise_first(frames)  # it may be that the broker ends
                unanswered -= _answered(frames)
    except TimeoutError:
        text = "not all brokers have heard of the advertisement: nothing was published"
        raise ProtocolError(Fault.NO_ROOM, text) from None


async def _until_there_is_room(
    entry: InProcessEntry, in_process_client: InProcessClient
) -> None:
    """Wait for a log that is full: each request would write beyond its bound.

    Raises:
        ProtocolError: if that takes too long.
    """
    journal = entry.broker.log_service.journal
    if journal is None or not journal.lets_wait:
        return
    in_process_client.hold(journal)
    try:
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            await in_process_client.may_publish()
    except TimeoutError:
        text = "the log of the broker is full: nothing was published"
        raise ProtocolError(Fault.NO_ROOM, text) from None


def _answered(frames: bytes) -> set[int]:
    """The advertisements that the whole network knows now."""
    bodies = [unpack(op, body) for op, body in Splitter().feed(frames)]
    return {said.number for said in bodies if isinstance(said, Quench)}


def _raise_first(frames: bytes) -> None:
    """Raise what was said about the publications, if anything."""
    for op, body in Splitter().feed(frames):
        said = unpack(op, body)
        if isinstance(said, Error):  # others say who wants what was advertised
            raise ProtocolError(Fault.of(said.fault), said.text)
