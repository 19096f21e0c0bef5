"""Ending by SIGTERM: what a command has started ends with it."""

import signal
import sys
from collections.abc import Iterator
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
