"""A tick: what all connections got in it is looked at together.

So twenty publishers who send one notification each cost one call of the exchange, and a
connection that gets a thousand notifications costs one write.  There is one each time
that the loop comes round; and one at once for a client that sends much, up to a bound,
so that those it is for are written to in between.  In each the router does a little of
what it has put off.
"""

import asyncio
import logging
from collections import deque

from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.io.shares import WAIT_SECONDS
from siena.broker.limits import (
    ROOM_BYTES,
    SLICE_SECONDS_MAX,
    TURN_BYTES_MAX,
    TURN_SECONDS_MAX,
)
from siena.broker.state import BrokerState
from siena.protocol.error_codes import Fault, ProtocolError

log = logging.getLogger("siena.broker")


class Tick:
    """Gathers connections that got something, or are to be sent something."""

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._state = state
        self._publications = publications
        self._loop = loop
        self._elapsed = state.clock.elapsed
        self.recv_buffer = memoryview(bytearray(ROOM_BYTES))
        """Where what comes is put first."""
        self._came: list[Connection] = []
        self._touched: list[Connection] = []
        self._is_due = False
        # Those who publish in vain, and have been read from.
        self._later: deque[Connection] = deque()
        # Whether what was put off waits for its share.
        self._is_waiting = False
        # Since the loop last came round: bytes, and whose were looked at in the room.
        self._looked = 0
        self._seen: set[Connection] = set()
        state.router.backlog.wake = self._schedule

    def on_readable(self, connection: Connection) -> None:
        """Look at this connection in the next tick."""
        self._came.append(connection)
        self._schedule()

    def process_in_place(self, connection: Connection) -> bool:
        """Look at this connection now: what came will be overwritten.

        Unless enough has been looked at since the loop last came round: then false.
        """
        if connection in self._seen:  # it is read from once a round
            self._begin_anew()
        if self._looked >= TURN_BYTES_MAX:
            return False
        self._seen.add(connection)
        self._came.insert(0, connection)
        self._is_due = True  # nothing that happens meanwhile needs another turn
        self._take()
        return True

    def read_later(self, connection: Connection) -> None:
        """Let a connection go on that publishes in vain.

        One of all such connections, each time that the loop comes round.
        """
        self._later.append(connection)
        if len(self._later) == 1:
            self._loop.call_soon(self._read_one)

    def _read_one(self) -> None:
        self._later.popleft().go_on()
        if self._later:
            self._loop.call_soon(self._read_one)

    def schedule_flush(self, connection: Connection) -> None:
        """Write to this connection at the end of this tick, or of the next."""
        self._touched.append(connection)
        if not self._is_due:
            self._schedule()

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            self._loop.call_soon(self._run)

    def _run(self) -> None:
        """The tick that there is each time the loop comes round."""
        self._begin_anew()
        self._take()
        self._begin_anew()

    def _begin_anew(self) -> None:
        """The loop has come round, and has asked again who could not be written to."""
        self._looked = 0
        self._seen.clear()

    def _take(self) -> None:
        """One turn; whatever goes wrong in it, others follow."""
        state, begun = self._state, self._elapsed()
        try:
            self._look(begun + TURN_SECONDS_MAX)
            if state.router.gathered.entries or state.shares.worked:
                self._decide()
            self._route()
            if state.router.backlog:
                self._work()
        finally:
            # From here on, whoever is touched is written to in another turn.
            self._is_due = False
            touched, self._touched = self._touched, []
            for connection in touched:
                self._write(connection)
            if self._came or self._touched or state.router.backlog:
                self._come_again()
            self._count(self._elapsed() - begun)

    def _come_again(self) -> None:
        """Take another tick for what is left; what was put off waits for its share.

        Until then the loop would only go round and round.
        """
        state = self._state
        if self._came or self._touched:
            self._schedule()
        elif self._is_waiting:
            return
        elif state.shares.may_work_off():
            self._schedule()
        else:
            self._is_waiting = True
            self._loop.call_later(WAIT_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._is_waiting = False
        if self._state.router.backlog:
            self._come_again()

    def _count(self, seconds: float) -> None:
        counters = self._state.counters
        counters.ticks += 1
        self._state.tick_seconds.add(seconds)
        if seconds * 1e6 > counters.longest_tick_us_now + 1:
            counters.longest_tick_us_now = int(seconds * 1e6)

    def _look(self, deadline: float) -> None:
        """Look at what has come, up to a bound, and not for long."""
        came, self._came = self._came, []
        before = size = self._looked
        for place, connection in enumerate(came):
            is_late = place and self._elapsed() > deadline
            if size >= TURN_BYTES_MAX or is_late:  # the others next time, and first
                self._came = [*came[place:], *self._came]
                break
            try:
                size += connection.process()
            except Exception:
                log.exception("a mistake of ours, at what %s sent", connection.address)
                self._fail(connection)
        self._looked = size
        self._state.counters.bytes_in += size - before

    def _decide(self) -> None:
        """Let the router decide about what was gathered, at the cost of who asked."""
        begun = self._elapsed()
        self._state.handle_gathered()
        seconds, puts_off = self._elapsed() - begun, bool(self._state.router.backlog)
        self._state.shares.end_turn(seconds, puts_off=puts_off)

    def _route(self) -> None:
        try:
            self._publications.flush()
        except Exception:
            log.exception("a mistake of ours, while routing")

    def _work(self) -> None:
        """Let the router do some of what it has put off."""
        router, elapsed = self._state.router, self._elapsed
        shares = self._state.shares
        if not shares.may_work_off():
            return
        begun = elapsed()
        try:
            while router.backlog and elapsed() - begun < SLICE_SECONDS_MAX:
                self._state.post(router.work())
        except Exception:
            log.exception("a mistake of ours, in what was put off")
            self._state.fail_links()
        shares.work_off(elapsed() - begun, is_done=not router.backlog)

    def _write(self, connection: Connection) -> None:
        try:
            self._state.counters.bytes_out += connection.write()
        except Exception:
            log.exception("a mistake of ours, at what %s gets", connection.address)
            connection.abort()

    def _fail(self, connection: Connection) -> None:
        try:
            connection.fail(ProtocolError(Fault.BROKEN, "a mistake of the broker"))
        except Exception:
            log.exception("a mistake of ours, at what %s is told", connection.address)
            connection.abort()
