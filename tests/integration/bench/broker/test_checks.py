"""What ``siena bench broker`` demands of a server, and that it notices all else."""

import socket
from functools import cache
from random import Random
from struct import pack

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.contenders.mosquitto import PUBLISH, Mosquitto, packet, text
from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.contenders.rabbitmq import (
    BODY,
    HEADER,
    RabbitMQ,
    frame,
    method,
    short,
)
from siena.bench.broker.contenders.redis import Redis
from siena.bench.broker.contenders.siena import Siena
from siena.bench.broker.kernels import checking, cutting, stamping
from siena.bench.broker.loadgen.publisher import Frames, number_at, sent_at
from siena.bench.broker.loadgen.subscriber import Bench, Subscriber
from siena.bench.broker.workload import Workload, symbol_name
from siena.block import encode
from siena.errors import SienaError
from siena.lang import parse_filter
from siena.model import Notification
from siena.protocol.control_frames import Lost, Settled
from siena.protocol.data_frames import pack_msg

KERNELS = {
    "compiled": (cutting, checking, stamping),
    "plain": (plain("cutting"), plain("checking"), plain("stamping")),
}
CONTENDERS: list[type[Contender]] = [Siena, Nats, Redis, Mosquitto, RabbitMQ]
WORKLOAD = Workload(interests=12, connections=2, matches=1.5)
BEGUN = np.array([0, WORKLOAD.pool - 2])  # the second goes round soon
SIZE = len(WORKLOAD.blocks[0])
SENT, NOW = 1_000, 51_000


def published(publisher: int, number: int) -> tuple[int, bytes]:
    """The position of a publication, and its block with its stamps."""
    place = (int(BEGUN[publisher]) + number) % WORKLOAD.pool
    block = WORKLOAD.blocks[place]
    stamps = [(publisher << checking.NUMBER_BITS) + number, SENT]
    first, second = (pack(">Q", stamping.BASE + each) for each in stamps)
    at = number_at(SIZE)
    return place, block[:at] + first + block[at + 8 : sent_at(SIZE)] + second


def delivery(contender: Contender, place: int, block: bytes) -> bytes:
    """What each server sends to connection 0, written down by hand."""
    symbol = symbol_name(int(WORKLOAD.symbol[place]))
    match contender.name:
        case "siena":
            return pack_msg(wanted(place), block)
        case "nats":
            return f"MSG {symbol} 3 {len(block)}\r\n".encode() + block + b"\r\n"
        case "redis":
            head = f"*3\r\n$7\r\nmessage\r\n$5\r\n{symbol}\r\n${len(block)}\r\n"
            return head.encode() + block + b"\r\n"
        case "mosquitto":
            return packet(PUBLISH, text(symbol) + block)
        case _:
            where = short("tag") + bytes(8) + b"\0" + short("amq.direct")
            told = method((60, 60), where + short(symbol))
            header = frame(HEADER, pack(">HHQH", 60, 0, len(block), 0))
            return told + header + frame(BODY, block)


@cache
def wanted(place: int) -> list[int]:
    """The subscriptions of connection 0, by asking each of its filters."""
    notification = Notification(
        symbol=symbol_name(int(WORKLOAD.symbol[place])),
        price=float(WORKLOAD.price[place]),
        change=float(WORKLOAD.change[place]),
    )
    return [
        number
        for number, row in enumerate(WORKLOAD.rows(0).tolist(), start=1)
        if parse_filter(WORKLOAD.drawn.text(row)).matches(notification)
    ]


def gets(contender: Contender, place: int) -> bool:
    if contender.by_topic:
        return int(WORKLOAD.symbol[place]) in WORKLOAD.topics(0)
    return bool(wanted(place))


@cache
def deliveries(make: type[Contender], publisher: int, number: int) -> bytes:
    """What connection 0 gets of one publication, which may be nothing."""
    place, block = published(publisher, number)
    return delivery(make(), place, block) if gets(make(), place) else b""


def stream(contender: Contender, count: int) -> list[bytes]:
    """All deliveries of two publishers in turn."""
    turns = ((which, number) for number in range(count) for which in (0, 1))
    return list(filter(None, (deliveries(type(contender), *turn) for turn in turns)))


def subscriber(contender: Contender, kernels: str = "compiled") -> Subscriber:
    cutter, checker, _ = KERNELS[kernels]
    bench = Bench(WORKLOAD, BEGUN, cutter=cutter, checker=checker)
    return Subscriber(0, socket.socket(), contender, bench)


