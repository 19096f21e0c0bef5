"""Questions that wait for their answers on one connection."""

import asyncio
from collections import deque

from siena.errors import SienaError

# What was asked: an operation, and the number that it is about, if any.
Question = tuple[int, int | bytes | None]


class Pending:
    """Futures by question; equal questions are answered in the order of asking.

    Cancellation: whoever stops waiting leaves the place in the queue behind, so that
    the answer, when it comes, is not taken for that of the next.
    """

    def __init__(self) -> None:
        self._waiting: dict[Question, deque[asyncio.Future[None]]] = {}

    def ask(self, question: Question) -> asyncio.Future[None]:
        """A future for the answer."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(question, deque()).append(future)
        return future

    def answer(self, question: Question, error: SienaError | None = None) -> bool:
        """Answer the first who asked this; whether somebody had."""
        waiting = self._waiting.get(question)
        if not waiting:
            return False
        _resolve(waiting.popleft(), error)
        if not waiting:
            del self._waiting[question]
        return True

    def fail(self, error: SienaError) -> None:
        """No answers will come."""
        for waiting in self._waiting.values():
            for future in waiting:
                _resolve(future, error)
        self._waiting.clear()


def _resolve(future: asyncio.Future[None], error: SienaError | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
        future.exception()  # seen, even if whoever asked has left without waiting
