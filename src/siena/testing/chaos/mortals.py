"""Clients that are killed: a durable reader and a publisher, each in its process.

What they said is in the ledger; what they had begun they find again at their broker, by
the name of the subscription, and by that of the publisher.
"""

import asyncio
import json
import random
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress

from siena.clock import SystemClock
from siena.testing.chaos.client_process import MODULE
from siena.testing.chaos.ledger import Event, Ledger, Received, Wants


class Mortals:
    """Both of them, as long as a run lasts.

    Ownership: of the processes, until :meth:`end`.

    Args:
        next_event: what the publisher says next.
        is_quiet: whether nothing is to be published any more.
    """

    def __init__(
        self,
        ledger: Ledger,
        next_event: Callable[[], Event],
        is_quiet: Callable[[], bool],
        rate: float,
    ) -> None:
        self._ledger = ledger
        self._next_event = next_event
        self._is_quiet = is_quiet
        self._rate = rate
        self._processes: dict[str, Process] = {}
        self._clock = SystemClock()
        self._is_over = False

    async def _begin(self, kind: str, *said: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", MODULE, kind, *said), stdin=PIPE, stdout=PIPE
        )
        if self._is_over:  # meanwhile
            process.kill()
        self._processes[kind] = process
        return process

    def kill(self, rng: random.Random) -> str:
        """Kill one of them (SIGKILL); it begins anew by itself."""
        kind = rng.choice(sorted(self._processes))
        with suppress(ProcessLookupError):  # it has just begun anew
            self._processes[kind].kill()
        return {"read": "a durable reader", "publish": "a publisher"}[kind]

    def end(self) -> None:
        """Kill both, for good."""
        self._is_over = True
        for process in self._processes.values():
            with suppress(ProcessLookupError):
                process.kill()

    async def read(
        self, url: str, name: str, wanted: tuple[str, Wants], ready: asyncio.Event
    ) -> None:
        """Have a process read, again and again."""
        text, wants = wanted
        self._ledger.subscribers[name] = Received(wants)
        while not self._is_over:
            process = await self._begin("read", url, name, text)
            assert process.stdout is not None
            async for line in process.stdout:
                if line == b"ready\n":
                    ready.set()
                elif line.endswith(b"\n"):  # not half of one
                    said, offset = json.loads(line)
                    self._ledger.receive(name, Event(**said), offset)
            await process.wait()

    async def publish(self, url: str, name: str, ready: asyncio.Event) -> None:
        """Have a process publish, again and again; what has no receipt, once more."""
        events: list[Event] = []
        while not self._is_over:
            process = await self._begin("publish", url, name)
            with suppress(ConnectionError):
                await self._publish_through(process, events, ready)
            if process.stdin is not None:
                process.stdin.close()
            await process.wait()

    async def _publish_through(
        self, process: Process, events: list[Event], ready: asyncio.Event
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        said = await process.stdout.readline()
        if not said.endswith(b"\n"):
            return
        ready.set()
        at = int(said)
        self._ledger.acknowledged.update(event[:2] for event in events[:at])
        while not self._is_over:
            if at == len(events):
                if self._is_quiet():
                    await asyncio.sleep(0.1)
                    continue
                events.append(self._next_event())
                self._ledger.publish(events[-1])
            begun = self._clock.elapsed()
            process.stdin.write(json.dumps(events[at]._asdict()).encode() + b"\n")
            if await process.stdout.readline() != b"stored\n":
                return
            self._ledger.waited(self._clock.elapsed() - begun)
            self._ledger.acknowledged.add(events[at][:2])
            at += 1
            await asyncio.sleep(1 / self._rate)
