"""Durable reading: who reads which durable subscription, what they get and when again.

Several connections may read one subscription, and share what there is: each
notification goes to the one with the least under way.  What has no answer in time, or
whose reader has gone, comes again, to a reader that is there; after too many deliveries
it becomes a dead letter, which is a notification like any other.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from siena.block import decode, encode
from siena.broker.clients.session import Session
from siena.broker.durable.cursors.blocks import Blocks
from siena.broker.durable.cursors.cursor import Cursor, Flight
from siena.broker.durable.cursors.finder import Finder
from siena.broker.durable.cursors.registry import Cursors
from siena.broker.durable.limits import DISPATCH_MAX
from siena.broker.durable.losses import Losses
from siena.broker.durable.member import Member
from siena.broker.durable.page import RETRY_SECONDS
from siena.broker.log.segment import Gap
from siena.model import Predicate, Value
from siena.protocol.durable.reading import DurableDelivery, pack_deliver

log = logging.getLogger("siena.broker")

# What a dead letter says.
DEAD = "siena.dead"


class _Ready(NamedTuple):
    offset: int
    block: bytes
    time: int


class Reading:
    """Delivers to members what cursors have.

    Args:
        publish: publishes a block of our own, and says whether the disk has it.
        losses: tells readers what the log has lost.
        heard_by: what a session may hear; none if that is everything.
    """

    def __init__(
        self,
        cursors: Cursors,
        finder: Finder,
        blocks: Blocks,
        publish: Callable[[bytes, Callable[[bool], None]], None],
        losses: Losses,
        heard_by: Callable[[Session], Predicate | None] = lambda _: None,
    ) -> None:
        self._cursors = cursors
        self._finder = finder
        self._blocks = blocks
        self._publish = publish
        self._losses = losses
        self._heard_by = heard_by
        self._members: dict[int, Member] = {}
        self._readers: dict[Cursor, list[Member]] = {}
        self._numbered: dict[tuple[int, int], Member] = {}
        self._last = 0
        self._timers: dict[Cursor, asyncio.TimerHandle] = {}
        self._due: set[Cursor] = set()
        # Those for which the log could not be read; and whether that was said.
        self._paused: dict[Cursor, asyncio.TimerHandle] = {}
        self._troubled: set[Cursor] = set()
        self._is_closed = False

    # --- Members come and go --------------------------------------------------------

    def find(self, session: Session, number: int) -> Member | None:
        """Who reads under a number of a connection."""
        return self._numbered.get((session.number, number))

    def members(self, cursor: Cursor) -> list[Member]:
        """Who reads a subscription."""
        return self._readers.get(cursor, [])

    def join(
        self, session: Session, number: int, cursor: Cursor, credit: int
    ) -> Member:
        """A connection reads from now on."""
        self._last += 1
        member = Member(self._last, session, number, cursor, credit)
        self._members[member.identifier] = member
        self._readers.setdefault(cursor, []).append(member)
        self._numbered[session.number, number] = member
        session.durables += 1
        self._losses.joined(session, cursor)
        self._make_room(cursor)
        self.serve([cursor])
        return member

    def leave(self, member: Member) -> None:
        """It reads no more: what it has not answered goes to others, at once."""
        del self._members[member.identifier]
        del self._numbered[member.session.number, member.number]
        member.session.durables -= 1
        cursor = member.cursor
        readers = self._readers[cursor]
        readers.remove(member)
        if not readers:
            del self._readers[cursor]
        self._make_room(cursor)
        cursor.lose(member.identifier)
        self.serve([cursor])

    def _make_room(self, cursor: Cursor) -> None:
        cursor.make_room(sum(member.credit for member in self.members(cursor)))

    def of(self, session: Session) -> list[Member]:
        """What a connection reads."""
        return [m for m in self._members.values() if m.session is session]

    def leave_all(self, session: Session) -> None:
        """A connection has gone."""
        for member in self.of(session):
            self.leave(member)

    def end(self, cursor: Cursor) -> None:
        """No client reads this subscription any more: it is forgotten, or sought."""
        for member in self._readers.get(cursor, ()):
            member.flights = member.bytes = 0
        for timers in (self._timers, self._paused):
            timer = timers.pop(cursor, None)
            if timer is not None:
                timer.cancel()
        self._due.discard(cursor)
        self._troubled.discard(cursor)
        self._losses.forget(cursor)

    def close(self) -> None:
        """Deliver nothing more."""
        self._is_closed = True
        for timer in (*self._timers.values(), *self._paused.values()):
            timer.cancel()
        self._timers.clear()
        self._paused.clear()
        self._due.clear()

    # --- Answers --------------------------------------------------------------------

    def ack(self, cursor: Cursor, offsets: Iterable[int], up_to: int | None) -> int:
        """These are done; how many of them were waited for."""
        wanted = list(offsets)
        if up_to is not None:
            wanted += cursor.below(up_to)
        done = []
        for offset in wanted:
            ended = cursor.ack(offset)
            if ended is not False:
                done.append(offset)
                self._landed(ended)
        self._cursors.acked(cursor, done)
        if up_to is not None and self._finder.skip(cursor, up_to):
            self._cursors.save(cursor)
        self.serve([cursor])
        return len(done)

    def nak(self, cursor: Cursor, offsets: Iterable[int], delay: float) -> int:
        """These shall come again; how many of them were under way."""
        due = asyncio.get_running_loop().time() + delay if delay else None
        ended = [flight for o in offsets if (flight := cursor.nak(o, due)) is not None]
        for flight in ended:
            self._landed(flight)
        self.serve([cursor])
        return len(ended)

    def _landed(self, flight: object) -> None:
        """A member has room for another one."""
        member = (
            self._members.get(flight.member) if isinstance(flight, Flight) else None
        )
        if member is not None and isinstance(flight, Flight):
            member.flights -= 1
            member.bytes -= flight.size

    # --- Delivering -----------------------------------------------------------------

    def found(self, cursors: set[Cursor]) -> None:
        """New offsets were found for these cursors: those with a reader are served.

        A reader that comes later is served then.  Most of many durable subscriptions
        have no reader at a moment, and a publication does not pay for them twice.
        """
        read = cursors & self._readers.keys()
        if read:
            self.serve(read)

    def lost(self, cursors: set[Cursor], lost: Gap) -> None:
        """The log has lost some offsets, of which these cursors get nothing."""
        for cursor in cursors:
            readers = [member.session for member in self.members(cursor)]
            self._losses.of_cursor(cursor, lost, readers)

    def serve(self, cursors: Iterable[Cursor]) -> None:
        """Deliver what these have, soon."""
        if not self._due:
            asyncio.get_running_loop().call_soon(self._serve)
        self._due.update(cursors)

    def _serve(self) -> None:
        due, self._due = self._due, set()
        for cursor in due:
            try:
                self._dispatch(cursor)
            except Exception:  # others are served all the same
                log.exception("a mistake of ours, at what %r gets", cursor.name)

    def _dispatch(self, cursor: Cursor) -> None:
        if cursor in self._paused:
            return
        now = asyncio.get_running_loop().time()
        frames: dict[Member, list[bytes]] = {}
        for _ in range(DISPATCH_MAX):
            try:
                ready = self._next(cursor)
            except OSError as error:
                self._pause(cursor, error)
                break
            if ready is None:
                break
            offset, block, time = ready
            member = self._choose(cursor)
            if member is None:
                cursor.put_back(offset)
                break
            if not self._may_hear(member, block):
                self._drop(cursor, offset)
                continue
            if self._is_parked(cursor, offset, block):
                continue
            attempt = cursor.sent(offset, member.identifier, len(block), now)
            member.flights += 1
            member.bytes += len(block)
            delivery = DurableDelivery(member.number, offset, time, attempt, block)
            frames.setdefault(member, []).append(pack_deliver(delivery))
        else:
            self.serve([cursor])  # others have their turn first
        for member, found in frames.items():
            member.session.reply(b"".join(found))
        self._finder.wake(cursor)
        self._arm(cursor)

    def _pause(self, cursor: Cursor, error: OSError) -> None:
        """The log cannot be read now: go on a little later, and not before."""
        if not self._troubled:  # said once, not every second
            log.warning("durable subscriptions wait: the log cannot be read: %s", error)
        self._troubled.add(cursor)

        def go_on() -> None:
            del self._paused[cursor]
            self.serve([cursor])

        loop = asyncio.get_running_loop()
        self._paused[cursor] = loop.call_later(RETRY_SECONDS, go_on)

    def _get(self, cursor: Cursor, offset: int) -> tuple[bytes, int] | None:
        """What stands at an offset of a cursor; none if the log has lost it.

        Raises:
            OSError: if it cannot be read now; then it is still to be delivered.
        """
        try:
            found = self._blocks.get(offset)
        except OSError:
            cursor.put_back(offset)
            raise
        if self._troubled:
            self._troubled.discard(cursor)
        return found

    def _next(self, cursor: Cursor) -> _Ready | None:
        """What is to be delivered next; what cannot be any more is done with.

        Raises:
            OSError: if it cannot be read now.
        """
        most = cursor.spec.max_deliver
        while True:
            offset = cursor.next_ready()
            if offset is None:
                return None
            if most and cursor.attempts(offset) >= most:
                self._bury(cursor, offset, f"delivered {most} times without an answer")
                continue
            if not self._readers.get(cursor):
                cursor.put_back(offset)
                return None
            found = self._get(cursor, offset)
            if found is not None:
                return _Ready(offset, *found)
            self.lost({cursor}, Gap(offset, offset + 1))
            self._drop(cursor, offset)

    def _choose(self, cursor: Cursor) -> Member | None:
        """The member with the least under way, if it has room."""
        members = self._readers.get(cursor, ())
        chosen = min(members, key=lambda m: m.flights / m.credit, default=None)
        if chosen is None or chosen.has_room:
            return chosen
        return next((member for member in members if member.has_room), None)

    def _may_hear(self, member: Member, block: bytes) -> bool:
        heard = self._heard_by(member.session)
        return heard is None or heard.matches(decode(block))

    def _is_parked(self, cursor: Cursor, offset: int, block: bytes) -> bool:
        if cursor.spec.key is None:
            return False
        value = decode(block).get(cursor.spec.key)
        return value is not None and cursor.is_parked(offset, value)

    # --- Dead letters ---------------------------------------------------------------

    def _bury(self, cursor: Cursor, offset: int, reason: str) -> None:
        """Give up on a notification, and tell those that asked for dead letters."""
        found = self._get(cursor, offset)
        cursor.dead += 1
        is_dead_letter = found is not None and DEAD in decode(found[0])
        log.warning("%r gives up on offset %d: %s", cursor.name, offset, reason)
        if is_dead_letter:  # or two that fail would bury each other for ever
            self._drop(cursor, offset)
            return
        letter: dict[str, Value] = {
            DEAD: True,
            "siena.durable": cursor.name,
            "siena.offset": offset,
            "siena.reason": reason,
        }
        attempts = cursor.attempts(offset)

        def written(is_kept: bool) -> None:  # noqa: FBT001
            if self._is_closed or cursor.attempts(offset) != attempts:
                return  # it was sought meanwhile, or acknowledged after all
            if is_kept:
                self._drop(cursor, offset)
            else:
                cursor.put_back(offset)
            loop.call_later(0 if is_kept else RETRY_SECONDS, self.serve, [cursor])

        loop = asyncio.get_running_loop()
        self._publish(encode(letter), written)

    def _drop(self, cursor: Cursor, offset: int) -> None:
        self._landed(cursor.drop(offset))
        self._cursors.acked(cursor, [offset])

    # --- Time -----------------------------------------------------------------------

    def _arm(self, cursor: Cursor) -> None:
        """Look again when something is due."""
        due = cursor.next_due
        timer = self._timers.get(cursor)
        if timer is not None and (due is None or timer.when() > due):
            timer.cancel()
            del self._timers[cursor]
            timer = None
        if due is not None and timer is None:
            loop = asyncio.get_running_loop()
            self._timers[cursor] = loop.call_at(due, self._expire, cursor)

    def _expire(self, cursor: Cursor) -> None:
        self._timers.pop(cursor, None)
        now = asyncio.get_running_loop().time()
        for _, flight in cursor.expired(now):
            self._landed(flight)
        self._dispatch(cursor)

    def snapshot(self, cursor: Cursor) -> dict[str, object]:
        """What there is to know of a subscription."""
        tail = self._finder.tail
        low = cursor.low(tail)
        return {
            "name": cursor.name,
            "owner": cursor.owner,
            "filter": cursor.epochs[-1].filter,
            "epochs": [list(epoch) for epoch in cursor.epochs],
            "low": low,
            "position": tail if cursor.position is None else cursor.position,
            "lag": tail - low,
            "found": cursor.outstanding,
            "under_way": cursor.in_flight,
            "readers": len(self.members(cursor)),
            "delivered": cursor.delivered,
            "redelivered": cursor.redelivered,
            "acknowledged": cursor.acknowledged,
            "dead": cursor.dead,
            "ack_wait": cursor.spec.ack_wait,
            "max_deliver": cursor.spec.max_deliver,
            "key": cursor.spec.key,
        }