def feed(one: Subscriber, data: bytes, ends: list[int]) -> None:
    """Hand over a stream that was chopped at these places."""
    rest, start = b"", 0
    for end in [*sorted(ends), len(data)]:
        piece = rest + data[start:end]
        one._bench.slab[: len(piece)] = piece
        rest, start = one.take(len(piece), NOW), end
    one.socket.close()
    assert rest == b""


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("make", CONTENDERS, ids=lambda make: make.name)
@given(count=st.integers(0, 40), seed=st.integers(0, 99), pieces=st.integers(0, 9))
def test_what_must_come_is_taken_however_it_is_chopped(
    kernels: str, make: type[Contender], count: int, seed: int, pieces: int
) -> None:
    contender, one = make(), subscriber(make(), kernels)
    data = b"".join(sent := stream(contender, count))
    feed(one, data, [Random(seed).randint(0, len(data)) for _ in range(pieces)])
    assert one.deliveries == one._bench.delivered == len(sent)
    places = [published(which, n)[0] for n in range(count) for which in (0, 1)]
    assert one.matches == sum(len(wanted(place)) for place in places)
    assert not one.lacks(np.array([count, count]))
    counters = one._bench.latencies
    assert counters[checker_place(NOW - SENT)] == counters.sum() == len(sent)


def checker_place(nanoseconds: int) -> int:
    place: int = plain("checking").counter(nanoseconds)
    return place


def damaged(contender: Contender, how: str) -> bytes:
    sent = stream(contender, 40)
    place, block = next(
        each
        for each in (published(0, number) for number in range(40))
        if gets(contender, each[0])
    )
    match how:
        case "one is missing":
            del sent[len(sent) // 2]
        case "one comes twice":
            sent.insert(3, sent[3])
        case "two are exchanged":
            own = [
                each for n in range(40) if gets(contender, (each := published(0, n))[0])
            ]
            sent = [delivery(contender, *each) for each in (own[1], own[0])]
        case "it matches nothing":
            others = [published(1, number) for number in range(99)]
            strange = next(each for each in others if not gets(contender, each[0]))
            sent = [delivery(contender, *strange)]
        case "it is longer":
            sent = [delivery(contender, place, block + b"\xc0")]
        case "it is by a stranger":
            at = number_at(SIZE)
            other = pack(">Q", stamping.BASE + (2 << checking.NUMBER_BITS))
            sent = [delivery(contender, place, block[:at] + other + block[at + 8 :])]
        case _:
            assert how == "a byte of it is another"
            at = block.index(b"NYSE") if b"NYSE" in block else block.index(b"finance")
            sent = [
                delivery(contender, place, block[:at] + b"X" + block[at + 1 :]),
            ]
    return b"".join(sent)


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("make", CONTENDERS, ids=lambda make: make.name)
@pytest.mark.parametrize(
    ("how", "said"),
    {
        "one is missing": "another is due first",
        "one comes twice": "was not due",
        "two are exchanged": "another is due first",
        "it matches nothing": "was not due|another is due first",
        "it is longer": "another size",
        "it is by a stranger": "by nobody",
        "a byte of it is another": "is not what was published",
    }.items(),
    ids=lambda each: each.replace(" ", "-"),
)
def test_whatever_is_wrong_is_noticed(
    kernels: str, make: type[Contender], how: str, said: str
) -> None:
    one = subscriber(make(), kernels)
    with one.socket, pytest.raises(SienaError, match=said):
        feed(one, damaged(make(), how), [])


@pytest.mark.parametrize("kernels", KERNELS)
@pytest.mark.parametrize("how", ["none", "one more", "one less", "twice", "another"])
def test_wrong_subscriptions_are_noticed(kernels: str, how: str) -> None:
    number = next(n for n in range(99) if len(wanted(published(0, n)[0])) >= 2)
    place, block = published(0, number)
    right = wanted(place)
    other = next(n for n in range(1, 7) if n not in right)
    listed = {
        "none": [],
        "one more": [*right, other],
        "one less": right[:-1],
        "twice": [right[0], *right[:-1]],
        "another": [other, *right[1:]],
    }[how]
    before = [published(0, n) for n in range(number)]
    sent = [delivery(Siena(), *each) for each in before if wanted(each[0])]
    one = subscriber(Siena(), kernels)
    with one.socket, pytest.raises(SienaError, match="wrong subscriptions"):
        feed(one, b"".join([*sent, pack_msg(listed, block)]), [])


def test_a_client_that_filters_wrongly_is_noticed() -> None:
    """Behind a server that knows topics, the filter in the client is checked too."""
    one = subscriber(Nats())
    assert one._bands is not None
    one._bands.below[:] = -99.0
    with one.socket, pytest.raises(SienaError, match="wrong subscriptions"):
        feed(one, b"".join(stream(Nats(), 40)), [])


def test_the_end_is_not_forgotten() -> None:
    one = subscriber(Siena())
    feed(one, b"".join(stream(Siena(), 40)[:-3]), [])
    assert one.lacks(np.array([40, 40]))


def test_what_is_no_delivery_is_passed_over_or_told() -> None:
    one = subscriber(Siena())
    sent = stream(Siena(), 9)
    feed(one, b"".join([sent[0], Settled(1).pack(), *sent[1:]]), [40, 300])
    assert one.deliveries == len(sent)
    one = subscriber(Siena())
    with one.socket, pytest.raises(SienaError, match="lost 7 deliveries"):
        feed(one, Lost(7).pack(), [])
    one = subscriber(Nats())
    with one.socket, pytest.raises(SienaError, match="Slow Consumer"):
        feed(one, b"-ERR 'Slow Consumer'\r\n", [])


@pytest.mark.parametrize("make", CONTENDERS, ids=lambda make: make.name)
@given(count=st.integers(0, 5), cut=st.integers(0, 99))
def test_barriers_are_counted_however_they_are_chopped(
    make: type[Contender], count: int, cut: int
) -> None:
    contender = make()
    between = b":1\r\n" if contender.name == "redis" else b""
    data = (between + contender.answer) * count
    cut = min(cut, len(data))
    first, rest = contender.answers(data[:cut])
    second, rest = contender.answers(rest + data[cut:])
    assert (first + second, rest.count(contender.answer)) == (count, 0)


@pytest.mark.parametrize("make", CONTENDERS, ids=lambda make: make.name)
def test_frames_are_stamped_alike_by_both_kernels(make: type[Contender]) -> None:
    contender = make()
    frames = Frames.of(contender, WORKLOAD)
    made = []
    for *_, stamper in KERNELS.values():
        out = np.zeros(5 * frames.size, np.uint8)
        stamper.stamp(
            *(frames.data, frames.size, frames.number_at, frames.sent_at),
            *(WORKLOAD.pool - 2, 5, (1 << checking.NUMBER_BITS), SENT, 0.0, out),
        )
        made.append(out.tobytes())
    expected = []
    for number in range(5):
        place, block = published(1, number)
        symbol = symbol_name(int(WORKLOAD.symbol[place]))
        head, tail = contender.publication(symbol, block)
        expected.append(head + block + tail)
    assert made == [b"".join(expected)] * 2


def test_times_are_stamped_one_step_after_the_other() -> None:
    frames = Frames.of(Siena(), WORKLOAD)
    for *_, stamper in KERNELS.values():
        out = np.zeros(4 * frames.size, np.uint8)
        stamper.stamp(
            *(frames.data, frames.size, frames.number_at, frames.sent_at),
            *(0, 4, 0, SENT, 2.5, out),
        )
        times = [
            int.from_bytes(out[at : at + 8].tobytes(), "big") - stamping.BASE
            for at in range(frames.sent_at, len(out), frames.size)
        ]
        assert times == [1_000, 1_002, 1_005, 1_007]


# --- The workload -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interests", "connections", "matches"),
    [(1, 1, 1.0), (30, 3, 1.0), (30, 30, 6.0), (200, 7, 0.5)],
)
def test_who_must_get_what_is_what_the_filters_say(
    interests: int, connections: int, matches: float
) -> None:
    workload = Workload(interests, connections, matches)
    filters = [parse_filter(workload.drawn.text(row)) for row in range(interests)]
    due = [workload.due(each, by_topic=False) for each in range(connections)]
    for place in range(0, workload.pool, 97):
        notification = Notification(
            symbol=symbol_name(int(workload.symbol[place])),
            price=float(workload.price[place]),
            change=float(workload.change[place]),
        )
        for connection, one in enumerate(due):
            numbers = [
                number
                for number, row in enumerate(workload.rows(connection), start=1)
                if filters[row].matches(notification)
            ]
            assert (place in one.places) == bool(numbers)
            if numbers:
                entry = one.places.tolist().index(place)
                start, end = one.wanted_from[entry : entry + 2]
                assert one.wanted[start:end].tolist() == numbers
    mean = float(np.mean(workload.match_counts))
    assert abs(mean - matches) < 0.2 * matches


