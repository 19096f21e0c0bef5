"""What goes in and out by HTTP is the same notification, whatever is in it."""

import json
from collections.abc import Sequence

from hypothesis import given, strategies as st
from websockets.frames import Frame, Opcode

from siena.block import decode, encode
from siena.broker.http.body import read_notifications
from siena.broker.http.cloud_events import notification_of_event
from siena.broker.http.events import Events
from siena.broker.http.json_requests import JsonRequests
from siena.broker.http.websocket import text_frames
from siena.broker.webhooks.letters import letters_of
from siena.broker.webhooks.limits import LETTER_MAX
from siena.lang.json_text import read_json
from siena.lang.notification_form import notification_from_json, notification_to_json
from siena.model import Notification
from siena.protocol.control_frames import Lost
from siena.protocol.data_frames import pack_msg
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun, cut
from siena.protocol.limits import FRAME_BYTES_MAX
from siena.protocol.text.transcripts import BlockTexts
from strategies import any_notifications, notifications

SOME = st.lists(notifications(), max_size=4)


def forms(some: Sequence[Notification]) -> list[dict[str, object]]:
    return [dict(notification_to_json(n)) for n in some]


@given(SOME)
async def test_what_is_posted_is_what_is_published(some: list[Notification]) -> None:
    whole = json.dumps(forms(some)).encode()
    lines = "\n".join(map(json.dumps, forms(some))).encode()
    for kind, body in (("application/json", whole), ("application/x-ndjson", lines)):
        posted = await read_notifications(kind, body)
        assert [decode(block) for block in posted.run.blocks()] == some
        assert posted.left_out == 0


@given(st.lists(any_notifications, max_size=4))
async def test_the_quick_way_to_a_block_ends_where_the_plain_one_does(
    some: list[Notification],
) -> None:
    body = json.dumps(forms(some)).encode()
    posted = await read_notifications("application/json", body)
    plain = [encode(notification_from_json(form)) for form in json.loads(body)]
    assert list(posted.run.blocks()) == plain


@given(SOME)
def test_what_comes_over_a_socket_is_what_is_published(
    some: list[Notification],
) -> None:
    frames = JsonRequests().read(json.dumps({"pub": forms(some)}))
    found = [
        block
        for piece in cut(frames, FRAME_BYTES_MAX).pieces
        if isinstance(piece, PublishRun)
        for block in piece.blocks()
    ]
    assert [decode(block) for block in found] == some


@given(SOME, st.integers(0, 3))
def test_events_and_letters_have_what_was_delivered(
    some: list[Notification], lost: int
) -> None:
    frames = b"".join(pack_msg([1], encode(n)) for n in some)
    frames += Lost(lost).pack() if lost else b""
    text = Events(BlockTexts()).write(frames).decode()
    data = [
        line.removeprefix("data: ") for line in text.split("\n") if "data: " in line
    ]
    read = [notification_from_json(read_json(line)) for line in data[: len(some)]]
    assert read == some
    assert len(data) == len(some) + bool(lost)
    letters = list(letters_of(frames, "a", "b"))
    sent = [form for letter in letters for form in letter.notifications]
    assert sent == forms(some)
    assert sum(letter.lost for letter in letters) == lost


@given(
    st.lists(
        st.text("a{}é", max_size=9)
        | st.sampled_from([125, 126, 65_535, 65_536]).map(lambda n: "x" * n),
        max_size=4,
    )
)
def test_lines_become_the_messages_that_the_library_would_write(
    texts: list[str],
) -> None:
    lines = "".join(f"{text}\n" for text in texts).encode()
    frames = [Frame(Opcode.TEXT, text.encode()) for text in texts]
    expected = b"".join(frame.serialize(mask=False) for frame in frames)
    assert text_frames(lines) == expected


@given(st.integers(0, 3 * LETTER_MAX))
def test_letters_are_bounded_and_in_order(count: int) -> None:
    frames = b"".join(pack_msg([1], encode({"n": n})) for n in range(count))
    letters = list(letters_of(frames, "a", "b"))
    assert all(0 < len(letter) <= LETTER_MAX for letter in letters)
    sent = [form["n"] for letter in letters for form in letter.notifications]
    assert sent == list(range(count))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x any"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["sub", "pub", "number", "look", "ping", "unsub", "x"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=5,
)


@given(JSON)
def test_any_message_is_frames_or_a_numbered_error(form: object) -> None:
    fault, frames = None, b""
    try:
        frames = JsonRequests().read(json.dumps(form))
    except ProtocolError as error:
        fault = error.fault
    assert fault in {None, Fault.BAD_REQUEST, Fault.BAD_NOTIFICATION}
    found = cut(frames, FRAME_BYTES_MAX)
    assert (found.error, found.end) == (None, len(frames))


@given(st.dictionaries(st.sampled_from(["id", "x", "time", "ext"]), JSON, max_size=3))
def test_nothing_of_an_event_is_lost_in_silence(data: dict[str, object]) -> None:
    event = {"specversion": "1.0", "id": "7", "source": "/", "type": "t", "ext": 1}
    read = notification_of_event({**event, "data": data})  # type: ignore[dict-item]
    present = {name: value for name, value in data.items() if value is not None}
    kept = len(read.notification) - len(event)
    assert kept + read.left_out == len(present)
    for name, value in event.items():
        assert read.notification[name] == value
