"""The server's end of a conversation: from bytes to what is asked, in either mode.

::

              first byte 0x00        preface            CONNECT
    GREETED ───────────────▶ PREFACE ───────▶ CONNECTING ───────▶ OPEN or LINKED
       │
       └── any other ──▶ LINES                        from anywhere ──▶ CLOSED

OPEN is for clients and LINKED for brokers; they may say different things.  The line
mode says CONNECT for a person, before the first line.

Nothing here reads or writes: whoever owns the connection feeds what came, carries out
the events, and sends what :meth:`ServerConversation.speak` makes of the answers.
"""

from enum import Enum, auto

from msgspec import MsgspecError, Struct, msgpack

from siena.protocol.control_frames import Body, Connect, Error, unpack
from siena.protocol.data_frames import (
    Forwarded,
    TracedPublication,
    unpack_forward,
    unpack_traced,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, Splitter
from siena.protocol.handshake import PREFACE, VERSIONS, Limits
from siena.protocol.limits import CONNECT_BYTES_MAX
from siena.protocol.pings import Ping, Pong, unpack_ping, unpack_pong
from siena.protocol.runs import Gathering, Publications, too_long
from siena.protocol.text.output import error_line, told_in_lines
from siena.protocol.text.requests import Publication, Quit, Reply, Requests
from siena.protocol.text.splitter import LineSplitter


class State(Enum):
    """How far a conversation has come."""

    GREETED = auto()
    PREFACE = auto()
    CONNECTING = auto()
    OPEN = auto()
    LINKED = auto()
    LINES = auto()
    CLOSED = auto()


# What may follow from bytes.  A ProtocolError is to be told (`refuse`); if its fault
# closes, nothing follows it.
Event = (
    Body
    | Publications
    | TracedPublication
    | Forwarded
    | Ping
    | Pong
    | Reply
    | Quit
    | ProtocolError
)

_EVERYBODY = {Op.PING, Op.PONG}
_ALLOWED: dict[State, frozenset[int]] = {
    State.OPEN: frozenset(
        _EVERYBODY
        | {Op.PUB, Op.TRACED_PUB, Op.SUB, Op.UNSUB, Op.ADV, Op.UNADV}
        | {Op.UNSUB_COVERED, Op.UNADV_COVERED}
        | {Op.SUSPEND, Op.RESUME, Op.MOVE, Op.LOOK}
        | {Op.LOG, Op.READ, Op.COMMIT, Op.STAGE, Op.UNSTAGE, Op.BATCH}
    ),
    State.LINKED: frozenset(_EVERYBODY | {Op.FORWARD, Op.TELL, Op.DIGEST}),
}
_OF_BROKERS = _ALLOWED[State.LINKED] - _EVERYBODY


class ServerConversation:
    r"""What one connection has said so far.

    >>> conversation = ServerConversation()
    >>> hello = PREFACE + Connect(version=1, name="me").pack()
    >>> conversation.feed(hello[:9]), conversation.handshaking
    ([], True)
    >>> [event.name for event in conversation.feed(hello[9:])]
    ['me']
    >>> conversation.feed(Ping(b"a").pack()), conversation.handshaking
    ([Ping(data=b'a')], False)

    A person is understood as well, and answered in the same way:

    >>> conversation = ServerConversation()
    >>> _, event = conversation.feed(b"unsub 7\n")
    >>> event
    Unsubscribe(number=7)
    >>> conversation.speak(bytes.fromhex("02 00 00 00 08 61"))
    b'{"siena":"PONG","data":"a"}\n'
    """

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 -- frozen
        versions: tuple[int, int] = VERSIONS,
    ) -> None:
        self.state = State.GREETED
        self._limits = limits
        self._versions = versions
        self._preface = b""
        self._splitter = Splitter(min(limits.frame_bytes, CONNECT_BYTES_MAX))
        self._lines = LineSplitter(limits.line_bytes)
        self._talks_in_frames = False
        self._requests = Requests()

    @property
    def handshaking(self) -> bool:
        """Whether it has not been said yet who this is; that may not last."""
        return self.state in {State.GREETED, State.PREFACE, State.CONNECTING}

    @property
    def closed(self) -> bool:
        """Whether nothing that comes will be listened to any more."""
        return self.state is State.CLOSED

    @property
    def talks_in_lines(self) -> bool:
        """Whether answers are lines; so they are as long as nobody knows."""
        return not self._talks_in_frames

    @property
    def pending(self) -> int:
        """How many bytes are kept of what is not complete."""
        return len(self._preface) + self._splitter.pending + self._lines.pending

    def feed(self, data: bytes) -> list[Event]:
        """What these bytes complete, in order; it never raises.

        What is wrong is in the list as a :class:`ProtocolError`, in its turn: all that
        stands before it holds.  If its fault closes, it is the last event ever.
        """
        found = Gathering[Event](self._limits.block_bytes)
        try:
            self._advance(data, found)
        except ProtocolError as error:
            found.add(error)
            self._close()
        return found.events()

    def speak(self, frames: bytes) -> bytes:
        """These frames, in the mode of this connection."""
        return told_in_lines(frames) if self.talks_in_lines else frames

    def refuse(self, error: ProtocolError) -> bytes:
        """What to send about a fault; one that closes ends the conversation."""
        said = error_line(error) if self.talks_in_lines else Error.of(error).pack()
        if error.fault.closes:
            self._close()
        return said

    def _close(self) -> None:
        self.state = State.CLOSED
        # What was kept is of no use any more.
        self._splitter = Splitter()
        self._lines = LineSplitter(self._limits.line_bytes)
        self._preface = b""

    # --- Which mode -----------------------------------------------------------------

    def _advance(self, data: bytes, found: Gathering[Event]) -> None:
        if not data or self.closed:
            return
        if self.state is State.GREETED:
            self._talks_in_frames = data[:1] == PREFACE[:1]
            self.state = State.PREFACE if self._talks_in_frames else State.LINES
        if self.state is State.LINES:
            self._read_lines(data, found)
            return
        if self.state is State.PREFACE:
            data = self._read_preface(data)
        for op, body in self._splitter.feed(data):
            self._read_frame(op, body, found)

    def _read_preface(self, data: bytes) -> bytes:
        """What stands behind the preface."""
        wanted = len(PREFACE) - len(self._preface)
        self._preface += data[:wanted]
        if not PREFACE.startswith(self._preface):
            raise ProtocolError(
                Fault.BAD_PREFACE, "what begins with 0x00 goes on with SIENA\\r\\n"
            )
        if self._preface == PREFACE:
            self._preface = b""
            self.state = State.CONNECTING
        return data[wanted:]

    # --- Frames ---------------------------------------------------------------------

    def _read_frame(self, op: int, body: bytes, found: Gathering[Event]) -> None:
        if self.state is State.CONNECTING:
            found.add(self._connect(op, body))
        elif op not in _ALLOWED[self.state]:
            raise self._misplaced(op)
        elif op == Op.PUB:
            found.publish(body)
        else:
            try:
                found.add(self._event(op, body))
            except ProtocolError as error:
                if error.fault.closes:
                    raise
                found.add(error)

    def _connect(self, op: int, body: bytes) -> Connect:
        if op != Op.CONNECT:
            raise ProtocolError(Fault.BAD_CONNECT, "the first frame is CONNECT")
        try:
            version = _VERSION.decode(body).version
        except (MsgspecError, ValueError, RecursionError):
            raise ProtocolError(
                Fault.BAD_CONNECT, "CONNECT begins with a version"
            ) from None
        lowest, highest = self._versions
        # Before the rest is read, which in other versions may be something else.
        if not lowest <= version <= highest:
            raise ProtocolError(
                Fault.BAD_VERSION,
                f"version {version} of the protocol is not talked here; "
                f"{lowest} to {highest} are",
            )
        try:
            connect = unpack(op, body)
        except ProtocolError as error:
            raise ProtocolError(Fault.BAD_CONNECT, error.message) from None
        assert isinstance(connect, Connect)
        self.state = State.LINKED if connect.peer else State.OPEN
        self._splitter.limit = self._limits.frame_bytes
        return connect

    def _misplaced(self, op: int) -> ProtocolError:
        if op == Op.CONNECT:
            return ProtocolError(Fault.BAD_CONNECT, "a second CONNECT")
        if op in _OF_BROKERS:
            name = Op(op).name
            return ProtocolError(Fault.PEER_REFUSED, f"{name} is for brokers")
        if op in set(Op):
            who = "linked brokers do" if self.state is State.LINKED else "clients do"
            return ProtocolError(Fault.BAD_FRAME, f"{Op(op).name} is not what {who}")
        return ProtocolError(Fault.BAD_FRAME, f"an operation that nobody knows: {op}")

    def _event(self, op: int, body: bytes) -> Event:
        match op:
            case Op.PING:
                return unpack_ping(body)
            case Op.PONG:
                return unpack_pong(body)
            case Op.FORWARD:
                forwarded = unpack_forward(body)
                self._check_block(forwarded.block, op)
                return forwarded
            case Op.TRACED_PUB:
                traced = unpack_traced(body)
                self._check_block(traced.block, op)
                return traced
            case _:
                return unpack(op, body)

    def _check_block(self, block: bytes, op: int) -> None:
        if len(block) > self._limits.block_bytes:
            raise too_long(block, self._limits.block_bytes, op)

    # --- Lines ----------------------------------------------------------------------

    def _read_lines(self, data: bytes, found: Gathering[Event]) -> None:
        for line in self._lines.feed(data):
            for event in self._requests.read(line):
                if isinstance(event, Publication):
                    found.publish(event.block)
                else:
                    found.add(event)
                if isinstance(event, Quit):
                    self._close()
                    return
                if isinstance(event, ProtocolError) and event.fault.closes:
                    self._close()
                    return


class _Version(Struct, array_like=True):
    """What CONNECT begins with in all versions."""

    version: int


_VERSION = msgpack.Decoder(_Version)
