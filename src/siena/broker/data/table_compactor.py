"""Compaction: one engine of many, made in a thread while the broker serves.

Interests that come and go leave several engines, of which every batch asks all, and
what was removed.  Once they rest, or have not rested for long, all that is there is
compiled anew; and at once when the batches have lost as much time by that as it takes,
so that both together take no more than twice what would have been best.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from siena.broker.data.exchange import Exchange
from siena.broker.limits import UPKEEP_SECONDS, UPKEEP_SECONDS_MAX
from siena.matching.engine.rebuilding import Rebuild

log = logging.getLogger("siena.broker")

# What it takes to make an engine, however few interests there are, and for each of
# them, until that is known better.
REBUILD_SECONDS_MIN = 0.002
INTEREST_SECONDS = 2e-6


class TableCompactor:
    """A task that looks after the table of an exchange.

    Ownership: its maker calls :meth:`stop`.
    """

    def __init__(
        self,
        exchange: Exchange,
        on_rebuilt: Callable[[float], None] = lambda _seconds: None,
    ) -> None:
        self._table = exchange.table
        self._changed, self._is_due = asyncio.Event(), asyncio.Event()
        self._interest_seconds = INTEREST_SECONDS
        # What batches have lost because there is not one engine of all.
        self._lost = 0.0
        exchange.watchers.append(self._changed.set)
        # Told what it took of the processor, elsewhere.
        self._on_rebuilt = on_rebuilt
        self.rebuilds = 0
        """How many engines were made."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def lose(self, seconds: float) -> None:
        """A batch took so much longer, because there is not one engine of all."""
        self._lost += seconds
        takes = REBUILD_SECONDS_MIN + self._interest_seconds * len(self._table)
        if self._lost >= takes:
            self._is_due.set()

    async def stop(self) -> None:
        """End; for a thread that is at work the loop waits when it ends itself."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            await self._rest()
            self._lost = 0.0
            self._is_due.clear()
            try:
                if self._table.is_scattered:
                    await self._rebuild()
            except Exception:  # the broker serves all the same, if more slowly
                log.exception("a mistake of ours, while compiling interests")

    async def _rest(self) -> None:
        """Wait until nothing changes, but neither for ever nor at too high a price."""
        waited = 0.0
        while self._changed.is_set() and waited < UPKEEP_SECONDS_MAX:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(UPKEEP_SECONDS):
                    await self._is_due.wait()
                return
            waited += UPKEEP_SECONDS

    async def _rebuild(self) -> None:
        rebuild = self._table.rebuild()
        seconds = await asyncio.shield(asyncio.to_thread(_run, rebuild))
        self._on_rebuilt(seconds)
        self._table.adopt(rebuild)
        more = max(0.0, seconds - REBUILD_SECONDS_MIN)
        self._interest_seconds = more / max(1, len(self._table))
        self.rebuilds += 1


def _run(rebuild: Rebuild) -> float:
    """Make it; the seconds of the processor that this thread took for it."""
    begun = time.thread_time()
    rebuild.run()
    return time.thread_time() - begun
