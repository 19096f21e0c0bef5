"""Group commit: nothing is on the disk, for all that is known, if a sync has failed."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from siena.broker.log import group_commit as group_commit_module
from siena.broker.log.group_commit import GroupCommit


class Strange:
    """A store whose sync fails in some way."""

    latest = 0

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def sync(self) -> None:
        pass

    def syncing(self) -> Callable[[], None]:
        def fail() -> None:
            raise self._error

        return fail


@pytest.mark.parametrize(
    "error", [OSError("full"), RuntimeError("odd"), asyncio.CancelledError()]
)
async def test_whatever_a_sync_raises_nothing_is_acknowledged(
    error: BaseException,
) -> None:
    store = Strange(error)
    group_commit = GroupCommit(store)
    store.latest = 5
    heard: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    group_commit.when_synced(heard.set_result)
    assert isinstance(await asyncio.wait_for(heard, 10), OSError)
    assert group_commit.synced == 0
    assert group_commit.failure is not None


class Held:
    """A store whose sync waits until it is let go."""

    latest = 0

    def __init__(self) -> None:
        self.begun, self.let_go, self.over = (threading.Event() for _ in range(3))

    def sync(self) -> None:
        pass

    def syncing(self) -> Callable[[], None]:
        def sync() -> None:
            self.begun.set()
            self.let_go.wait()
            self.over.set()

        return sync


@pytest.mark.parametrize("is_over", [True, False])
async def test_who_was_synced_before_another_sync_failed_hears_so(
    *, is_over: bool
) -> None:
    """Of two at a time the system tells one that the disk failed, and not which."""
    store = Held()
    group_commit = GroupCommit(store)
    store.latest = 5
    heard: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    group_commit.when_synced(heard.set_result)
    assert store.begun.wait(10)
    if is_over:
        store.let_go.set()
        assert store.over.wait(10)
        sync = group_commit._sync
        assert sync is not None
        while not sync.is_over:  # the thread is about to say so
            pass
    failure = OSError("gone")
    group_commit.fail(failure)
    store.let_go.set()
    group_commit.recover()  # the operator may say so at once
    assert await asyncio.wait_for(heard, 10) is (None if is_over else failure)
    assert group_commit.synced == (5 if is_over else 0)


class Crowded:
    """A store that has no descriptor to sync with, at first."""

    latest = 0
    tries = 0

    def sync(self) -> None:
        pass

    def syncing(self) -> Callable[[], None]:
        self.tries += 1
        if self.tries < 3:
            raise OSError(24, "Too many open files")
        return lambda: None


async def test_a_sync_that_cannot_be_begun_is_begun_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if nobody writes any more."""
    monkeypatch.setattr(group_commit_module, "RETRY_SECONDS", 0.001)
    store = Crowded()
    group_commit = GroupCommit(store)
    store.latest = 5
    heard: asyncio.Future[OSError | None] = asyncio.get_running_loop().create_future()
    group_commit.when_synced(heard.set_result)
    assert await asyncio.wait_for(heard, 10) is None
    assert group_commit.synced == 5
    await group_commit.close()


class Counting:
    """A store that knows how many sync it at a time."""

    latest = 5

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.are_alone = True

    def sync(self) -> None:
        pass

    def syncing(self) -> Callable[[], None]:
        def sync() -> None:
            if not self._lock.acquire(blocking=False):
                self.are_alone = False
                return
            time.sleep(0.01)
            self._lock.release()

        return sync


async def test_a_mistake_in_one_answer_keeps_no_other_from_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Counting()
    group_commit = GroupCommit(store)
    told: list[str] = []

    def mistake(_: OSError | None) -> None:
        group_commit.when_synced(lambda _: told.append("the next"))
        raise RuntimeError("nobody expected it")

    group_commit.when_synced(lambda _: None)
    group_commit.when_synced(mistake)
    group_commit.when_synced(mistake)
    group_commit.when_synced(lambda _: told.append("another"))
    await group_commit.close()
    assert told == ["another", "the next", "the next"]
    assert store.are_alone, "a failure is told to one of two only"
    assert caplog.text.count("a mistake of ours") == 2
