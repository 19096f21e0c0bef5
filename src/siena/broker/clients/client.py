"""The other end of a connection: not known at first, then a client."""

from typing import Protocol

import numpy as np

from siena.block import decode as decode_block
from siena.broker.access.quotas import Account
from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.clients.requests import Requests, check_identity
from siena.broker.clients.session import Session
from siena.broker.data.licences import Licence
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.receipts.refusing import refuse
from siena.broker.io.backpressure import Pause
from siena.broker.io.connection import Connection
from siena.broker.peers.handoff_tasks import HandoffTasks
from siena.broker.state import BrokerState
from siena.errors import InvalidNotificationError
from siena.messages import ListInterests, Release
from siena.protocol.control_frames import (
    Body,
    Connect,
    Move,
    SubscribeRun,
    Tell,
    Welcome,
)
from siena.protocol.data_frames import TracedPublication
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.fast.forward_runs import picked
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.protocol.frames import Op
from siena.protocol.handshake import VERSIONS
from siena.protocol.peer_messages import decode
from siena.protocol.pings import Ping, Pong
from siena.protocol.states import Event

_NOT_ADVERTISED = "no advertisement of this connection admits it"


class Reception(Protocol):
    """Where it is decided what becomes of a connection."""

    def connect(self, connection: Connection, body: Connect) -> None:
        """Make its other end a client, or a neighbour.

        Raises:
            ProtocolError: if it may not be one.
        """
        ...


class Handshake:
    """An end of which it is not known yet what it is."""

    neighbour: int | None = None

    def __init__(self, connection: Connection, reception: Reception) -> None:
        self._connection = connection
        self._reception = reception

    def handle(self, event: Event) -> None:
        """It says so: the conversation lets nothing else pass."""
        assert isinstance(event, Connect)
        self._reception.connect(self._connection, event)

    def gone(self) -> None:
        """It left without having said it."""


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
        handoff_tasks: HandoffTasks,
    ) -> None:
        self._connection = connection
        self.session = session
        self._state = state
        self._publications = publications
        self._requests = requests
        self._handoff_tasks = handoff_tasks
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
        if isinstance(self._connection, InProcessClient):
            run = self._granted(run)
        if run.total:
            self._publications.add(self._connection, run)
            account = self.session.account
            if account.is_limited:
                self._charge(account, run.total, run.end - run.start)

    def publish(self, frames: memoryview) -> int:
        """Publish what stands at the beginning, unless it must be looked at first."""
        if self._is_advertising:
            return 0
        before = self._state.counters.publications
        end = self._publications.publish(self._connection, frames)
        account = self.session.account
        if account.is_limited:
            count = self._state.counters.publications - before
            self._charge(account, count, end)
        return end

    def _charge(self, account: Account, count: int, size: int) -> None:
        """Let those who publish more than their quota be read more slowly."""
        wait = account.publish(count, size, self._state.clock.elapsed())
        if wait:
            self._state.accounts.refusals["publications"] += 1
            Pause(self._connection, wait)

    def _advertised(self, run: PublishRun) -> PublishRun:
        blocks = []
        for block in run.blocks():
            if self._is_advertised(block):
                blocks.append(block)
            else:
                self._state.counters.rejected += 1
                self._state.counters.faults += 1
                self._connection.fail(
                    ProtocolError(Fault.NOT_ADVERTISED, _NOT_ADVERTISED, request=Op.PUB)
                )
        return run_of(blocks)

    def _granted(self, run: PublishRun) -> PublishRun:
        """What may be published of what was not sent over a connection."""
        licence = self._licence()
        if licence is None or not run.total:
            return run
        allowed = licence.allows(run)
        if allowed.all():
            return run
        refused = np.flatnonzero(~allowed)
        counters = self._state.counters
        counters.rejected += len(refused)
        counters.faults += 1
        self._connection.fail(self._refusal(run.blocks()[refused[0]], len(refused)))
        return picked(run, np.flatnonzero(allowed).astype(np.int32))

    def _licence(self) -> Licence | None:
        grant = self._state.gate.grant(self.session.principal)
        return self._state.licences.find(grant.publish)

    def _refusal(self, block: bytes, count: int) -> ProtocolError:
        error = self._state.gate.refuse_publications(
            self.session.principal, "publish", block, count
        )
        error.request = Op.PUB
        return error

    def check_run(self, run: PublishRun) -> None:
        """Publish all of these, or none.

        Raises:
            ProtocolError: if one may not be published; that it is none, is found out
                in routing.
        """
        licence = self._licence()
        if licence is not None and run.total:
            refused = np.flatnonzero(~licence.allows(run))
            if len(refused):
                self._state.counters.rejected += run.total
                raise self._refusal(run.blocks()[refused[0]], len(refused))
        if not self._is_advertising:
            return
        for place, block in enumerate(run.blocks(), 1):
            if not self._is_advertised(block):
                self._state.counters.rejected += run.total
                text = f"notification {place}: {_NOT_ADVERTISED}"
                raise ProtocolError(Fault.NOT_ADVERTISED, text, request=Op.PUB)

    def _is_advertised(self, block: bytes) -> bool:
        try:
            notification = decode_block(block)
        except InvalidNotificationError:
            return True  # what is wrong with it is found out in routing
        registrations = self._state.router.registrations
        return registrations.admits(self.session.client, notification)

    def handle(self, event: Event) -> None:
        """Do what is asked for."""
        if isinstance(event, SubscribeRun):  # of which many come at once
            self._requests.subscribe(self.session, event)
            return
        match event:
            case Ping():
                pong = event.answer().pack()
                self._publications.answer(self._connection, pong)
            case PublishRun():
                self.run(event)
            case AckedRun():
                self._publish_acked(event)
            case Pong():
                pass
            case TracedPublication():
                self._trace(event)
            case Move() | Tell():
                self._move(event)
            case _:
                assert isinstance(event, Body)
                self._requests.handle(self.session, event)

    def _publish_acked(self, run: AckedRun) -> None:
        """Publish what wants a receipt: all of it or nothing, if it may."""
        try:
            self.check_run(run.publications)
        except ProtocolError as error:
            refuse(self.session, run, error)
        else:
            self._requests.publish_acked(self.session, self._connection, run)

    def _trace(self, publication: TracedPublication) -> None:
        licence = self._licence()
        if licence is not None and not licence.allows_blocks([publication.block])[0]:
            self._state.counters.rejected += 1
            raise self._refusal(publication.block, 1)
        self._state.gate.inspect(self.session.principal, "trace")
        if not self._is_advertising or self._is_advertised(publication.block):
            self._publications.tracing.publish(self._connection, publication)
        else:
            raise ProtocolError(Fault.NOT_ADVERTISED, _NOT_ADVERTISED)

    def _move(self, body: Move | Tell) -> None:
        """From here to elsewhere, or from elsewhere to here."""
        check_identity(self.session)
        if isinstance(body, Tell):
            if not isinstance(decode(body), Release):
                raise ProtocolError(Fault.PEER_REFUSED, "TELL is for brokers")
            self._state.handle(Release(), self.session.client)
        elif body.url:
            self._handoff_tasks.fetch(self.session, body.url)
        else:
            self._state.handle(ListInterests(), self.session.client)

    def gone(self) -> None:
        """They have left; who has an identity may come back."""
        self.session.account.connections -= 1
        self._state.licences.give(self._connection.licence)
        self._connection.licence = None
        self._requests.leave(self.session)
