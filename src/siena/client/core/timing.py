"""Work that is given a time: what is not done by then is cancelled."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


async def timed(work: Coroutine[Any, Any, R], timeout_s: float | None) -> R:
    """Do this within so many seconds, if any are said.

    Raises:
        TimeoutError: if it takes longer, which says so.
    """
    if timeout_s is None:
        return await work
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            return await work
    except TimeoutError:
        if limit.expired():
            raise TimeoutError(f"not done within {timeout_s:g} s") from None
        raise
