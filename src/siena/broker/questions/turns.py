"""Turns: questions are answered one by one, and few of one principal wait for it.

A question may take as long as thousands of publications.  Asked all at once, they would
keep every thread of the broker, which its log needs, and its loop from turning.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from siena.broker.access.principal import Principal
from siena.protocol.error_codes import Fault, ProtocolError

# Questions that are answered or wait: of all together, and of one identity.
WAITING_MAX = 64
OF_ONE_MAX = 16


class Turns:
    """Who waits to be answered."""

    def __init__(self) -> None:
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
        try:
            async with self._turn:
                yield
        finally:
            self._waiting[who] -= 1
            if not self._waiting[who]:
                del self._waiting[who]
