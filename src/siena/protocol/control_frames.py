"""The bodies of all frames that carry no notification: msgpack arrays of their fields.

Each class is one operation.  Fields may be added at the end in later versions, with a
default; an older peer ignores them.

Why one module: one table of operations, which every conversation reads by.
"""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from siena.block import BLOCK_BYTES_MAX
from siena.messages.notices import SILENT_MAX
from siena.protocol.durable.reading import READING_BODIES
from siena.protocol.durable.receipts import DURABLE_BODIES
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import (
    Body,
    Count,
    Name,
    Number,
    Op,
    pack_but_last,
    pack_fields,
)
from siena.protocol.limits import (
    ERROR_CHARACTERS_MAX,
    FEATURES_MAX,
    LOOK_DEFAULT,
    LOOK_MAX,
    NAME_CHARACTERS_MAX,
    URLS_MAX,
    WEIGHT_MAX,
)
from siena.protocol.log_frames import LOG_BODIES

__all__ = [
    "Advertise",
    "Body",
    "Connect",
    "Digest",
    "Done",
    "Ended",
    "Error",
    "Gap",
    "GrantChanged",
    "Hop",
    "Look",
    "Lost",
    "Move",
    "Peer",
    "Policy",
    "Quench",
    "Resume",
    "Seen",
    "Settled",
    "Subscribe",
    "Suspend",
    "Tell",
    "Trace",
    "Unadvertise",
    "UnadvertiseCovered",
    "Unsubscribe",
    "UnsubscribeCovered",
    "Welcome",
    "unpack",
]

# Of a link: finite, and no NaN, which is neither above nor below anything.
Weight = Annotated[float, Meta(gt=0, le=WEIGHT_MAX)]
Url = Annotated[str, Meta(max_length=1024)]
Policy = Literal["drop", "disconnect", "block"]


class Connect(Body, frozen=True, array_like=True):
    """The first frame: who this is, and how it wants to be served.

    ``identity`` is kept across connections (suspend, resume, move); without one a
    client is gone when its connection is.  ``policy`` says what happens when it reads
    too slowly.  A broker that wants to be a neighbour sets ``peer``.
    """

    op: ClassVar[Op] = Op.CONNECT
    version: int
    name: Name | None = None
    identity: Name | None = None
    policy: Policy = "drop"
    peer: "Peer | None" = None
    token: Annotated[str, Meta(max_length=4096)] | None = None
    # What a client understands beyond the first version.
    features: Annotated[tuple[Name, ...], Meta(max_length=FEATURES_MAX)] = ()

    def pack(self) -> bytes:
        """The frame, as it always was of those who understand no more."""
        return Body.pack(self) if self.features else pack_but_last(self)


class Peer(Struct, frozen=True, array_like=True):
    """A broker that asks for a link."""

    broker: Count  # its number
    epoch: Count  # its life: greater after every start
    side: Literal["master", "child", "peer", "mesh"]  # what it takes the other for
    weight: Weight = 1.0
    # Where clients find it; 0.0.0.0 and :: stand for where it calls from.
    urls: Annotated[list[Url], Meta(max_length=URLS_MAX)] = []
    # What it understands beyond the first version, as INFO says it of the other.
    features: Annotated[list[Name], Meta(max_length=FEATURES_MAX)] = []


class Welcome(Body, frozen=True, array_like=True):
    """The answer to CONNECT."""

    op: ClassVar[Op] = Op.WELCOME
    version: int
    session: Count  # the connection's number at this broker
    broker: Count
    epoch: Count
    # Whether there was something kept for this identity.
    resumed: bool = False


class Subscribe(Body, frozen=True, array_like=True):
    """Under this number, what the interest selects is wanted.  Answered by SETTLED."""

    op: ClassVar[Op] = Op.SUB
    number: Number
    interest: str


class SubscribeRun(NamedTuple):
    """Subscriptions that came in a row, and are carried out one after the other.

    Those that are taken out, if that takes long, are in the next event.
    """

    bodies: list[Subscribe]


