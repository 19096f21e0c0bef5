"""``siena serve`` as a process, from its ready line to its end."""

import json
import signal
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx

from command import siena
from served import process, ready


def talk(url: str, lines: str) -> list[Any]:
    host, _, port = url.removeprefix("siena://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"{lines}\nquit\n".encode())
        with connection.makefile() as answers:
            return [json.loads(line) for line in answers]


def test_a_broker_says_where_it_is_serves_and_ends() -> None:
    with process("--listen", "127.0.0.1:0", "--json", "--name", "b1") as found:
        said = ready(found)
        assert said["broker"] == "b1"
        info, pong = talk(said["urls"][0], "ping hello")
        assert (info["broker"], pong["data"]) == ("b1", "hello")
        found.send_signal(signal.SIGTERM)
        assert found.wait(10) == 0


def test_brokers_are_linked_by_flags() -> None:
    with process("--listen", "127.0.0.1:0", "--accept-peers", "--json") as one:
        url = ready(one)["urls"][0]
        arguments = ("--listen", "127.0.0.1:0", "--peer", url, "--verbose")
        with process(*arguments) as two:
            assert two.stderr is not None
            assert "linked to" in two.stderr.readline()


def test_a_file_describes_a_network(tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    path.write_text(
        'brokers = [{name = "a"}, {name = "b"}]\nlinks = [{from = "a", to = "b"}]'
    )
    with process("--network", str(path), "--json") as found:
        assert [ready(found)["broker"] for _ in range(2)] == ["a", "b"]
        found.send_signal(signal.SIGINT)
        assert found.wait(10) == 0


def test_several_workers_are_one_broker() -> None:
    arguments = ("--listen", "127.0.0.1:0", "--workers", "2", "--json")
    with process(*arguments) as found:
        said = ready(found)
        url = said["urls"][0]
        names: set[str] = set()
        while len(names) < 2:  # the system decides who gets a connection
            names.add(talk(url, "ping")[0]["broker"])
        assert names == {said["broker"], f"{said['broker']}#1"}
        host, _, port = url.removeprefix("siena://").rpartition(":")
        with ExitStack() as stack:
            # Somewhere among these are clients of both workers.
            files = []
            for _ in range(12):
                connection = socket.create_connection((host, int(port)), timeout=10)
                stack.enter_context(connection)
                file = stack.enter_context(connection.makefile("rw"))
                file.readline()
                file.write("sub x any\n")
                file.flush()
                assert json.loads(file.readline())["siena"] == "SETTLED"
                files.append(file)
            files[0].write("pub x=1\n")
            files[0].flush()
            for file in files:
                assert json.loads(file.readline())["notification"] == {"x": 1}
        found.send_signal(signal.SIGTERM)
        assert found.wait(20) == 0


def test_settings_are_read_again_and_what_cannot_change_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "siena.toml"
    path.write_text('listen = ["127.0.0.1:0"]\nname = "b1"\n')
    with process("--config", str(path), "--json") as found:
        assert ready(found)["broker"] == "b1"
        assert found.stderr is not None
        path.write_text('name = "b2"\n[limits]\nconnections = 7\n')
        found.send_signal(signal.SIGHUP)
        said = found.stderr.readline()
        assert said.endswith(
            " siena.serve: reloaded; at the next start: name, listen\n"
        )
        path.write_text("[limits]\nconnectoins = 7\n")
        found.send_signal(signal.SIGHUP)
        assert "unknown field `connectoins` - at `$.limits`" in found.stderr.readline()


def test_logs_are_objects_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "siena.toml"
    path.write_text('listen = ["127.0.0.1:0"]\nlog_format = "json"\n')
    with process("--config", str(path), "--json") as found:
        ready(found)
        found.send_signal(signal.SIGTERM)
        assert found.stderr is not None
        said = json.loads(found.stderr.readline())
    assert said.pop("time").endswith("Z")
    assert said == {"level": "INFO", "logger": "siena.serve", "message": "draining"}


def test_http_is_served_when_it_is_wanted_and_ends_with_the_broker() -> None:
    arguments = ("--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--json")
    with process(*arguments, "--name", "b1") as found:
        url = ready(found)["http"]
        assert httpx.get(f"{url}/healthz").json() == {"ok": True, "broker": "b1"}
        with httpx.stream("GET", f"{url}/subscribe?filter=x+any") as answer:
            lines = answer.iter_lines()
            assert next(lines) == "event: settled"
            found.send_signal(signal.SIGTERM)
            assert "event: err" in list(lines)
        assert found.wait(10) == 0


def test_a_console_that_others_could_reach_is_withheld_and_that_is_said() -> None:
    """As in a container, where all of its addresses are listened at."""
    arguments = ("--listen", ":0", "--http", "0.0.0.0:0", "--insecure-listen")
    with process(*arguments, "--json") as found:
        port = ready(found)["http"].rpartition(":")[2]
        for path in ("/", "/siena.js", "/console/"):
            assert httpx.get(f"http://127.0.0.1:{port}{path}").status_code == 404
        assert found.stderr is not None
        assert "the console and /siena.js are not served" in found.stderr.readline()


def test_what_is_wrong_is_said_in_one_line() -> None:
    for arguments, said in (
        (("--listen", "0.0.0.0:0"), "--insecure-listen"),
        (("--listen", "here:there"), "no address"),
        (("--listen", ":0", "--http", "0.0.0.0:0"), "--insecure-listen"),
        (("--listen", ":0", "--log", "log", "--workers", "2"), "workers"),
        (("--peer", "http://elsewhere", "--listen", ":0"), "no address"),
        (("--listen", ":0", "--log", __file__), "is not a folder"),
        (("--network", "none.toml", "--workers", "2"), "the file says everything"),
        (("--network", "none.toml", "--insecure-listen"), "the file says everything"),
    ):
        found = siena("serve", *arguments)
        assert found.returncode == 2
        assert said in found.stderr
        assert found.stderr.count("\n") == 1
