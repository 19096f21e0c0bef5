"""Neighbours that have gone without a word, in virtual time and for real."""

import asyncio
import logging
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any

import httpx
import pytest

from http_wire import web
from served import process, ready
from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.io.backpressure import Held
from siena.broker.peers.dialer import ANSWER_SECONDS_MAX, CALL_SECONDS_MAX
from siena.broker.peers.link import Link
from siena.broker.settings import LinkSettings, Settings
from siena.protocol.data_frames import Delivery
from siena.protocol.handshake import Info
from virtual.loop import VirtualClock, VirtualLoop
from virtual.network import HOST
from wire import connect, hang_up, serving, settings, until

# What a dead neighbour may take to be noticed; and the rest of the network to know.
NOTICED_SECONDS_MAX = 10.0
REROUTED_SECONDS_MAX = 2.0


class Hosts:
    """Brokers in virtual time, each on a host of its own."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.network = loop.network
        self._contexts: dict[Broker, Context] = {}

    async def start(self, name: str, calls: Sequence[Broker] = ()) -> Broker:
        """A broker of a mesh that calls these."""
        links = tuple(
            LinkSettings(url=each.addresses[0].url, side="mesh") for each in calls
        )
        broker = Broker(settings(name, *links), clock=VirtualClock(self.loop))
        context = self._contexts[broker] = copy_context()
        context.run(HOST.set, name)
        await self.loop.create_task(broker.start(), context=context)
        return broker

    async def stop(self) -> None:
        for broker, context in self._contexts.items():
            await self.loop.create_task(broker.drain(), context=context)


Story = Callable[[Hosts], Coroutine[Any, Any, None]]


def play(story: Story) -> None:
    """Let a story happen in virtual time."""
    loop = VirtualLoop(seed=1)

    async def from_beginning_to_end() -> None:
        hosts = Hosts(loop)
        try:
            await story(hosts)
        finally:
            hang_up()
            await hosts.stop()

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(from_beginning_to_end())


async def seconds_until(loop: VirtualLoop, holds: Callable[[], object]) -> float:
    """How much virtual time passes until something is so."""
    begin = loop.time()
    async with asyncio.timeout(1000):
        while not holds():  # noqa: ASYNC110 -- there is no event to wait for
            await asyncio.sleep(0.01)
    return loop.time() - begin


def names(broker: Broker) -> set[str]:
    return {str(link.snapshot()["name"]) for link in broker.state.links.values()}


def test_a_neighbour_that_falls_silent_is_noticed_and_the_mesh_goes_round_it() -> None:
    async def story(hosts: Hosts) -> None:
        a = await hosts.start("a")
        b = await hosts.start("b", [a])
        c = await hosts.start("c", [a, b])
        await seconds_until(hosts.loop, lambda: len(a.state.links) == 2)
        await asyncio.sleep(60)  # nothing happens, and no broker is taken for dead
        assert [names(each) for each in (a, b, c)] == [
            {"b", "c"},
            {"a", "c"},
            {"a", "b"},
        ]
        subscriber, publisher = await connect(c), await connect(a)
        await subscriber.subscribe(1, "x > 3")
        hosts.network.mute("a", "c")
        taken = await seconds_until(
            hosts.loop, lambda: names(a) == {"b"} and names(c) == {"b"}
        )
        assert taken <= NOTICED_SECONDS_MAX
        assert (a.state.counters.silenced, b.state.counters.silenced) == (1, 0)
        await asyncio.sleep(REROUTED_SECONDS_MAX)
        publisher.publish({"x": 5})
        assert await subscriber.next() == Delivery((1,), encode({"x": 5}))
        assert b.state.counters.forwarded == 1
        hosts.network.heal("a", "c")
        await seconds_until(hosts.loop, lambda: names(a) == {"b", "c"})

    play(story)


def test_a_link_that_is_held_is_not_dead_for_either_end() -> None:
    class Full:
        """What a connection waits for."""

        def __init__(self) -> None:
            self.holds: set[Held] = set()

    async def story(hosts: Hosts) -> None:
        a = await hosts.start("a")
        b = await hosts.start("b", [a])
        await seconds_until(hosts.loop, lambda: a.state.links and b.state.links)
        (link,) = a.state.links.values()
        assert isinstance(link, Link)
        full = Full()
        link.connection.hold(full)
        await asyncio.sleep(300)
        assert (names(a), names(b)) == ({"b"}, {"a"})
        link.connection.release(full)
        await asyncio.sleep(300)
        assert (names(a), names(b)) == ({"b"}, {"a"})
        assert a.state.counters.silenced == b.state.counters.silenced == 0

    play(story)


class Mute(asyncio.Protocol):
    """What answers a call with so much, and nothing else."""

    def __init__(self, first: bytes) -> None:
        self._first = first

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._first)


@pytest.mark.parametrize(
    ("said", "seconds", "error"),
    [
        (b"", CALL_SECONDS_MAX, "it says nothing in 10 s"),
        (
            Info("x", 7, 1, "siena 0.1.0").line(),
            ANSWER_SECONDS_MAX,
            "it says neither yes nor no in 60 s",
        ),
    ],
    ids=["nothing", "INFO"],
)
def test_a_call_that_is_not_answered_is_given_up_and_made_again(
    said: bytes, seconds: float, error: str
) -> None:
    async def story(hosts: Hosts) -> None:
        bound = socket.socket()
        bound.bind(("127.0.0.1", 0))
        calls: list[Mute] = []

        def answer() -> Mute:
            calls.append(Mute(said))
            return calls[-1]

        HOST.set("x")
        server = await hosts.loop.create_server(answer, sock=bound)
        url = f"siena://127.0.0.1:{bound.getsockname()[1]}"
        told = settings("a", LinkSettings(url=url))
        broker = Broker(told, clock=VirtualClock(hosts.loop))
        await broker.start()
        try:
            await asyncio.sleep(seconds + 1)
            (wanted,) = broker.wanted_links()
            assert wanted == {
                "url": url,
                "side": "peer",
                "up": False,
                "error": error,
            }
            await asyncio.sleep(2 * seconds)
            assert len(calls) >= 2
            # Those that were given up are closed.
            assert broker.state.counters.connections_now <= 1
        finally:
            await broker.drain()
            server.close()

    play(story)


async def test_a_process_that_is_frozen_is_noticed_and_comes_back(
    tmp_path: Path,
) -> None:
    told = Settings(listen=("127.0.0.1:0",), accept_peers=True, pulse_seconds=0.1)
    async with serving(told) as broker:
        config = tmp_path / "siena.toml"
        url = broker.addresses[0].url
        config.write_text(
            'name = "frozen"\nlisten = ["127.0.0.1:0"]\npulse_seconds = 0.1\n'
            f'[[links]]\nurl = "{url}"\n'
        )
        with process("--config", str(config), "--json") as other:
            await asyncio.get_running_loop().run_in_executor(None, ready, other)
            await until(lambda: broker.state.links)
            os.kill(other.pid, signal.SIGSTOP)
            await until(lambda: not broker.state.links)
            assert broker.state.counters.silenced == 1
            os.kill(other.pid, signal.SIGCONT)
            await until(lambda: broker.state.links)


# --- Links that are missing ---------------------------------------------------------


async def test_a_missing_link_is_told_once_and_so_is_that_it_is_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "siena.broker")
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    port = bound.getsockname()[1]
    bound.close()
    url = f"siena://127.0.0.1:{port}"
    async with serving(settings("b1", LinkSettings(url=url))) as caller:
        # Several calls: they begin after a twentieth of a second.
        await until(lambda: "refused" in str(caller.wanted_links()))
        await asyncio.sleep(0.3)
        (said,) = caplog.messages
        assert said.startswith(f"no link to {url}: ")
        assert said.endswith("; it is called again")
        caplog.clear()
        there = Settings(name="b0", listen=(f"127.0.0.1:{port}",), accept_peers=True)
        async with serving(there):
            await until(lambda: caller.state.links)
            assert caplog.messages == [f"the link to {url} is up"]
            assert caller.wanted_links() == [{"url": url, "side": "peer", "up": True}]
            caplog.clear()
        await until(lambda: not caller.state.links)
        assert caplog.messages == [f"no link to {url}: it has gone; it is called again"]


async def test_a_link_that_the_other_end_has_made_is_not_missed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "siena.broker")
    async with serving(settings("b0")) as one:
        link = LinkSettings(url=one.addresses[0].url)
        async with serving(settings("b1", link)) as other:
            await until(lambda: one.state.links)
            back = LinkSettings(url=other.addresses[0].url)
            one.reload(settings("b0", back))  # both call now
            await until(lambda: one.wanted_links()[0]["up"])
            assert other.wanted_links()[0]["up"]
            assert caplog.messages == []


async def test_who_refuses_is_told_with_the_reason() -> None:
    async with serving(Settings(listen=("127.0.0.1:0",))) as called:
        link = LinkSettings(url=called.addresses[0].url)
        async with serving(settings("b1", link)) as caller:
            await until(lambda: "--accept-peers" in str(caller.wanted_links()))


async def test_a_broker_is_ready_when_it_has_settled_and_stays_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with web(name="b1") as (broker, _, client):
        with monkeypatch.context() as busy:
            busy.setattr(broker.state.router, "backlog", ["something put off"])
            answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["settled"]) == (503, False)
        assert (await client.get("/readyz")).status_code == 200
        with monkeypatch.context() as busy:
            busy.setattr(broker.state.router, "backlog", ["something put off"])
            assert (await client.get("/readyz")).status_code == 200


async def test_readiness_and_metrics_know_of_links_that_are_wanted() -> None:
    async with serving(settings("b0")) as called:
        links = (
            LinkSettings(url=called.addresses[0].url),
            LinkSettings(url="siena://127.0.0.1:1", side="mesh"),
        )
        async with web(name="b1", links=links) as (broker, _, client):
            await until(lambda: broker.state.links)
            await until(lambda: "refused" in str(broker.wanted_links()))
            answer = await client.get("/readyz")
            assert answer.status_code == 503
            said = answer.json()
            assert (said["ready"], said["broker"]) == (False, "b1")
            (missing,) = said["missing"]
            assert (missing["url"], missing["side"]) == ("siena://127.0.0.1:1", "mesh")
            assert await numbers(client) == {"wanted": 2.0, "up": 1.0}
            broker.reload(Settings(links=links[:1]))
            answer = await client.get("/readyz")
            assert (answer.status_code, answer.json()["missing"]) == (200, [])
            assert await numbers(client) == {"wanted": 1.0, "up": 1.0}


async def numbers(client: httpx.AsyncClient) -> dict[str, float]:
    """What the metrics say of links that are wanted."""
    lines = (await client.get("/metrics")).text.splitlines()
    pairs = [line.split() for line in lines if line.startswith("siena_links_")]
    return {name.removeprefix("siena_links_"): float(value) for name, value in pairs}
