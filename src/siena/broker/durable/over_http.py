"""``POST /publish?ack=1``: answered when what was posted is on the disk, and where.

With ``publisher=NAME&sequence=N`` a request that is made again, because its answer was
lost, stores nothing again: the notifications of a request have the sequence numbers
from N on, and the next post goes on behind them.
"""

import asyncio
from typing import NamedTuple

from starlette.datastructures import QueryParams

from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.http.limits import HOLD_SECONDS_MAX
from siena.protocol.control_frames import Error, unpack
from siena.protocol.durable.receipts import Publisher, PublisherIs, Stored
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import Body, Splitter
from siena.protocol.limits import NAME_CHARACTERS_MAX, SEQUENCE_NUMBER_MAX


class WantedReceipt(NamedTuple):
    """What a request says about how it is stored."""

    publisher: str | None
    sequence: int


def wanted_receipt(query: bytes) -> WantedReceipt | None:
    """Whether a request wants to know that it is stored, and who makes it.

    >>> wanted_receipt(b"ack=1&publisher=till-7&sequence=12")
    WantedReceipt(publisher='till-7', sequence=12)
    >>> wanted_receipt(b"ack=yes")
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: ack=1 is said, or nothing (error 108)

    Raises:
        ProtocolError: if that cannot be understood.
    """
    if not query:  # most often
        return None
    said = QueryParams(query)
    ack, publisher = said.get("ack"), said.get("publisher")
    sequence = said.get("sequence")
    if ack is None and publisher is None and sequence is None:
        return None
    if ack != "1":
        raise ProtocolError(Fault.BAD_REQUEST, "ack=1 is said, or nothing")
    if (publisher is None) != (sequence is None):
        text = "publisher=… and sequence=… are said together, or neither"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    if publisher is None or sequence is None:
        return WantedReceipt(None, 0)
    if not 1 <= len(publisher) <= NAME_CHARACTERS_MAX:
        text = f"a publisher has from 1 to {NAME_CHARACTERS_MAX} characters"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    is_number = sequence.isascii() and sequence.isdecimal()
    if not is_number or int(sequence) > SEQUENCE_NUMBER_MAX:
        text = f"a sequence number goes from 0 to {SEQUENCE_NUMBER_MAX}"
        raise ProtocolError(Fault.BAD_REQUEST, text)
    return WantedReceipt(publisher, int(sequence))


async def store(
    entry: InProcessEntry,
    in_process_session: InProcessSession,
    run: PublishRun,
    receipt: WantedReceipt,
) -> int | None:
    """Publish, and wait until the disk has it: the offset of the first.

    None if it was stored before, and it is not known any more where.

    Raises:
        ProtocolError: if it is not stored, or that takes too long.
    """
    broker, session = entry.broker, in_process_session.client.session
    durable = broker.log_service.durable
    try:
        async with asyncio.timeout(HOLD_SECONDS_MAX):
            if receipt.publisher is None:
                durable.publish_once(session, in_process_session.in_process_client, run)
            else:
                broker.requests.handle(session, Publisher(receipt.publisher))
                [known, *_] = await _heard(in_process_session, 1, PublisherIs)
                assert isinstance(known, PublisherIs)
                acked = AckedRun(known.publisher, receipt.sequence, run)
                in_process_session.client.handle(acked)
            broker.route()
            return await _offset(in_process_session, run.total)
    except TimeoutError:
        text = "the disk has not taken it yet; it may be stored later"
        raise ProtocolError(Fault.NOT_STORED, text) from None


async def _offset(in_process_session: InProcessSession, count: int) -> int | None:
    """Where the first of so many is stored, once all of them are."""
    offset: int | None = None
    first = None
    while count:
        for told in await _heard(in_process_session, 1, Stored):
            assert isinstance(told, Stored)
            if told.fault:
                raise ProtocolError(Fault.of(told.fault), told.text)
            count -= told.count
            if first is None or told.sequence < first:
                first, offset = told.sequence, told.offset
    return offset


async def _heard(
    in_process_session: InProcessSession, count: int, kind: type[Body]
) -> list[Body]:
    """At least so many answers of a kind.

    Raises:
        ProtocolError: if an error is said instead.
    """
    found: list[Body] = []
    while len(found) < count:
        frames = await in_process_session.in_process_client.read()
        if not frames:
            raise ProtocolError(Fault.DRAINING, "this broker ends")
        for op, body in Splitter().feed(frames):
            said = unpack(op, body)
            if isinstance(said, Error):
                raise ProtocolError(Fault.of(said.fault), said.text)
            if isinstance(said, kind):
                found.append(said)
    return found
