"""What a connection makes of bytes, however they were chopped on their way."""

import asyncio
import itertools

from hypothesis import given, strategies as st

from siena.client.core.session import Session
from siena.client.core.transport import TURN_BYTES, Transport
from siena.errors import SienaError
from siena.protocol.client import ClientConversation, Event
from siena.protocol.control_frames import Connect, Lost, Quench, Settled, Welcome
from siena.protocol.data_frames import pack_found, pack_msg
from siena.protocol.error_codes import ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE, Info

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


def connected() -> tuple[Transport, Recorder, list[Event]]:
    heard: list[Event] = []
    transport = Transport(ME, lambda _, event: heard.append(event), lambda: None)
    recorder = Recorder()
    transport.connection_made(recorder)
    return transport, recorder, heard


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=8))
def test_frames_are_the_same_in_any_pieces(cuts: list[int]) -> None:
    async def feed() -> None:
        transport, recorder, heard = connected()
        places = [0, *sorted(set(cuts)), len(STREAM)]
        for start, end in itertools.pairwise(places):
            transport.data_received(STREAM[start:end])
        assert heard == ClientConversation(ME).read(STREAM)
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
        session = Session()
        transport = Transport(ME, lambda _, event: session.hear(event), session.pace)
        recorder = Recorder()
        transport.connection_made(recorder)
        session.attach(transport, session.limits)
        transport.data_received((WELCOMED if is_greeted else b"") + garbage)
        if recorder.is_over:
            transport.connection_lost(None)
            assert isinstance(transport.ended.result(), SienaError)

    asyncio.run(feed())


async def test_what_is_sent_in_one_turn_is_written_at_once() -> None:
    transport, recorder, _ = connected()
    for frame in (b"one", b"two", b"three"):
        transport.send(frame)
    assert recorder.written == []
    await asyncio.sleep(0)
    assert recorder.written == [b"onetwothree"]


async def test_much_is_written_without_waiting_for_the_turn() -> None:
    transport, recorder, _ = connected()
    transport.send(b"x" * TURN_BYTES)
    assert len(recorder.written) == 1
    assert transport.wants_a_turn
    await asyncio.sleep(0)
    assert not transport.wants_a_turn


async def test_the_first_reason_counts() -> None:
    transport, recorder, _ = connected()
    transport.data_received(WELCOMED + b"\0\0\0\0")
    assert recorder.is_over
    transport.connection_lost(ConnectionResetError("reset"))
    assert isinstance(transport.ended.result(), ProtocolError)


async def test_a_greeting_without_an_end_is_refused() -> None:
    transport, recorder, _ = connected()
    for _ in range(20):
        transport.data_received(b"{" * 65_536)
    assert recorder.is_over
    transport.connection_lost(None)
    assert isinstance(transport.ended.result(), ProtocolError)
