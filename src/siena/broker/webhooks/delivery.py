"""The delivery of one identity: takes what is for it, and brings it to its handler."""

import asyncio
import logging
import random
from dataclasses import asdict, dataclass
from typing import Protocol

from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.webhooks.http import GiveUpError, TryAgainError
from siena.broker.webhooks.letters import Letter, letters_of
from siena.broker.webhooks.limits import (
    ATTEMPTS_MAX,
    RETRY_SECONDS,
    RETRY_SECONDS_MAX,
)
from siena.broker.webhooks.targets import Target

log = logging.getLogger("siena.broker")


class Way(Protocol):
    """A way to bring letters somewhere."""

    async def send(self, target: Target, letter: Letter) -> None:
        """Bring a letter, or raise TryAgainError or GiveUpError."""
        ...


@dataclass(slots=True)
class Tries:
    """How well it went; notifications, but for ``retried``."""

    delivered: int = 0
    failed: int = 0
    retried: int = 0  # letters, each time

    def snapshot(self) -> dict[str, int]:
        """All of them by name."""
        return asdict(self)


class HandlerDelivery:
    """Brings letters one after the other.

    Ownership: the in-process session; :meth:`run` is a task of its maker, and ends with
    the session.  What comes while a letter waits for another attempt stays in the
    outbox, which is bounded.
    """

    def __init__(
        self,
        entry: InProcessEntry,
        in_process_session: InProcessSession,
        target: Target,
        way: Way,
    ) -> None:
        self.in_process_session = in_process_session
        self.target, self.way = target, way
        self.tries = Tries()
        self._entry = entry
        # Given up, and not told yet.
        self._lost = 0
        self._random = random.Random()

    async def run(self) -> None:
        """Bring everything that comes."""
        session, broker = self.in_process_session.client.session, self._entry.broker
        assert session.identity is not None
        while frames := await self.in_process_session.in_process_client.read():
            for letter in letters_of(frames, session.identity, broker.name):
                letter.lost += self._lost
                self._lost = 0
                await self._bring(letter)

    async def _bring(self, letter: Letter) -> None:
        delay = RETRY_SECONDS
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                await self.way.send(self.target, letter)
            except GiveUpError as error:
                self._give_up(letter, error)
                return
            except TryAgainError as error:
                if attempt == ATTEMPTS_MAX:
                    self._give_up(letter, error)
                    return
                self.tries.retried += 1
                # Not all at the same time, after a handler has come back.
                await asyncio.sleep(delay * self._random.uniform(0.5, 1))
                delay = min(2 * delay, RETRY_SECONDS_MAX)
            else:
                self.tries.delivered += len(letter)
                return

    def _give_up(self, letter: Letter, why: Exception) -> None:
        log.warning("%d lost for %s: %s", len(letter), letter.identity, why)
        self.tries.failed += len(letter)
        self._lost = letter.lost + len(letter)
        self.in_process_session.client.session.lost += len(letter)
        self._entry.broker.state.counters.lost += len(letter)
