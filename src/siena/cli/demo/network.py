"""The demonstration's first half: a day is published, and comes to who wants it."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import groupby
from time import perf_counter
from typing import Self

import siena
from siena.cli.demo.brokers import Brokers
from siena.cli.demo.day import (
    AIRPORTS,
    HUB,
    PATTERN,
    Wish,
    broker_of,
    number_of,
    sequences_of,
)
from siena.client.client import Client
from siena.client.subscription import Subscription
from siena.errors import SienaError
from siena.model import Notification

# Published last by each airport: who has got all three has got everything before.
END = "demo = end"
# Nothing takes nearly as long, on any machine.
WAIT_SECONDS_MAX = 60.0
# Subscriptions that are on their way at the same time.
AT_ONCE = 500


@dataclass(slots=True)
class Told:
    """What it took to let the whole network know who wants what."""

    messages: int
    seconds: float


@dataclass(slots=True)
class Published:
    """What became of the day."""

    flights: int
    seconds: float
    # Of each wish, by its number, the numbers of the flights that came.
    deliveries: dict[int, list[int]] = field(default_factory=dict)
    sequences: list[tuple[int, ...]] = field(default_factory=list)
    carried: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def pairs(self) -> int:
        """How many deliveries there were."""
        return sum(map(len, self.deliveries.values()))


class Crowd:
    """All subscribers, each where they belong: the crowd in the city.

    Ownership: connections end with the ``async with`` block.
    """

    def __init__(self, brokers: Brokers, wishes: Iterable[Wish]) -> None:
        self._brokers = brokers
        self._wishes = list(wishes)
        self._clients: dict[str, Client] = {}
        self._stack = AsyncExitStack()
        self._standing: dict[int, Subscription[Notification]] = {}
        self._ends: list[Subscription[Notification]] = []
        self._pattern: Subscription[tuple[Notification, ...]] | None = None

    async def __aenter__(self) -> Self:
        for name, url in self._brokers.urls.items():
            connecting = siena.connect(url, name=f"siena demo, {name}")
            self._clients[name] = await self._stack.enter_async_context(connecting)
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()

    async def subscribe(self, report: Callable[[int], None]) -> Told:
        """Say what all clients want, and wait until all brokers know."""
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            return await self._settle_all(report)

    async def _settle_all(self, report: Callable[[int], None]) -> Told:
        before, start = self._brokers.told(), perf_counter()
        for begin in range(0, len(self._wishes), AT_ONCE):
            new = [
                self._subscribe(wish, broker_of(wish))
                for wish in self._wishes[begin : begin + AT_ONCE]
            ]
            await asyncio.gather(*(each.settled() for each in new))
            report(begin + len(new))
        told = Told(self._brokers.told() - before, perf_counter() - start)
        at = self._clients[PATTERN.broker]
        self._pattern = at.subscribe_pattern(PATTERN.interest)
        await self._pattern.settled()
        self._ends = [client.subscribe(END) for client in self._clients.values()]
        await asyncio.gather(*(each.settled() for each in self._ends))
        return told

    def _subscribe(self, wish: Wish, broker: str) -> Subscription[Notification]:
        standing = self._clients[broker].subscribe(wish.filter)
        self._standing[wish.number] = standing
        return standing

    async def publish(self, day: list[Notification]) -> Published:
        """Publish each flight where it leaves, and wait until all have come."""
        by_origin = {
            origin.lower(): list(flights)
            for origin, flights in groupby(sorted(day, key=_origin), _origin)
        }
        carried = self._brokers.carried()
        start = perf_counter()
        async with asyncio.timeout(WAIT_SECONDS_MAX):
            await asyncio.gather(
                *(self._publish(name, by_origin[name]) for name in AIRPORTS)
            )
            for end in self._ends:
                for _ in AIRPORTS:
                    await end.get()
        published = Published(len(day), perf_counter() - start)
        await self._collect(published, expected=len(sequences_of(day)))
        now = self._brokers.carried()
        published.carried = {
            link: now[link] - carried[link] - marks_on(*link) for link in now
        }
        return published

    async def _publish(self, name: str, flights: list[Notification]) -> None:
        client = self._clients[name]
        await client.publish_many([*flights, Notification(demo="end")])
        await client.flush()

    async def _collect(self, published: Published, *, expected: int) -> None:
        for number, standing in self._standing.items():
            if standing.lost:
                raise SienaError(f"{standing.lost} were lost, of {standing.interest}")
            came = await standing.get_many(standing.waiting) if standing.waiting else []
            published.deliveries[number] = sorted(map(number_of, came))
        assert self._pattern is not None
        for _ in range(expected):
            sequence = await self._pattern.get(WAIT_SECONDS_MAX)
            published.sequences.append(tuple(map(number_of, sequence)))


def marks_on(one: str, other: str) -> int:
    """How many of the marks of the end go over a link, which are no flights.

    >>> marks_on("jfk", "hub"), marks_on("hub", "jfk"), marks_on("hub", "city")
    (1, 2, 3)
    """
    if one == HUB:
        return len(AIRPORTS) - (other in AIRPORTS)
    return int(one in AIRPORTS)


def _origin(flight: Notification) -> str:
    return str(flight["origin"])


def run_network(
    brokers: Brokers,
    wishes: Iterable[Wish],
    day: list[Notification] | None,
    report: Callable[[int], None],
) -> tuple[Told, Published | None]:
    """Subscribe all clients, and publish the day if there is one."""

    async def run() -> tuple[Told, Published | None]:
        async with Crowd(brokers, wishes) as crowd:
            told = await crowd.subscribe(report)
            return told, None if day is None else await crowd.publish(day)

    try:
        return asyncio.run(run())
    except TimeoutError:
        raise SienaError(
            f"not all has come within {WAIT_SECONDS_MAX:g} s", hint=f"see {brokers.log}"
        ) from None
