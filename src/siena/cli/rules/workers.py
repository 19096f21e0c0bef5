"""Worker processes: pieces of work, and results in their order.

What comes out is what one process would have said.  A worker is given its *task* once:
where processes are forked it has it already, elsewhere the task is sent.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, TypeVar

from siena.errors import SienaError
from siena.rules.pieces import Share

P = TypeVar("P")
R = TypeVar("R")

# Processes that one command may start.
JOBS_MAX = 256
# Rules that are worth a process: to start one takes as long as to read some dozens.
RULES_PER_JOB_MIN = 128
# Elsewhere libraries of the system do not survive a fork.
_CONTEXT = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_of(rules: int, jobs: int | None) -> Share | None:
    """How work on so many rules is shared by processes; ``None`` if it is not.

    Without ``jobs``, by one for each core; never by more than are worth their while.

    >>> share_of(40, 8) is None, share_of(10_000, 1) is None
    (True, True)
    """
    allowed = cores() if jobs is None else jobs
    worth = min(allowed, JOBS_MAX, rules // RULES_PER_JOB_MIN)
    return partial(in_order, jobs=worth) if worth > 1 else None


def in_order(task: Callable[[P], R], pieces: Sequence[P], *, jobs: int) -> Iterator[R]:
    """What a task makes of each piece, in their order, by so many processes.

    The processes end with the iterator, and with this process.

    Raises:
        SienaError: if a process is ended by others.
    """
    with ProcessPoolExecutor(
        jobs, mp_context=_CONTEXT, initializer=_start, initargs=(task,)
    ) as pool:
        try:
            yield from pool.map(_run, pieces)
        except BrokenProcessPool:
            raise SienaError(
                "a worker process was ended",
                hint="there may be too little memory; try --jobs 1",
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


# --- In a worker ------------------------------------------------------------------

# What this process was started for.
_task: Callable[[Any], Any] | None = None


def _start(task: Callable[[Any], Any]) -> None:
    global _task  # noqa: PLW0603 -- a process has one task, from its start to its end
    _task = task
    # Ctrl-C is for the process that was started by hand; this one just ends.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(piece: Any) -> Any:  # noqa: ANN401 -- what the task takes and gives
    assert _task is not None
    return _task(piece)
