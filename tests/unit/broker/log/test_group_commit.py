"""Group commit: nothing is on the disk, for all that is known, if a sync has failed."""

import asyncio
from collections.abc import Callable

import pytest

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