class Unsubscribe(Body, frozen=True, array_like=True):
    """Under this number nothing is wanted any more.  Answered by DONE."""

    op: ClassVar[Op] = Op.UNSUB
    number: Number


class Advertise(Body, frozen=True, array_like=True):
    """Under this number, what the advertisement admits may be published.

    Answered by QUENCH, and by another one whenever the answer changes.
    """

    op: ClassVar[Op] = Op.ADV
    number: Number
    advertisement: str


class Unadvertise(Body, frozen=True, array_like=True):
    """What this number admits is not published any more.  Answered by DONE."""

    op: ClassVar[Op] = Op.UNADV
    number: Number


class UnsubscribeCovered(Body, frozen=True, array_like=True):
    """Nothing that this interest covers is wanted any more.  Answered by ENDED."""

    op: ClassVar[Op] = Op.UNSUB_COVERED
    interest: str


class UnadvertiseCovered(Body, frozen=True, array_like=True):
    """What this advertisement covers is not published any more.  Answered by ENDED."""

    op: ClassVar[Op] = Op.UNADV_COVERED
    advertisement: str


class Suspend(Body, frozen=True, array_like=True):
    """Keep what is for this identity, up to so many notifications.  Answer: DONE."""

    op: ClassVar[Op] = Op.SUSPEND
    queue: Annotated[int, Meta(ge=0, le=1_000_000)] = 1_000


class Resume(Body, frozen=True, array_like=True):
    """Send what was kept, and then whatever comes.  Answered by DONE."""

    op: ClassVar[Op] = Op.RESUME


class Move(Body, frozen=True, array_like=True):
    """Fetch what the broker at this address keeps for this identity, and be its home.

    Answered by DONE, after what was kept has been sent.
    """

    op: ClassVar[Op] = Op.MOVE
    url: Url


class Look(Body, frozen=True, array_like=True):
    """Show what the broker knows, of tables the first so many.  Answered by SEEN.

    Who wants something (``wanting``) is asked about a notification: its block.
    """

    op: ClassVar[Op] = Op.LOOK
    what: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)]
    limit: Annotated[int, Meta(ge=1, le=LOOK_MAX)] = LOOK_DEFAULT
    about: Annotated[bytes, Meta(max_length=BLOCK_BYTES_MAX)] = b""

    def pack(self) -> bytes:
        """The frame, as it always was where nothing is said about."""
        return Body.pack(self) if self.about else pack_but_last(self)


class Seen(Body, frozen=True, array_like=True):
    """What the broker knows, as maps and arrays."""

    op: ClassVar[Op] = Op.SEEN
    what: str
    seen: dict[str, Any]


class Done(Body, frozen=True, array_like=True):
    """A request without another answer was carried out: its operation and number."""

    op: ClassVar[Op] = Op.DONE
    request: int
    number: Number | None = None


class Ended(Body, frozen=True, array_like=True):
    """The subscriptions or advertisements that a request ended, by their numbers."""

    op: ClassVar[Op] = Op.ENDED
    request: int
    numbers: list[Number]


class Lost(Body, frozen=True, array_like=True):
    """So many notifications for this connection were not kept since the last LOST.

    With a number, they were for that subscription alone.
    """

    op: ClassVar[Op] = Op.LOST
    count: Count
    number: Number | None = None


class Gap(Body, frozen=True, array_like=True):
    """Between two moments something may have been lost; how much is not known.

    Times are in microseconds since 1970.  A client sends one, whatever it says, to be
    told of them.  Between brokers it says whose it is, and how far it may go.
    """

    op: ClassVar[Op] = Op.GAP
    start: Count = 0
    end: Count = 0
    reason: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)] = ""
    broker: Count = 0
    number: Count = 0
    hops: Count = 0


class Quench(Body, frozen=True, array_like=True):
    """Whether no client wants anything that this advertisement admits."""

    op: ClassVar[Op] = Op.QUENCH
    number: Number
    quenched: bool


