"""The JavaScript client in Node, where others do not answer."""

import asyncio
import json
import socket
from asyncio.subprocess import PIPE
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from broker.rogue import link
from repository import ROOT
from siena.broker.http.server import HttpServer
from siena.broker.settings import Settings
from siena.protocol.control_frames import Tell, unpack
from siena.protocol.frames import Op
from wire import Wire, serving

MODULE = ROOT / "src" / "siena" / "web" / "static" / "siena.js"
PATIENT = Settings(listen=("127.0.0.1:0",), accept_peers=True, settle_seconds=0.5)

SETTLING = """
import { createInterface } from "node:readline";
import { connect, NotSettledError } from "MODULE";
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const tell = (said) => console.log(JSON.stringify(said));
const client = await connect("URL");
const wanted = client.subscribe("x = 1");
try {
  await wanted.settled();
  tell({ error: null });
} catch (error) {
  const { silent, message } = error;
  tell({ error: error instanceof NotSettledError, silent, text: message });
}
await client.publish({ x: 1 });
tell({ stands: (await wanted.get({ timeoutMs: 5_000 })).x === 1 });
await lines.next();
const both = await Promise.all([wanted.settled(), wanted.settled()]);
tell({ settled: both.every((each) => each === wanted) });
wanted.close();
tell({ ended: await wanted.settled().catch((error) => error.name) });
process.exit(0);
"""

CONNECTING = """
import { connect } from "MODULE";
const error = await connect("URL", { connectMs: 50 }).catch((error) => error);
console.log(error.name);
"""

GIVING_UP = """
import { connect } from "MODULE";
let first;
class Socket {
  bufferedAmount = 0;
  constructor() { first ??= this; setTimeout(() => (first === this ? this.onopen() : this.onerror())); }
  send(text) { setTimeout(() => this.onmessage({ data: `{"siena":"PONG","data":"${JSON.parse(text).ping}"}` })); }
  close() {}
}
const client = await connect("URL", { WebSocket: Socket, reconnectMs: 1 });
first.onclose();
console.log(await client.publish({ x: 1 }).catch((error) => error.name));
"""  # noqa: E501 -- JavaScript


def node() -> str:
    """Where Node is."""
    found = which("node")
    if found is None:
        pytest.skip("there is no node")
    return found


def script(folder: Path, text: str, url: str) -> list[str]:
    """The command that runs a script with the client."""
    path = folder / "script.mjs"
    path.write_text(text.replace("MODULE", MODULE.as_uri()).replace("URL", url))
    return [node(), "--experimental-websocket", str(path)]


async def answer(wire: Wire) -> None:
    """Answer all questions of a broker, as others do."""
    while True:
        op, body = await wire.frame()
        if op == Op.TELL:
            tell = unpack(op, body)
            assert isinstance(tell, Tell)
            if tell.verb == "settle":
                wire.send(Tell("settled", [tell.fields[1]]).pack())


async def test_who_does_not_answer_is_named_and_settled_asks_again(
    tmp_path: Path,
) -> None:
    """Found: it said that the subscription was in force in the whole network."""
    async with serving(PATIENT) as broker:
        server = HttpServer(broker, "127.0.0.1:0", [])
        await server.start()
        mute = await link(broker, name="mute")
        url = server.url.replace("http", "ws") + "/ws"
        command = script(tmp_path, SETTLING, url)
        running = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE
        )
        assert running.stdin is not None
        assert running.stdout is not None

        async def said() -> Any:  # noqa: ANN401 -- JSON
            assert running.stdout is not None
            return json.loads(await running.stdout.readline())

        assert await said() == {
            "error": True,
            "silent": ["mute"],
            "text": "it may not be in force everywhere: no answer from mute",
        }
        assert await said() == {"stands": True}
        async with asyncio.TaskGroup() as tasks:
            answering = tasks.create_task(answer(mute))
            running.stdin.write(b"\n")
            assert await said() == {"settled": True}
            assert await said() == {"ended": "ConnectionLostError"}
            answering.cancel()
        await running.wait()
        await server.drain()


async def connected(folder: Path, port: int) -> str:
    """What connecting to a port comes to."""
    command = script(folder, CONNECTING, f"ws://127.0.0.1:{port}/ws")
    running = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    said, _ = await asyncio.wait_for(running.communicate(), 60)
    return said.decode()


async def test_a_server_that_says_nothing_is_left_in_time(tmp_path: Path) -> None:
    """It takes the connection, and does not answer: connecting waited for ever."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert await connected(tmp_path, silent.getsockname()[1]) == "NoBrokerError\n"


async def test_a_broker_that_opens_and_says_nothing_is_left_in_time(
    tmp_path: Path,
) -> None:
    heard = asyncio.Event()

    async def listen(connection: ServerConnection) -> None:
        async for _ in connection:
            heard.set()

    async with serve(listen, "127.0.0.1", 0) as server:
        [one] = server.sockets
        assert await connected(tmp_path, one.getsockname()[1]) == "NoBrokerError\n"
    assert heard.is_set()


async def test_a_publication_that_waits_ends_with_the_client(tmp_path: Path) -> None:
    """Found: it waited for ever, when the client had given up to come back."""
    command = script(tmp_path, GIVING_UP, "ws://nowhere")
    running = await asyncio.create_subprocess_exec(*command, stdout=PIPE)
    said, _ = await asyncio.wait_for(running.communicate(), 60)
    assert said == b"ConnectionLostError\n"
