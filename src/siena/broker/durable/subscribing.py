"""Durable subscriptions as clients ask for them: made, changed, sought, forgotten.

The interests of all of them are those of one *standing* client of the router, which has
no connection: so neighbours forward what they want, whether a client reads or not; and
what is delivered comes from the log.
"""

from collections.abc import Callable
from itertools import count

from siena.broker.access.grants.decisions import narrow
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.durable.cursors.cursor import Cursor, Epoch, Spec
from siena.broker.durable.cursors.finder import Finder
from siena.broker.durable.cursors.registry import Cursors
from siena.broker.durable.limits import DURABLES_MAX
from siena.broker.durable.member import Member
from siena.broker.durable.owners import check_owner, heard_by
from siena.broker.durable.page import read_page
from siena.broker.durable.reading import Reading
from siena.broker.log.journal import Journal
from siena.broker.log.stores.log_store import LogStore
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_interest
from siena.messages import Settle, Subscribe, Unsubscribe
from siena.model import Filter, Pattern, Predicate
from siena.protocol import control_frames as bodies
from siena.protocol.control_frames import Done, Settled, unpack
from siena.protocol.durable.reading import (
    Ack,
    DurableSubscribe,
    Forget,
    Nak,
    Seek,
    Start,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Splitter
from siena.protocol.peer_messages import check_encodable

# The number of the session that all durable subscriptions are of; clients count from 1.
STANDING = 0


class Subscribing:
    """Carries out what clients ask for about durable subscriptions."""

    def __init__(
        self,
        state: BrokerState,
        requests: Requests,
        journal: Journal,
        cursors: Cursors,
        finder: Finder,
        reading: Reading,
    ) -> None:
        self._state = state
        self._journal = journal
        self._store = journal.store
        self._cursors = cursors
        self._finder = finder
        self._reading = reading
        self._standing = Session(STANDING, state.router.registrations)
        self._standing.name = "durable subscriptions"
        self._standing.is_standing = True
        self._standing.sink = _Settling(self._settled)
        self._parties = count(1)
        # Of each cursor what it wants in the network, and who waits until that is
        # settled, by the number under which the router knows it.
        self._interests: dict[Cursor, tuple[int, Filter | Predicate]] = {}
        self._unsettled: dict[int, list[Member]] = {}
        # What is asked for and not on the disk yet, by session and number.
        self._opening: dict[tuple[int, int], DurableSubscribe] = {}
        self._unsubscribe = requests.handler(bodies.Unsubscribe)
        requests.add(DurableSubscribe, self._subscribe)
        requests.add(bodies.Unsubscribe, self._leave)
        requests.add(Ack, self._ack)
        requests.add(Nak, self._nak)
        requests.add(Seek, self._seek)
        requests.add(Forget, self._forget)
        requests.on_leave.append(self._leave_all)
        requests.on_renewed.append(self.renewed)

    def start(self) -> None:
        """Go on with what was asked for in another life."""
        for cursor in self._cursors:
            self._finder.add(cursor)
            self._want(cursor, _read_filter(cursor.epochs[-1].filter))
        self._finder.consolidate()

    # --- Subscribing ----------------------------------------------------------------

    def _subscribe(self, session: Session, body: DurableSubscribe) -> None:
        number = body.number
        at = session.number, number
        if (
            number in session.interests
            or at in self._opening
            or self._reading.find(session, number)
        ):
            text = f"{number} is a subscription already"
            raise ProtocolError(Fault.NUMBER_TAKEN, text, about=number)
        try:
            cursor = self._open(session, body)
        except ProtocolError as error:
            error.number = number
            raise

        def saved(failure: OSError | None) -> None:
            if self._opening.get(at) is not body:
                return  # it was left meanwhile
            del self._opening[at]
            if failure is not None:
                text = f"the disk does not take it: {failure}"
                error = ProtocolError(Fault.NOT_STORED, text, about=number)
                error.request = body.op
                session.fail(error)
            elif session.sink is not None and not session.is_gone:
                self._join(session, body, cursor)

        self._opening[at] = body
        self._cursors.save(cursor, self._journal.once_kept(saved))

    def _open(self, session: Session, body: DurableSubscribe) -> Cursor:
        """The cursor that is meant, as it is wanted."""
        owner = self._owner(session, body.name)
        interest = _read_filter(body.filter)
        # Refused, if the roles say so; otherwise what is granted is a guard.
        gate, principal = self._state.gate, session.principal
        gate.subscribe(principal, interest, body.number)
        spec = Spec(body.ack_wait, body.max_deliver, body.key)
        cursor = self._cursors.find(owner, body.name)
        if cursor is None:
            if not gate.grant(principal).may_hold:  # it keeps the log
                shown = f"durable subscription {body.name}"
                raise gate.refuse(principal, "hold", shown)
            return self._make(owner, body, interest, spec)
        self._change(cursor, interest, spec)
        return cursor

    def _owner(self, session: Session, name: str) -> str:
        return check_owner(self._state, session, "the durable subscription", name)

    def _make(
        self,
        owner: str,
        body: DurableSubscribe,
        interest: Filter | Predicate,
        spec: Spec,
    ) -> Cursor:
        if len(self._cursors) >= DURABLES_MAX:
            text = f"more than {DURABLES_MAX} durable subscriptions"
            raise ProtocolError(Fault.TOO_MANY, text)
        begins = _offset_of(self._store, body.start, body.at)
        epoch = Epoch(str(interest), begins)
        cursor = self._cursors.make(owner, body.name, epoch, spec)
        self._finder.add(cursor)
        self._want(cursor, interest)
        return cursor

    def _change(self, cursor: Cursor, interest: Filter | Predicate, spec: Spec) -> None:
        cursor.spec = spec
        if str(interest) != cursor.epochs[-1].filter:
            epoch = Epoch(str(interest), self._finder.tail)
            self._finder.begin_epoch(cursor, epoch)
            self._want(cursor, interest)

    def _join(self, session: Session, body: DurableSubscribe, cursor: Cursor) -> None:
        if self._cursors.find(cursor.owner, cursor.name) is not cursor:
            text = "it has just been forgotten"
            error = ProtocolError(Fault.DURABLE_UNKNOWN, text, about=body.number)
            error.request = body.op
            session.fail(error)
            return
        member = self._reading.join(session, body.number, cursor, body.credit)
        party, interest = self._interests[cursor]
        self._unsettled.setdefault(party, []).append(member)
        self._state.handle(Settle(interest, party), self._standing.party(party))

    # --- In the network -------------------------------------------------------------

    def _want(self, cursor: Cursor, interest: Filter | Predicate) -> None:
        """Let the network know what is wanted; first the new, and then not the old."""
        self._state.sessions[STANDING] = self._standing
        party = next(self._parties)
        self._state.handle(Subscribe(interest), self._standing.party(party))
        self._unwant(cursor)
        self._interests[cursor] = party, interest

    def _unwant(self, cursor: Cursor) -> None:
        if cursor in self._interests:
            party, interest = self._interests.pop(cursor)
            self._state.handle(Unsubscribe(interest), self._standing.party(party))
            self._settled(party)

    def _settled(self, party: int, silent: tuple[str, ...] = ()) -> None:
        for member in self._unsettled.pop(party, ()):
            member.in_force = self._in_force(member)
            answer = Settled(member.number, member.in_force, silent)
            member.session.reply(answer.pack())

    def _in_force(self, member: Member) -> str | None:
        """What a member gets of what it asked for, if that is less."""
        heard = heard_by(self._state, member.session)
        asked = _read_filter(member.cursor.epochs[-1].filter)
        found = None if heard is None else narrow(asked, heard)
        return None if found is None or found.is_whole else str(found)

    def renewed(self, session: Session) -> None:
        """What a session may has changed: say what it gets from now on."""
        for member in self._reading.of(session):
            before, member.in_force = member.in_force, self._in_force(member)
            if member.in_force != before:
                in_force = member.in_force or member.cursor.epochs[-1].filter
                session.reply(bodies.GrantChanged(member.number, in_force).pack())

    # --- The rest -------------------------------------------------------------------

    def _leave(self, session: Session, body: bodies.Unsubscribe) -> None:
        member = self._reading.find(session, body.number)
        if member is not None:
            self._reading.leave(member)
        elif self._opening.pop((session.number, body.number), None) is None:
            self._unsubscribe(session, body)
            return
        session.reply(Done(body.op, body.number).pack())

    def _leave_all(self, session: Session) -> None:
        """A connection has gone, and what it asked for with it."""
        for at in [at for at in self._opening if at[0] == session.number]:
            del self._opening[at]
        self._reading.leave_all(session)

    def _ack(self, session: Session, body: Ack) -> None:
        cursor = self._member(session, body.number).cursor
        self.ack(cursor, body.offsets, body.up_to)

    def ack(self, cursor: Cursor, offsets: list[int], up_to: int | None) -> int:
        """These are done; how many of them were waited for."""
        count = self._reading.ack(cursor, offsets, up_to)
        if self._journal.holds:  # those who wait for room in the log
            self._journal.look_for_room()
        return count

    def _nak(self, session: Session, body: Nak) -> None:
        cursor = self._member(session, body.number).cursor
        self._reading.nak(cursor, body.offsets, body.delay)

    def _member(self, session: Session, number: int) -> Member:
        member = self._reading.find(session, number)
        if member is None:
            text = f"{number} is no durable subscription of this connection"
            raise ProtocolError(Fault.NUMBER_UNKNOWN, text, about=number)
        return member

    def _seek(self, session: Session, body: Seek) -> None:
        cursor = self._cursor(session, body.name)
        offset = _offset_of(self._store, body.start, body.at)
        self._finder.remove(cursor)
        self._reading.end(cursor)
        last = cursor.epochs[-1]
        del cursor.epochs[:-1]
        cursor.epochs[0] = last._replace(begins=min(last.begins, offset))
        cursor.reset(offset)
        self._finder.add(cursor)
        self._reading.serve([cursor])
        self._answer(session, body, cursor)

    def _answer(self, session: Session, body: Seek, cursor: Cursor) -> None:
        def saved(failure: OSError | None) -> None:
            session.reply(Done(body.op).pack()) if failure is None else session.fail(
                _not_stored(failure, body.op)
            )

        self._cursors.save(cursor, self._journal.once_kept(saved))

    def _forget(self, session: Session, body: Forget) -> None:
        cursor = self._cursor(session, body.name)
        for member in list(self._reading.members(cursor)):
            self._reading.leave(member)
            text = f"{cursor.name!r} was forgotten"
            error = ProtocolError(Fault.DURABLE_UNKNOWN, text, about=member.number)
            error.request = DurableSubscribe.op
            member.session.fail(error)
        self._reading.end(cursor)
        self._finder.remove(cursor)
        self._unwant(cursor)

        def saved(failure: OSError | None) -> None:
            session.reply(Done(body.op).pack()) if failure is None else session.fail(
                _not_stored(failure, body.op)
            )

        self._cursors.forget(cursor, self._journal.once_kept(saved))

    def _cursor(self, session: Session, name: str) -> Cursor:
        return self.find(self._owner(session, name), name)

    def find(self, owner: str, name: str) -> Cursor:
        """The cursor of a name.

        Raises:
            ProtocolError: if there is none.
        """
        cursor = self._cursors.find(owner, name)
        if cursor is None:
            text = f"there is no durable subscription {name!r}"
            raise ProtocolError(Fault.DURABLE_UNKNOWN, text)
        return cursor


class _Settling:
    """Where answers to the standing client go: what is settled is told to members."""

    hears_gaps = False

    def __init__(self, settled: Callable[[int, tuple[str, ...]], None]) -> None:
        self._settled = settled

    def reply(self, frame: bytes) -> None:
        """Hear an answer."""
        for op, body in Splitter().feed(frame):
            said = unpack(op, body)
            if isinstance(said, Settled):
                self._settled(said.number, said.silent)

    def fail(self, error: ProtocolError) -> None:
        """Nothing can be wrong with what it asks."""
        raise error

    def expect(self, size: int) -> bool:  # noqa: ARG002 -- nothing is kept for it
        """Nothing is kept for it."""
        return True

    def deliver(self, frames: bytes, count: int) -> int:  # noqa: ARG002
        """What it wants comes from the log."""
        return 0


def _not_stored(failure: OSError, request: int) -> ProtocolError:
    text = f"the disk does not take it: {failure}"
    return ProtocolError(Fault.NOT_STORED, text, request=request)


def _read_filter(text: str) -> Filter | Predicate:
    try:
        interest = parse_interest(text)
        check_encodable(interest)
    except SienaError as error:
        raise ProtocolError.because(Fault.BAD_INTEREST, error) from None
    if isinstance(interest, Pattern):
        what = "a durable subscription has a filter, not a pattern"
        raise ProtocolError(Fault.BAD_INTEREST, what)
    return interest


def _offset_of(store: LogStore, start: Start, at: int) -> int:
    """The offset where a durable subscription begins.

    Raises:
        ProtocolError: if the log has it no longer, or not yet, or cannot be read now.
    """
    if start == "new":
        return store.latest
    if start == "all":
        return store.earliest
    if start == "time":
        return _first_since(store, at)
    if at < store.earliest:
        text = f"offset {at} has expired: the log begins at {store.earliest}"
        raise ProtocolError(Fault.OFFSET_EXPIRED, text)
    if at > store.latest:
        text = f"the log has come to offset {store.latest}, and not to {at}"
        raise ProtocolError(Fault.OFFSET_AHEAD, text)
    return at


def _first_since(store: LogStore, time: int) -> int:
    """The first offset that came at a time or later, in microseconds since 1970."""
    low, high = store.earliest, store.latest
    while low < high:
        middle = (low + high) // 2
        try:
            record = next(iter(read_page(store, middle, 1).records), None)
        except OSError as error:
            text = f"the log cannot be read: {error}"
            raise ProtocolError(Fault.LOG_DAMAGED, text) from None
        if record is None or record.time >= time:
            high = middle
        else:
            low = max(middle + 1, record.end)
    return low
