"""Requests: what clients ask for, carried out.

A request is answered once: with what its body in :mod:`siena.protocol.control_frames`
says, or with a numbered error that names it.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from siena.broker import ids
from siena.broker.clients.offline_queue import OfflineQueues
from siena.broker.clients.session import Session
from siena.broker.interest_feed import InterestFeed
from siena.broker.limits import PATTERNS_MAX, QUEUE_DEFAULT
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import Interest
from siena.model import Filter, Pattern
from siena.protocol import control_frames as bodies
from siena.protocol.control_frames import Body, Done, Quench
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import ADVERTISEMENTS_MAX, SUBSCRIPTIONS_MAX
from siena.protocol.peer_messages import check_encodable

# Texts up to this length are short enough for every frame, if they are filters.
SHORT_CHARACTERS = 65_536


B = TypeVar("B", bound=Body)


class Requests:
    """Carries out what clients ask for."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self.interest_feed = InterestFeed(state)
        self._offline = OfflineQueues(state)
        self._handlers: dict[type[Body], Callable[[Session, Any], None]] = {
            bodies.Subscribe: self._subscribe,
            bodies.Unsubscribe: self._unsubscribe,
            bodies.Advertise: self._advertise,
            bodies.Unadvertise: self._unadvertise,
            bodies.Suspend: self._suspend,
            bodies.Resume: self._resume,
        }

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
        handler(session, body)

    def add(self, kind: type[B], handler: Callable[[Session, B], None]) -> None:
        """Let somebody else carry out this kind of request."""
        self._handlers[kind] = handler

    def leave(self, session: Session) -> None:
        """The connection is gone: what is for an identity is kept from now on.

        Unless it wants nothing, and there is nothing to keep.
        """
        session.sink = None
        is_known = session.identity is not None
        if is_known and (session.interests or session.advertisements):
            self.suspend(session)
            self._offline.leave(session, self.end)
        else:
            self.end(session)

    def end(self, session: Session) -> None:
        """The client is gone, and wants nothing any more."""
        self.drop_all(session)
        self._state.forget(session)

    def drop_all(self, session: Session) -> None:
        """Forget all that a client has asked for."""
        for number in list(session.interests):
            self._drop_interest(session, number)
        for number in list(session.advertisements):
            self._drop_advertisement(session, number)

    def withdraw(
        self, session: Session, request: bodies.Subscribe | bodies.Advertise
    ) -> None:
        """Forget what was asked for, if it is still wanted; nobody is answered."""
        if isinstance(request, bodies.Advertise):
            if request.number in session.advertisements:
                self._drop_advertisement(session, request.number)
        elif request.number in session.interests:
            self._drop_interest(session, request.number)

    # --- Identities -----------------------------------------------------------------

    def suspend(self, session: Session) -> None:
        """Keep what is for a client, if it is not kept already."""
        if not session.is_suspended:
            self._offline.suspend(session, QUEUE_DEFAULT)

    def resume(self, session: Session) -> None:
        """Deliver what was kept, and from now on what comes."""
        self._offline.resume(session)

    def _suspend(self, session: Session, body: bodies.Suspend) -> None:
        check_identity(session)
        self._offline.suspend(session, body.queue)
        session.reply(Done(body.op).pack())

    def _resume(self, session: Session, body: bodies.Resume) -> None:
        check_identity(session)
        self._offline.resume(session)
        session.reply(Done(body.op).pack())

    # --- Subscriptions --------------------------------------------------------------

    def _subscribe(self, session: Session, body: bodies.Subscribe) -> None:
        number = body.number
        interest = _read_interest(body)
        known = session.interests.get(number)
        if known is not None and known != interest:
            raise ProtocolError(
                Fault.NUMBER_TAKEN, f"{number} is a subscription already", about=number
            )
        if known is None:
            self._check_room(session, interest, number)
            self._enter(session, number, interest)
        # Asked for again, after a connection broke: it may not have heard the answer.
        self.settle(session, number)

    def settle(
        self,
        session: Session,
        number: int,
        *,
        fresh: bool = False,
        token: int | None = None,
    ) -> None:
        """Answer when a subscription is in force everywhere; ``fresh``, ask again.

        Who is in ``session.settling`` under the token hears it instead of the client.
        """
        token = number if token is None else token
        party = ids.subscription(session.number, number)
        interest = session.interests[number]
        self._state.post(self.interest_feed.settle(party, interest, token, fresh=fresh))

    def _check_room(self, session: Session, interest: Interest, number: int) -> None:
        if len(session.interests) >= SUBSCRIPTIONS_MAX:
            raise ProtocolError(
                Fault.TOO_MANY,
                f"more than {SUBSCRIPTIONS_MAX} subscriptions",
                about=number,
            )
        if isinstance(interest, Pattern) and session.patterns >= PATTERNS_MAX:
            raise ProtocolError(
                Fault.TOO_MANY, f"more than {PATTERNS_MAX} patterns", about=number
            )

    def _enter(self, session: Session, number: int, interest: Interest) -> None:
        session.interests[number] = interest
        self._state.counters.subscriptions_now += 1
        if isinstance(interest, Pattern):
            session.patterns += 1
        else:
            self._offline.enter(session, number, interest)
        party = ids.subscription(session.number, number)
        self._state.post(self.interest_feed.subscribe(party, interest))

    def _unsubscribe(self, session: Session, body: bodies.Unsubscribe) -> None:
        if body.number not in session.interests:
            raise _unknown(body.number, "subscription")
        self._drop_interest(session, body.number)
        session.reply(Done(body.op, body.number).pack())

    def _drop_interest(self, session: Session, number: int) -> None:
        interest = session.interests.pop(number)
        self._state.counters.subscriptions_now -= 1
        if isinstance(interest, Pattern):
            session.patterns -= 1
        else:
            self._offline.drop(session, number, interest)
        party = ids.subscription(session.number, number)
        self._state.post(self.interest_feed.forget(party))

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
            session.reply(Quench(number, number in session.quenched).pack())
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
        session.advertisements[number] = advertisement
        self._state.counters.advertisements_now += 1
        party = ids.advertisement(session.number, number)
        out = self.interest_feed.advertise(party, advertisement)
        self._state.post(out)
        # The router speaks up only if there is nobody.
        if not any(hop == party for hop, _ in out):
            session.reply(Quench(number, False).pack())

    def _unadvertise(self, session: Session, body: bodies.Unadvertise) -> None:
        if body.number not in session.advertisements:
            raise _unknown(body.number, "advertisement")
        self._drop_advertisement(session, body.number)
        session.reply(Done(body.op, body.number).pack())

    def _drop_advertisement(self, session: Session, number: int) -> None:
        del session.advertisements[number]
        session.quenched.discard(number)
        self._state.counters.advertisements_now -= 1
        party = ids.advertisement(session.number, number)
        self._state.post(self.interest_feed.forget(party))


def _read_interest(body: bodies.Subscribe) -> Interest:
    try:
        interest = parse_interest(body.interest)
        # A filter is not much longer than its text; multiplied out, others may be.
        if len(body.interest) > SHORT_CHARACTERS or not isinstance(interest, Filter):
            check_encodable(interest)
    except SienaError as error:
        raise ProtocolError.because(
            Fault.BAD_INTEREST, error, about=body.number
        ) from None
    return interest


def _unknown(number: int, what: str) -> ProtocolError:
    return ProtocolError(
        Fault.NUMBER_UNKNOWN, f"{number} is no {what} of this connection", about=number
    )


def check_identity(session: Session) -> None:
    """Refuse what only somebody can ask for who can be known again."""
    if session.identity is None:
        raise ProtocolError(
            Fault.BAD_REQUEST, "this is for those who gave an identity in CONNECT"
        )
