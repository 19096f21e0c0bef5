"""``siena flights``: what it writes, the other commands read."""

import subprocess
import sys
from itertools import islice
from pathlib import Path

import pyarrow.parquet as pq

from command import siena
from siena.cli.common.subscriptions import read_subscriptions
from siena.lang.parser import parse_interest, parse_notification
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights


def run(*arguments: str) -> str:
    done = siena("flights", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_flights_read_back_as_they_are() -> None:
    command = [sys.executable, "-m", "siena", "flights", "--limit", "900"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    lines = done.stdout.splitlines()
    assert [parse_notification(line) for line in lines] == list(islice(flights(), 900))


def test_subscriptions_read_back_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "subscriptions.ndjson"
    path.write_text(run("--subscriptions", "50", "--seed", "7"))
    assert list(read_subscriptions(path)) == [
        (subscriber, parse_interest(text))
        for subscriber, text in flight_subscriptions(50, seed=7)
    ]


def test_nothing_is_wanted_and_nothing_written() -> None:
    assert run("--limit", "0") == run("--subscriptions", "0") == ""


def test_a_table_of_flights_has_what_is_known_of_each(tmp_path: Path) -> None:
    path = tmp_path / "flights.parquet"
    run("--limit", "900", "--parquet", str(path))
    rows = pq.read_table(path).to_pylist()
    assert [row.pop("id") for row in rows] == [*range(900)]
    assert [
        {name: value for name, value in row.items() if value is not None}
        for row in rows
    ] == [dict(flight) for flight in islice(flights(), 900)]
