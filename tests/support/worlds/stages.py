"""Stages: where brokers and clients play a script.

One is virtual: brokers in one loop in virtual time, over a network in memory with
delays, and a link breaks where it is.  The other is real: sockets on this machine, and
a link breaks because the broker that called is told to call no more.
"""

import asyncio
from collections.abc import Collection
from contextvars import Context, copy_context
from typing import Protocol

from msgspec.structs import replace

from siena.broker.broker import Broker
from siena.broker.settings import LinkSettings, Routing, Settings, Side as LinkSide
from siena.messages import Side
from siena.sim.architecture import Edge, edges_of
from virtual.loop import VirtualClock, VirtualLoop
from virtual.network import HOST
from worlds.script import SLOWNESS, Script

# A world that has not come to rest after so many seconds never does.
REST_SECONDS_MAX = 120.0
# How often neighbours compare what they have told each other: now and then, and not
# before what they have sent for it has arrived.
DIGEST_SECONDS = 7.0
# How often is looked whether it has: in virtual seconds, and in real ones.
LOOK_SECONDS = 0.02
LOOK_SECONDS_OVER_SOCKETS = 0.002
# Over sockets, how many looks in a row must see that nothing happened in between.
QUIET_LOOKS = 3


# What a broker may take one for that it calls: nobody calls a child.
_SIDES: dict[Side, LinkSide] = {
    Side.MASTER: "master",
    Side.PEER: "peer",
    Side.MESH: "mesh",
}


class Stage(Protocol):
    """What a script needs of the place where it is played."""

    brokers: dict[int, Broker]

    async def start(self) -> None:
        """Start all brokers, and wait until all links stand."""
        ...

    def cut(self, one: int, other: int) -> None:
        """Let a link break."""
        ...

    def heal(self, one: int, other: int) -> None:
        """Let it come up again, when the broker that called calls again."""
        ...

    async def pause(self, share: float) -> None:
        """Let a share of the longest delay of a link pass."""
        ...

    async def rest(self) -> None:
        """Wait until nothing is on its way, and the links stand that should."""
        ...

    async def stop(self) -> None:
        """End all brokers."""
        ...


class _Stage:
    """What both have in common: the brokers of a script, and its links."""

    def __init__(self, script: Script) -> None:
        self._script = script
        edges = edges_of(script.topology, script.architecture, script.options, {})
        self._edges: dict[tuple[int, int], Edge] = {edge.ends: edge for edge in edges}
        self._up = set() if script.is_apart else set(self._edges)
        self.brokers: dict[int, Broker] = {}

    def _settings(self, number: int) -> Settings:
        """Of a broker that listens at any port and calls nobody yet."""
        options = self._script.options
        routing = Routing(
            forwarding=options.forwarding,
            covering=options.covering,
            merging=options.merging,
            paths=options.paths,
            quench=options.quench,
        )
        return Settings(
            name=_name(number),
            listen=("127.0.0.1:0",),
            accept_peers=True,
            routing=routing,
            digest_seconds=DIGEST_SECONDS,
            pulse_seconds=DIGEST_SECONDS,  # or something would always be on its way
        )

    def _calls(self, number: int, links: Collection[tuple[int, int]]) -> Settings:
        """The settings of a broker that calls, over some of the links."""
        called = tuple(
            LinkSettings(
                url=self.brokers[edge.other].addresses[0].url,
                side=_SIDES[edge.side],
                weight=edge.weight,
            )
            for ends, edge in sorted(self._edges.items())
            if edge.one == number and ends in links
        )
        return replace(self.brokers[number].settings, links=called)

    def _is_linked(self) -> bool:
        """Whether each broker has the links that it should, and no others."""
        for number, broker in self.brokers.items():
            wanted = {_name(a + b - number) for a, b in self._up if number in {a, b}}
            links = broker.snapshot()["links"]
            assert isinstance(links, list)
            if {link["name"] for link in links} != wanted:
                return False
        return True


