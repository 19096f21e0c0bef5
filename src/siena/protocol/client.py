r"""The client's end of a conversation: from bytes to what the broker says.

::

             INFO            WELCOME
    CALLING ─────▶ GREETED ─────────▶ OPEN           from anywhere ──▶ CLOSED
                      │   a line
                      └───────────▶ REFUSED

When GREETED, the client sends :meth:`ClientConversation.hello`.  A broker that gives up
before it has heard how we talk says so in a line, and we are REFUSED.  A broker that
links itself to another is a client too, one that says so in CONNECT.
"""

from enum import Enum, auto

from msgspec.structs import replace

from siena.protocol.control_frames import Body, Connect, Error, Welcome, unpack
from siena.protocol.data_frames import (
    Delivery,
    Forwarded,
    FoundSequence,
    unpack_forward,
    unpack_found,
    unpack_msg,
)
from siena.protocol.durable.reading import DurableDelivery, unpack_deliver
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.delivery_runs import DeliveryRun, RunSplitter
from siena.protocol.frames import Op
from siena.protocol.handshake import (
    LINE_START,
    PREFACE,
    VERSIONS,
    Info,
    agree,
    read_greeting,
)
from siena.protocol.pings import Ping, Pong, unpack_ping, unpack_pong
from siena.protocol.text.splitter import LineSplitter


class State(Enum):
    """How far a conversation has come."""

    CALLING = auto()
    GREETED = auto()
    REFUSED = auto()
    OPEN = auto()
    CLOSED = auto()


# What may follow from bytes.  An Error is what the broker says; a ProtocolError says
# that we do not understand it, and nothing follows that.
Event = (
    Info
    | Body
    | Delivery
    | DeliveryRun
    | FoundSequence
    | DurableDelivery
    | Forwarded
    | Ping
    | Pong
    | ProtocolError
)

_EVERYBODY = {Op.PING, Op.PONG, Op.ERR}
_TO_CLIENTS = frozenset(
    _EVERYBODY
    | {Op.MSG, Op.FOUND, Op.LOST, Op.QUENCH, Op.SETTLED, Op.DONE, Op.TRACE, Op.SEEN}
    | {Op.ENDED, Op.GRANT_CHANGED, Op.GAP}
    | {Op.EXTENT, Op.ENTRIES, Op.TAKEN}
    | {Op.PUBLISHER_IS, Op.STORED, Op.DELIVER}
)
_TO_BROKERS = frozenset(_EVERYBODY | {Op.FORWARD, Op.TELL, Op.DIGEST})


