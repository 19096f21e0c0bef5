"""Requests: what clients ask for, carried out.

A request is answered once: with what its body in :mod:`siena.protocol.control_frames`
says, or with a numbered error that names it.
"""

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

from siena.broker.access.grants.decisions import InForce, narrow
from siena.broker.access.grants.grant import UNLIMITED
from siena.broker.clients.reading import read_interest
from siena.broker.clients.session import Session
from siena.broker.data.batch import Source
from siena.broker.ids import token_of_offer
from siena.broker.io.connection import Connection
from siena.broker.io.role import DRAWN
from siena.broker.limits import IDENTITIES_MAX, PATTERNS_MAX, SLICE_SECONDS_MAX
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement
from siena.messages import (
    Advertise,
    Interest,
    Leave,
    Party,
    PeerDisconnect,
    Resume,
    Settle,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)
from siena.messages.requests import filters_of
from siena.model import Filter, Pattern
from siena.protocol import control_frames as bodies
from siena.protocol.control_frames import Body, Done, SubscribeRun
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.limits import (
    ADVERTISEMENTS_MAX,
    NUMBER_MAX,
    SUBSCRIPTIONS_MAX,
)
from siena.routing.mailbox import QUEUE_DEFAULT
from siena.routing.steps.backlog import STEP_MAX, Task

B = TypeVar("B", bound=Body)


