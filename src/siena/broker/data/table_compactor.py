"""Compaction: one engine of many, made in a thread while the broker serves.

Interests that come and go leave several engines, of which every batch asks all, and
what was removed.  Once they rest, or have not rested for long, all that is there is
compiled anew.
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
        self._changed = asyncio.Event()
        exchange.watchers.append(self._changed.set)
        # Told what it took of the processor, elsewhere.
        self._on_rebuilt = on_rebuilt
        self.rebuilds = 0
        """How many engines were made."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        """End; for a thread that is at work the loop waits when it ends itself."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            await self._rest()
            try:
                if self._table.is_scattered:
                    await self._rebuild()
            except Exception:  # the broker serves all the same, if more slowly
                log.exception("a mistake of ours, while compiling interests")

    async def _rest(self) -> None:
        """Wait until nothing changes, but not for ever."""
        waited = 0.0
        while self._changed.is_set() and waited < UPKEEP_SECONDS_MAX:
            self._changed.clear()
            await asyncio.sleep(UPKEEP_SECONDS)
            waited += UPKEEP_SECONDS

    async def _rebuild(self) -> None:
        rebuild = self._table.rebuild()
        seconds = await asyncio.shield(asyncio.to_thread(_run, rebuild))
        self._on_rebuilt(seconds)
        self._table.adopt(rebuild)
        self.rebuilds += 1


def _run(rebuild: Rebuild) -> float:
    """Make it; the seconds of the processor that this thread took for it."""
    begun = time.thread_time()
    rebuild.run()
    return time.thread_time() - begun