def test_a_notification_has_ten_attributes_and_always_one_size() -> None:
    assert {len(block) for block in WORKLOAD.blocks} == {SIZE}
    assert 140 <= SIZE <= 160
    assert WORKLOAD.blocks[0][0] == 0x8A  # a msgpack map of ten
    number, sent = number_at(SIZE), sent_at(SIZE)
    stamped = encode({"number": stamping.BASE, "sent": stamping.BASE})[1:]
    assert WORKLOAD.blocks[0].endswith(stamped)
    assert WORKLOAD.blocks[0][number : number + 8] == pack(">Q", stamping.BASE)
    assert WORKLOAD.blocks[0][sent : sent + 8] == pack(">Q", stamping.BASE)


@pytest.mark.parametrize(
    ("interests", "connections", "matches", "said"),
    [
        (1, 2, 1.0, "each has one or more"),
        (5, 0, 1.0, "each has one or more"),
        (5, 5, 0.0, "more than none"),
        (5, 5, 6.0, "not more than there are"),
        (70_000, 1, 1.0, "at most 65535 subscriptions"),
    ],
)
def test_what_cannot_be_is_said(
    interests: int, connections: int, matches: float, said: str
) -> None:
    with pytest.raises(SienaError, match=said):
        Workload(interests, connections, matches)
