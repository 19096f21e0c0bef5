"""Questions that wait for their answers on one connection."""

import asyncio
from collections import deque
from typing import Any

from siena.errors import SienaError

# What was asked: an operation, and the number that it is about, if any.
Question = tuple[int, int | bytes | None]


class Pending:
    """Futures by question; equal questions are answered in the order of asking.

    Cancellation: a caller that stops waiting leaves the place in the queue behind, so
    that the answer, when it comes, is not taken for that of the next.
    """

    def __init__(self) -> None:
        self._waiting: dict[Question, deque[asyncio.Future[Any]]] = {}

    def ask(self, question: Question) -> asyncio.Future[Any]:
        """A future for the answer."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(question, deque()).append(future)
        return future

    def answer(
        self,
        question: Question,
        error: SienaError | None = None,
        answer: object = None,
    ) -> bool:
        """Answer the first caller that asked this; whether there was one."""
        waiting = self._waiting.get(question)
        if not waiting:
            return False
        _resolve(waiting.popleft(), error, answer)
        if not waiting:
            del self._waiting[question]
        return True

    def fail(self, error: SienaError) -> None:
        """No answers will come."""
        for waiting in self._waiting.values():
            for future in waiting:
                _resolve(future, error)
        self._waiting.clear()


def _resolve(
    future: asyncio.Future[Any], error: SienaError | None, answer: object = None
) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(answer)
    else:
        future.set_exception(error)
        future.exception()  # seen, even if whoever asked has left without waiting
