"""Reading what was posted: JSON, lines of JSON, or CloudEvents."""

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, cast

from starlette.datastructures import Headers, QueryParams
from starlette.types import Receive

from siena.block import BLOCK_BYTES_MAX, encode
from siena.broker.http.cloud_events import notification_of_event
from siena.broker.http.faults import HttpError
from siena.broker.http.limits import (
    BODY_BYTES_MAX,
    BODY_SECONDS_MAX,
    NOTIFICATIONS_MAX,
    READ_AT_ONCE,
)
from siena.errors import SienaError
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import notification_from_json
from siena.model import Notification, Value
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.rules.events import Nested, checked_nested, nested_event


class Posted(NamedTuple):
    """Blocks to publish, and how many fields found no place in them."""

    run: PublishRun
    left_out: int


async def read_body(receive: Receive) -> bytes:
    """All of a body that is not too long, and not too long on its way.

    Raises:
        ProtocolError: if it is.
    """
    parts: list[bytes] = []
    size, is_more = 0, True
    try:
        async with asyncio.timeout(BODY_SECONDS_MAX):
            while is_more:
                message = await receive()
                if message["type"] != "http.request":
                    raise ProtocolError(Fault.BAD_REQUEST, "only a part of it came")
                part = message.get("body", b"")
                size += len(part)
                if size > BODY_BYTES_MAX:
                    text = f"more than {BODY_BYTES_MAX} bytes"
                    raise ProtocolError(Fault.TOO_LONG, text)
                parts.append(part)
                is_more = message.get("more_body", False)
    except TimeoutError:
        text = f"not all of it came in {BODY_SECONDS_MAX:g} seconds"
        raise ProtocolError(Fault.TIMED_OUT, text) from None
    return b"".join(parts)


def kind_of(headers: Headers) -> str:
    """The content type, without what may follow it.

    Raises:
        ProtocolError: if it is none in which notifications are read.
    """
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _READERS:
        found = f"not {kind}" if kind else "and it is missing"
        text = f"the content type is one of {', '.join(_READERS)}, {found}"
        raise HttpError(Fault.BAD_REQUEST, text, status=415)
    if "ce-specversion" in headers:
        text = "attributes of CloudEvents are read in application/cloudevents+json"
        raise HttpError(Fault.BAD_REQUEST, text, status=415)
    return kind


def wanted_nesting(query: bytes) -> Nested | None:
    """How the query says that notifications are nested: ``?nested=1``, or windows.

    Raises:
        ProtocolError: if it says something else.
    """
    if b"nested" not in query:  # most often
        return None
    said = QueryParams(query.decode("latin-1")).get("nested")
    try:
        return checked_nested("path" if said == "1" else said)
    except SienaError as error:
        raise ProtocolError(Fault.BAD_REQUEST, str(error)) from None


async def read_notifications(
    kind: str, body: bytes, nested: Nested | None = None
) -> Posted:
    """The notifications of a body: all of them, or none.

    Nested JSON is attributes by path; what has several values has no place.

    Raises:
        ProtocolError: if one of them is none, which is named.
    """
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise ProtocolError(Fault.BAD_NOTIFICATION, "this is not UTF-8") from None
    split, read = _READERS[kind]
    if nested is not None:
        if read is not _plain:
            text = "CloudEvents are not read as nested JSON"
            raise ProtocolError(Fault.BAD_REQUEST, text)
        read = partial(_nested, nested)
    blocks: list[bytes] = []
    left_out = 0
    try:
        for form in split(text):
            _check_room(len(blocks))
            if len(blocks) % READ_AT_ONCE == READ_AT_ONCE - 1:
                await asyncio.sleep(0)  # others have their turn
            block, more = read(form)
            left_out += more
            blocks.append(_checked(block))
    except ProtocolError:
        raise
    except SienaError as error:
        raise _bad(error, len(blocks)) from None
    return Posted(run_of(blocks), left_out)


def _bad(error: SienaError, index: int) -> ProtocolError:
    found = ProtocolError.because(Fault.BAD_NOTIFICATION, error)
    found.message = f"notification {index + 1}: {found.message}"
    return found


def _check_room(count: int) -> None:
    if count >= NOTIFICATIONS_MAX:
        text = f"more than {NOTIFICATIONS_MAX} notifications"
        raise ProtocolError(Fault.TOO_LONG, text)


def _checked(block: bytes) -> bytes:
    if len(block) > BLOCK_BYTES_MAX:
        text = f"a notification of more than {BLOCK_BYTES_MAX} bytes"
        raise ProtocolError(Fault.BAD_NOTIFICATION, text)
    return block


def _whole(text: str) -> Iterable[Json]:
    form = read_json(text)
    return form if isinstance(form, list) else [form]


def _single(text: str) -> Iterable[Json]:
    return [read_json(text)]


def _batch(text: str) -> Iterable[Json]:
    form = read_json(text)
    if not isinstance(form, list):
        raise ProtocolError(Fault.BAD_NOTIFICATION, "a batch is a JSON array")
    return form


def _lines(text: str) -> Iterable[Json]:
    return (read_json(line) for line in text.split("\n") if line.strip())


def _plain(form: Json) -> tuple[bytes, int]:
    # Mostly the form is what the codec takes: no time, and nothing absent.
    if type(form) is dict and _FORMED.isdisjoint(map(type, form.values())):
        return encode(cast("dict[str, Value]", form)), 0
    return encode(notification_from_json(form)), 0


def _nested(nested: Nested, form: Json) -> tuple[bytes, int]:
    event = nested_event(form, nested)
    plain = {n: v for n, v in event.items() if not isinstance(v, tuple)}
    return encode(Notification(plain)), len(event) - len(plain)


def _event(form: Json) -> tuple[bytes, int]:
    notification, left_out = notification_of_event(form)
    return encode(notification), left_out


# Of values that are not themselves in JSON, or none.
_FORMED = frozenset({dict, list, type(None)})
# Of each content type how it is cut into forms, and each of them read: a block, and how
# many fields found no place in it.
_READERS: dict[
    str,
    tuple[Callable[[str], Iterable[Json]], Callable[[Json], tuple[bytes, int]]],
] = {
    "application/json": (_whole, _plain),
    "application/x-ndjson": (_lines, _plain),
    "application/cloudevents+json": (_single, _event),
    "application/cloudevents-batch+json": (_batch, _event),
}
