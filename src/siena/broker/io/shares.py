"""Shares: how much of the processor requests get while others are served.

A request may take a thousand times as long as a publication, and make others take
longer: what is published next waits until the table is compiled anew.  So all of that
is drawn from the account of the principal that asked
(:class:`~siena.broker.access.quotas`), which fills again with time: and who has drawn
too much waits, as long as others are served who have not.  While no others are there,
requests get all there is.  What is put off (:mod:`siena.routing.steps.backlog`) has a
share of its own, and is drawn likewise.

To publish, to forward, to acknowledge and to read is drawn from no account: clients and
neighbours that do so are those who are served.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from siena.broker.access.quotas import Account, Accounts, Bucket
from siena.broker.io.backpressure import Held
from siena.clock import Clock

# Others are there if they took this part of the time, or more, in the last while: who
# is seldom heard, or pings, keeps nobody waiting.
WHILE_SECONDS = 0.05
THERE_SHARE_MIN = 0.02
# How often it is looked at whether those who wait still must.
WAIT_SECONDS = 0.01
# Of the time that matching takes in several engines, so much would not be taken by one.
SCATTERED_PART = 0.5
# For so long after a request a connection waits before it is looked at, rather than
# after; and so do those that have just come.
ASKING_SECONDS = 10.0


class Sender(Held, Protocol):
    """A connection that sends requests."""

    asked_at: float
    """When it sent the last, or came."""


@dataclass(slots=True)
class _Work:
    """What the requests of one principal took in one tick, and who sent them."""

    seconds: float = 0.0
    served: float = 0.0
    senders: set[Sender] = field(default_factory=set)


@dataclass(slots=True)
class _While:
    """A while: when it began, how long all were served in it, and each by requests."""

    begun: float
    served: float = 0.0
    worked: dict[Bucket, float] = field(default_factory=dict)


class Causes:
    """Who has caused work that is done later, and how much of it.

    >>> from siena.broker.access.quotas import Bucket
    >>> ann, bob, causes = Bucket(1, 1), Bucket(1, 1), Causes()
    >>> causes.add({ann: 0.75, bob: 0.25})
    >>> causes.draw(2.0, now=0.0)
    >>> ann.left, bob.left
    (-0.5, 0.5)
    """

    def __init__(self) -> None:
        self._weights: dict[Bucket, float] = {}

    def add(self, worked: dict[Bucket, float]) -> None:
        """These have, in proportion to what they took for it."""
        for bucket, seconds in worked.items():
            self._weights[bucket] = self._weights.get(bucket, 0.0) + seconds

    def draw(self, seconds: float, now: float) -> None:
        """So much of it was done."""
        total = sum(self._weights.values())
        for bucket, weight in self._weights.items():
            part = weight / total if total else 1 / len(self._weights)
            bucket.draw(seconds * part, now)

    def clear(self) -> None:
        """All of it was done."""
        self._weights.clear()


class Shares:
    """What requests took, what for others was done, and who waits."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self.worked: dict[Bucket, _Work] = {}
        """What requests took in this turn."""
        self._now = self._before = _While(clock.elapsed())
        self._waiting: dict[Bucket, Waiting] = {}
        self._backlog = Bucket(0.1, 0.0)
        # Whether the table has changed in this tick; and who has changed it since it
        # was compiled, since one engine was made of all, and who has put work off.
        self._is_changed = False
        self._changed, self._scattered, self._put_off = Causes(), Causes(), Causes()
        self.on_scattered: Callable[[float], None] = lambda _seconds: None
        """Told how much longer it took because there is not one engine of all."""

    # --- In a tick ------------------------------------------------------------------

    def work(
        self,
        account: Account,
        sender: Sender | None,
        seconds: float,
        *,
        is_service: bool = True,
    ) -> None:
        """A request of a principal took so long.

        What a neighbour tells is no service: most of it answers what clients here have
        asked for, who would wait for themselves.
        """
        if sender is not None:
            sender.asked_at = self._clock.elapsed()
        if account.work is None:
            return
        worked = self.worked.get(account.work)
        if worked is None:
            worked = self.worked[account.work] = _Work()
        worked.seconds += seconds
        if is_service:
            worked.served += seconds
        if sender is not None:
            worked.senders.add(sender)

    def end_turn(self, more: float, *, puts_off: bool = False) -> None:
        """Let those wait who have drawn too much; ``more`` was done for all at once."""
        if not self.worked:
            return
        worked, self.worked = self.worked, {}
        total = sum(each.seconds for each in worked.values())
        now = self._clock.elapsed()
        taken: dict[Bucket, float] = {}
        for bucket, each in worked.items():
            part = each.seconds / total if total else 1 / len(worked)
            seconds = taken[bucket] = each.seconds + more * part
            if each.served and not bucket.is_overdrawn(now):
                self.serve(each.served, now)
                mine = self._now.worked
                mine[bucket] = mine.get(bucket, 0.0) + each.served
            bucket.draw(seconds, now)
        if self._is_changed:
            self._is_changed = False
            self._changed.add(taken)
            self._scattered.add(taken)
        if puts_off:
            self._put_off.add(taken)
        for bucket, each in worked.items():
            if self._must_wait(bucket, now):
                for sender in each.senders:
                    self._wait(bucket, sender)

    def serve(self, seconds: float, now: float) -> None:
        """So long those were served who have not drawn too much."""
        self._pass(now)
        self._now.served += seconds

    # --- Who waits ------------------------------------------------------------------

    @property
    def has_waiting(self) -> bool:
        """Whether senders wait, who have drawn too much."""
        return bool(self._waiting)

    def is_serving(self) -> bool:
        """Whether any are served now who have not drawn too much."""
        return self._are_there(None, self._clock.elapsed())

    def must_wait(self, account: Account) -> bool:
        """Whether a principal has drawn too much, and others are there."""
        bucket = account.work
        if bucket is None or bucket.left >= 0:  # most often
            return False
        return self._must_wait(bucket, self._clock.elapsed())

    def keeps_waiting(self, account: Account, sender: Sender) -> bool:
        """Let a sender of requests wait before it is looked at, if it must."""
        bucket = account.work
        if bucket is None or bucket.left >= 0:
            return False
        now = self._clock.elapsed()
        if now - sender.asked_at > ASKING_SECONDS or not self._must_wait(bucket, now):
            return False
        self._wait(bucket, sender)
        return True

    def _must_wait(self, bucket: Bucket, now: float) -> bool:
        return bucket.is_overdrawn(now) and self._are_there(bucket, now)

    def has_to(self, bucket: Bucket) -> bool:
        """Whether those who wait have to wait on; if not, they are about to go on."""
        if self._must_wait(bucket, self._clock.elapsed()):
            return True
        self._waiting.pop(bucket, None)
        return False

    def _are_there(self, bucket: Bucket | None, now: float) -> bool:
        """Whether others than a principal were served in the last while."""
        self._pass(now)
        served = 0.0
        for each in (self._before, self._now):
            served += each.served
            if bucket is not None:
                served -= each.worked.get(bucket, 0.0)
        return served > THERE_SHARE_MIN * max(now - self._before.begun, WHILE_SECONDS)

    def _pass(self, now: float) -> None:
        """Begin another while, if it is time."""
        passed = now - self._now.begun
        if passed >= WHILE_SECONDS:
            is_old = passed >= 2 * WHILE_SECONDS
            self._before = _While(now) if is_old else self._now
            self._now = _While(now)

    def _wait(self, bucket: Bucket, sender: Sender) -> None:
        waiting = self._waiting.get(bucket)
        if waiting is None:
            self._accounts.refusals["work_share"] += 1
            waiting = self._waiting[bucket] = Waiting(self, bucket)
        sender.hold(waiting)

    # --- What is done later ---------------------------------------------------------

    def change(self) -> None:
        """The table changes."""
        self._is_changed = True

    @contextmanager
    def compiling(self, is_at_rest: Callable[[], bool]) -> Iterator[None]:
        """Do what is to be done once for a table that has changed."""
        begun = self._clock.elapsed()
        try:
            yield
        finally:
            now = self._clock.elapsed()
            if self._is_changed:  # in this tick, by those of this tick
                self._changed.add({b: w.seconds for b, w in self.worked.items()})
            self._changed.draw(now - begun, now)
            if is_at_rest():
                self._changed.clear()

    @contextmanager
    def scattered(self) -> Iterator[None]:
        """Match by several engines what one would match sooner."""
        begun = self._clock.elapsed()
        try:
            yield
        finally:
            now = self._clock.elapsed()
            lost = SCATTERED_PART * (now - begun)
            self._scattered.draw(lost, now)
            self.on_scattered(lost)

    def rebuild(self, seconds: float) -> None:
        """It took so long, elsewhere, to make one engine of all that was there."""
        self._scattered.draw(seconds, self._clock.elapsed())
        self._scattered.clear()

    def may_work_off(self) -> bool:
        """Whether some of what was put off may be done now."""
        now = self._clock.elapsed()
        return not (self._backlog.is_overdrawn(now) and self._are_there(None, now))

    def work_off(self, seconds: float, *, is_done: bool = False) -> None:
        """It took so long; whether that was all."""
        now = self._clock.elapsed()
        self._backlog.rate = self._accounts.quotas.work_share
        self._backlog.draw(seconds, now)
        self._put_off.draw(seconds, now)
        if is_done:
            self._put_off.clear()


class Waiting:
    """The senders of requests of one principal that wait, for as long as they must.

    Ownership: a timer of the loop, which ends it.
    """

    def __init__(self, shares: Shares, bucket: Bucket) -> None:
        self.holds: set[Held] = set()
        self._shares = shares
        self._bucket = bucket
        self._wait()

    def _wait(self) -> None:
        asyncio.get_running_loop().call_later(WAIT_SECONDS, self._look)

    def _look(self) -> None:
        if self._shares.has_to(self._bucket):
            self._wait()
            return
        held, self.holds = self.holds, set()
        for each in held:
            each.release(self)
