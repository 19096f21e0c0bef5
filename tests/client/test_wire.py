"""What a connection makes of bytes, however they were chopped on their way."""

import asyncio
import itertools

from hypothesis import given, strategies as st

from siena.client.talk import Talk
from siena.client.wire import TURN_BYTES, Wire
from siena.errors import SienaError
from siena.protocol.bodies import Connect, Lost, Quench, Settled, Welcome
from siena.protocol.client import ClientConversation, Event
from siena.protocol.deliveries import pack_found, pack_msg
from siena.protocol.faults import ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.greeting import PREFACE, Info

ME = Connect(0, name="me")
INFO = Info(broker="b", number=1, epoch=2, software="siena").line()
WELCOMED = INFO + Welcome(1, 1, 1, 1).pack()
STREAM = WELCOMED + b"".join(
    [
        pack_msg([1], b"\x80"),
        pack_found(2, [b"\x80", b"\x80"]),
        Settled(1).pack(),
        Lost(3).pack(),
        Quench(9, quenched=True).pack(),
        pack(Op.PONG, b"x"),
    ]
)


class Recorder(asyncio.Transport):
    """A transport that writes down what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.is_over = False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.written.append(data)

    def set_write_buffer_limits(
        self, high: int | None = None, low: int | None = None
    ) -> None: ...

    def is_closing(self) -> bool:
        return self.is_over

    def close(self) -> None:
        self.is_over = True

    abort = close


def connected() -> tuple[Wire, Recorder, list[Event]]:
    heard: list[Event] = []
    wire = Wire(ME, lambda _, event: heard.append(event), lambda: None)
    recorder = Recorder()
    wire.connection_made(recorder)
    return wire, recorder, heard


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=8))
def test_frames_are_the_same_in_any_pieces(cuts: list[int]) -> None:
    async def feed() -> None:
        wire, recorder, heard = connected()
        places = [0, *sorted(set(cuts)), len(STREAM)]
        for start, end in itertools.pairwise(places):
            wire.data_received(STREAM[start:end])
        assert heard == ClientConversation(ME).feed(STREAM)
        assert len(heard) == 8
        await asyncio.sleep(0)
        assert recorder.written == [PREFACE + Connect(1, name="me").pack()]

    asyncio.run(feed())


@given(st.binary(max_size=60), st.booleans())
def test_garbage_ends_the_connection_and_nothing_else(
    garbage: bytes,
    is_greeted: bool,  # noqa: FBT001 -- drawn
) -> None:
    async def feed() -> None:
        talk = Talk()
        wire = Wire(ME, lambda _, event: talk.hear(event), talk.pace)
        recorder = Recorder()
        wire.connection_made(recorder)
        talk.attach(wire, talk.limits)
        wire.data_received((WELCOMED if is_greeted else b"") + garbage)
        if recorder.is_over:
            wire.connection_lost(None)
            assert isinstance(wire.ended.result(), SienaError)

    asyncio.run(feed())


async def test_what_is_sent_in_one_turn_is_written_at_once() -> None:
    wire, recorder, _ = connected()
    for frame in (b"one", b"two", b"three"):
        wire.send(frame)
    assert recorder.written == []
    await asyncio.sleep(0)
    assert recorder.written == [b"onetwothree"]


async def test_much_is_written_without_waiting_for_the_turn() -> None:
    wire, recorder, _ = connected()
    wire.send(b"x" * TURN_BYTES)
    assert len(recorder.written) == 1
    assert wire.wants_a_turn
    await asyncio.sleep(0)
    assert not wire.wants_a_turn


async def test_the_first_reason_counts() -> None:
    wire, recorder, _ = connected()
    wire.data_received(WELCOMED + b"\0\0\0\0")
    assert recorder.is_over
    wire.connection_lost(ConnectionResetError("reset"))
    assert isinstance(wire.ended.result(), ProtocolError)


async def test_a_greeting_without_an_end_is_refused() -> None:
    wire, recorder, _ = connected()
    for _ in range(20):
        wire.data_received(b"{" * 65_536)
    assert recorder.is_over
    wire.connection_lost(None)
    assert isinstance(wire.ended.result(), ProtocolError)
