"""The cast of a run: five brokers in a mesh of proxies, publishers and subscribers."""

import asyncio
import random
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Self

from siena.block import decode
from siena.broker.log.offline.folder import OfflineLog
from siena.client.client import Client
from siena.client.connect import Connecting, connect
from siena.client.core.backoff import Backoff
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.model import Notification
from siena.testing.chaos.ledger import Event, Key, Ledger, Received, Wants
from siena.testing.chaos.mortals import Mortals
from siena.testing.chaos.moved_clock import MODULE, move_clock
from siena.testing.chaos.proxy import Proxy
from siena.testing.in_process import ProcessBroker

BROKERS = 5
# A ring and a chord: whatever one link or broker does, there is another way.
MESH = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2))
# No cycles: there is one way, and what is acknowledged keeps its order on it.
TREE = ((0, 1), (1, 2), (1, 3), (3, 4))
# What a publisher sends before it waits for an answer.
BATCH = 5
KINDS = ("quote", "trade", "alarm")

_CONFIG = """
pulse_seconds = {pulse}
[log]
segment_bytes = 65536
"""

# The filters of subscribers, each beside a test of the same that asks nobody.
WANTED: tuple[tuple[str, Wants], ...] = (
    ("level any", lambda _event: True),
    ("kind = alarm", lambda event: event.kind == "alarm"),
    ("level > 5 and kind != trade", lambda e: e.level > 5 and e.kind != "trade"),
    ("publisher in (1, 3)", lambda event: event.publisher in {1, 3}),
    ("kind >* t or level < 2", lambda e: e.kind.startswith("t") or e.level < 2),
)


