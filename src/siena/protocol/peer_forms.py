"""Interests, notifications and stamps as msgpack carries them from router to router."""

import math
from functools import lru_cache
from typing import Annotated

from msgspec import Meta

from siena.block import decode as decode_block, encode as encode_block
from siena.lang.parser import parse_filter
from siena.messages import Found, Interest, Notify, Stamp, Window
from siena.messages.interface import TTL_MAX
from siena.messages.notices import SILENT_MAX, Key
from siena.messages.requests import TEXTS_MAX, text_of
from siena.model import Filter, Pattern, Predicate
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import NAME_CHARACTERS_MAX, WEIGHT_MAX, WINDOW_BYTES_MAX

# So many filters, with texts of so many characters in all, are told at once; of these,
# how many are remembered that came last.
JOINT_FILTERS_MAX = 64
JOINT_CHARACTERS = 16_384
JOINTS_MAX = 8

Whole = Annotated[int, Meta(ge=0)]  # msgpack has none beyond 64 bits
Ttl = Annotated[int, Meta(ge=0, le=TTL_MAX)]
# Brokers that have not answered, by name.
SilentForm = Annotated[
    tuple[Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)], ...],
    Meta(max_length=SILENT_MAX),
]
InterestForm = str | list[str | list[str]]
StampForm = tuple[Whole, Whole, Whole]
NoticeForm = tuple[bytes, StampForm, float, Whole, Ttl]
# With the pattern that they match together; without one there is only one of them.
DeliveryForm = tuple[InterestForm | None, list[NoticeForm]]
KeyForm = tuple[InterestForm | None, list[StampForm]]
# Broker, epoch, the last number, and bits for those before it, the lowest first.
WindowForm = tuple[Whole, Whole, Whole, bytes]


def interest_form(interest: Interest) -> InterestForm:
    """An interest as msgpack can carry it.

    >>> from siena.lang import parse_interest
    >>> interest_form(parse_interest("x = 1 or y = 1 then z any"))
    [['x = 1', 'y = 1'], ['z any']]
    """
    if isinstance(interest, Filter):
        return text_of(interest)
    if isinstance(interest, Predicate):
        return [text_of(f) for f in interest]
    return [[str(f) for f in step] for step in interest]


def interest_of(form: InterestForm) -> Interest:
    """The interest of a form.

    >>> interest_of([["x = 1", "y = 1"], ["z any"]])
    <Pattern x = 1 or y = 1 then z any>
    """
    if isinstance(form, str):
        return _filter_of(form)
    texts = [item for item in form if isinstance(item, str)]
    if len(texts) == len(form):
        if len(texts) <= JOINT_FILTERS_MAX and sum(map(len, texts)) <= JOINT_CHARACTERS:
            return _joint_of(tuple(texts))
        return Predicate(map(_filter_of, texts))
    if texts:
        raise ProtocolError(Fault.BAD_FRAME, "an interest of filters and predicates")
    return Pattern(Predicate(map(parse_filter, step)) for step in form)


@lru_cache(maxsize=TEXTS_MAX)
def _filter_of(text: str) -> Filter:
    return parse_filter(text)


# Filters are told together, and then asked about together.
@lru_cache(maxsize=JOINTS_MAX)
def _joint_of(texts: tuple[str, ...]) -> Predicate:
    return Predicate(map(parse_filter, texts))


def notice_form(notify: Notify) -> NoticeForm:
    """A notification on its way, as msgpack can carry it."""
    block = encode_block(notify.notification)
    return block, notify.stamp, notify.time, notify.root, notify.ttl


def notice_of(form: NoticeForm) -> Notify:
    """The notification of a form."""
    block, stamp, time, root, ttl = form
    if not math.isfinite(time):
        raise ProtocolError(Fault.BAD_FRAME, "a time that is not finite")
    return Notify(decode_block(block), Stamp(*stamp), time, root, ttl)


def delivery_form(delivery: Notify | Found) -> DeliveryForm:
    """What was kept for a client, as msgpack can carry it."""
    if isinstance(delivery, Notify):
        return None, [notice_form(delivery)]
    return interest_form(delivery.pattern), [*map(notice_form, delivery.sequence)]


def delivery_of(form: DeliveryForm) -> Notify | Found:
    """What was kept for a client."""
    pattern, notices = form
    if pattern is not None:
        return Found(pattern_of(pattern), tuple(map(notice_of, notices)))
    if len(notices) != 1:
        raise ProtocolError(Fault.BAD_FRAME, "several notices without a pattern")
    return notice_of(notices[0])


def key_forms(keys: frozenset[Key]) -> list[KeyForm]:
    """Keys of deliveries, the same ones always in the same order."""
    forms: list[KeyForm] = []
    for key in keys:
        if isinstance(key, Stamp):
            forms.append((None, [key]))
        else:
            forms.append((interest_form(key[0]), list(key[1])))
    return sorted(forms, key=repr)


def keys_of(forms: list[KeyForm]) -> frozenset[Key]:
    """The keys of forms."""
    return frozenset(map(_key_of, forms))


def _key_of(form: KeyForm) -> Key:
    pattern, stamps = form
    if pattern is not None:
        return pattern_of(pattern), tuple(Stamp(*stamp) for stamp in stamps)
    if len(stamps) != 1:
        raise ProtocolError(Fault.BAD_FRAME, "several stamps without a pattern")
    return Stamp(*stamps[0])


def window_form(window: Window) -> WindowForm:
    """What was seen of one broker, as msgpack can carry it.

    >>> window_form(Window(1, 0, 9, 0b110_0001))
    (1, 0, 9, b'a')
    """
    size = (window.bits.bit_length() + 7) // 8
    return *window[:3], window.bits.to_bytes(size, "little")


def window_of(form: WindowForm) -> Window:
    """What was seen of one broker."""
    if len(form[3]) > WINDOW_BYTES_MAX:
        raise ProtocolError(Fault.BAD_FRAME, "a window that is too wide")
    return Window(*form[:3], int.from_bytes(form[3], "little"))


def weight_of(weight: float) -> float:
    """The weight of a link, if it is one."""
    if not 0 < weight <= WEIGHT_MAX:  # nor is NaN
        raise ProtocolError(Fault.BAD_FRAME, f"a link of weight {weight}")
    return weight


def pattern_of(form: InterestForm) -> Pattern:
    """The pattern of a form, if it is one."""
    interest = interest_of(form)
    if not isinstance(interest, Pattern):
        raise ProtocolError(Fault.BAD_FRAME, "found, but not a pattern")
    return interest
