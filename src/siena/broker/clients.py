"""Those at the other end of a connection: strangers first, then clients."""

from typing import Protocol

from siena.broker.connection import Connection, error_frame
from siena.broker.core import Core
from siena.broker.intake import Run
from siena.broker.publications import Publications
from siena.broker.requests import Requests
from siena.broker.session import Session
from siena.protocol.bodies import Connect, Welcome, unpack
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.frames import Frame, Op, pack
from siena.protocol.greeting import VERSIONS, agree
from siena.protocol.limits import BLOCK_BYTES_MAX, PING_BYTES_MAX


class Reception(Protocol):
    """Where strangers say who they are."""

    def connect(self, connection: Connection, body: Connect) -> None:
        """Make them a client, or a neighbour."""
        ...


class Stranger:
    """Somebody who has not said yet who they are."""

    neighbour: int | None = None

    def __init__(self, connection: Connection, reception: Reception) -> None:
        self._connection = connection
        self._reception = reception

    def run(self, run: Run) -> None:  # noqa: ARG002 -- nothing is accepted
        """Publications are not accepted from strangers."""
        raise ProtocolError(Fault.BAD_CONNECT, "the first frame is CONNECT")

    def frame(self, frame: Frame) -> None:
        """The first frame must say who they are."""
        if frame.op != Op.CONNECT:
            raise ProtocolError(Fault.BAD_CONNECT, "the first frame is CONNECT")
        try:
            body = unpack(frame.op, frame.body)
        except ProtocolError as error:
            raise ProtocolError(Fault.BAD_CONNECT, error.message) from None
        assert isinstance(body, Connect)
        agree(VERSIONS, (body.version, body.version))
        self._reception.connect(self._connection, body)

    def gone(self) -> None:
        """Nobody knew them."""


class Client:
    """A client, and what it sends."""

    neighbour: int | None = None

    def __init__(
        self,
        connection: Connection,
        session: Session,
        core: Core,
        publications: Publications,
        requests: Requests,
    ) -> None:
        self._connection = connection
        self.session = session
        self._core = core
        self._publications = publications
        self._requests = requests

    def welcome(self, *, resumed: bool) -> None:
        """Tell them that they are known from now on."""
        router, session = self._core.router, self.session
        body = Welcome(VERSIONS[1], session.number, router.me, router.epoch, resumed)
        self._connection.reply(body.pack())

    def run(self, run: Run) -> None:
        """Publish."""
        self._publications.add(self._connection, run)

    def frame(self, frame: Frame) -> None:
        """Do what is asked for, after what was published before."""
        if frame.op == Op.PING:
            self._ping(frame.body)
        elif frame.op != Op.PONG:
            self._publications.flush()
            try:
                self._request(frame)
            except ProtocolError as error:
                self._core.counters.faults += 1
                self._connection.reply(error_frame(error, frame.op))
                if error.fault.closes:
                    self._connection.close()

    def _request(self, frame: Frame) -> None:
        if frame.op == Op.PUB:  # others come in runs
            text = f"a notification of more than {BLOCK_BYTES_MAX} bytes"
            raise ProtocolError(Fault.BAD_NOTIFICATION, text)
        self._requests.handle(self.session, unpack(frame.op, frame.body))

    def gone(self) -> None:
        """They have left."""
        self.session.sink = None
        self._requests.end(self.session)
        del self._core.sessions[self.session.number]

    def _ping(self, body: bytes) -> None:
        if len(body) > PING_BYTES_MAX:
            raise ProtocolError(
                Fault.TOO_LONG, f"a PING carries at most {PING_BYTES_MAX} bytes"
            )
        self._publications.answer(self._connection, pack(Op.PONG, body))
