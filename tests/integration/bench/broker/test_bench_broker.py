"""``siena bench broker``: our broker, and others where they are installed, for real."""

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import sleep
from typing import Any

import pytest

from command import siena
from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.contenders.siena import Siena
from siena.bench.broker.loadgen import generator as bench_broker_generator
from siena.bench.broker.loadgen.generator import Flood, Generator, Load, Pace
from siena.bench.broker.loadgen.worker import Settling, Subscribed
from siena.bench.broker.processes import Cores, family, running
from siena.bench.broker.report import conclusions
from siena.bench.broker.rounds import Plan, Result, Round, ratio
from siena.bench.broker.workload import Workload
from siena.cli.lab.bench_broker import PEERS, PeerServer, bench_broker
from siena.errors import SienaError

# Servers are processes: they take seconds to start on a machine that does other things.
pytestmark = pytest.mark.timeout(180)

QUICK = ("--rounds", "1", "--seconds", "0.1", "--rate", "200", "--json")


@pytest.mark.parametrize(
    ("which", "said"),
    [("PRODUCT_COMPILED", "measured as Python"), ("COMPILED", "SIENA_BENCH=1 pip")],
)
def test_what_is_not_compiled_is_not_measured(
    monkeypatch: pytest.MonkeyPatch, which: str, said: str
) -> None:
    monkeypatch.setattr(f"siena.bench.broker.kernels.{which}", False)
    with pytest.raises(SienaError) as refused:
        bench_broker()
    assert said in f"{refused.value} {refused.value.hint}"


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "bench", "broker", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def measured(*arguments: str) -> dict[str, Any]:
    code, out, err = run(*QUICK, *arguments)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_our_broker_delivers_what_it_must() -> None:
    found = measured("--interests", "30", "--connections", "3", "--matches", "2")
    assert abs(found["workload"]["matches_met"] - 2) < 0.4
    (ours,) = found["servers"]
    assert ours["name"] == "siena"
    (first,) = ours["rounds"]
    flood = first["flood"]
    assert flood["publications"] > 0
    assert flood["matches"] >= flood["deliveries"] > 0
    assert 0 <= flood["generator_idle"] <= 1
    for part in (first["steady"], first["half_load"]):
        assert 0 < part["p50"] <= part["p99"]
    assert len(ours["settled_seconds"]) == 10
    assert ours["subscribed"]["memory_after"] >= 0
    assert found["ratios"] == []


@pytest.mark.slow
def test_many_publishers_one_at_a_time_in_words() -> None:
    code, out, err = run(
        *QUICK[:-1], "--interests", "1", "--connections", "1", "--publishers", "5",
        "--unbatched", "--load", "5000",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "1 interests on 1 connections, 1.0 met" in out
    assert "5 publishing one at a time 5,000/s;" in out
    assert "deliveries checked: each the right one, once, in order" in out


@pytest.mark.slow
@pytest.mark.parametrize("peer", PeerServer)
def test_another_server_does_the_same_work(peer: PeerServer) -> None:
    try:
        PEERS[peer]().find()
    except SienaError as error:
        pytest.skip(str(error))
    found = measured(
        "--interests", "40", "--connections", "4", "--peer", peer.value,
        "--publishers", "2",
    )  # fmt: skip
    ours, theirs = found["servers"]
    assert (ours["name"], theirs["name"]) == ("siena", peer.value)
    assert any(digit in theirs["version"] for digit in "0123456789")
    assert theirs["rounds"][0]["flood"]["matches"] > 0
    # What a topic cannot say, its clients filter: more is delivered for it.
    flood = theirs["rounds"][0]["flood"]
    assert flood["deliveries"] / flood["publications"] > (
        ours["rounds"][0]["flood"]["deliveries"]
        / ours["rounds"][0]["flood"]["publications"]
    )
    (compared,) = found["ratios"]
    assert compared["peer"] == peer.value
    assert compared["steady_p50"]["lowest"] > 0


def test_a_wrong_option_is_one_line() -> None:
    done = siena("bench", "broker", "--matches", "200")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "200 matches of 100 interests" in done.stderr


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("publishers", 0, "--publishers is 1 to 1000"),
        ("rounds", 0, "--rounds is 1 or more, and not 0"),
        ("seconds", float("nan"), "--seconds is 0.05 to 3600, and not nan"),
        ("rate", 0.0, "--rate is 1 to"),
        ("load", 0.0, "--load is 1 or more"),
        ("rate", float("nan"), "--rate is 1 to"),
        ("matches", float("nan"), "nan matches"),
    ],
)
def test_what_cannot_be_measured_is_said(option: str, value: float, said: str) -> None:
    with pytest.raises(SienaError, match=said):
        bench_broker(**{option: value})  # type: ignore[arg-type]


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(SienaError, match="no nats-server on the PATH"):
        Nats().find()


