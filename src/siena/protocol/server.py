"""The server's end of a conversation: from bytes to what is asked, in either mode.

Which state takes what is the table in :mod:`siena.protocol.states`.  Nothing here reads
a socket or writes to one: the owner of a connection puts aside what came, carries out
the events, and sends what :meth:`ServerConversation.speak` makes of the answers.

Publications are not looked at one by one.  They are events in *runs*, as many as came
in a row, where they came; and a broker that routes many at once, before they are cut,
asks :attr:`ServerConversation.may_publish` once for all of them.  A few subscriptions
in a row are one event as well: what is done about each is so little that the way from
one to the next would cost as much.
"""

from collections.abc import Iterator
from itertools import islice

from siena.protocol.control_frames import (
    Connect,
    Error,
    Subscribe,
    SubscribeRun,
    unpack,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.receive_buffer import ReceiveBuffer
from siena.protocol.fast.split_frames import PublishRun, cut
from siena.protocol.frames import HEAD_BYTES, LENGTH_BYTES, Frame, Op
from siena.protocol.handshake import (
    PREFACE,
    VERSIONS,
    Limits,
    agree,
    read_connect,
    read_info,
)
from siena.protocol.states import TABLE, Event, ServerState, misplaced, read_event
from siena.protocol.text.mode import TextMode
from siena.protocol.text.output import error_line, told_in_lines
from siena.protocol.text.requests import Quit
from siena.protocol.text.splitter import LineSplitter

# So many subscriptions are one event, if their frames are no longer: a millisecond,
# unless they are multiplied out.
SUBSCRIPTIONS_AT_ONCE = 16
SUBSCRIPTION_BYTES = 256


class ServerConversation:
    r"""What one connection has said so far.

    >>> from siena.protocol.pings import Ping
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

    Args:
        limits: what is accepted.
        versions: the lowest and the highest version of the protocol that is talked.
        is_calling: whether this end has called another broker, and wants a link.
    """

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 -- frozen
        versions: tuple[int, int] = VERSIONS,
        *,
        is_calling: bool = False,
    ) -> None:
        self.received = ReceiveBuffer()
        """What is not complete yet of frames."""
        self.talks_in_lines = True
        """Whether answers are lines; they are until a program has shown itself."""
        self.handshaking = True
        """Whether it is not known yet who this is; that may not last."""
        self.behind_connect = b""
        """What came behind CONNECT at once, for a process that takes over from here."""
        self._limits = limits
        self._block_bytes = limits.block_bytes
        self._versions = versions
        self._lines = LineSplitter(limits.line_bytes)
        self._text: TextMode | None = None
        self._enter(ServerState.CALLING if is_calling else ServerState.GREETING)

    def _enter(self, state: ServerState) -> None:
        self.state = state
        # What the table says of it, at hand for every buffer that comes.
        self.reads_frames = state in TABLE
        """Whether what comes now are frames."""
        if self.reads_frames:
            rule = TABLE[state]
            self._allowed = rule.allowed
            self._frame_bytes = min(rule.frame_bytes_max, self._limits.frame_bytes)
        self.may_publish = self.reads_frames and Op.PUB in self._allowed
        """Whether publications in frames are allowed now, however many they are."""

    def admit(self, connect: Connect) -> None:
        """A client is known without having sent CONNECT; frames of requests follow."""
        self.talks_in_lines = False
        self._welcome(connect)

    @property
    def closed(self) -> bool:
        """Whether nothing that comes is read any more."""
        return self.state is ServerState.CLOSING

    @property
    def pending(self) -> int:
        """How many bytes are kept of what is not complete."""
        return self.received.size + self._lines.pending

    # --- Reading --------------------------------------------------------------------

    def feed(self, data: bytes) -> list[Event]:
        """What these bytes complete, in order."""
        self.received.put(data)
        return list(self.read()) if self.received.is_enough else []

    def read(self) -> Iterator[Event]:
        """What is complete of what was put aside, in order; it never raises.

        Each event is carried out before the next is asked for: what follows may depend
        on it.  What is wrong is a :class:`ProtocolError` in its turn: all that stands
        before it holds.  If its fault closes, it is the last event ever.
        """
        data = self.received.take()
        if self.reads_frames:
            return self._read_frames(data)
        match self.state:
            case ServerState.TEXT:
                return self._read_lines(data)
            case ServerState.CALLING:
                return self._read_info(data)
            case ServerState.CLOSING:
                return iter(())
            case _:
                return self._read_preface(data)

    @property
    def rest(self) -> bytes | None:
        """What waits to be read, if what comes behind it are frames."""
        return self.received.rest if self.reads_frames else None

    def read_in_place(self, data: memoryview, start: int) -> Iterator[Event] | None:
        """What is complete of frames that came; :attr:`rest` is among them.

        None if nothing is.  It is copied: to carry it out may take longer than it stays
        where it came.

        Args:
            data: what waited, and what came behind it.
            start: where the publications end that were carried out already.
        """
        received = self.received
        received.clear()
        left = len(data) - start
        if not left:  # most often: all were publications
            received.needed = LENGTH_BYTES
            return None
        rest = bytes(data[start:])
        if left >= HEAD_BYTES:
            needed = LENGTH_BYTES + int.from_bytes(rest[:LENGTH_BYTES], "little")
            if left < needed <= self._frame_bytes:  # nothing but half a frame
                received.keep(rest, needed)
                return None
        return self._read_frames(rest)

    # --- Which mode -----------------------------------------------------------------

    def _read_preface(self, data: bytes) -> Iterator[Event]:
        if data[:1] != PREFACE[:1]:
            self._enter(ServerState.TEXT)
            self._text = TextMode(self._lines, self._block_bytes)
            yield from self._read_lines(data)
            return
        self.talks_in_lines = False
        self._enter(ServerState.PREFACE)
        if not data.startswith(PREFACE[: len(data)]):
            text = "what begins with 0x00 goes on with SIENA\\r\\n"
            yield self._refused(ProtocolError(Fault.BAD_PREFACE, text))
        elif len(data) < len(PREFACE):
            self.received.keep(data, len(data) + 1)
        else:
            self._enter(ServerState.HANDSHAKE)
            yield from self._read_frames(data, len(PREFACE))

    def _read_info(self, data: bytes) -> Iterator[Event]:
        """Read the line with which a broker begins that we have called."""
        line, end, rest = data.partition(b"\n")
        try:
            for whole in self._lines.feed(line + end):
                info = read_info(whole)
                agree(self._versions, info.versions)
                self.talks_in_lines = False
                self._enter(ServerState.CALLED)
                yield info
                if self.reads_frames:
                    yield from self._read_frames(rest)
        except ProtocolError as error:
            yield self._refused(error)

    # --- Frames ---------------------------------------------------------------------

    def _read_frames(self, data: bytes | memoryview, at: int = 0) -> Iterator[Event]:
        is_all, first = at == len(data), at
        needed = LENGTH_BYTES
        while not is_all:
            limit = self._frame_bytes
            pieces, at, needed, error, is_all = cut(data, limit, at, self._block_bytes)
            for piece in self._in_runs(pieces):
                if self.handshaking and isinstance(piece, Frame):
                    behind = first + HEAD_BYTES + len(piece.body)
                    self.behind_connect = bytes(data[behind:])
                if isinstance(piece, Frame):
                    yield self._event(*piece)
                elif self.may_publish:  # as all may who may subscribe
                    yield piece
                else:
                    yield self._misplaced(Op.PUB)
                if not self.reads_frames:  # one of both ends has closed
                    return
            if error is not None:
                if self._frame_bytes == limit:
                    yield self._refused(error)
                    return
                is_all = False  # it is known by now who this is: frames may be longer
        self.received.needed = needed
        if at < len(data):
            self.received.put(bytes(data[at:]))

    def _in_runs(
        self, pieces: list[PublishRun | Frame]
    ) -> Iterator[PublishRun | Frame | SubscribeRun]:
        """The same, with subscriptions in a row as one."""
        place = 0
        while place < len(pieces):
            piece = pieces[place]
            is_sub = isinstance(piece, Frame) and piece.op == Op.SUB
            run = self._subscriptions(pieces, place) if is_sub else None
            yield piece if run is None else run
            # Now, and not before: whoever carries a run out may have made it shorter.
            place += 1 if run is None else len(run.bodies)

    def _subscriptions(
        self, pieces: list[PublishRun | Frame], place: int
    ) -> SubscribeRun | None:
        """The subscriptions in a row that begin at a place, if they are several.

        Up to the first with which anything is wrong.
        """
        if self.handshaking or Op.SUB not in self._allowed:
            return None
        found: list[Subscribe] = []
        for piece in islice(pieces, place, place + SUBSCRIPTIONS_AT_ONCE):
            if not isinstance(piece, Frame) or piece.op != Op.SUB:
                break
            if len(piece.body) > SUBSCRIPTION_BYTES:
                break
            try:
                subscribe = unpack(*piece)
            except ProtocolError:
                break
            assert isinstance(subscribe, Subscribe)
            found.append(subscribe)
        return SubscribeRun(found) if len(found) > 1 else None

    def _event(self, op: int, body: bytes) -> Event:
        if op not in self._allowed:
            return self._misplaced(op)
        try:
            if self.handshaking:
                return self._shake_hands(op, body)
            return read_event(op, body, self._block_bytes)
        except ProtocolError as error:
            error.request = op
            return self._refused(error)

    def _misplaced(self, op: int) -> ProtocolError:
        return self._refused(misplaced(self.state, op))

    # --- Who this is ----------------------------------------------------------------

    def _shake_hands(self, op: int, body: bytes) -> Event:
        """The first frame: CONNECT, or what answers ours."""
        if op == Op.CONNECT:
            connect = read_connect(body, self._versions)
            self._welcome(connect)
            return connect
        answer = unpack(op, body)
        if op == Op.WELCOME:
            self.handshaking = False
            self._enter(ServerState.PEER)
        return answer

    def _welcome(self, connect: Connect) -> None:
        self.handshaking = False
        if connect.peer:
            self._enter(ServerState.PEER)
        elif connect.identity:
            self._enter(ServerState.IDENTIFIED)
        else:
            self._enter(ServerState.CLIENT)

    # --- Lines ----------------------------------------------------------------------

    def _read_lines(self, data: bytes) -> Iterator[Event]:
        assert self._text is not None, "a line was begun"
        for event in self._text.read(data):
            if isinstance(event, Connect):
                self.handshaking = False
            elif isinstance(event, Quit):
                self.close()
            elif isinstance(event, ProtocolError):
                self._refused(event)
            yield event
            if self.state is ServerState.CLOSING:
                return

    # --- Answering ------------------------------------------------------------------

    def speak(self, frames: bytes) -> bytes:
        """These frames, in the mode of this connection."""
        return told_in_lines(frames) if self.talks_in_lines else frames

    def refuse(self, error: ProtocolError) -> bytes:
        """What to send about a fault; one that closes ends the conversation."""
        self._refused(error)
        return error_line(error) if self.talks_in_lines else Error.of(error).pack()

    def _refused(self, error: ProtocolError) -> ProtocolError:
        if error.fault.closes:
            self.close()
        return error

    def close(self) -> None:
        """Read nothing any more; what was kept is of no use."""
        self._enter(ServerState.CLOSING)
        self.handshaking = False
        self.received.clear()
        self.received.needed = 1
        self._lines.clear()
