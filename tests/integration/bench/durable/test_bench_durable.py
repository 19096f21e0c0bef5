"""``siena bench durable``, for real and small."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from siena.bench.durable.flood import StoreRound, sync_seconds
from siena.bench.durable.stores import STORES
from siena.errors import SienaError

# Servers are processes: they take seconds to start on a machine that does other things.
pytestmark = pytest.mark.timeout(180)


def measured(*arguments: str) -> dict[str, Any]:
    small = ("--publishers", "2", "--batch", "5", "--seconds", "0.1", "--rounds", "1")
    done = subprocess.run(
        [*(sys.executable, "-m", "siena", "bench", "durable"), *small, *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(stores: list[dict[str, Any]]) -> None:
    """All that was acknowledged is stored, by the word of the server."""
    for store in stores:
        (only,) = store["rounds"]
        assert store["stored"] == store["acknowledged"] >= only["acknowledged"] >= 10
        assert 0 < only["p50_seconds"] <= only["p99_seconds"]


def test_what_is_acknowledged_is_stored() -> None:
    found = measured("--json")
    assert [store["name"] for store in found["stores"]] == ["siena"]
    assert found["sync_seconds"] > 0
    check(found["stores"])


def test_with_a_load_no_more_is_published() -> None:
    # Of 2 publishers with batches of 5, each begins one every 0.1 s for 0.45 s.
    found = measured("--load", "100", "--seconds", "0.45", "--json")
    (only,) = found["stores"][0]["rounds"]
    assert found["plan"]["load"] == 100
    assert 0 < only["acknowledged"] <= 50


@pytest.mark.parametrize("name", ["jetstream", "redis"])
def test_other_stores_do_the_same(name: str) -> None:
    try:
        STORES[name]().contender.find()
    except SienaError as missing:
        pytest.skip(str(missing))
    check(measured("--peer", name, "--json")["stores"])


def test_an_answer_that_comes_in_pieces_is_counted_once() -> None:
    for name, whole in (
        ("jetstream", b'MSG _INBOX.0 1 29\r\n{"stream":"QUOTES", "seq":12}\r\n'),
        ("redis", b"$15\r\n1700000000000-0\r\n"),
    ):
        publishing = _publishing(name)
        for size in range(1, len(whole)):
            first, rest = publishing.acknowledged(whole[:size])
            second, _ = publishing.acknowledged(rest + whole[size:])
            assert first + second == 1, (name, size)


def _publishing(name: str) -> Any:  # noqa: ANN401 -- of any store
    class Silent:
        def send(self, data: bytes) -> None: ...

        def line(self) -> bytes:
            return next(self.lines)

        lines = iter((b"INFO {}", b"PONG", b"PONG") if name != "redis" else (b"+PONG",))

    return STORES[name]().begin(Silent(), 1, [b"x"])  # type: ignore[arg-type]


def test_a_complaint_ends_it() -> None:
    for name, said in (("jetstream", b'{"error":{"code":503}}'), ("redis", b"-ERR x")):
        with pytest.raises(SienaError, match="complains"):
            _publishing(name).acknowledged(said)


def test_a_round_says_what_most_batches_waited(tmp_path: Path) -> None:
    found = StoreRound(40, 2.0, 0.5, 0.9, [0.4, 0.1, 0.2, 0.3])
    assert (found.rate, found.wait(0.5), found.wait(0.99)) == (20.0, 0.3, 0.4)
    assert sync_seconds(tmp_path) > 0
    assert list(tmp_path.iterdir()) == []
