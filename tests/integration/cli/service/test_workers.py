"""``siena serve --workers``: several processes that are one broker."""

import json
import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx

from served import process, ready
from siena import connect

ARGUMENTS = ("--listen", "127.0.0.1:0", "--workers", "2", "--json")


def greeting(url: str) -> str:
    """The name of the worker that answers; the system decides which."""
    host, _, port = url.removeprefix("siena://").rpartition(":")
    with (
        socket.create_connection((host, int(port)), timeout=10) as connection,
        connection.makefile() as lines,
    ):
        return str(json.loads(lines.readline())["broker"])


def children(pid: int) -> list[int]:
    """The workers of a supervisor."""
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [
        int(child)
        for child in found
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def test_an_identity_is_known_by_whichever_worker_it_reaches() -> None:
    with process(*ARGUMENTS) as found:
        url = ready(found)["urls"][0]
        with connect(url, identity="ann") as ann:
            ann.subscribe("x any").settled()
        with connect(url) as publisher:
            publisher.publish({"x": 1})
            publisher.flush()
        for _ in range(4):  # until both workers have been called, most likely
            with connect(url, identity="ann") as ann:
                assert ann.resumed


def test_a_worker_that_dies_is_replaced() -> None:
    with process(*ARGUMENTS) as found:
        broker = ready(found)
        url, names = broker["urls"][0], {broker["broker"], f"{broker['broker']}#1"}
        workers = children(found.pid)
        assert len(workers) == 2
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
            assert found.stderr is not None
            while "is started anew" not in (said := found.stderr.readline()):
                assert " siena.broker: no link to " in said
        seen: set[str] = set()
        while seen != names:
            try:
                seen.add(greeting(url))
            except (OSError, ValueError):  # that worker is not there again yet
                continue
        with ExitStack() as stack:
            clients = [stack.enter_context(connect(url)) for _ in range(6)]
            wanted = [client.subscribe("x any") for client in clients]
            for subscription in wanted:
                subscription.settled()
            clients[0].publish({"x": 1})
            for subscription in wanted:
                assert subscription.get(timeout_s=10)["x"] == 1
        found.send_signal(signal.SIGTERM)
        assert found.wait(20) == 0


def test_the_hub_serves_http() -> None:
    with process(*ARGUMENTS, "--http", "127.0.0.1:0", "--name", "b1") as found:
        url = ready(found)["http"]
        assert httpx.get(f"{url}/healthz").json() == {"ok": True, "broker": "b1"}


def test_all_workers_get_the_settings_that_are_read_again(tmp_path: Path) -> None:
    path = tmp_path / "siena.toml"
    path.write_text('listen = ["127.0.0.1:0"]\nname = "b1"\n')
    arguments = ("--config", str(path), "--workers", "2", "--json")
    with process(*arguments) as found:
        url = ready(found)["urls"][0]
        assert found.stderr is not None
        path.write_text('name = "b2"\n[limits]\nconnections = 1\n')
        found.send_signal(signal.SIGHUP)
        said = found.stderr.readline()
        assert said.endswith(
            " siena.serve: reloaded; at the next start: name, listen\n"
        )
        host, _, port = url.removeprefix("siena://").rpartition(":")
        with ExitStack() as stack:
            answers = []
            for _ in range(9):  # the link between the workers takes the only place
                connection = socket.create_connection((host, int(port)), timeout=10)
                stack.enter_context(connection).sendall(b"ping\n")
                with connection.makefile() as lines:
                    lines.readline()
                    answers.append(json.loads(lines.readline())["siena"])
        assert set(answers) == {"ERR"}
        path.write_text("[limits]\nconnectoins = 7\n")
        found.send_signal(signal.SIGHUP)
        assert "unknown field `connectoins` - at `$.limits`" in found.stderr.readline()
