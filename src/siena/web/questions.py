"""What the console asks about filters: answered by the algebra, in a thread.

A page sends all that the answer is made of, so nothing is shown that it had not seen.
Work is bounded: by counts, and by a time after which the answer says that it is not
complete.
"""

from collections.abc import Callable
from time import perf_counter
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from siena.algebra.explanation import explain_matches
from siena.algebra.relations import counterexample, covers
from siena.algebra.sat import witness
from siena.errors import SienaError
from siena.lang.notification_form import notification_from_json, notification_to_json
from siena.lang.parser import parse_interest, parse_notification
from siena.model import Filter, Notification, Pattern, Predicate

# A page compares with so many filters, and is answered within about so long.
FILTERS_MAX = 2_000
NOTIFICATIONS_MAX = 200
TEXT_CHARACTERS_MAX = 10_000
SECONDS_MAX = 0.5
BODY_BYTES_MAX = 2_000_000

Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]
T = TypeVar("T", bound=Struct)
Texts = Annotated[list[Text], Meta(max_length=FILTERS_MAX)]


class Relations(Struct, forbid_unknown_fields=True):
    """A text, and what it is to be compared with."""

    text: Text
    filters: Texts = []
    notifications: Annotated[list[Any], Meta(max_length=NOTIFICATIONS_MAX)] = []


class Trace(Struct, forbid_unknown_fields=True):
    """A notification to be published and followed."""

    notification: Text


class Why(Struct, forbid_unknown_fields=True):
    """A notification, and filters that may want it."""

    notification: Text
    filters: Texts = []


async def relations(request: Request) -> Response:
    """What a filter covers, what covers it, what it matches, and a witness."""
    return await answered(request, Relations, answer_relations)


async def why(request: Request) -> Response:
    """Which filters want a notification, and what the others have against it."""
    return await answered(request, Why, answer_why)


async def answered(
    request: Request, kind: type[T], answer: Callable[[T], dict[str, Any]]
) -> Response:
    """What is said in a thread to a question of this kind; or what is wrong with it."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_BYTES_MAX:
            return JSONResponse({"error": f"more than {BODY_BYTES_MAX} bytes"}, 413)
    try:
        asked = msgspec.json.decode(bytes(body), type=kind)
    except msgspec.DecodeError as error:
        return JSONResponse({"error": str(error)}, 400)
    return JSONResponse(await run_in_threadpool(answer, asked))


def answer_relations(asked: Relations) -> dict[str, Any]:
    """How a text relates to filters and notifications.

    >>> said = answer_relations(Relations("x > 3", ["x > 5", "x any", "y any"]))
    >>> said["covers"], said["covered_by"], said["witness"]
    ([0], [1], {'x': 4})
    >>> answer_relations(Relations("x >"))["position"]
    3
    """
    try:
        interest = parse_interest(asked.text)
    except SienaError as error:
        return _refused(error)
    if isinstance(interest, Pattern):
        return {"kind": "pattern", "text": str(interest), "complete": True}
    found = witness(interest)
    end = perf_counter() + SECONDS_MAX
    wide, narrow = [], []
    shown: dict[int, Any] = {}
    others = _parsed(asked.filters)
    for place, other in enumerate(others):
        if perf_counter() > end:
            break
        if other is None:
            continue
        if covers(interest, other):
            wide.append(place)
        elif len(shown) < 1 and (against := counterexample(interest, other)):
            shown[place] = notification_to_json(against)
        if covers(other, interest):
            narrow.append(place)
    else:
        place = len(others)
    return {
        "kind": "filter" if isinstance(interest, Filter) else "predicate",
        "text": str(interest),
        "witness": notification_to_json(found) if found is not None else None,
        "covers": wide,
        "covered_by": narrow,
        "counterexamples": shown,
        "matches": [
            place
            for place, form in enumerate(asked.notifications)
            if (read := _read(form)) is not None and interest.matches(read)
        ],
        "complete": place == len(others),
    }


def answer_why(asked: Why) -> dict[str, Any]:
    """Who wants a notification, and what is missing for the others.

    >>> said = answer_why(Why("x = 4", ["x > 3", "x > 5 and y any"]))
    >>> said["wanted_by"], said["refused"][0]["missing"]
    ([0], ['x > 5: x = 4', 'y any: there is no such attribute'])
    """
    try:
        notification = parse_notification(asked.notification)
    except SienaError as error:
        return _refused(error)
    end = perf_counter() + SECONDS_MAX
    wanted: list[int] = []
    refused: list[tuple[int, list[str]]] = []
    others = _parsed(asked.filters)
    looked_at = 0
    for place, other in enumerate(others):
        if perf_counter() > end:
            break
        looked_at += 1
        if other is None:
            continue
        if other.matches(notification):
            wanted.append(place)
        else:
            missing = [
                f"{reason.subject}: {reason.because}"
                for reason in explain_matches(other, notification)
                if not reason.holds
            ]
            refused.append((place, missing))
    refused.sort(key=lambda each: len(each[1]))  # the nearest first
    return {
        "text": str(notification),
        "wanted_by": wanted,
        "refused": [
            {"filter": place, "missing": missing} for place, missing in refused
        ],
        "complete": looked_at == len(others),
    }


def _parsed(texts: list[str]) -> list[Filter | Predicate | None]:
    """The filters; a text that was cut, or is a pattern, is none."""
    found: list[Filter | Predicate | None] = []
    for text in texts:
        try:
            interest = parse_interest(text)
        except SienaError:
            found.append(None)
        else:
            found.append(None if isinstance(interest, Pattern) else interest)
    return found


def _read(form: Any) -> Notification | None:  # noqa: ANN401 -- whatever a page has got
    try:
        return notification_from_json(form)
    except SienaError:
        return None


def _refused(error: SienaError) -> dict[str, Any]:
    place = error.place
    said: dict[str, Any] = {"error": error.message, "hint": error.hint}
    if place is not None:
        said["position"] = place.position
    return said
