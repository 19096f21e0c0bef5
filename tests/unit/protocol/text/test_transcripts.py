"""What is written once for all readers is what would be written for each of them."""

import json

from hypothesis import given, strategies as st

from siena.block import decode, encode
from siena.broker.http.events import Events
from siena.lang import notification_to_json
from siena.model import Notification
from siena.protocol.control_frames import Lost, Settled
from siena.protocol.data_frames import pack_found, pack_msg, unpack_found, unpack_msg
from siena.protocol.frames import Op, Splitter
from siena.protocol.text.output import Lines
from siena.protocol.text.transcripts import BlockTexts, Remembered
from strategies import any_notifications

NUMBERS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=3)
BLOCKS = any_notifications.map(encode)
FRAMES = st.lists(
    st.builds(pack_msg, NUMBERS, BLOCKS)
    | st.builds(pack_found, st.integers(0, 9), st.lists(BLOCKS, max_size=3))
    | st.builds(lambda count: Lost(count).pack(), st.integers(1, 9))
    | st.builds(lambda number: Settled(number).pack(), st.integers(0, 9)),
    max_size=6,
)


def form(block: bytes) -> dict[str, object]:
    return dict(notification_to_json(decode(block)))


def obvious_line(op: int, body: bytes) -> dict[str, object]:
    """The object of a line, frame by frame and with nothing remembered."""
    if op == Op.MSG:
        numbers, block = unpack_msg(body)
        said = {"subscriptions": [*numbers], "notification": form(block)}
        return {"siena": "MSG", **said}
    if op == Op.FOUND:
        number, blocks = unpack_found(body)
        found = {"subscription": number, "notifications": [*map(form, blocks)]}
        return {"siena": "FOUND", **found}
    lost, settled = Lost(0).op, Settled(0).op
    assert op in {lost, settled}
    if op == lost:
        return {"siena": "LOST", "count": body[1]}
    return {"siena": "SETTLED", "number": body[1]}


def obvious_event(op: int, body: bytes) -> tuple[str | None, object]:
    """The name and the data of an event."""
    said = obvious_line(op, body)
    if op == Op.MSG:
        return None, said["notification"]
    if op == Op.FOUND:
        return "found", said["notifications"]
    return Op(op).name.lower(), said


def read_event(text: str) -> tuple[str | None, object]:
    *name, data = text.split("\n")
    assert data.startswith("data: ")
    return name[0].removeprefix("event: ") if name else None, json.loads(data[6:])


@given(st.lists(FRAMES, min_size=1, max_size=4))
def test_a_transcript_says_what_the_frames_say_however_often_it_is_asked(
    batches: list[list[bytes]],
) -> None:
    texts = BlockTexts()
    lines, events = Lines(texts), Events(texts)
    for batch in (*batches, *batches):
        frames = b"".join(batch)
        wanted = [*Splitter().feed(frames)]
        *said, rest = lines.deliveries(frames).split(lines.end)
        assert [*map(json.loads, said)] == [obvious_line(*frame) for frame in wanted]
        *told, nothing = events.deliveries(frames).decode().split("\n\n")
        assert [*map(read_event, told)] == [obvious_event(*frame) for frame in wanted]
        assert not rest
        assert not nothing


def test_readers_of_the_same_share_one_text() -> None:
    lines = Lines(BlockTexts())
    frames = pack_msg([1], encode({"x": 1}))
    assert lines.deliveries(frames) is lines.deliveries(bytes(bytearray(frames)))


def test_a_block_is_read_once_for_readers_of_every_kind() -> None:
    texts = BlockTexts()
    block = encode({"x": 1})
    Lines(texts).deliveries(pack_msg([1], block))
    texts.known[block] = b'"read before"'
    assert Events(texts).write(pack_msg([7], block)) == b'data: "read before"\n\n'


@given(st.lists(st.tuples(st.binary(max_size=4), st.binary(max_size=4)), max_size=20))
def test_what_is_remembered_is_bounded_and_right(
    pairs: list[tuple[bytes, bytes]],
) -> None:
    remembered = Remembered(limit=12)
    last: dict[bytes, bytes] = {}
    for key, value in pairs:
        if key not in remembered.known:
            assert remembered.put(key, value) == value
            last[key] = value
        assert sum(len(k) + len(v) for k, v in remembered.known.items()) <= 12
        assert all(last[k] == v for k, v in remembered.known.items())


def test_what_is_larger_than_all_that_is_remembered_is_not() -> None:
    remembered = Remembered(limit=4)
    assert remembered.put(b"key", b"value") == b"value"
    assert not remembered.known


def test_an_unusual_order_of_names_makes_the_same_line() -> None:
    lines = Lines(BlockTexts())
    usual = encode(Notification(a=1, b=2))
    unusual = bytes.fromhex("82 a1 62 02 a1 61 01")
    assert lines.write(pack_msg([1], usual)) == lines.write(pack_msg([1], unusual))
