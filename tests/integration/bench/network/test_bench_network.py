"""``siena bench network``: real brokers, and others where they are installed."""

import json
import subprocess
import sys
from typing import Any

import pytest

from command import siena
from siena.bench.broker.contenders.contender import Wire
from siena.bench.network.floods import ALONE
from siena.bench.network.makes.make import Place
from siena.bench.network.makes.siena import SienaWorkers
from siena.bench.network.running import running_brokers
from siena.cli.lab.bench_network import PEERS, PeerNetwork
from siena.errors import SienaError
from siena.protocol.handshake import read_info

# Brokers are processes: they take seconds to start on a machine that does other things.
pytestmark = pytest.mark.timeout(180)

QUICK = ("--rounds", "1", "--seconds", "0.05", "--workload", "2/2/2")


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "bench", "network", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def measured(*arguments: str) -> dict[str, Any]:
    code, out, err = run(*QUICK, "--json", *arguments)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_a_chain_delivers_all_and_is_compared_with_one_broker() -> None:
    found = measured("--part", "links", "--layout", "chain:2")
    (contest,) = found["contests"]
    chain, alone = contest["entries"]
    assert (chain["layout"], alone["layout"]) == ("chain:2", "chain:1")
    (flood,) = chain["rounds"]
    assert flood["publications"] > 0
    assert flood["deliveries"] == 2 * flood["publications"]
    assert set(flood["cpu_seconds_of_brokers"]) == {"1", "2"}
    assert chain["per_cpu_second_of_the_middle"] is None
    assert chain["link_cost"]["middle"] is not None
    assert contest["ratios"] == []


@pytest.mark.slow
def test_interests_settle_while_another_client_pings() -> None:
    found = measured(
        "--part", "interests", "--part", "first-link", "--interests", "600",
        "--shape", "users",
    )  # fmt: skip
    (coming,) = found["comings"]
    assert (coming["shape"], coming["settled"]) == ("users", 600)
    assert [mark["settled"] for mark in coming["marks"]] == [0, 500, 600]
    assert coming["quiet"]["pings"] > 0
    assert coming["waits"]["pings"] > 0
    (link,) = found["first_links"]
    assert (link["interests"], link["is_done"]) == (600, True)
    assert 0 < link["waits"]["p99"] <= link["waits"]["highest"]


@pytest.mark.slow
def test_workers_chains_and_meshes_are_told_in_words() -> None:
    code, out, err = run(
        *QUICK, "--part", "links", "--part", "workers", "--layout", "ring:3",
        "--layout", "chain:3", "--workers", "1,2",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "4 interests on 4 connections" in out  # two at each of two brokers
    assert "siena ring:3: a link costs" in out
    assert "siena chain:3: a link costs" in out
    assert "2 processes / 1:" in out


def test_all_workers_serve_before_they_are_loaded() -> None:
    """Or the first of them would get all connections, and be measured alone."""
    with running_brokers(SienaWorkers(2), ALONE) as brokers:
        wires = [Wire(brokers.ports[1]) for _ in range(64)]
        serving = {read_info(wire.line()).broker for wire in wires}
        for wire in wires:
            wire.socket.close()
    assert len(serving) == 2


@pytest.mark.slow
@pytest.mark.parametrize("peer", PeerNetwork)
def test_another_make_does_the_same_work(peer: PeerNetwork) -> None:
    try:
        PEERS[peer]().broker(Place(1, (), ALONE, {})).find()
    except SienaError as error:
        pytest.skip(str(error))
    found = measured("--part", "links", "--layout", "chain:2", "--peer", peer.value)
    (contest,) = found["contests"]
    assert peer.value in [each["make"] for each in contest["entries"]]
    assert all(each["failure"] is None for each in contest["entries"])
    assert all(each["rounds"][0]["deliveries"] > 0 for each in contest["entries"])
    assert contest["ratios"][0]["middle"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--workload", "100"), "--workload 100 is not of three numbers"),
        (("--layout", "chain:99"), "there are 1 to 16 brokers"),
        (("--workers", "1,x"), "--workers 1,x is not of numbers from 1 to 256"),
    ],
)
def test_a_wrong_option_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    done = siena("bench", "network", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
