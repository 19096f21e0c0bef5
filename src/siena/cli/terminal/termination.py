"""Signals: what a command has started ends with it, and what serves hears them."""

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EXIT_TERMINATED = 143  # 128 + SIGTERM, as shells have it


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Within the block SIGTERM unwinds it, instead of ending the process at once.

    Otherwise servers that a command has started would go on without it.
    """
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(EXIT_TERMINATED))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def on_signal(name: str, act: Callable[[], object]) -> None:
    """Call this in the running loop when a signal comes, if the system has it.

    >>> async def main() -> None:
    ...     came = asyncio.Event()
    ...     on_signal("SIGINT", came.set)
    ...     on_signal("SIGOFSOMEOTHERSYSTEM", came.set)
    ...     signal.raise_signal(signal.SIGINT)
    ...     await came.wait()
    >>> asyncio.run(main())
    """
    number = getattr(signal, name, None)
    if number is None:  # Windows has no SIGHUP, and others no SIGBREAK
        return
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(number, act)
    except NotImplementedError:  # the loops of Windows hear none
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(act))