class ClientConversation:
    """What one broker has said so far.

    >>> conversation = ClientConversation(Connect(version=0, name="me"))
    >>> info = Info(broker="b1", number=1, epoch=2, software="siena 0.1.0")
    >>> conversation.feed(info.line()) == [info]
    True
    >>> conversation.hello() == PREFACE + Connect(version=1, name="me").pack()
    True
    >>> conversation.feed(Welcome(1, 7, 1, 2).pack())
    [Welcome(version=1, session=7, broker=1, epoch=2, resumed=False)]

    Args:
        connect: who we are; the version in it is the one that both will have agreed on.
        versions: the lowest and the highest version that we talk.
    """

    def __init__(self, connect: Connect, versions: tuple[int, int] = VERSIONS) -> None:
        self.state = State.CALLING
        self.info: Info | None = None
        self._connect = connect
        self._versions = versions
        self._lines = LineSplitter()
        self._splitter = RunSplitter()
        self._start = b""
        self._allowed = _TO_BROKERS if connect.peer else _TO_CLIENTS

    @property
    def handshaking(self) -> bool:
        """Whether the broker has not welcomed us yet; that may not last."""
        return self.state in {State.CALLING, State.GREETED, State.REFUSED}

    @property
    def closed(self) -> bool:
        """Whether nothing that comes will be listened to any more."""
        return self.state is State.CLOSED

    @property
    def pending(self) -> int:
        """How many bytes are kept of what is not complete."""
        return self._lines.pending + self._splitter.pending + len(self._start)

    def hello(self) -> bytes:
        """What to send once the broker has said who it is."""
        assert self.info is not None, "the broker speaks first"
        version = agree(self._versions, self.info.versions)
        return PREFACE + replace(self._connect, version=version).pack()

    def feed(self, data: bytes) -> list[Event]:
        """What these bytes complete, in order, each delivery for itself."""
        events: list[Event] = []
        for event in self.read(data):
            if isinstance(event, DeliveryRun):
                events += event.deliveries()
            else:
                events.append(event)
        return events

    def read(self, data: bytes) -> list[Event]:
        """What these bytes complete, in order, deliveries in runs; it never raises."""
        found: list[Event] = []
        try:
            self._advance(data, found)
        except ProtocolError as error:
            found.append(error)
            self._close()
        return found

    def _close(self) -> None:
        self.state = State.CLOSED
        self._lines = LineSplitter()
        self._splitter = RunSplitter()
        self._start = b""

    def _advance(self, data: bytes, found: list[Event]) -> None:
        if self.state is State.GREETED:
            data = self._read_start(data)
        if self.state in {State.CALLING, State.REFUSED}:
            data = self._read_line(data, found)
        if self.state is State.REFUSED:  # both lines came together
            data = self._read_line(data, found)
        if self.closed or not data:
            return
        for piece in self._splitter.feed(data):
            if isinstance(piece, DeliveryRun):
                self._check(Op.MSG)
                found.append(piece)
                continue
            event = self._event(*piece)
            found.append(event)
            if isinstance(event, Welcome):
                self.state = State.OPEN
            elif isinstance(event, Error) and event.closes:
                self._close()
                return

    def _read_line(self, data: bytes, found: list[Event]) -> bytes:
        """Read the line with which a broker begins; what follows it is left."""
        if not self._lines.pending and data and not data.startswith(b"{"):
            raise ProtocolError(
                Fault.BAD_FRAME, "what answers there is not a Siena broker"
            )
        line, end, rest = data.partition(b"\n")
        for whole in self._lines.feed(line + end):
            greeting = read_greeting(whole)
            if isinstance(greeting, Error):
                found.append(greeting)
                self._close()
                return b""
            if self.state is State.REFUSED:
                raise ProtocolError(Fault.BAD_FRAME, "a second greeting")
            found.append(greeting)
            agree(self._versions, greeting.versions)
            self.info = greeting
            self.state = State.GREETED
        return rest if self.state is not State.GREETED else self._read_start(rest)

    def _read_start(self, data: bytes) -> bytes:
        """What comes before WELCOME, once it is known whether it is a line."""
        data = self._start + data
        if len(data) < len(LINE_START) and LINE_START.startswith(data):
            self._start = data
            return b""
        self._start = b""
        if data.startswith(LINE_START):
            self.state = State.REFUSED
        return data

    def _check(self, op: int) -> None:
        """Refuse what may not come now."""
        if self.state is not State.OPEN:
            if op not in {Op.WELCOME, Op.ERR}:
                raise ProtocolError(Fault.BAD_FRAME, "a broker begins with WELCOME")
        elif op not in self._allowed:
            name = Op(op).name if op in set(Op) else f"operation {op}"
            raise ProtocolError(Fault.BAD_FRAME, f"{name} is not for us")

    def _event(self, op: int, body: bytes) -> Event:
        self._check(op)
        match op:
            case Op.MSG:
                return unpack_msg(body)
            case Op.FOUND:
                return unpack_found(body)
            case Op.DELIVER:
                return unpack_deliver(body)
            case Op.FORWARD:
                return unpack_forward(body)
            case Op.PING:
                return unpack_ping(body)
            case Op.PONG:
                return unpack_pong(body)
            case _:
                return unpack(op, body)
