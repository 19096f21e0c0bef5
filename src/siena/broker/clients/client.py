"""Those at the other end of a connection: strangers first, then clients."""

from typing import Protocol

from siena.block import BLOCK_BYTES_MAX, decode as decode_block
from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.clients.requests import Requests, check_identity
from siena.broker.clients.session import Session
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.peers.handoff import Handoff
from siena.broker.state import BrokerState
from siena.errors import InvalidNotificationError
from siena.messages import ListInterests, Release
from siena.protocol.control_frames import Body, Connect, Move, Tell, Welcome, unpack
from siena.protocol.data_frames import TracedPublication, unpack_traced
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.protocol.frames import Frame, Op
from siena.protocol.handshake import VERSIONS, agree
from siena.protocol.peer_messages import decode
from siena.protocol.pings import unpack_ping

BETWEEN_BROKERS = frozenset({Op.FORWARD, Op.TELL, Op.DIGEST})


class Reception(Protocol):
    """Where strangers say who they are."""

    def connect(self, connection: Connection, body: Connect) -> None:
        """Make them a client, or a neighbour."""
        ...


class Handshake:
    """Somebody who has not said yet who they are."""

    neighbour: int | None = None

    def __init__(self, connection: Connection, reception: Reception) -> None:
        self._connection = connection
        self._reception = reception

    def run(self, run: PublishRun) -> None:  # noqa: ARG002 -- nothing is accepted
        """Publications are not accepted from strangers."""
        raise ProtocolError(Fault.BAD_CONNECT, "the first frame is CONNECT")

    def publish(self, frames: memoryview) -> int:  # noqa: ARG002 -- nor in this form
        """Nothing is accepted."""
        return 0

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
        connection: Connection | InProcessClient,
        session: Session,
        state: BrokerState,
        publications: PublishBatch,
        requests: Requests,
        moving: Handoff,
    ) -> None:
        self._connection = connection
        self.session = session
        self._state = state
        self._publications = publications
        self._requests = requests
        self._handoff = moving
        # Where publishers advertise, they publish only what they have advertised.
        self._is_advertising = state.router.options.is_advertising

    def welcome(self, *, resumed: bool) -> None:
        """Tell them that they are known from now on."""
        router, session = self._state.router, self.session
        body = Welcome(VERSIONS[1], session.number, router.me, router.epoch, resumed)
        self._connection.reply(body.pack())

    def run(self, run: PublishRun) -> None:
        """Publish; of what they may."""
        if self._is_advertising:
            run = self._advertised(run)
        if run.total:
            self._publications.add(self._connection, run)

    def publish(self, frames: memoryview) -> int:
        """Publish what stands at the beginning, unless it must be looked at first."""
        if self._is_advertising:
            return 0
        return self._publications.publish(self._connection, frames)

    def _advertised(self, run: PublishRun) -> PublishRun:
        blocks = []
        for block in run.blocks():
            if self._is_advertised(block):
                blocks.append(block)
            else:
                self._state.counters.rejected += 1
                self._state.counters.faults += 1
                text = "no advertisement of this connection admits it"
                self._connection.fail(
                    ProtocolError(Fault.NOT_ADVERTISED, text, request=Op.PUB)
                )
        return run_of(blocks)

    def _is_advertised(self, block: bytes) -> bool:
        try:
            notification = decode_block(block)
        except InvalidNotificationError:
            return True  # what is wrong with it is found out in routing
        advertised = self.session.advertisements.values()
        return any(a.admits(notification) for a in advertised)

    def frame(self, frame: Frame) -> None:
        """Do what is asked for, after what was published before."""
        if frame.op == Op.PONG:
            return
        try:
            if frame.op == Op.PING:
                pong = unpack_ping(frame.body).answer().pack()
                self._publications.answer(self._connection, pong)
            else:
                self._publications.flush()
                self._request(frame)
        except ProtocolError as error:
            self._state.counters.faults += 1
            error.request = frame.op
            self._connection.fail(error)

    def _request(self, frame: Frame) -> None:
        if frame.op == Op.PUB:  # others come in runs
            text = f"a notification of more than {BLOCK_BYTES_MAX} bytes"
            raise ProtocolError(Fault.BAD_NOTIFICATION, text)
        if frame.op == Op.TRACED_PUB:
            self._trace(unpack_traced(frame.body))
            return
        if frame.op == Op.CONNECT:
            raise ProtocolError(Fault.BAD_CONNECT, "a second CONNECT")
        if frame.op == Op.MOVE or (frame.op == Op.TELL and self.session.identity):
            self._move(unpack(frame.op, frame.body))
            return
        if frame.op in BETWEEN_BROKERS:
            text = f"{Op(frame.op).name} is for brokers"
            raise ProtocolError(Fault.PEER_REFUSED, text)
        self._requests.handle(self.session, unpack(frame.op, frame.body))

    def _trace(self, publication: TracedPublication) -> None:
        if len(publication.block) > BLOCK_BYTES_MAX:
            text = f"a notification of more than {BLOCK_BYTES_MAX} bytes"
            raise ProtocolError(Fault.BAD_NOTIFICATION, text)
        if not self._is_advertising or self._is_advertised(publication.block):
            self._publications.tracing.publish(self._connection, publication)
        else:
            raise ProtocolError(
                Fault.NOT_ADVERTISED, "no advertisement of this connection admits it"
            )

    def _move(self, body: Body) -> None:
        """From here to elsewhere, or from elsewhere to here."""
        check_identity(self.session)
        if isinstance(body, Tell):
            if not isinstance(decode(body), Release):
                raise ProtocolError(Fault.PEER_REFUSED, "TELL is for brokers")
            self._state.handle(Release(), self.session.client)
        elif isinstance(body, Move) and body.url:
            self._handoff.fetch(self.session, body.url)
        else:
            self._state.handle(ListInterests(), self.session.client)

    def gone(self) -> None:
        """They have left; who has an identity may come back."""
        self._requests.leave(self.session)