class VirtualStage(_Stage):
    """Brokers over a network in memory, in the virtual loop that runs this."""

    def __init__(self, script: Script, loop: VirtualLoop) -> None:
        super().__init__(script)
        self.network = loop.network
        self._loop = loop
        self._contexts: dict[int, Context] = {}
        low, high = script.latency
        for link in self._edges:
            times = SLOWNESS if link in script.slow else 1.0
            for here, there in (link, reversed(link)):
                way = _name(here), _name(there)
                self.network.delays[way] = times * low, times * high
            if script.is_apart:
                self.network.cut(*map(_name, link))

    async def start(self) -> None:
        clock = VirtualClock(self._loop)
        for number in self._script.topology.brokers:
            broker = Broker(self._settings(number), clock=clock)
            context = self._contexts[number] = copy_context()
            context.run(HOST.set, _name(number))
            await self._loop.create_task(broker.start(), context=context)
            self.brokers[number] = broker
        for number, context in self._contexts.items():
            settings = self._calls(number, self._edges)
            context.run(self.brokers[number].reload, settings)
        await self.rest()

    def cut(self, one: int, other: int) -> None:
        self._up.discard((one, other))
        self.network.cut(_name(one), _name(other))

    def heal(self, one: int, other: int) -> None:
        self._up.add((one, other))
        self.network.heal(_name(one), _name(other))

    async def pause(self, share: float) -> None:
        await asyncio.sleep(share * self._script.latency[1])

    async def rest(self) -> None:
        async with asyncio.timeout(REST_SECONDS_MAX):
            while not self._is_resting():  # noqa: ASYNC110 -- nobody tells
                await asyncio.sleep(LOOK_SECONDS)

    def _is_resting(self) -> bool:
        is_quiet = self._loop.is_idle and self.network.is_quiet
        return is_quiet and self._is_linked()

    async def stop(self) -> None:
        for number, broker in self.brokers.items():
            context = self._contexts[number]
            await self._loop.create_task(broker.drain(), context=context)


class SocketStage(_Stage):
    """Brokers on sockets of this machine, in the loop that runs this."""

    async def start(self) -> None:
        for number in self._script.topology.brokers:
            broker = Broker(self._settings(number))
            await broker.start()
            self.brokers[number] = broker
        for number, broker in self.brokers.items():
            broker.reload(self._calls(number, self._up))
        await self.rest()

    def cut(self, one: int, other: int) -> None:
        self._up.discard((one, other))
        self._call_again(one, other)

    def heal(self, one: int, other: int) -> None:
        self._up.add((one, other))
        self._call_again(one, other)

    def _call_again(self, one: int, other: int) -> None:
        caller = self._edges[one, other].one
        self.brokers[caller].reload(self._calls(caller, self._up))

    async def pause(self, share: float) -> None:
        await asyncio.sleep(share * LOOK_SECONDS_OVER_SOCKETS)

    async def rest(self) -> None:
        """What is written to a socket of this machine can be read from it at once.

        So if nobody has read or written anything between some looks, and no broker has
        put anything off or lets anybody wait, nothing is on its way.
        """
        before: object = None
        looks = 0
        async with asyncio.timeout(REST_SECONDS_MAX):
            while looks < QUIET_LOOKS or not self._is_linked():
                await asyncio.sleep(LOOK_SECONDS_OVER_SOCKETS)
                now = [b.snapshot()["counters"] for b in self.brokers.values()]
                is_quiet = now == before and not self._is_put_off()
                looks = looks + 1 if is_quiet else 0
                before = now

    def _is_put_off(self) -> bool:
        """Whether a broker has work for later, or lets those wait who want much."""
        states = [broker.state for broker in self.brokers.values()]
        return any(s.router.backlog or s.shares.has_waiting for s in states)

    async def stop(self) -> None:
        for broker in self.brokers.values():
            await broker.drain()


def _name(number: int) -> str:
    return f"b{number}"
