"""Group commit: one sync of the disk for all that was written while the last one ran.

A disk does a few hundred syncs a second, whatever their size; so a writer that wants to
know that something is on the disk waits for the next one, together with all others.  A
thread waits for the disk, and the loop goes on.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from siena.broker.log.files import sync_fully

log = logging.getLogger("siena.broker")


Synced = Callable[[OSError | None], None]
# How long to wait if a sync could not even be begun.
RETRY_SECONDS = 1.0


class Syncable(Protocol):
    """Files that are written to."""

    @property
    def latest(self) -> int:
        """How far they have come."""
        ...

    def sync(self) -> None:
        """Have the disk keep what was written, now.

        Raises:
            OSError: if it does not.
        """
        ...

    def syncing(self) -> Callable[[], None]:
        """What another thread does so that what is written now is kept.

        Raises:
            OSError: if that cannot be begun; what it returns raises it if it fails.
        """
        ...


class _Sync:
    """One sync: who waits for it, and whether what it says counts."""

    def __init__(
        self, work: Callable[[], None], waiting: list[Synced], end: int
    ) -> None:
        self._work = work
        self.waiting = waiting
        self.end = end
        self.is_over = False
        """Whether the disk has said that it is kept."""
        self.doubt: OSError | None = None
        """Why it says nothing: another failed before this one was over."""

    def run(self) -> None:
        """What the thread does."""
        self._work()
        self.is_over = True


class GroupCommit:
    """Syncs of one store, one after the other.

    A sync that failed is never made good by another: the system may have dropped what
    it could not write.  So from then on no writer hears that anything is on the disk.

    Ownership: its maker awaits :meth:`close`; the thread is the loop's.
    """

    def __init__(
        self,
        store: Syncable,
        on_failure: Callable[[OSError], None] = lambda _error: None,
    ) -> None:
        self._store = store
        self._on_failure = on_failure
        self._waiting: list[Synced] = []
        self._running: asyncio.Future[None] | None = None
        self._sync: _Sync | None = None
        self._is_wanted = False
        self._retry: asyncio.TimerHandle | None = None
        self.failure: OSError | None = None
        """Why nothing is known to be on the disk any more."""
        # What a process before us has written the disk need not have.
        self.synced = store.latest if self._sync_first() else 0
        """The offset behind the last that the disk has, for all that is known."""
        self.syncs = 0
        """How many times the disk was waited for."""

    def _sync_first(self) -> bool:
        try:
            self._store.sync()
        except OSError as error:
            self.fail(error)
            return False
        return True

    @property
    def is_busy(self) -> bool:
        """Whether a writer waits for the disk."""
        return self._running is not None or bool(self._waiting)

    def when_synced(self, then: Synced) -> None:
        """Call this when the disk has all that is written now, or it failed."""
        self._waiting.append(then)
        self.start()

    def start(self) -> None:
        """Sync what is written now: at once, or when the sync that runs has ended."""
        self._is_wanted = True
        if self._running is None and self._retry is None:
            self._run()

    def _run(self) -> None:
        self._is_wanted = False
        waiting, self._waiting = self._waiting, []
        end = self._store.latest
        loop = asyncio.get_running_loop()
        try:
            sync = self._store.syncing()
        except OSError as error:  # too many files are open: nothing was tried
            log.warning("the log cannot be written to the disk yet: %s", error)
            self._waiting = [*waiting, *self._waiting]
            self._retry = loop.call_later(RETRY_SECONDS, self._try_again)
            return
        self._sync = each = _Sync(sync, waiting, end)
        each.doubt = self.failure
        self._running = loop.run_in_executor(None, each.run)
        self._running.add_done_callback(lambda ended: self._ended(ended, each))

    def _try_again(self) -> None:
        self._retry = None
        self._run()

    def _ended(self, ended: "asyncio.Future[None]", each: _Sync) -> None:
        self._running = self._sync = None
        self.syncs += 1
        error = error_of(ended)
        if error is not None and self.failure is None:
            self.fail(error)
        failure = each.doubt or error
        tell(each.waiting, failure)
        if failure is None:  # after all have heard: what they know is what is synced
            self.synced = max(self.synced, each.end)
        if self._is_wanted or self._waiting:
            self.start()  # unless those who heard have: one at a time

    def fail(self, error: OSError) -> None:
        """The disk failed to keep something.

        A sync that was over by then was good.  One that was not may have met the same
        failure, which a system tells one of them only.
        """
        if self._sync is not None and not self._sync.is_over:
            self._sync.doubt = error
        self.failure = error
        self._on_failure(error)

    def recover(self) -> None:
        """The operator says that the disk is good: what is written now counts."""
        self.failure = None

    async def close(self) -> None:
        """Wait for the sync that runs, and for one more if it is wanted."""
        if self._retry is not None:
            self._retry.cancel()
            self._try_again()
        while self._running is not None:
            await asyncio.wait([self._running])
            await asyncio.sleep(0)  # what it calls may want another one
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None


def tell(waiting: Iterable[Synced], failure: OSError | None) -> None:
    """Let all hear what the disk has said, also if one of them makes a mistake."""
    for then in waiting:
        try:
            then(failure)
        except Exception:  # others hear all the same
            log.exception("a mistake of ours, at what waited for the disk")


def error_of(ended: "asyncio.Future[Any]") -> OSError | None:
    """Why a sync kept nothing, if so: whatever it raised, nothing is known to be kept.

    What is no ``OSError`` is a mistake of ours, or of a client of other makers.
    """
    if ended.cancelled():
        return OSError("the sync was cancelled")
    error = ended.exception()
    if error is None or isinstance(error, OSError):
        return error
    log.error("a sync failed in a way that nobody expected", exc_info=error)
    return OSError(f"{type(error).__name__}: {error}")


def sync_and_close(descriptors: list[int]) -> None:
    """Sync some files, and close all of them.

    Raises:
        OSError: the first that went wrong, after all were tried.
    """
    failure: OSError | None = None
    for descriptor in descriptors:
        try:
            sync_fully(descriptor)
        except OSError as error:
            failure = failure or error
        finally:
            os.close(descriptor)
    if failure is not None:
        raise failure
