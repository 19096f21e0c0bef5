"""A loop in a thread of its own, with one client in it, for those who do not await."""

import asyncio
import concurrent.futures
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from siena.client.client import Client
from siena.client.core.publisher import Publisher
from siena.client.core.timing import timed
from siena.client.settings import Settings
from siena.errors import ConnectionLostError
from siena.protocol.address import Address

R = TypeVar("R")

# What waits for the loop: as much as it writes in a few turns, for to wait for it costs
# two switches between threads.
PILE_BYTES_MAX = 524_288


class ThreadQueue:
    """Publications from other threads: gathered, and fetched by the loop in one go.

    Waking the loop for each of them, and waiting for it, would cost a hundred times
    more than the publication itself.  The pile is bounded.

    What is on the pile when the connection breaks is lost, as what is in the socket.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, publisher: Publisher) -> None:
        self._loop = loop
        self._publisher = publisher
        self._lock = threading.Lock()
        self._pile: list[bytes] = []
        self._bytes = 0

    def offer(self, frame: bytes) -> bool:
        """Put it on the pile, unless there is no room or the pile is high.

        A caller that is refused asks the loop itself, which comes to that after the
        pile: the order stays.

        Raises:
            ConnectionLostError: if the loop has ended.
        """
        if not self._publisher.has_room:
            return False
        with self._lock:
            if self._bytes >= PILE_BYTES_MAX:
                return False
            is_first = not self._pile
            self._pile.append(frame)
            self._bytes += len(frame)
        if is_first:
            try:
                self._loop.call_soon_threadsafe(self._fetch)
            except RuntimeError:
                raise ConnectionLostError("the client is closed") from None
        return True

    def _fetch(self) -> None:
        with self._lock:
            pile, self._pile = self._pile, []
            self._bytes = 0
        # Even if the room has just gone: it is little, and it was accepted.
        self._publisher.send_anyway(b"".join(pile))


class LoopThread:
    """Runs a client's coroutines, and hands their results to other threads.

    *Ownership*: the caller of :meth:`start` calls :meth:`stop`, after which the thread
    has ended.  Calls that are under way then fail; none waits for ever.
    """

    def __init__(self, addresses: Sequence[Address], settings: Settings) -> None:
        self._addresses = addresses
        self._settings = settings
        self._ready: concurrent.futures.Future[None] = concurrent.futures.Future()
        self._ended: concurrent.futures.Future[None] = concurrent.futures.Future()
        # A daemon: a program that ends without leaving its block shall end.
        self._thread = threading.Thread(
            target=self._live, name="siena client", daemon=True
        )
        self._calls: set[concurrent.futures.Future[Any]] = set()
        self._client: Client | None = None
        self._thread_queue: ThreadQueue | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave: asyncio.Event | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def client(self) -> Client:
        """The client; only the loop may call what changes it."""
        assert self._client is not None, "enter it first: with siena.connect(…)"
        return self._client

    @property
    def thread_queue(self) -> ThreadQueue:
        """Where any thread leaves publications."""
        assert self._thread_queue is not None, "enter it first: with siena.connect(…)"
        return self._thread_queue

    def start(self) -> None:
        """Start the thread; returns when there is a connection."""
        self._thread.start()
        try:
            self._ready.result()
        except BaseException:
            self.stop(is_good=False)
            raise

    def stop(self, *, is_good: bool) -> None:
        """End the thread; in good order, or at once because of another trouble."""
        if self._loop is not None and self._leave is not None:
            assert self._serving is not None
            leave = self._leave.set if is_good else self._serving.cancel
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(leave)
        self._thread.join()
        if is_good:
            self._ended.result()

    def run(self, work: Coroutine[Any, Any, R], timeout_s: float | None = None) -> R:
        """Do this in the loop, and wait for its result.

        Raises:
            ConnectionLostError: if the client is closed, before or meanwhile.
            TimeoutError: if it takes longer than this.
        """
        assert self._loop is not None, "enter it first: with siena.connect(…)"
        limited = timed(work, timeout_s)
        try:
            call = asyncio.run_coroutine_threadsafe(limited, self._loop)
        except RuntimeError:  # the loop is closed
            limited.close()
            work.close()
            raise ConnectionLostError("the client is closed") from None
        self._calls.add(call)
        if self._ended.done():  # after `_live` has looked through the calls
            call.cancel()
        try:
            return call.result()
        except concurrent.futures.CancelledError:
            raise ConnectionLostError("the client is closed") from None
        except BaseException:
            call.cancel()  # Ctrl-C: nobody waits for it any more
            raise
        finally:
            self._calls.discard(call)

    def call(self, function: Callable[[], R]) -> R:
        """Call this in the loop, and wait for its result."""

        async def work() -> R:
            return function()

        return self.run(work())

    def call_soon(self, function: Callable[..., None], *arguments: object) -> None:
        """Call this in the loop, in the order of asking, and do not wait for it.

        Raises:
            ConnectionLostError: if the client is closed.
        """
        assert self._loop is not None, "enter it first: with siena.connect(…)"
        try:
            self._loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:  # the loop is closed
            raise ConnectionLostError("the client is closed") from None

    def _live(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            if not self._ready.done():
                self._ready.set_exception(error)
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)
        for call in list(self._calls):
            call.cancel()

    async def _serve(self) -> None:
        self._serving = asyncio.current_task()
        self._leave = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._client = Client(self._addresses, self._settings)
        self._thread_queue = ThreadQueue(self._loop, self._client.publisher)
        async with self._client:
            self._ready.set_result(None)
            await self._leave.wait()