class Requests:
    """Carries out what clients ask for."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._handlers: dict[type[Body], Callable[[Session, Any], None]] = {
            bodies.Subscribe: self._subscribe,
            bodies.Unsubscribe: self._unsubscribe,
            bodies.Advertise: self._advertise,
            bodies.Unadvertise: self._unadvertise,
            bodies.Suspend: self._suspend,
            bodies.Resume: self._resume,
        }
        self.publish_acked: Callable[[Session, Source, AckedRun], None] = _no_store
        """What is done with publications that want a receipt."""
        self.on_leave: list[Callable[[Session], None]] = []
        """Called with a session whose connection has gone."""
        self.on_renewed: list[Callable[[Session], None]] = []
        """Called with a session that may hear something else from now on."""

    def handle(self, session: Session, body: Body) -> None:
        """Do what is asked for, and answer.

        Raises:
            ProtocolError: if it cannot be done; that is the answer.
        """
        handler = self._handlers.get(type(body))
        if handler is None:
            raise ProtocolError(
                Fault.BAD_FRAME, f"{body.op.name} is not for a client to send"
            )
        if type(body) not in DRAWN:
            handler(session, body)
            return
        account, shares = session.account, self._state.shares
        sender = session.sink if isinstance(session.sink, Connection) else None
        if sender is None and shares.must_wait(account):  # nothing of it can wait
            raise self._state.accounts.refuse("work_seconds")
        elapsed = self._state.clock.elapsed
        begun = elapsed()
        try:
            handler(session, body)
        finally:
            shares.work(account, sender, elapsed() - begun)

    def subscribe(self, session: Session, run: SubscribeRun) -> None:
        """Carry out subscriptions that came in a row, and answer each for itself.

        If they take long, others have their turn before the rest, which is taken out.

        Raises:
            ProtocolError: if one ends the conversation.
        """
        handler, sender = self._handlers[bodies.Subscribe], session.sink
        if not isinstance(sender, Connection):
            handler, sender = self.handle, None  # each is looked at for itself
        state, account = self._state, session.account
        elapsed = state.clock.elapsed
        begun = elapsed()
        try:
            for done, body in enumerate(run.bodies):
                if sender is not None:
                    if sender.is_closing:
                        break
                    if done and elapsed() > begun + SLICE_SECONDS_MAX:
                        del run.bodies[done:]
                        break
                try:
                    handler(session, body)
                except ProtocolError as error:
                    if error.fault.closes:
                        raise
                    error.request = body.op
                    state.counters.faults += 1
                    session.fail(error)
        finally:
            if sender is not None:
                state.shares.work(account, sender, elapsed() - begun)

    def add(self, kind: type[B], handler: Callable[[Session, B], None]) -> None:
        """Let another part of the broker carry out this kind of request."""
        self._handlers[kind] = handler

    def handler(self, kind: type[B]) -> Callable[[Session, B], None]:
        """Who carries out this kind of request now."""
        return self._handlers[kind]

    def leave(self, session: Session) -> None:
        """The connection is gone: what is for an identity is kept from now on.

        Unless it wants nothing, and there is nothing to keep.
        """
        session.sink = None
        for left in self.on_leave:
            left(session)
        if session.identity is not None:
            self._state.handle(Leave(QUEUE_DEFAULT), session.client)
            is_moving = self._state.router.clients.is_moving(session.client)
            if session.interests or session.advertisements or is_moving:
                self._make_room(session.identity)
                return
        self.end(session)

    def end(self, session: Session) -> None:
        """The client is gone, and wants nothing any more.

        What it wanted is forgotten in steps, if it was much.
        """
        session.is_gone = True
        if self._is_known(session) and len(session.interests) > STEP_MAX:
            self._state.forget_identity(session)
            self._state.router.backlog.add(self._ending(session))
        else:
            self._forget(session)

    def _ending(self, session: Session) -> Task:
        """Cancel what a client wanted; first what no neighbour was told."""
        tables = self._state.router.tables
        for is_told in (False, True):
            numbers = list(session.interests)
            for since in range(0, len(numbers), STEP_MAX):
                for number in numbers[since : since + STEP_MAX]:
                    interest = session.interests.get(number)
                    if interest is None:
                        continue
                    if is_told or not any(map(tables.is_told, filters_of(interest))):
                        self.end_subscription(session, number)
                yield []
        self._forget(session)

    def _forget(self, session: Session) -> None:
        if self._is_known(session):
            self._state.handle(PeerDisconnect(), session.client)
        self._state.forget(session)

    def _is_known(self, session: Session) -> bool:
        """Whether the router has heard of a client: not if it has only published."""
        has_asked = session.registrations.has(session.client)
        return has_asked or session.identity is not None

    def _make_room(self, identity: str) -> None:
        """Of too many identities, the one that has been away longest is forgotten."""
        identities = self._state.identities
        identities[identity] = identities.pop(identity)  # the last
        if len(identities) > IDENTITIES_MAX:
            self.end(next(s for s in identities.values() if s.sink is None))

    # --- Identities -----------------------------------------------------------------

    def _suspend(self, session: Session, body: bodies.Suspend) -> None:
        check_identity(session)
        self._state.handle(Suspend(body.queue), session.client)
        session.reply(Done(body.op).pack())

    def _resume(self, session: Session, body: bodies.Resume) -> None:
        check_identity(session)
        self._state.handle(Resume(), session.client)
        session.reply(Done(body.op).pack())

    # --- Subscriptions --------------------------------------------------------------

    def _subscribe(self, session: Session, body: bodies.Subscribe) -> None:
        state, number = self._state, body.number
        accounts, size = state.accounts, len(body.interest)
        if 0 < accounts.quotas.interest_characters < size:
            raise accounts.refuse("interest_characters", about=number)
        interest = read_interest(body)
        known = session.asked_for(number)
        if known is None:
            self._check_room(session, interest, number)
            gate, principal = state.gate, session.principal
            if gate.grant(principal) is UNLIMITED:
                party = Party(session.client, number)
                state.gather(Subscribe(interest), party, number)
            else:
                in_force = gate.subscribe(principal, interest, number)
                self._put_in_force(session, number, in_force, token=number)
        elif known == interest:
            # Asked for again, after a connection broke: perhaps without the answer.
            settle = Settle(session.interests[number], number)
            state.gather(settle, session.party(number))
        else:
            raise ProtocolError(
                Fault.NUMBER_TAKEN, f"{number} is a subscription already", about=number
            )

    def _put_in_force(
        self,
        session: Session,
        number: int,
        in_force: InForce,
        *,
        token: int | None = None,
    ) -> None:
        if not in_force.is_whole:  # first: who hears of it wants to know
            session.narrowed[number] = in_force
        party = session.party(number)
        self._state.gather(Subscribe(in_force.interest), party, token)

    def end_subscription(self, session: Session, number: int) -> None:
        """Nothing is wanted under a number any more."""
        ended = Unsubscribe(session.interests[number])
        self._state.handle(ended, session.party(number))
        session.narrowed.pop(number, None)

    def renew(self, session: Session) -> None:
        """What a client may has changed: what is in force of all that it asked for.

        It hears of that, if it knows how.
        """
        heard = self._state.gate.hears(session.principal)
        for number, asked in list(session.asked.items()):
            new = InForce(asked, asked) if heard is None else narrow(asked, heard)
            old, was_guarded = session.interests[number], session.is_guarded(number)
            if new.interest == old and new.is_guarded == was_guarded:
                continue
            self._replace(session, number, new)
            if session.hears_of_grants:
                session.reply(bodies.GrantChanged(number, str(new)).pack())
        if session.hears_of_grants:
            for renewed in self.on_renewed:
                renewed(session)

    def _replace(self, session: Session, number: int, new: InForce) -> None:
        """Put something else in force; what both have in common never pauses."""
        spare = next(n for n in count(NUMBER_MAX, -1) if n not in session.interests)
        has_neighbours = bool(self._state.router.tables.neighbours)
        if has_neighbours:
            self._put_in_force(session, spare, new)
        self.end_subscription(session, number)
        self._put_in_force(session, number, new)
        if has_neighbours:
            self.end_subscription(session, spare)

    def _check_room(self, session: Session, interest: Interest, number: int) -> None:
        accounts, held = self._state.accounts, session.subscriptions
        accounts.check_memory()
        if held >= SUBSCRIPTIONS_MAX:
            raise ProtocolError(
                Fault.TOO_MANY,
                f"more than {SUBSCRIPTIONS_MAX} subscriptions",
                about=number,
            )
        quotas, is_filter = accounts.quotas, type(interest) is Filter
        is_pattern = not is_filter and isinstance(interest, Pattern)
        if is_pattern and session.patterns >= PATTERNS_MAX:
            raise ProtocolError(
                Fault.TOO_MANY, f"more than {PATTERNS_MAX} patterns", about=number
            )
        filters = session.filters + (1 if is_filter else len(filters_of(interest)))
        if 0 < quotas.subscriptions <= held:
            raise accounts.refuse("subscriptions", about=number)
        if 0 < quotas.filters < filters:
            raise accounts.refuse("filters", about=number)
        if isinstance(interest, Pattern):
            accounts.check("patterns", session.patterns + 1, about=number)
            steps = session.steps + len(interest)
            accounts.check("pattern_steps", steps, about=number)

    def _unsubscribe(self, session: Session, body: bodies.Unsubscribe) -> None:
        if body.number not in session.interests:
            raise _unknown(body.number, "subscription")
        self.end_subscription(session, body.number)
        session.reply(Done(body.op, body.number).pack())

    # --- Advertisements -------------------------------------------------------------

    def _advertise(self, session: Session, body: bodies.Advertise) -> None:
        number = body.number
        try:
            advertisement = parse_advertisement(body.advertisement)
        except SienaError as error:
            raise ProtocolError.because(
                Fault.BAD_ADVERTISEMENT, error, about=number
            ) from None
        known = session.advertisements.get(number)
        if known == advertisement:  # asked for again, after a connection broke
            if number not in session.unsettled:
                self._state.answer_advertisement(session, number)
            return
        if known is not None:
            raise ProtocolError(
                Fault.NUMBER_TAKEN,
                f"{number} is an advertisement already",
                about=number,
            )
        if len(session.advertisements) >= ADVERTISEMENTS_MAX:
            raise ProtocolError(
                Fault.TOO_MANY,
                f"more than {ADVERTISEMENTS_MAX} advertisements",
                about=number,
            )
        self._state.gate.advertise(session.principal, advertisement, number)
        # Answered once the network knows it: before, what it publishes could be lost.
        party = session.party(number)
        session.unsettled.add(number)
        self._state.handle(Advertise(advertisement), party)
        self._state.handle(Settle(advertisement, token_of_offer(number)), party)

    def _unadvertise(self, session: Session, body: bodies.Unadvertise) -> None:
        advertisement = session.advertisements.get(body.number)
        if advertisement is None:
            raise _unknown(body.number, "advertisement")
        session.unsettled.discard(body.number)
        self._state.handle(Unadvertise(advertisement), session.party(body.number))
        session.reply(Done(body.op, body.number).pack())


def _no_store(*_: object) -> None:
    raise AssertionError("a broker opens its store before it serves")


def _unknown(number: int, what: str) -> ProtocolError:
    return ProtocolError(
        Fault.NUMBER_UNKNOWN, f"{number} is no {what} of this connection", about=number
    )


def check_identity(session: Session) -> None:
    """Refuse what only a client that can be known again may ask for."""
    if session.identity is None:
        raise ProtocolError(
            Fault.BAD_REQUEST, "this is for those who gave an identity in CONNECT"
        )
