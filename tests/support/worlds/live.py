"""A script with brokers that run: in virtual time, or over sockets."""

import asyncio
import logging
from typing import Any

import uvloop

from siena.broker.broker import Broker
from siena.sim.steps import Step
from virtual.loop import VirtualLoop
from worlds.client import LiveClient
from worlds.invariants import Invariants, Tell, Violation, say_nothing
from worlds.script import Round, Script
from worlds.stages import SocketStage, Stage, VirtualStage


def play_virtual(script: Script, tell: Tell = say_nothing) -> Invariants:
    """Play a script in virtual time, over a network in memory.

    Raises:
        Violation: if the brokers do what they must not.
    """
    loop = VirtualLoop(script.seed)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(_play(script, VirtualStage(script, loop), tell))


def play_over_sockets(script: Script, tell: Tell = say_nothing) -> Invariants:
    """Play a script over sockets, as fast as they go.

    Raises:
        Violation: if the brokers do what they must not.
    """
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_play(script, SocketStage(script), tell))


async def _play(script: Script, stage: Stage, tell: Tell) -> Invariants:
    invariants = Invariants(script, tell)
    mistakes = _Mistakes()
    logging.getLogger("siena.broker").addHandler(mistakes)
    asyncio.get_running_loop().set_exception_handler(mistakes.unexpected)
    players = _Players(script, stage, invariants)
    try:
        await stage.start()
        await players.connect()
        for number, this in enumerate(script.rounds):
            invariants.begin(number, this)
            await players.play(this)
            if mistakes.said:
                invariants.fail(f"a broker made a mistake: {mistakes.said}")
            if any(_repaired(broker) for broker in stage.brokers.values()):
                invariants.fail(
                    "neighbours did not agree on what they had told each other"
                )
    finally:
        players.close()
        await stage.stop()
        logging.getLogger("siena.broker").removeHandler(mistakes)
    return invariants


class _Mistakes(logging.Handler):
    """Remembers what brokers say about mistakes of their own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))

    def unexpected(
        self,
        loop: asyncio.AbstractEventLoop,  # noqa: ARG002 -- asyncio's signature
        context: dict[str, Any],
    ) -> None:
        """What a callback or a task that is not awaited has raised."""
        self.said.append(f"{context['message']}: {context.get('exception')!r}")


class _Players:
    """The clients of a script, and what they do."""

    def __init__(self, script: Script, stage: Stage, invariants: Invariants) -> None:
        self._script = script
        self._stage = stage
        self._invariants = invariants
        self._clients = {
            n: LiveClient(n, invariants.hear, invariants.miss) for n in script.clients
        }

    async def connect(self) -> None:
        """Let all clients connect."""
        for name, at in self._script.clients.items():
            await self._clients[name].connect(self._url(at))

    def close(self) -> None:
        """Let all of them hang up."""
        for client in self._clients.values():
            client.close()

    async def play(self, this: Round) -> None:
        """One round."""
        for hurried in this.hurried:
            await self._happen(hurried.step, this)
            if hurried.pause:
                await self._stage.pause(hurried.pause)
        await self._rest()
        present = {n: c for n, c in self._clients.items() if not c.is_absent}
        self._invariants.rest({name: c.quenched for name, c in present.items()})
        for step in this.judged:
            await self._happen(step, this)
        await self._rest()
        self._invariants.compare()

    async def _happen(self, step: Step, this: Round) -> None:
        self._invariants.step(step)
        if step.op == "connect":
            self._stage.heal(step.at, step.to)
        elif step.op == "disconnect":
            self._stage.cut(step.at, step.to)
        elif step.op == "move":
            # In a gentle round nothing may be lost; else they just hang up.
            is_careful = this.kind == "gentle"
            client, url = self._clients[step.client], self._url(step.to)
            await client.move(url, step.queue, is_careful=is_careful)
        else:
            await self._clients[step.client].ask(step)

    async def _rest(self) -> None:
        try:
            await self._stage.rest()
        except TimeoutError:
            self._invariants.fail("the brokers do not come to rest")
        for client in self._clients.values():
            if client.error is not None:
                if isinstance(client.error, Violation):
                    raise client.error
                self._invariants.fail(str(client.error))
            if client.open:
                self._invariants.fail(f"{client.name} got no answer to {client.open}")

    def _url(self, broker: int) -> str:
        return self._stage.brokers[broker].addresses[0].url


def _repaired(broker: Broker) -> int:
    """How often a broker found that a neighbour had been told something else."""
    counters = broker.snapshot()["counters"]
    assert isinstance(counters, dict)
    return int(counters["repaired"])