class Cast:
    """Brokers and their clients.

    Ownership: of the processes, the proxies and the clients, within ``async with``.
    """

    def __init__(
        self,
        folder: Path,
        rng: random.Random,
        rate: float,
        pulse_s: float,
        *,
        acked: bool = False,
        durable: bool = False,
    ) -> None:
        self._acked = acked or durable
        self._durable = durable
        self.links = TREE if durable else MESH
        """Who is linked to whom."""
        self._folder = folder
        self._rng = rng
        self._rate = rate
        self._pulse_s = pulse_s
        self.ledger = Ledger(durable=durable)
        self.brokers: list[ProcessBroker] = []
        self.proxies: dict[tuple[int, int], Proxy] = {}
        # The last is a publisher in a process of its own, at the first broker.
        self._next = [0] * (BROKERS + durable)
        self.mortals: Mortals | None = None
        """Clients that can be killed, if there are some."""
        self._stack = AsyncExitStack()
        self._tasks: list[asyncio.Task[None]] = []
        self._clock = SystemClock()
        self._is_over = False
        self._is_hushed = False

    def log_of(self, number: int) -> Path:
        """The folder of a broker's log."""
        return self._folder / f"b{number}"

    def _clock_of(self, number: int) -> Path:
        return self._folder / f"b{number}.clock"

    def move_clock(self, number: int, seconds: float) -> None:
        """Let a broker's clock on the wall be wrong by so much."""
        move_clock(self._clock_of(number), seconds)

    def limit_file_size(self, number: int, size: int | None) -> None:
        """Let a broker write no file beyond a size, as if its disk were full."""
        if not self.brokers[number].is_running:  # another fault has it
            return
        import resource  # noqa: PLC0415 -- not on Windows, where all else can be read

        hard = resource.RLIM_INFINITY
        size = hard if size is None else size
        resource.prlimit(self.brokers[number].pid, resource.RLIMIT_FSIZE, (size, hard))

    async def __aenter__(self) -> Self:
        self._stack.callback(self._end)
        if self._durable:
            self.mortals = Mortals(
                *(self.ledger, lambda: self.next_event(BROKERS)),
                *(lambda: self._is_hushed, self._rate),
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        config = self._folder / "broker.toml"
        config.write_text(_CONFIG.format(pulse=self._pulse_s))
        try:
            for number in range(BROKERS):
                broker = ProcessBroker(
                    [
                        *("--config", str(config), "--log", str(self.log_of(number))),
                        *("--name", f"b{number}", "--accept-peers"),
                        *await self._links_of(number),
                    ],
                    entry=("-m", MODULE, str(self._clock_of(number))),
                )
                self.move_clock(number, 0.0)
                self.brokers.append(broker)
                await self.start(number)
            self._clients = await self._stack.enter_async_context(asyncio.TaskGroup())
        except BaseException:  # those that run already would be left
            await self.__aexit__()
            raise
        return self

    async def start(self, number: int) -> None:
        """Start a broker; cancelled or not, it has started, or failed, in the end."""
        loop = asyncio.get_running_loop()
        starting = loop.run_in_executor(None, self.brokers[number].start)
        try:
            await asyncio.shield(starting)
        except asyncio.CancelledError:
            # Its process would begin when all that there are have been ended.
            await asyncio.wait([starting])
            raise

    async def __aexit__(self, *_: object) -> None:
        self._is_over = True
        if self.mortals is not None:
            self.mortals.end()
        for broker in self.brokers:
            with suppress(AssertionError, OSError):
                broker.thaw()
        for task in self._tasks:
            task.cancel()
        await self._stack.aclose()
        for proxy in self.proxies.values():
            await proxy.close()

    def _end(self) -> None:
        for broker in self.brokers:
            broker.kill()

    async def _links_of(self, number: int) -> list[str]:
        """It calls those that run already, each through a proxy."""
        options: list[str] = []
        option = "--peer" if self._durable else "--mesh"
        for a, b in self.links:
            if max(a, b) == number:
                host, _, port = self.brokers[min(a, b)].url[8:].partition(":")
                proxy = self.proxies[a, b] = Proxy((host, int(port)))
                await proxy.start()
                options += [option, proxy.url]
        return options

    def hush(self) -> None:
        """Let no client publish any more."""
        self._is_hushed = True

    async def begin(self) -> None:
        """Let all clients come; returns when what they want is in force."""
        ready: list[asyncio.Future[None]] = []
        loop = asyncio.get_running_loop()
        for number, (text, wants) in enumerate(WANTED):
            name = f"s{number}"
            self.ledger.subscribers[name] = Received(wants)
            ready.append(loop.create_future())
            work = self._subscribe(name, number, text, ready[-1])
            self._tasks.append(self._clients.create_task(work))
        await asyncio.gather(*ready)
        if self.mortals is not None:
            await self._begin_mortals(self.mortals)
        for number in range(BROKERS):
            ready.append(loop.create_future())
            work = self._publish(number, ready[-1])
            self._tasks.append(self._clients.create_task(work))
        await asyncio.gather(*ready)

    async def _begin_mortals(self, mortals: Mortals) -> None:
        """A reader at the second broker, and a publisher at the first."""
        is_read, is_publishing = asyncio.Event(), asyncio.Event()
        reader = (self.brokers[1].url, f"s{len(WANTED)}", WANTED[0], is_read)
        publisher = (self.brokers[0].url, f"p{BROKERS}", is_publishing)
        self._tasks.append(self._clients.create_task(mortals.read(*reader)))
        await is_read.wait()
        self._tasks.append(self._clients.create_task(mortals.publish(*publisher)))
        await is_publishing.wait()

    def _connect(self, number: int, on_gap: Callable[[object], object]) -> Connecting:
        return connect(
            self.brokers[number].url,
            reconnect=Backoff(first_s=0.05, most_s=0.5, give_up_s=3600.0),
            keepalive_s=2.0,
            on_gap=on_gap,
        )

    # --- Subscribers ----------------------------------------------------------------

    async def _subscribe(
        self, name: str, number: int, text: str, ready: "asyncio.Future[None]"
    ) -> None:
        received = self.ledger.subscribers[name]

        def missed(_gap: object) -> None:
            received.gaps += 1

        async with self._connect(number, missed) as client:
            if self._durable:
                await self._read_durably(client, name, text, ready)
            wanted = await client.subscribe(text).settled()
            ready.set_result(None)
            async for notification in wanted:
                self.ledger.receive(name, event_of(notification))
                received.told_lost = client.lost

    async def _read_durably(
        self, client: Client, name: str, text: str, ready: "asyncio.Future[None]"
    ) -> None:
        """Acknowledge all that comes; in order for each publisher."""
        wanted = client.subscribe(text, durable=name, key="publisher")
        await wanted.settled()
        ready.set_result(None)
        async for message in wanted:
            event = event_of(message.notification)
            self.ledger.receive(name, event, message.offset)
            message.ack()

    # --- Publishers -----------------------------------------------------------------

    async def _publish(self, number: int, ready: "asyncio.Future[None]") -> None:
        async with self._connect(number, lambda _gap: None) as client:
            ready.set_result(None)
            while not (self._is_over or self._is_hushed):
                try:
                    await self._publish_some(client, number)
                except SienaError:  # its broker is gone, and comes back
                    await asyncio.sleep(0.05)

    async def _publish_some(self, client: Client, number: int) -> None:
        if self._acked:
            await self._publish_acked(client, number)
            return
        for _ in range(BATCH):
            event = self.next_event(number)
            self.ledger.publish(event)
            await client.publish(event._asdict())
            await asyncio.sleep(1 / self._rate)
        upto = self._next[number] - 1
        begun = self._clock.elapsed()
        await client.flush()
        self.ledger.waited(self._clock.elapsed() - begun)
        self.ledger.acknowledge(number, upto)

    async def _publish_acked(self, client: Client, number: int) -> None:
        """Publish one, and wait until the disk of its broker has it."""
        event = self.next_event(number)
        self.ledger.publish(event)
        begun = self._clock.elapsed()
        await client.publish(event._asdict(), ack=True)
        self.ledger.waited(self._clock.elapsed() - begun)
        self.ledger.acknowledged.add(event[:2])
        await asyncio.sleep(1 / self._rate)

    def read_stores(self) -> None:
        """Look what the logs have, once no broker runs any more."""
        for number in range(BROKERS):
            self.ledger.stored[number] = [key for _, key in self.read_store(number)]

    def read_store(self, number: int) -> list[tuple[int, Key]]:
        """What a log has, with its offsets, while its broker does not run."""
        with OfflineLog(self.log_of(number)) as offline:
            return [
                (record.first + at, event_of(decode(block))[:2])
                for record in offline.records(lambda _file: None)
                for at, block in enumerate(record.all_blocks())
            ]

    def name_damage(self, number: int, before: list[tuple[int, Key]]) -> int:
        """What a log had before, and has not, is named by it; how many that is."""
        with OfflineLog(self.log_of(number)) as offline:
            gaps = offline.check(lambda _file: None).lost
        lost = set(before) - set(self.read_store(number))
        named = {k for at, k in lost if any(g.first <= at < g.end for g in gaps)}
        self.ledger.named |= named
        return len(named)

    def next_event(self, publisher: int) -> Event:
        """What a publisher says next."""
        number, self._next[publisher] = self._next[publisher], self._next[publisher] + 1
        level, kind = self._rng.randrange(10), self._rng.choice(KINDS)
        return Event(publisher, number, level, kind)

    def marks(self) -> list[int]:
        """Where each publisher is."""
        return list(self._next)


def event_of(notification: Notification) -> Event:
    """What a notification says."""
    fields = {name: notification[name] for name in Event._fields}
    return Event(**fields)  # type: ignore[arg-type]
