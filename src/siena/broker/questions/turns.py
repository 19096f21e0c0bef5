"""Turns: questions are answered one by one, and few of one principal wait for it.

A question may take as long as thousands of publications.  Asked all at once, they would
keep every thread of the broker, which its log needs, and its loop from turning.  What
it takes is drawn from the account of its principal, as that of requests is
(:mod:`siena.broker.io.shares`): who has overdrawn it waits while others are served.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from siena.broker.access.principal import Principal
from siena.broker.access.quotas import Account
from siena.broker.io.shares import WAIT_SECONDS
from siena.broker.state import BrokerState
from siena.protocol.error_codes import Fault, ProtocolError

# Questions that are answered or wait: of all together, and of one identity.
WAITING_MAX = 64
OF_ONE_MAX = 16
# Of one question no more is drawn: the first waits until all interests are indexed.
DRAWN_SECONDS_MAX = 1.0
# The account of all who have no identity.
NO_IDENTITY = "questions without an identity"


class Turns:
    """Who waits to be answered, at a broker that has a state when it is asked."""

    def __init__(self, state: Callable[[], BrokerState]) -> None:
        self._state = state
        self._turn = asyncio.Lock()
        self._waiting: Counter[str | None] = Counter()

    @asynccontextmanager
    async def of(self, principal: Principal) -> AsyncIterator[None]:
        """Wait for a principal's turn; those without an identity count as one.

        Raises:
            ProtocolError: if too many wait already.
        """
        who = principal.identity
        most = WAITING_MAX if principal.is_local else OF_ONE_MAX
        if self._waiting[who] >= most or self._waiting.total() >= WAITING_MAX:
            text = f"more than {most} questions at a time"
            raise ProtocolError(Fault.TOO_MANY, text)
        self._waiting[who] += 1
        state = self._state()
        account = state.accounts.of(who or NO_IDENTITY)
        try:
            # Until it has its turn, it keeps none from theirs.
            while state.shares.must_wait(account):  # noqa: ASYNC110 -- time must pass
                await asyncio.sleep(WAIT_SECONDS)
            async with self._turn:
                begun = state.clock.elapsed()
                try:
                    yield
                finally:
                    _draw(state, account, state.clock.elapsed() - begun)
        finally:
            self._waiting[who] -= 1
            if not self._waiting[who]:
                del self._waiting[who]


def _draw(state: BrokerState, account: Account, seconds: float) -> None:
    if account.work is not None:
        drawn = min(seconds, DRAWN_SECONDS_MAX)
        account.work.draw(drawn, state.clock.elapsed())
