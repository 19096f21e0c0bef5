"""Shares: how much of the processor requests get while others are served.

A request may take a thousand times as long as a publication.  So what the requests of
one principal take is drawn from its account (:class:`~siena.broker.access.quotas`),
which fills again with time: and who has drawn too much waits, as long as others are
served who have not.  While no others are there, requests get all there is.  What is
put off (:mod:`siena.routing.steps.backlog`) has a share of its own.
"""

import asyncio
from dataclasses import dataclass, field

from siena.broker.access.quotas import Account, Accounts, Bucket
from siena.broker.io.backpressure import Held
from siena.clock import Clock

# Who was served within so long counts as being there: clients that ask again when they
# are answered do so earlier, and those that are seldom heard keep nobody waiting.
THERE_SECONDS = 0.005


@dataclass(slots=True)
class _Work:
    """What the requests of one principal took in one turn, and who sent them."""

    seconds: float = 0.0
    senders: set[Held] = field(default_factory=set)


class Shares:
    """Who was served last, and what requests took in this turn."""

    def __init__(self, accounts: Accounts, clock: Clock) -> None:
        self._accounts = accounts
        self._clock = clock
        self.worked: dict[Account, _Work] = {}
        """What requests took in this turn."""
        # Of those with something left: who was served last, and when; and when another.
        self._last: Account | None = None
        self._last_at = self._other_at = float("-inf")
        self._backlog = Bucket(0.1, 0.0)

    def serve(self, account: Account, now: float | None = None) -> None:
        """A principal is served; unless it has drawn too much, others are to wait."""
        if now is None:
            now = self._clock.elapsed()
        work = account.work
        if work is not None and work.left < 0 and work.is_overdrawn(now):
            return
        if account is not self._last:
            self._last, self._other_at = account, self._last_at
        self._last_at = now

    def work(self, account: Account, sender: Held | None, seconds: float) -> None:
        """A request of a principal took so long."""
        worked = self.worked.get(account)
        if worked is None:
            worked = self.worked[account] = _Work()
        worked.seconds += seconds
        if sender is not None:
            worked.senders.add(sender)

    def end_turn(self, more: float) -> None:
        """Let those wait who have drawn too much; ``more`` was done for all at once."""
        if not self.worked:
            return
        worked, self.worked = self.worked, {}
        total = sum(each.seconds for each in worked.values()) or 1.0
        now = self._clock.elapsed()
        for account, each in worked.items():
            if account.work is None:
                continue
            account.work.draw(each.seconds * (1 + more / total), now)
            if self.must_wait(account):
                self._accounts.refusals["work_share"] += 1
                for sender in each.senders:
                    Waiting(self, account, sender)

    def must_wait(self, account: Account) -> bool:
        """Whether a principal has drawn too much, and others are there."""
        now = self._clock.elapsed()
        work = account.work
        return (
            work is not None
            and work.is_overdrawn(now)
            and self._is_awaited(account, now)
        )

    def _is_awaited(self, account: Account, now: float) -> bool:
        """Whether others are there, who have something left."""
        at = self._other_at if account is self._last else self._last_at
        return now - at < THERE_SECONDS

    # --- What is put off ------------------------------------------------------------

    def may_work_off(self) -> bool:
        """Whether some of what was put off may be done now."""
        now = self._clock.elapsed()
        is_alone = now - self._last_at >= THERE_SECONDS
        return is_alone or not self._backlog.is_overdrawn(now)

    def work_off(self, seconds: float) -> None:
        """It took so long."""
        self._backlog.rate = self._accounts.quotas.work_share
        self._backlog.draw(seconds, self._clock.elapsed())


class Waiting:
    """A sender of requests that waits, for as long as it must.

    Ownership: a timer of the loop, which ends it.
    """

    def __init__(self, shares: Shares, account: Account, sender: Held) -> None:
        self.holds: set[Held] = set()
        self._shares = shares
        self._account = account
        sender.hold(self)
        self._wait()

    def _wait(self) -> None:
        asyncio.get_running_loop().call_later(THERE_SECONDS, self._look)

    def _look(self) -> None:
        if self.holds and self._shares.must_wait(self._account):
            self._wait()
            return
        held, self.holds = self.holds, set()
        for each in held:
            each.release(self)