class Settled(Body, frozen=True, array_like=True):
    """The subscription with this number is in force in the whole network.

    If not all of it is granted, ``in_force`` says what is.  If brokers have not
    answered in time, ``silent`` names them: behind those it may not be in force.
    """

    op: ClassVar[Op] = Op.SETTLED
    number: Number
    in_force: str | None = None
    silent: Annotated[tuple[str, ...], Meta(max_length=SILENT_MAX)] = ()

    def pack(self) -> bytes:
        """The frame, as it always was where all is granted and answered.

        >>> Settled(7).pack().hex(" ")
        '03 00 00 00 16 91 07'
        """
        if self.silent:
            return Body.pack(self)
        if self.in_force is not None:
            return pack_but_last(self)
        return pack_fields(self.op, (self.number,))  # by far the most there are


class GrantChanged(Body, frozen=True, array_like=True):
    """Of the subscription with this number something else is in force from now on.

    Only to those who say in CONNECT that they know of it.
    """

    op: ClassVar[Op] = Op.GRANT_CHANGED
    number: Number
    in_force: str


class Error(Body, frozen=True, array_like=True):
    """Something was wrong; see :class:`~siena.protocol.error_codes.Fault`."""

    op: ClassVar[Op] = Op.ERR
    fault: int
    text: Annotated[str, Meta(max_length=ERROR_CHARACTERS_MAX)]
    closes: bool = False
    request: int | None = None  # the operation that it answers
    number: Number | None = None  # and its subscription or advertisement
    position: Count | None = None  # where in the text of the request, from 0

    @classmethod
    def of(cls, error: ProtocolError) -> "Error":
        """How a fault is told.

        >>> Error.of(ProtocolError(Fault.NUMBER_TAKEN, "taken", about=7))
        Error(fault=103, text='taken', closes=False, request=None, number=7, \
position=None)
        """
        return cls(
            error.fault.number,
            error.message[:ERROR_CHARACTERS_MAX],
            error.fault.closes,
            error.request,
            error.number,
            error.place.position if error.place else None,
        )


class Hop(Struct, frozen=True, array_like=True):
    """One broker on the way of a traced notification."""

    broker: str
    arrived: float
    seconds: float
    came_from: str
    went_to: list[str]
    matched: list[str]


class Trace(Body, frozen=True, array_like=True):
    """What one broker did with a traced publication, sent back to its publisher."""

    op: ClassVar[Op] = Op.TRACE
    token: Number
    hop: Hop


class Tell(Body, frozen=True, array_like=True):
    """A message of one router to another; see :mod:`siena.protocol.peer_messages`."""

    op: ClassVar[Op] = Op.TELL
    verb: str
    fields: list[Any]


class Digest(Body, frozen=True, array_like=True):
    """What the sender believes to have told: so many interests, and their hash."""

    op: ClassVar[Op] = Op.DIGEST
    count: Count
    digest: bytes


_KNOWN: tuple[type[Body], ...] = (
    Connect, Welcome, Subscribe, Unsubscribe, Advertise, Unadvertise, Suspend, Resume,
    UnsubscribeCovered, UnadvertiseCovered, Ended,
    Move, Look, Seen, Done, Lost, Gap, Quench, Settled, GrantChanged, Error, Trace,
    Tell, Digest,
    *LOG_BODIES, *DURABLE_BODIES, *READING_BODIES,
)  # fmt: skip
_BODIES: dict[int, type[Body]] = {body.op: body for body in _KNOWN}
_DECODERS = {op: msgspec.msgpack.Decoder(body) for op, body in _BODIES.items()}


def unpack(op: int, body: bytes) -> Body:
    """The body of a frame.

    >>> unpack(Op.SUB, Subscribe(1, "x > 3").pack()[5:])
    Subscribe(number=1, interest='x > 3')
    >>> unpack(Op.SUB, bytes([0x91, 0x01]))
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: SUB: Expected `array` of at least length
    2, \
got 1 (error 201)

    Raises:
        ProtocolError: if the operation is not known, or the body is not one of it.
    """
    decoder = _DECODERS.get(op)
    if decoder is None:
        raise ProtocolError(Fault.BAD_FRAME, f"an operation that nobody knows: {op}")
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        # A ValueError is a string that is not UTF-8.
        raise ProtocolError(Fault.BAD_FRAME, f"{Op(op).name}: {error}") from None
