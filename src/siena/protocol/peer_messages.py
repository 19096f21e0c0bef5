"""What routers tell each other, as TELL frames; notifications are FORWARD frames.

======================  ============================================================
verb                    fields
======================  ============================================================
subscribe               interest, origin
unsubscribe             interest, origin, exact
advertise               advertisement, origin
unadvertise             advertisement, origin, exact
settle                  interest, token, origin, fresh, ttl, advertisement
settled                 token, array of names, if some have not answered
found                   interest, array of notices
linkstate               broker, epoch, number, array of (neighbour, weight)
peerconnect             side, weight, exact, closed
peerrefuse              reason
peerconfirm, release,   none
peerdisconnect
parcel                  array of deliveries, array of keys, array of keys
======================  ============================================================

A filter is its text; a predicate is an array of filters and a pattern an array of
predicates, so that even one that text would take for something simpler arrives as
what it was.  A notice is (block, stamp, time, root, ttl), a stamp (broker, epoch,
number).  A delivery is (pattern, array of notices) and its key (pattern, array of
stamps), or with nil for the pattern, of exactly one.  As in all bodies, later versions
may add fields at the end.

Why one module: a verb is one row of a table, with all the ways to write and read it.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from siena.block import decode as decode_block, encode as encode_block
from siena.errors import InvalidNotificationError, LimitError, SienaError
from siena.lang.parser import parse_advertisement
from siena.messages import (
    Advertise,
    Found,
    Interest,
    LinkState,
    Message,
    Notify,
    Parcel,
    PeerConfirm,
    PeerConnect,
    PeerDisconnect,
    PeerRefuse,
    Release,
    Settle,
    Settled,
    Side,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    verb,
)
from siena.messages.interface import TTL_MAX
from siena.messages.requests import text_of
from siena.model import Advertisement, Filter, Predicate
from siena.protocol.control_frames import Tell
from siena.protocol.data_frames import Forwarded
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import FRAME_BYTES_MAX, TELL_BYTES_MAX
from siena.protocol.peer_forms import (
    JOINT_CHARACTERS,
    JOINT_FILTERS_MAX,
    DeliveryForm,
    InterestForm,
    KeyForm,
    NoticeForm,
    SilentForm,
    Ttl,
    Whole,
    WindowForm,
    delivery_form,
    delivery_of,
    interest_form,
    interest_of,
    key_forms,
    keys_of,
    notice_form,
    notice_of,
    pattern_of,
    weight_of,
    window_form,
    window_of,
)

# --- The fields, as they travel ---------------------------------------------------


class _Fields(Struct, frozen=True, array_like=True):
    """Fields that may be followed by others, which are ignored."""


class _OfInterest(_Fields, frozen=True, array_like=True):
    interest: InterestForm
    origin: Whole | None = None


class _OfUnsubscribe(_Fields, frozen=True, array_like=True):
    interest: InterestForm
    origin: Whole | None = None
    exact: bool = False


class _OfAdvertisement(_Fields, frozen=True, array_like=True):
    advertisement: str
    origin: Whole | None = None


class _OfUnadvertise(_Fields, frozen=True, array_like=True):
    advertisement: str
    origin: Whole | None = None
    exact: bool = False


class _OfSettle(_Fields, frozen=True, array_like=True):
    interest: InterestForm
    token: Whole
    origin: Whole | None = None
    fresh: bool = False
    ttl: Ttl = TTL_MAX
    # Then it is about this, and the interest is one in nothing.
    advertisement: str | None = None


class _OfSettled(_Fields, frozen=True, array_like=True):
    token: Whole


class _OfPartlySettled(_OfSettled, frozen=True, array_like=True):
    silent: SilentForm = ()


def _settled_form(message: Settled) -> _OfSettled:
    """As it always was, where all brokers have answered."""
    token, silent = message.token, message.silent
    return _OfPartlySettled(token, silent) if silent else _OfSettled(token)


class _OfFound(_Fields, frozen=True, array_like=True):
    pattern: InterestForm
    sequence: list[NoticeForm]


class _OfLinkState(_Fields, frozen=True, array_like=True):
    broker: Whole
    epoch: Whole
    number: Whole
    weights: list[tuple[Whole, float]]


class _OfPeerConnect(_Fields, frozen=True, array_like=True):
    side: Side
    weight: float = 1
    exact: bool = False
    closed: bool = False


class _OfPeerRefuse(_Fields, frozen=True, array_like=True):
    reason: str


class _OfParcel(_Fields, frozen=True, array_like=True):
    kept: list[DeliveryForm]
    lost: list[KeyForm] = []
    known: list[KeyForm] = []
    seen: list[WindowForm] = []
    missed: Whole = 0


def _settle_form(message: Settle) -> _OfSettle:
    subject, rest = message.interest, (message.origin, message.fresh, message.ttl)
    if isinstance(subject, Advertisement):
        nothing = interest_form(Predicate())
        return _OfSettle(nothing, message.token, *rest, str(subject))
    if isinstance(subject, Predicate):  # in the order in which it was told
        return _OfSettle(sorted(map(text_of, subject)), message.token, *rest)
    return _OfSettle(interest_form(subject), message.token, *rest)


def _settle_of(form: _OfSettle) -> Settle:
    subject: Interest | Advertisement
    if form.advertisement is None:
        subject = interest_of(form.interest)
    else:
        subject = parse_advertisement(form.advertisement)
    return Settle(subject, form.token, form.origin, fresh=form.fresh, ttl=form.ttl)


# --- The verbs --------------------------------------------------------------------


class _Verb(NamedTuple):
    """How one kind of message travels."""

    message: type[Message]
    fields: type[_Fields]
    write: Callable[[Any], _Fields]
    read: Callable[[Any], Message]


_VERBS = (
    _Verb(
        Subscribe,
        _OfInterest,
        lambda m: _OfInterest(interest_form(m.interest), m.origin),
        lambda f: Subscribe(interest_of(f.interest), f.origin),
    ),
    _Verb(
        Unsubscribe,
        _OfUnsubscribe,
        lambda m: _OfUnsubscribe(interest_form(m.interest), m.origin, m.exact),
        lambda f: Unsubscribe(interest_of(f.interest), f.origin, f.exact),
    ),
    _Verb(
        Advertise,
        _OfAdvertisement,
        lambda m: _OfAdvertisement(str(m.advertisement), m.origin),
        lambda f: Advertise(parse_advertisement(f.advertisement), f.origin),
    ),
    _Verb(
        Unadvertise,
        _OfUnadvertise,
        lambda m: _OfUnadvertise(str(m.advertisement), m.origin, m.exact),
        lambda f: Unadvertise(parse_advertisement(f.advertisement), f.origin, f.exact),
    ),
    _Verb(
        Settle,
        _OfSettle,
        _settle_form,
        _settle_of,
    ),
    _Verb(
        Settled,
        _OfPartlySettled,
        _settled_form,
        lambda f: Settled(f.token, f.silent),
    ),
    _Verb(
        Found,
        _OfFound,
        lambda m: _OfFound(interest_form(m.pattern), [*map(notice_form, m.sequence)]),
        lambda f: Found(pattern_of(f.pattern), tuple(map(notice_of, f.sequence))),
    ),
    _Verb(
        LinkState,
        _OfLinkState,
        lambda m: _OfLinkState(m.broker, m.version[0], m.version[1], list(m.weights)),
        lambda f: LinkState(
            f.broker,
            (f.epoch, f.number),
            tuple((number, weight_of(weight)) for number, weight in f.weights),
        ),
    ),
    _Verb(
        PeerConnect,
        _OfPeerConnect,
        lambda m: _OfPeerConnect(m.side, m.weight, m.exact, m.closed),
        lambda f: PeerConnect(f.side, weight_of(f.weight), f.exact, f.closed),
    ),
    _Verb(
        PeerRefuse,
        _OfPeerRefuse,
        lambda m: _OfPeerRefuse(m.reason),
        lambda f: PeerRefuse(f.reason),
    ),
    _Verb(PeerConfirm, _Fields, lambda _: _Fields(), lambda _: PeerConfirm()),
    _Verb(PeerDisconnect, _Fields, lambda _: _Fields(), lambda _: PeerDisconnect()),
    _Verb(Release, _Fields, lambda _: _Fields(), lambda _: Release()),
    _Verb(
        Parcel,
        _OfParcel,
        lambda m: _OfParcel(
            [*map(delivery_form, m.kept)],
            [],  # once the keys of what was lost; now it is counted
            key_forms(m.known),
            [*map(window_form, m.seen)],
            m.lost,
        ),
        lambda f: Parcel(
            tuple(map(delivery_of, f.kept)),
            f.missed + len(f.lost),
            keys_of(f.known),
            tuple(map(window_of, f.seen)),
        ),
    ),
)
_BY_MESSAGE = {v.message: v for v in _VERBS}
_BY_NAME = {v.message.__name__.lower(): v for v in _VERBS}

# The messages that one broker tells another.
TOLD = frozenset(_BY_MESSAGE)


def encode(message: Message) -> Tell:
    """The body that carries a message.

    >>> from siena.lang import parse_filter
    >>> encode(Subscribe(parse_filter("x > 3")))
    Tell(verb='subscribe', fields=['x > 3', None])
    """
    how = _BY_MESSAGE.get(type(message))
    assert how is not None, f"{verb(message)} does not travel between brokers"
    fields = msgspec.to_builtins(how.write(message), builtin_types=(bytes,))
    return Tell(verb(message), fields)


def check_encodable(interest: Interest) -> None:
    """Refuse an interest that one broker could not tell another in one frame.

    Multiplied out, a short text may become a long one; a broker asks here before it
    takes an interest of a client into its tables.

    Raises:
        LimitError: if it is too long.
    """
    if isinstance(interest, Predicate):  # is told filter by filter
        for f in interest:
            check_encodable(f)
    elif len(msgspec.msgpack.encode(interest_form(interest))) > TELL_BYTES_MAX:
        raise LimitError("TELL_BYTES_MAX", TELL_BYTES_MAX, "bytes in an interest")


def pack_tell(message: Message) -> bytes:
    """The frame that carries a message.

    Raises:
        ProtocolError: if it does not fit; a sequence of huge notifications may not.
    """
    return _packed(encode(message))


def _packed(tell: Tell) -> bytes:
    frame = tell.pack()
    if len(frame) - 4 > FRAME_BYTES_MAX:  # the length does not count itself
        raise ProtocolError(
            Fault.TOO_LONG, f"a {tell.verb} of {len(frame)} bytes between brokers"
        )
    return frame


def pack_one_by_one(messages: Sequence[Message]) -> list[bytes]:
    """The frames that carry messages, one for each.

    Raises:
        ProtocolError: as :func:`pack_tell`.
    """
    return [pack_tell(message) for message in messages]


def pack_jointly(messages: Sequence[Message]) -> list[bytes]:
    """The frames that carry messages, with filters in a row in one subscription.

    >>> from siena.lang import parse_filter
    >>> told = [Subscribe(parse_filter(f"x > {n}")) for n in range(3)]
    >>> [frame] = pack_jointly([*told, told[0]])
    >>> decode(Tell("subscribe", [["x > 0", "x > 1", "x > 2"], None]))
    Subscribe(interest=<Predicate x > 0 or x > 1 or x > 2>, origin=None)

    Raises:
        ProtocolError: as :func:`pack_tell`.
    """
    frames: list[bytes] = []
    for origin, group in groupby(messages, _origin_of_filter):
        if origin is _NO_FILTER:
            frames += map(pack_tell, group)
            continue
        texts: list[str] = []
        size = 0
        for message in group:
            text = text_of(message.interest)  # type: ignore[union-attr]
            if len(texts) == JOINT_FILTERS_MAX or size + len(text) > JOINT_CHARACTERS:
                frames += _pack_filters(texts, origin)
                texts, size = [], 0
            texts.append(text)
            size += len(text)
        frames += _pack_filters(texts, origin)
    return frames


_NO_FILTER = -1


def _origin_of_filter(message: Message) -> int | None:
    """From where a filter is subscribed to; of any other message, nowhere."""
    if type(message) is Subscribe and type(message.interest) is Filter:
        return message.origin
    return _NO_FILTER


def _pack_filters(texts: list[str], origin: int | None) -> list[bytes]:
    if not texts:
        return []
    interest: InterestForm = list(texts) if len(texts) > 1 else texts[0]
    return [_packed(Tell("subscribe", [interest, origin]))]


def decode(body: Tell) -> Message:
    """The message that a body carries.

    >>> decode(Tell("subscribe", ["x > 3", 7]))
    Subscribe(interest=<Filter x > 3>, origin=7)
    >>> decode(Tell("subscribe", ["x >"]))
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: TELL subscribe: column 4: expected a
    value, \
