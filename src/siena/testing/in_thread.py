"""Brokers in a thread of the test's own process: there in milliseconds."""

import asyncio
import concurrent.futures
import contextlib
import threading

import msgspec

from siena.broker.broker import Broker
from siena.broker.settings import Settings
from siena.testing.running import START_SECONDS, STOP_SECONDS, RunningBroker


class ThreadBroker(RunningBroker):
    """A broker in a thread, with a loop of its own.

    Ownership: the thread ends with :meth:`stop`, and it is a daemon, so that a test
    that fails to stop it does not hang.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._thread: threading.Thread | None = None
        self._broker: Broker | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None

    @property
    def links(self) -> int:
        """How many links to other brokers stand."""
        return 0 if self._broker is None else len(self._broker.state.links)

    def start(self) -> None:
        """Start it; returns when it listens."""
        assert self._thread is None, "it runs already"
        ready: concurrent.futures.Future[Broker] = concurrent.futures.Future()
        self._thread = threading.Thread(
            target=self._live, args=(ready,), name="siena broker", daemon=True
        )
        self._thread.start()
        try:
            self._broker = broker = ready.result(START_SECONDS)
        except BaseException:
            self._thread = None
            raise
        self._name = broker.name
        self._port = broker.addresses[0].port

    def stop(self) -> None:
        """End it in good order, if it runs."""
        if self._thread is not None:
            assert self._loop is not None
            assert self._ended is not None
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(STOP_SECONDS)
            assert not self._thread.is_alive(), "the broker does not end"
            self._thread = self._broker = None

    def _live(self, ready: "concurrent.futures.Future[Broker]") -> None:
        try:
            with _new_runner() as runner:
                runner.run(self._serve(ready))
        except BaseException as error:
            if ready.done():
                raise  # loud, in the test that runs then
            ready.set_exception(error)

    async def _serve(self, ready: "concurrent.futures.Future[Broker]") -> None:
        self._loop = asyncio.get_running_loop()
        self._ended = asyncio.Event()
        listen = (f"127.0.0.1:{self._port}",)
        # The first address is its name, unless it has one.
        settings = msgspec.structs.replace(
            self._settings,
            listen=listen,
            name=self._settings.name or self._name or None,
        )
        broker = Broker(settings)
        await broker.start()
        ready.set_result(broker)
        await self._ended.wait()
        await broker.drain()


def _new_runner() -> asyncio.Runner:
    """With the loop that brokers have when they serve."""
    try:
        import uvloop  # noqa: PLC0415 -- there is none for Windows
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