# --- Servers that do wrong ----------------------------------------------------------


@contextmanager
def pretender(stall: float | None) -> Iterator[int]:
    """A port where something talks like NATS, with one subscriber.

    It delivers nothing, or everything, but the first only after so many seconds.
    """
    subscribers: list[socket.socket] = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(b"INFO {}\r\n")
        stream = connection.makefile("rb")
        wait = stall
        for line in stream:
            verb, *words = line.split()
            if verb == b"PING":
                connection.sendall(b"PONG\r\n")
            elif verb == b"SUB":
                subscribers.append(connection)
            elif verb == b"PUB":
                block = stream.read(int(words[1]) + 2)
                if wait is not None:
                    sleep(wait)
                    wait = 0.0
                    head = b"MSG %s 1 %s\r\n" % (words[0], words[1])
                    subscribers[0].sendall(head + block)

    def accept() -> None:
        for _ in range(2):
            connection, _ = server.accept()
            threads.append(threading.Thread(target=serve, args=(connection,)))
            threads[-1].start()
            opened.callback(connection.close)

    threads: list[threading.Thread] = []
    with ExitStack() as opened:
        server = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        accepting = threading.Thread(target=accept)
        accepting.start()
        yield server.getsockname()[1]
        for thread in (accepting, *threads):
            thread.join()  # its client has gone


@contextmanager
def generator(stall: float | None) -> Iterator[Generator]:
    with pretender(stall) as port:
        load = Load(Workload(1, 1, 1), 1, unbatched=False, port=port, processes=())
        one = Generator(Nats(), load)
        one.subscribe()
        try:
            yield one
        finally:
            one.close()


def test_deliveries_that_never_come_are_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_broker_generator, "STALL_SECONDS", 0.2)
    with (
        generator(stall=None) as one,
        pytest.raises(SienaError, match="deliveries have not come"),
    ):
        one.pace(1_000, 0.05)


def test_waiting_to_be_sent_counts_as_latency(monkeypatch: pytest.MonkeyPatch) -> None:
    """No coordinated omission: who sends late does not begin to count late."""
    monkeypatch.setattr(bench_broker_generator, "WINDOW", 1)
    with generator(stall=0.5) as one:
        found = one.pace(1_000, 0.1)
    # Only one was under way when the server stalled; the others were not sent, but
    # half of them and more were to be, in the first tenth of a second.
    assert found.deliveries == found.publications >= 100
    assert found.p50 >= 0.3


def test_a_server_ends_with_all_that_it_started() -> None:
    with running(Siena(), Cores.choose()) as server:
        processes = family(server.process)
        assert server.process in processes
        assert os.sched_getaffinity(server.process) == {Cores.choose().server}
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            assert connection.recv(1) == b"{"
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


# --- What follows from the numbers --------------------------------------------------


def result(name: str, rates: list[int], idle: float) -> Result:
    pace = Pace(1_000, 10, 10, 0.001, 0.002)
    settling = Settling([0.01], 1) if name == "siena" else None
    return Result(
        name,
        f"{name} 1",
        Subscribed(1.0, 0, 0),
        [
            Round(Flood(2.0, rate, 7, 7, 1.0, 0.5, 2 * idle), pace, pace, settling)
            for rate in rates
        ],
    )


def test_a_ratio_is_the_median_of_rounds_with_its_spread() -> None:
    ours, peer = result("siena", [10, 30, 80], 0.5), result("nats", [10, 10, 20], 0.2)
    found = ratio(ours, peer)
    assert found.per_cpu_second == (3.0, 1.0, 4.0)
    assert found.steady_p50 == (1.0, 1.0, 1.0)
    plan = Plan(Workload(), 1, unbatched=False, rounds=3, seconds=2.0, rate=1_000)
    lines = list(conclusions([ours, peer], [found], plan))
    assert lines[0].startswith(
        "siena / nats: 3.00 (1.00 … 4.00) times the publications"
    )
    assert lines[2].startswith("165 deliveries checked")


@pytest.mark.parametrize("bound", ["siena", "nats"])
def test_a_busy_generator_gives_no_ratio(bound: str) -> None:
    idle = {"siena": 0.5, "nats": 0.5, bound: 0.09}
    ours, peer = (result(name, [24_000], idle[name]) for name in ("siena", "nats"))
    found = ratio(ours, peer)
    assert found.per_cpu_second is None
    plan = Plan(Workload(), 1, unbatched=False, rounds=1, seconds=2.0, rate=1_000)
    first = next(conclusions([ours, peer], [found], plan))
    assert "no ratio" in first
    assert first.endswith("--load 9000")
