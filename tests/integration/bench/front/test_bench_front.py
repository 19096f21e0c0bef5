"""``siena bench http`` and ``siena bench client``, for real and small."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from siena.bench.front.measured import Line, ratios

# Servers are processes: they take seconds to start on a machine that does other things.
pytestmark = pytest.mark.timeout(180)


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "bench", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def measured(*arguments: str) -> list[dict[str, Any]]:
    code, out, err = run(*arguments, "--rounds", "1", "--json")
    assert (code, err) == (0, "")
    found: list[dict[str, Any]] = json.loads(out)["lines"]
    assert all(len(line["rates"]) == 1 and line["rates"][0] > 0 for line in found)
    return found


def test_events_and_posts_are_measured_beside_their_limits() -> None:
    small = ("--readers", "3", "--publications", "1000", "--posts", "100")
    names = [line["name"] for line in measured("http", *small)]
    posts = ["siena", "an empty Starlette", "a bare ASGI function"]
    kinds = ["events", "lines", "WebSockets", "frames"]
    assert names == [*kinds, *kinds, *posts]


def test_both_clients_publish_and_receive_everything() -> None:
    found = measured("client", "--notifications", "1000")
    assert [(line["question"], line["name"]) for line in found] == [
        ("publish", "siena"),
        ("publish", "blocking"),
        ("receive", "siena"),
        ("receive", "blocking"),
    ]


def test_a_client_that_is_not_installed_is_named() -> None:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
    if shutil.which("nats-server", path=path) and find_spec("nats"):
        pytest.skip("it is installed")
    code, _, err = run("client", "--peer", "nats")
    assert code == 2
    assert "--peer nats" in err


def test_ratios_are_of_the_same_rounds() -> None:
    ours, other = Line("q", "a", "x", [6.0, 8.0]), Line("q", "b", "x", [3.0, 2.0])
    assert ratios(ours, other) == [2.0, 4.0]
