"""What one worker does, in a process of its own."""

import asyncio
import logging
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection as Pipe
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from siena.broker.broker import Broker
from siena.broker.logs import set_up_logs
from siena.broker.settings import LinkSettings, Settings
from siena.broker.workers.socket_passing import SocketReceiver
from siena.broker.workers.worker import Worker
from siena.errors import SienaError

if TYPE_CHECKING:
    from siena.broker.http.server import HttpServer

log = logging.getLogger("siena.broker")

# How long a worker may take until it is linked to the hub.
START_SECONDS_MAX = 60.0

RunLoop = Callable[[], asyncio.Runner]


class Ready(NamedTuple):
    """What a worker says first: that it serves, or why it cannot."""

    error: str = ""
    http: str | None = None


def settings_of(settings: Settings, worker: Worker) -> Settings:
    """The settings of one worker, of those of the broker.

    Only the hub has neighbours, and serves HTTP.
    """
    if worker.is_hub:
        return settings
    return replace(
        settings,
        name=f"{settings.name}#{worker.number}",
        http=None,
        accept_peers=False,
        links=(LinkSettings(url=worker.hub.url),),
    )


def work(
    settings: Settings, worker: Worker, runner: RunLoop, pipe: Pipe, level: int
) -> None:
    """Be a worker, until it is told to end."""
    set_up_logs(settings.log_format, level)
    with runner() as loop:
        loop.run(_serve(settings, worker, pipe))


async def _serve(settings: Settings, worker: Worker, pipe: Pipe) -> None:
    broker = Broker(settings_of(settings, worker), worker=worker)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    # The supervisor hears it, and says what is to be done.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    http: HttpServer | None = None
    try:
        await broker.start()
        if broker.settings.http is not None:
            http = await _serve_http(broker, broker.settings.http)
        receiver = SocketReceiver(worker.sockets, broker) if worker.is_hub else None
        await _linked(broker, worker)
    except (SienaError, OSError, TimeoutError) as error:
        pipe.send(Ready(str(error) or "no link to the hub"))
        sys.exit(1)
    pipe.send(Ready(http=None if http is None else http.url))
    loop.add_reader(pipe.fileno(), _hear, broker, worker, pipe, ended)
    await ended.wait()
    loop.remove_reader(pipe.fileno())
    if receiver is not None:
        await receiver.stop()
    if http is not None:
        await http.drain()
    await broker.drain()


async def _serve_http(broker: Broker, where: str) -> "HttpServer":
    from siena.broker.http.server import HttpServer  # noqa: PLC0415 -- only the hub

    server = HttpServer(broker, where)
    await server.start()
    return server


def _hear(broker: Broker, worker: Worker, pipe: Pipe, ended: asyncio.Event) -> None:
    """Take the settings that the supervisor has read again."""
    try:
        settings = pipe.recv()
    except (EOFError, OSError):  # it has gone, and so do we
        ended.set()
        return
    try:
        left = broker.reload(settings_of(settings, worker))
    except SienaError as error:  # the supervisor has read them; they changed since
        log.warning("worker %d has not reloaded: %s", worker.number, error)
        left = []
    pipe.send(left)


async def _linked(broker: Broker, worker: Worker) -> None:
    """Wait for the link to the hub."""
    if not worker.is_hub:
        async with asyncio.timeout(START_SECONDS_MAX):
            while not broker.state.links:  # noqa: ASYNC110 -- links have no event
                await asyncio.sleep(0.005)
