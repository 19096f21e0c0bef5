"""``POST /publish``: one notification or many, all of them or none.

With ``?advertise=…`` what is advertised first, for as long as the request takes: where
brokers forward advertisements nothing else may be published.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.http.body import kind_of, read_body, read_notifications
from siena.broker.http.limits import FILTERS_MAX, HOLD_SECONDS_MAX
from siena.protocol.control_frames import Advertise, Error, Quench, unpack
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Splitter


async def publish(request: Request) -> Response:
    """Publish what was posted, and answer when it has been routed."""
    kind = kind_of(request)
    advertisements = _advertisements(request)
    posted = await read_notifications(kind, await read_body(request))
    entry: InProcessEntry = request.app.state.entry
    with entry.visited(name="POST /publish") as (local_client, client):
        await _advertise(entry, InProcessSession(local_client, client), advertisements)
        if posted.run.total:
            await _until_there_is_room(entry, local_client)
            client.run(posted.run)
            entry.broker.route()
        _raise_first(b"".join(local_client.outbox.take()))
        try:
            async with asyncio.timeout(HOLD_SECONDS_MAX):
                await local_client.may_publish()
        except TimeoutError:
            pass  # it was published; only the answer has waited
    said = {"published": posted.run.total}
    if posted.left_out:
        said["left_out"] = posted.left_out
    return JSONResponse(said)


def _advertisements(request: Request) -> list[str]:
    texts = request.query_params.getlist("advertise")
    if len(texts) > FILTERS_MAX:
        raise ProtocolError(Fault.TOO_MANY, f"more than {FILTERS_MAX} advertisements")
    return texts


async def _advertise(
    entry: InProcessEntry, visit: InProcessSession, texts: list[str]
) -> None:
    """Advertise, and wait until the whole network knows it.

    Raises:
        ProtocolError: if one cannot be read, or that takes too long.
    """
    entry.broker.route()  # what was published before
    for number, text in enumerate(texts):
        entry.broker.requests.handle(visit.client.session, Advertise(number, text))
    unanswered = set(range(len(texts)))
    try:
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            while unanswered:
                frames = await visit.local_client.read()
                _raise_first(frames)  # it may be that the broker ends
                unanswered -= _answered(frames)
    except TimeoutError:
        text = "not all brokers have heard of the advertisement: nothing was published"
        raise ProtocolError(Fault.NO_ROOM, text) from None


async def _until_there_is_room(
    entry: InProcessEntry, local_client: InProcessClient
) -> None:
    """Wait for a log that is full: each request would write beyond its bound.

    Raises:
        ProtocolError: if that takes too long.
    """
    journal = entry.broker.log_service.journal
    if journal is None or not journal.lets_wait:
        return
    local_client.hold(journal)
    try:
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            await local_client.may_publish()
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
