"""The line mode: what people type, and what they are told."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

import strategies as our
from siena.block import decode, encode
from siena.lang import notification_from_json, notification_to_json
from siena.model import Notification, Value
from siena.model.spelling import spell, spell_string
from siena.protocol.control_frames import (
    Advertise,
    Connect,
    Done,
    Error,
    Lost,
    Quench,
    Settled,
    Subscribe,
    Unadvertise,
    UnadvertiseCovered,
    Unsubscribe,
    UnsubscribeCovered,
    Welcome,
)
from siena.protocol.data_frames import pack_found, pack_msg
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import Op
from siena.protocol.handshake import GRANTS, Limits
from siena.protocol.limits import LINE_BYTES_MAX
from siena.protocol.pings import Ping, Pong
from siena.protocol.server import ServerConversation
from siena.protocol.states import Event
from siena.protocol.text.requests import Quit, Reply, read_pairs

DIS: dict[str, Value] = {"symbol": "DIS", "change": -4}


def typed(*lines: str) -> list[Event]:
    """What follows from lines, after the CONNECT that stands before them."""
    conversation = ServerConversation()
    connect, *events = conversation.feed("".join(f"{x}\n" for x in lines).encode())
    assert connect == Connect(1, features=(GRANTS,))
    return events


def answer(conversation: ServerConversation, event: Event) -> dict[str, Any]:
    assert isinstance(event, ProtocolError)
    told = json.loads(conversation.refuse(event))
    assert isinstance(told, dict)
    return told


@pytest.mark.parametrize(
    "line",
    [
        "pub symbol=DIS change=-4",
        "pub symbol = DIS, change = -4",
        "pub [symbol = DIS and change = -4]",
        'PUB {"symbol": "DIS", "change": -4}',
        '  pub\t"symbol"="DIS" integer change=-4  \r',
    ],
)
def test_publishing(line: str) -> None:
    (event,) = typed(line)
    assert isinstance(event, PublishRun)
    assert decode(*event.blocks()) == Notification(DIS)


def test_lines_become_what_frames_say() -> None:
    assert typed(
        "sub symbol = DIS",
        "sub 7 symbol = DIS",
        "sub x any then y any",
        "unsub 7",
        "unsub symbol any",
        "unadv []",
        "adv 4294967295 x any",
        "unadv 4294967295",
        "",
        "ping",
        "ping some text",
    ) == [
        Subscribe(1, "symbol = DIS"),
        Subscribe(7, "symbol = DIS"),
        Subscribe(8, "x any then y any"),
        Unsubscribe(7),
        UnsubscribeCovered("symbol any"),
        UnadvertiseCovered("[]"),
        Advertise(4294967295, "x any"),
        Unadvertise(4294967295),
        Ping(b""),
        Ping(b"some text"),
    ]


def test_publications_in_a_row_are_one_event() -> None:
    first, ping, second = typed("pub x=1", "pub x=2", "ping", "pub x=3")
    assert isinstance(first, PublishRun)
    assert isinstance(second, PublishRun)
    assert (first.total, ping, second.total) == (2, Ping(), 1)


def test_help_teaches_and_quit_ends() -> None:
    conversation = ServerConversation()
    _, reply, quit_ = conversation.feed(b"help\nquit\nping\n")
    assert isinstance(reply, Reply)
    taught = json.loads(reply.data)
    assert taught.pop("siena") == "HELP"
    # Every example in it can be typed.
    for line in ("pub symbol=DIS change=-4", "sub 7 x any", "adv 7 x any", "unsub 7"):
        assert any(line in examples for examples in taught.values())
        typed(line)
    assert quit_ == Quit()
    assert conversation.closed
    assert conversation.feed(b"ping\n") == []


@pytest.mark.parametrize(
    ("line", "fault", "column", "why"),
    [
        ("dance x=1", Fault.BAD_REQUEST, 1, 'no request is called "dance"'),
        ("sub symbol >> DIS", Fault.BAD_INTEREST, 12, "is not an operator"),
        ("sub 7 symbol >> DIS", Fault.BAD_INTEREST, 14, "is not an operator"),
        ("sub", Fault.BAD_INTEREST, None, "expected a name"),
        ("sub 7", Fault.BAD_INTEREST, None, "expected a name"),
        ("sub 4294967296 x any", Fault.BAD_REQUEST, None, "numbers end"),
        ("adv x any or y any", Fault.BAD_ADVERTISEMENT, 11, "has no meaning"),
        ("pub", Fault.BAD_NOTIFICATION, None, "expected a name"),
        ("pub x=1 x=2", Fault.BAD_NOTIFICATION, 9, "two attributes"),
        ("pub x>1", Fault.BAD_NOTIFICATION, 6, "expected ="),
        ("pub x=1 or y=1", Fault.BAD_NOTIFICATION, 9, "has no meaning"),
        ('pub {"x": []}', Fault.BAD_NOTIFICATION, 5, "a value is"),
        ("pub {", Fault.BAD_NOTIFICATION, 6, ""),
        ("unsub", Fault.BAD_REQUEST, None, "wants the number"),
        ("unsub 99999999999", Fault.BAD_REQUEST, None, "wants the number"),
        ("unadv", Fault.BAD_REQUEST, None, "wants the number"),
        ("unadv x", Fault.BAD_ADVERTISEMENT, 8, "expected"),
        ("unsub x >> 3", Fault.BAD_INTEREST, 9, "is not an operator"),
        ("ping " + "x" * 65, Fault.BAD_REQUEST, None, "at most 64"),
    ],
)
def test_mistakes_are_told_and_nothing_is_lost(
    line: str, fault: Fault, column: int | None, why: str
) -> None:
    conversation = ServerConversation()
    _, error, ping = conversation.feed(f"{line}\nping\n".encode())
    told = answer(conversation, error)
    assert (told["siena"], told["error"], told["name"]) == (
        "ERR",
        fault.number,
        fault.name,
    )
    assert why in told["text"]
    assert told["closes"] is False
    if column is not None:
        assert told["column"] == column
        above, below = told["pointer"]
        assert above == line
        assert below.index("^") == column - 1
    assert ping == Ping()


def test_an_error_says_which_subscription() -> None:
    conversation = ServerConversation()
    _, error = conversation.feed(b"sub 7 x >\n")
    told = answer(conversation, error)
    assert (told["request"], told["number"]) == ("SUB", 7)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost:2606\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\npub x=1\r\n",
        b"post /a HTTP/2.0\r\npub x=1\n",
        b"Host: localhost\r\npub x=1\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\n",
    ],
)
def test_a_browser_cannot_be_made_to_publish(data: bytes) -> None:
    conversation = ServerConversation()
    (error,) = conversation.feed(data)
    told = answer(conversation, error)
    assert (told["error"], told["closes"]) == (Fault.BAD_PREFACE.number, True)
    assert conversation.closed


def test_text_that_is_no_text_is_refused() -> None:
    conversation = ServerConversation()
    _, error, ping = conversation.feed(b"sub x = \xff\nping\n")
    assert answer(conversation, error)["error"] == Fault.BAD_REQUEST.number
    assert ping == Ping()


def test_lines_without_a_word_say_nothing() -> None:
    assert typed("ping", "", " \t", "\x1c", "\u2003", "ping a") == [Ping(), Ping(b"a")]


def test_a_line_that_does_not_end_is_not_kept() -> None:
    conversation = ServerConversation()
    for _ in range(LINE_BYTES_MAX // 65_536):
        assert conversation.feed(b"x" * 65_536) == []
    (error,) = conversation.feed(b"x" * 65_536)
    assert answer(conversation, error)["error"] == Fault.TOO_LONG.number
    assert (conversation.closed, conversation.pending) == (True, 0)


def test_a_notification_too_long_for_a_block_is_refused() -> None:
    conversation = ServerConversation(Limits(block_bytes=20))
    _, error, ping = conversation.feed(b"pub x=" + b"y" * 20 + b"\nping\n")
    told = answer(conversation, error)
    assert (told["error"], told["request"]) == (100, "PUB")
    assert ping == Ping()


def test_answers_are_lines_of_json() -> None:
    conversation = ServerConversation()
    conversation.feed(b"ping\n")
    said = [
        Welcome(1, 2, 3, 4).pack(),
        pack_msg([1, 7], encode(DIS)),
        pack_found(2, [encode(DIS), encode({"x": 1.0})]),
        Lost(3).pack(),
        Quench(1, quenched=True).pack(),
        Settled(1).pack(),
        Done(Op.UNSUB, 7).pack(),
        Done(Op.RESUME).pack(),
        Error(103, "taken", request=Op.SUB, number=7).pack(),
        Error(999, "from a later version", request=99).pack(),
        Pong(b"a").pack(),
    ]
    lines = conversation.speak(b"".join(said)).splitlines()
    assert [json.loads(line) for line in lines] == [
        {"siena": "MSG", "subscriptions": [1, 7], "notification": DIS},
        {"siena": "FOUND", "subscription": 2, "notifications": [DIS, {"x": 1.0}]},
        {"siena": "LOST", "count": 3},
        {"siena": "QUENCH", "number": 1, "quenched": True},
        {"siena": "SETTLED", "number": 1},
        {"siena": "DONE", "request": "UNSUB", "number": 7},
        {"siena": "DONE", "request": "RESUME"},
        {
            "siena": "ERR",
            "error": 103,
            "name": "NUMBER_TAKEN",
            "text": "taken",
            "closes": False,
            "request": "SUB",
            "number": 7,
        },
        {
            "siena": "ERR",
            "error": 999,
            "text": "from a later version",
            "closes": False,
            "request": 99,
        },
        {"siena": "PONG", "data": "a"},
    ]


@given(our.any_notifications)
def test_what_is_delivered_is_what_was_published(notification: Notification) -> None:
    conversation = ServerConversation()
    conversation.feed(b"ping\n")
    line = conversation.speak(pack_msg([1], encode(notification)))
    assert line.count(b"\n") == 1
    told = json.loads(line)["notification"]
    assert notification_from_json(told) == notification
    text = json.dumps(notification_to_json(notification))
    (event,) = conversation.feed(f"pub {text}\n".encode())
    assert isinstance(event, PublishRun)
    assert decode(*event.blocks()) == notification


@given(our.any_notifications, st.sampled_from([" ", ", ", " and ", ","]))
def test_pairs_read_back(notification: Notification, joint: str) -> None:
    pairs = [f"{spell_string(n)}={spell(v)}" for n, v in notification.items()]
    assert read_pairs(joint.join(pairs) or "[]") == notification
