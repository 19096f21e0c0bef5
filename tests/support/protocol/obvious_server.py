"""The server's end of a conversation, frame by frame: the twin that is never fast.

It is given a whole stream and knows no table: what may come is written down once more,
as the reference says it.
"""

import math
import struct
from collections.abc import Iterator
from typing import Any

import msgspec

from siena.messages import Stamp
from siena.messages.interface import TTL_MAX
from siena.protocol.control_frames import Connect, unpack
from siena.protocol.data_frames import Forwarded, unpack_forward, unpack_traced
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, Splitter
from siena.protocol.handshake import PREFACE, Limits
from siena.protocol.limits import CONNECT_BYTES_MAX, PING_BYTES_MAX
from siena.protocol.pings import Ping, Pong
from siena.protocol.text.requests import Publication, Quit, Requests

FROM_CLIENTS = [
    *("PUB", "TRACED_PUB", "SUB", "UNSUB", "ADV", "UNADV", "PING", "PONG"),
    *("SUSPEND", "RESUME", "MOVE", "LOOK"),
    *("LOG", "READ", "COMMIT", "STAGE", "UNSTAGE", "BATCH"),
]
OF_BROKERS = ["FORWARD", "RUN", "RELAY", "RELAYED", "UNASSURED", "TELL", "DIGEST"]
FROM_BROKERS = ["PING", "PONG", *OF_BROKERS, "TRACE", "ERR"]


def obviously(data: bytes, limits: Limits) -> list[Any]:
    """What a stream says: events, blocks of publications, and faults with operations.

    It ends with the first fault that closes, and where something is incomplete.
    """
    found: list[Any] = []
    for event in (
        in_frames(data, limits) if data[:1] == b"\0" else in_lines(data, limits)
    ):
        if isinstance(event, ProtocolError):
            found.append((event.fault, event.request))
            if event.fault.closes:
                break
        else:
            found.append(event)
            if isinstance(event, Quit):
                break
    return found


def in_frames(data: bytes, limits: Limits) -> Iterator[Any]:
    if not PREFACE.startswith(data[: len(PREFACE)]):
        yield ProtocolError(Fault.BAD_PREFACE, "")
        return
    data = data[len(PREFACE) :]
    connect = None
    while len(data) >= 4:
        length = int.from_bytes(data[:4], "little")
        if length == 0:
            yield ProtocolError(Fault.BAD_FRAME, "")
            return
        if length > limits.frame_bytes or (not connect and length > CONNECT_BYTES_MAX):
            yield ProtocolError(Fault.TOO_LONG, "")
            return
        if len(data) < 4 + length:
            return
        op, body, data = data[4], data[5 : 4 + length], data[4 + length :]
        try:
            if connect is None:
                yield (connect := connected(op, body))
            else:
                yield said(connect, op, body, limits)
        except ProtocolError as error:
            error.request = op
            yield error


def connected(op: int, body: bytes) -> Connect:
    try:
        (version,) = msgspec.msgpack.decode(body, type=list)[:1]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise ProtocolError(Fault.BAD_CONNECT, "") from None
    if op != Op.CONNECT or type(version) is not int:
        raise ProtocolError(Fault.BAD_CONNECT, "")
    if version != 1:
        raise ProtocolError(Fault.BAD_VERSION, "")
    try:
        connect = unpack(op, body)
    except ProtocolError:
        raise ProtocolError(Fault.BAD_CONNECT, "") from None
    assert isinstance(connect, Connect)
    return connect


def said(connect: Connect, op: int, body: bytes, limits: Limits) -> Any:  # noqa: ANN401 -- as many types as there are events
    name = Op(op).name if op in set(Op) else "?"
    check(connect, name)
    if name in {"PING", "PONG"}:
        if len(body) > PING_BYTES_MAX:
            raise ProtocolError(Fault.BAD_REQUEST, "")
        return Ping(body) if name == "PING" else Pong(body)
    event: Any = body
    if name == "TRACED_PUB":
        event = unpack_traced(body)
    elif name == "FORWARD":
        event = unpack_forward(body)
    elif name == "RUN":
        return in_a_run(body, limits.block_bytes)
    elif name != "PUB":
        return unpack(op, body)
    if len(body if name == "PUB" else event.block) > limits.block_bytes:
        raise ProtocolError(Fault.BAD_NOTIFICATION, "")
    return event


def in_a_run(body: bytes, longest: int) -> list[Forwarded]:
    """What a RUN frame says, publication by publication."""
    try:
        *head, count = struct.unpack("<QQQQdHBI", body[:47])
        numbers = struct.unpack(f"<{count}I", body[47 : 47 + 4 * count])
        times = struct.unpack(f"<{count}I", body[47 + 4 * count : 47 + 8 * count])
        frames = [*Splitter(longest + 1).feed(body[47 + 8 * count :])]
    except (struct.error, MemoryError, OverflowError, ProtocolError):
        raise ProtocolError(Fault.BAD_FRAME, "") from None
    broker, epoch, number, root, time, ttl, flags = head
    if (
        not count
        or len(frames) != count
        or any(op != Op.PUB for op, _ in frames)
        or sum(5 + len(block) for _, block in frames) != len(body) - 47 - 8 * count
        or list(numbers) != sorted(set(numbers))
        or (numbers[0], times[0]) != (0, 0)
        or numbers[-1] >= 65_536
        or number + numbers[-1] >= 2**64
        or not math.isfinite(time)
        or ttl > TTL_MAX
        or flags
    ):
        raise ProtocolError(Fault.BAD_FRAME, "")
    return [
        Forwarded(
            Stamp(broker, epoch, number + numbers[i]),
            root,
            time + times[i] * 2**-22,
            ttl,
            flags,
            frames[i].body,
        )
        for i in range(count)
    ]


def check(connect: Connect, name: str) -> None:
    """Refuse what is not for this end to send."""
    if name == "CONNECT":
        raise ProtocolError(Fault.BAD_CONNECT, "")
    if connect.peer:
        if name not in FROM_BROKERS:
            raise ProtocolError(Fault.BAD_FRAME, "")
    elif name not in FROM_CLIENTS and not (name == "TELL" and connect.identity):
        is_of_brokers = name in OF_BROKERS
        fault = Fault.PEER_REFUSED if is_of_brokers else Fault.BAD_FRAME
        raise ProtocolError(fault, "")


def in_lines(data: bytes, limits: Limits) -> Iterator[Any]:
    requests = Requests()
    *lines, rest = data.split(b"\n")
    for line in lines:
        if len(line) > limits.line_bytes:
            yield ProtocolError(Fault.TOO_LONG, "")
            return
        for event in requests.read(line.removesuffix(b"\r")):
            if not isinstance(event, Publication):
                yield event
            elif len(event.block) > limits.block_bytes:
                yield ProtocolError(Fault.BAD_NOTIFICATION, "", request=Op.PUB)
            else:
                yield event.block
    if len(rest) > limits.line_bytes:
        yield ProtocolError(Fault.TOO_LONG, "")