found the end (error 201)

    Raises:
        ProtocolError: if it carries none.
    """
    how = _BY_NAME.get(body.verb)
    if how is None:
        raise ProtocolError(Fault.BAD_FRAME, f"TELL: no verb is {body.verb[:40]!r}")
    try:
        return how.read(msgspec.convert(body.fields, how.fields))
    except (msgspec.ValidationError, SienaError) as error:
        why = error.message if isinstance(error, ProtocolError) else str(error)
        raise ProtocolError(Fault.BAD_FRAME, f"TELL {body.verb}: {why}") from None


def forwarded(
    notify: Notify, block: bytes | None = None, *, flags: int = 0
) -> Forwarded:
    """A notification as it goes to another broker; its block, where that is known."""
    block = encode_block(notify.notification) if block is None else block
    return Forwarded(notify.stamp, notify.root, notify.time, notify.ttl, flags, block)


def notify_of(forwarded: Forwarded) -> Notify:
    """The notification that another broker has sent.

    >>> from siena.messages import Stamp
    >>> from siena.model import Notification
    >>> it = Notify(Notification(x=1), Stamp(1, 2, 3), 4.5, 6, 7)
    >>> notify_of(forwarded(it)) == it
    True

    Raises:
        ProtocolError: if it is none.
    """
    stamp, root, time, ttl, _, block = forwarded
    try:
        notification = decode_block(block)
    except InvalidNotificationError as error:
        raise ProtocolError.because(Fault.BAD_NOTIFICATION, error) from None
    return Notify(notification, stamp, time, root, ttl)
