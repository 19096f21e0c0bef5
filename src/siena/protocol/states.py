"""The states and events of a conversation with a broker: what may be sent when.

::

              first byte 0x00         preface             CONNECT
    GREETING ────────────────▶ PREFACE ──────▶ HANDSHAKE ─────────▶ CLIENT, IDENTIFIED
        │ any other                                                 or PEER
        └───────▶ TEXT

    CALLING ────────▶ CALLED ───────────▶ PEER      where a broker calls another
              INFO            WELCOME

From everywhere an error that closes leads to CLOSING, where nothing is read any more.
The table below says of each state in which frames come what it takes, and with which
error any other operation is answered; docs/reference/protocol.md has the same table.
"""

from collections.abc import Callable, Mapping
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple

from siena.protocol.control_frames import Body, SubscribeRun, unpack
from siena.protocol.data_frames import (
    Forwarded,
    TracedPublication,
    too_long,
    unpack_forward,
    unpack_traced,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun, unpack_acked
from siena.protocol.fast.forward_runs import ForwardRun, unpack_run
from siena.protocol.fast.relay_runs import RelayRun, unpack_relay
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import Op
from siena.protocol.handshake import Info
from siena.protocol.limits import CONNECT_BYTES_MAX, FRAME_BYTES_MAX
from siena.protocol.pings import Ping, Pong, unpack_ping, unpack_pong
from siena.protocol.text.requests import Quit, Reply


class ServerState(Enum):
    """How far a conversation has come."""

    GREETING = auto()  # INFO was sent, and nothing has come
    PREFACE = auto()  # the first byte is that of a program
    HANDSHAKE = auto()  # frames come, and CONNECT must be the first
    CLIENT = auto()
    IDENTIFIED = auto()  # a client that gave an identity
    PEER = auto()  # a linked broker
    TEXT = auto()  # a person, who types lines
    CALLING = auto()  # we have called a broker, which has to say INFO
    CALLED = auto()  # and then WELCOME
    CLOSING = auto()  # whatever comes is not read


class Rule(NamedTuple):
    """What may come in one state, and what follows from anything else."""

    allowed: frozenset[int]
    otherwise: Fault
    # Operations that are answered with another error than the rest.
    refused: Mapping[int, Fault] = MappingProxyType({})
    frame_bytes_max: int = FRAME_BYTES_MAX

    def fault_of(self, op: int) -> Fault:
        """The error that answers an operation that is not allowed.

        >>> TABLE[ServerState.CLIENT].fault_of(Op.CONNECT)
        <Fault.BAD_CONNECT: _Fault(number=204, closes=True)>
        """
        return self.refused.get(op, self.otherwise)


_PINGS = {Op.PING, Op.PONG}
_REQUESTS = frozenset(
    _PINGS
    | {Op.PUB, Op.TRACED_PUB, Op.SUB, Op.UNSUB, Op.ADV, Op.UNADV}
    | {Op.UNSUB_COVERED, Op.UNADV_COVERED}
    | {Op.SUSPEND, Op.RESUME, Op.MOVE, Op.LOOK, Op.GAP}
    | {Op.LOG, Op.READ, Op.COMMIT, Op.STAGE, Op.UNSTAGE, Op.BATCH}
    | {Op.ACKED_PUB, Op.PUBLISHER, Op.DSUB, Op.ACK, Op.NAK, Op.SEEK, Op.FORGET}
)
_FROM_CLIENTS: Mapping[int, Fault] = {
    Op.CONNECT: Fault.BAD_CONNECT,
    Op.FORWARD: Fault.PEER_REFUSED,
    Op.RUN: Fault.PEER_REFUSED,
    Op.RELAY: Fault.PEER_REFUSED,
    Op.RELAYED: Fault.PEER_REFUSED,
    Op.UNASSURED: Fault.PEER_REFUSED,
    Op.TELL: Fault.PEER_REFUSED,
    Op.DIGEST: Fault.PEER_REFUSED,
}

TABLE: Mapping[ServerState, Rule] = MappingProxyType(
    {
        ServerState.HANDSHAKE: Rule(
            frozenset({Op.CONNECT}),
            Fault.BAD_CONNECT,
            frame_bytes_max=CONNECT_BYTES_MAX,
        ),
        ServerState.CLIENT: Rule(_REQUESTS, Fault.BAD_FRAME, _FROM_CLIENTS),
        # TELL, for the broker to which the client of this identity has moved.
        ServerState.IDENTIFIED: Rule(
            _REQUESTS | {Op.TELL}, Fault.BAD_FRAME, _FROM_CLIENTS
        ),
        ServerState.PEER: Rule(
            frozenset(
                _PINGS
                | {Op.FORWARD, Op.RUN, Op.TELL, Op.DIGEST, Op.TRACE, Op.ERR, Op.GAP}
                | {Op.RELAY, Op.RELAYED, Op.UNASSURED}
            ),
            Fault.BAD_FRAME,
            {Op.CONNECT: Fault.BAD_CONNECT},
        ),
        ServerState.CALLED: Rule(
            frozenset({Op.WELCOME, Op.ERR}),
            Fault.BAD_FRAME,
            frame_bytes_max=CONNECT_BYTES_MAX,
        ),
    }
)


def misplaced(state: ServerState, op: int) -> ProtocolError:
    """What is said of an operation in a state in which it is not allowed.

    >>> print(misplaced(ServerState.HANDSHAKE, Op.PUB))
    the first frame is CONNECT (error 204)
    >>> print(misplaced(ServerState.PEER, Op.SUB))
    SUB is not what a linked broker sends (error 201)
    """
    fault = TABLE[state].fault_of(op)
    return ProtocolError(fault, _why(state, fault, op), request=op)


def _why(state: ServerState, fault: Fault, op: int) -> str:
    if state is ServerState.HANDSHAKE:
        return "the first frame is CONNECT"
    if op not in _NAMES:
        return f"there is no operation {op}"
    if fault is Fault.BAD_CONNECT:
        return "a second CONNECT"
    if fault is Fault.PEER_REFUSED:
        return f"{_NAMES[op]} is for brokers"
    return f"{_NAMES[op]} is not what {_SENDERS[state]} sends"


_NAMES = {op.value: op.name for op in Op}
_SENDERS = {
    ServerState.CLIENT: "a client",
    ServerState.IDENTIFIED: "a client",
    ServerState.PEER: "a linked broker",
    ServerState.CALLED: "a broker that was called",
}


# --- Events -------------------------------------------------------------------------

# What may follow from bytes.  A ProtocolError is to be told (`refuse`); if its fault
# closes, nothing follows it.
Event = (
    Body
    | SubscribeRun
    | PublishRun
    | AckedRun
    | TracedPublication
    | Forwarded
    | ForwardRun
    | RelayRun
    | Ping
    | Pong
    | Info
    | Reply
    | Quit
    | ProtocolError
)
# What is carried out together with the publications before and after it: PONG follows
# when those before its PING are routed.
_GATHERED = frozenset(
    {PublishRun, AckedRun, Forwarded, ForwardRun, RelayRun, Ping, Pong}
)


def is_barrier(event: Event) -> bool:
    """Whether all publications before an event are routed before it is carried out.

    >>> is_barrier(Ping(b"a")), is_barrier(Quit())
    (False, True)
    """
    return type(event) not in _GATHERED


def operation_of(event: Event) -> int | None:
    """The operation that an event came as, if it was a frame.

    >>> operation_of(Ping(b"a")), operation_of(Quit())
    (<Op.PING: 7>, None)
    """
    return event.op if isinstance(event, Body) else _OPERATIONS.get(type(event))


_OPERATIONS = {
    SubscribeRun: Op.SUB,
    PublishRun: Op.PUB,
    AckedRun: Op.ACKED_PUB,
    TracedPublication: Op.TRACED_PUB,
    Forwarded: Op.FORWARD,
    ForwardRun: Op.RUN,
    RelayRun: Op.RELAY,
    Ping: Op.PING,
    Pong: Op.PONG,
}


def read_event(op: int, body: bytes, block_bytes: int) -> Event:
    """The event of a frame that is allowed.

    Raises:
        ProtocolError: if its body is wrong, or its notification too long.
    """
    read = _READERS.get(op)
    return unpack(op, body) if read is None else read(body, block_bytes)


def _read_forward(body: bytes, block_bytes: int) -> Forwarded:
    forwarded = unpack_forward(body)
    if len(forwarded.block) > block_bytes:
        raise too_long(forwarded.block, block_bytes, Op.FORWARD)
    return forwarded


def _read_traced(body: bytes, block_bytes: int) -> TracedPublication:
    traced = unpack_traced(body)
    if len(traced.block) > block_bytes:
        raise too_long(traced.block, block_bytes, Op.TRACED_PUB)
    return traced


def _read_publication(body: bytes, block_bytes: int) -> Event:
    raise too_long(body, block_bytes, Op.PUB)  # shorter ones come in runs


# Of the operations whose bodies are no msgpack arrays.
_READERS: Mapping[int, Callable[[bytes, int], Event]] = {
    Op.ACKED_PUB: unpack_acked,
    Op.FORWARD: _read_forward,
    Op.PING: lambda body, _: unpack_ping(body),
    Op.PONG: lambda body, _: unpack_pong(body),
    Op.RELAY: unpack_relay,
    Op.RUN: unpack_run,
    Op.TRACED_PUB: _read_traced,
    Op.PUB: _read_publication,
}
