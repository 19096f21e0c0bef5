"""How a connection begins: the server says who it is, the client which way it talks.

The INFO of a server is one line of JSON, for any client.  A client that talks in
frames sends the preface and then CONNECT; any other first byte means the line mode,
for people.
"""

from typing import Literal

import msgspec
from msgspec import Struct

from siena.block import BLOCK_BYTES_MAX
from siena.protocol.control_frames import Connect, Error, unpack
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.limits import (
    ADVERTISEMENTS_MAX,
    FRAME_BYTES_MAX,
    LINE_BYTES_MAX,
    SUBSCRIPTIONS_MAX,
)

# The first byte is one that no line begins with.
PREFACE = b"\x00SIENA\r\n"
# How every line of a broker begins but the first; no frame has this for its length.
LINE_START = b'{"si'
# The versions of the protocol that we talk, lowest and highest.
VERSIONS = (1, 1)
# Features in INFO: UNSUB_COVERED and UNADV_COVERED are known; and only what was
# advertised may be published.
COVERED = "covered"
# Between brokers: a withdrawal names exactly one announcement.
EXACT = "exact"
# And publications come in RUN frames, too.
RUNS = "run"
# And several filters are subscribed to in one message, each for itself.
JOINT = "joint"
# And what is acknowledged comes in RELAY frames: there is a store for it.
RELAY = "relay"
# And it is said, with UNASSURED, what goes to brokers that have none.
UNASSURED = "unassured"
# Clients, and neighbours, are told of gaps.
GAPS = "gap"
# And filters may ask for absence, negate, have wildcards and ignore case.
CLOSED = "closed"
ADVERTISED = "advertised"
# And clients may ask for what filters cannot say: a predicate with a residual.
RESIDUAL = "residual"
# And LOOK answers who wants a notification.
WANTING = "wanting"
# What is in force of a subscription may be less than was asked for, and change: clients
# that say so in CONNECT hear of it.
GRANTS = "grants"
# And for clients: what must not be lost can be said to this broker, which has a store.
DURABLE = "durable"
# And: nobody is let in without the token that CONNECT has.
TOKEN = "token"  # noqa: S105 -- its name
# And what that is: of ours, narrowed or not, NAME:PASSWORD, or a JSON web token.
AUTH = "auth"


class Limits(Struct, frozen=True):
    """What a server accepts."""

    frame_bytes: int = FRAME_BYTES_MAX
    block_bytes: int = BLOCK_BYTES_MAX
    line_bytes: int = LINE_BYTES_MAX
    subscriptions: int = SUBSCRIPTIONS_MAX
    advertisements: int = ADVERTISEMENTS_MAX


class Info(Struct, frozen=True):
    """What a server says first.

    >>> info = Info(broker="b1", number=1, epoch=2, software="siena 0.1.0")
    >>> read_info(info.line()) == info
    True
    """

    broker: str  # its name
    number: int
    epoch: int
    software: str
    versions: tuple[int, int] = VERSIONS
    limits: Limits = Limits()
    features: tuple[str, ...] = ()
    siena: str = "INFO"

    def line(self) -> bytes:
        """The line, with its end."""
        return msgspec.json.encode(self) + b"\n"


class _Refusal(Struct, frozen=True):
    """What a server says instead, if it does not want the connection."""

    siena: Literal["ERR"]
    error: int
    text: str
    closes: bool = True


_INFO_READER = msgspec.json.Decoder(Info)
_REFUSAL_READER = msgspec.json.Decoder(_Refusal)


def read_info(line: bytes) -> Info:
    """What a server has said.

    Raises:
        ProtocolError: if it is no server of ours.
    """
    try:
        return _INFO_READER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ProtocolError(
            Fault.BAD_FRAME, f"what answers there is not a Siena broker: {error}"
        ) from None


def read_greeting(line: bytes) -> Info | Error:
    """What a server has said before it is known how a client talks.

    >>> read_greeting(b'{"siena":"ERR","error":208,"text":"no more","closes":true}')
    Error(fault=208, text='no more', closes=True, request=None, number=None, \
position=None)

    Raises:
        ProtocolError: if it is no server of ours.
    """
    try:
        refusal = _REFUSAL_READER.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return read_info(line)
    return Error(refusal.error, refusal.text, refusal.closes)


def agree(ours: tuple[int, int], theirs: tuple[int, int]) -> int:
    """The highest version that both talk.

    >>> agree((1, 3), (2, 5))
    3

    Raises:
        ProtocolError: if there is none.
    """
    version = min(ours[1], theirs[1])
    if version < max(ours[0], theirs[0]):
        raise ProtocolError(
            Fault.BAD_VERSION,
            f"versions {theirs[0]} to {theirs[1]} of the protocol are not talked here; "
            f"{ours[0]} to {ours[1]} are",
        )
    return version


def read_connect(body: bytes, versions: tuple[int, int]) -> Connect:
    """What CONNECT says; its version comes before anything else in it.

    >>> read_connect(bytes([0x92, 9, 0x90]), (1, 1))
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: version 9 of the protocol is not talked
    here; 1 to 1 are (error 203)

    Raises:
        ProtocolError: if it is of another version, or not as it should be.
    """
    try:
        version = _VERSION_READER.decode(body).version
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ProtocolError(
            Fault.BAD_CONNECT, "CONNECT begins with a version"
        ) from None
    lowest, highest = versions
    # Before the rest is read, which in other versions may be something else.
    if not lowest <= version <= highest:
        raise ProtocolError(
            Fault.BAD_VERSION,
            f"version {version} of the protocol is not talked here; "
            f"{lowest} to {highest} are",
        )
    try:
        connect = unpack(Op.CONNECT, body)
    except ProtocolError as error:
        raise ProtocolError(Fault.BAD_CONNECT, error.message) from None
    assert isinstance(connect, Connect)
    return connect


class _Version(Struct, array_like=True):
    """What CONNECT begins with in all versions."""

    version: int


_VERSION_READER = msgspec.msgpack.Decoder(_Version)
