"""``siena replay``: history into a broker."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import siena
from siena import testing
from siena.broker.settings import as_settings
from siena.cli.main import app
from siena.errors import SienaError
from siena.testing.in_thread import ThreadBroker

START = datetime(2026, 11, 15, tzinfo=UTC)
ROWS = [
    {"n": n, "at": START + timedelta(seconds=n), "x": n / 2 if n % 2 else None}
    for n in range(100)
]


@pytest.fixture
def broker() -> Iterator[ThreadBroker]:
    with ThreadBroker(as_settings({"listen": ["127.0.0.1:0"]})) as running:
        yield running


def written(folder: Path, kind: str) -> Path:
    path = folder / f"history.{kind}"
    table = pa.Table.from_pylist(ROWS)
    if kind == "parquet":
        pq.write_table(table, path)
    elif kind == "orc":
        pyarrow.orc.write_table(table, path)
    elif kind == "csv":
        lines = [f"{r['n']},{r['at']:%Y-%m-%dT%H:%M:%SZ},{r['x'] or ''}" for r in ROWS]
        path.write_text("n,at,x\n" + "\n".join(lines) + "\n")
    else:
        forms = [
            {"n": r["n"], "x": r["x"], "at": {"time": f"{r['at']:%Y-%m-%dT%H:%M:%SZ}"}}
            for r in ROWS
        ]
        path.write_text("\n".join(map(json.dumps, forms)))
    return path


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["replay", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def test_history_is_advertised_where_that_is_needed(tmp_path: Path) -> None:
    routing = {"forwarding": "advertisement"}
    with testing.network("chain:3", routing=routing) as brokers:
        server = ("--server", brokers[1].url)
        path = written(tmp_path, "csv")
        with pytest.raises(SienaError, match="only what is advertised"):
            run(path, *server)
        with siena.connect(brokers[3].url) as client:
            wanted = client.subscribe("n < 10").settled()
            code, said = run(path, *server, "--advertise", "n any, at any, x any")
            assert (code, said.split()[:2]) == (0, ["published", "100"])
            assert [n["n"] for n in wanted.within(1)] == list(range(10))


@pytest.mark.parametrize("kind", ["parquet", "csv", "ndjson", "orc"])
def test_what_is_in_a_file_is_published(
    tmp_path: Path, broker: ThreadBroker, kind: str
) -> None:
    path = written(tmp_path, kind)
    with siena.connect(broker.url) as client:
        wanted = client.subscribe("n any").settled()
        code, said = run(path, "--server", broker.url, "--json")
        assert code == 0
        assert json.loads(said)["published"] == 100
        got = [wanted.get(timeout_s=10) for _ in ROWS]
    assert [dict(n) for n in got] == [
        {name: value for name, value in row.items() if value is not None}
        for row in ROWS
    ]


def test_it_takes_its_time(tmp_path: Path, broker: ThreadBroker) -> None:
    """A hundred seconds, a thousand times as fast, are not over before a tenth."""
    path = written(tmp_path, "parquet")
    code, said = run(
        *(path, "--server", broker.url, "--time", "at", "--speed", 1_000, "--json")
    )
    assert code == 0
    assert json.loads(said)["seconds"] >= 0.099
    code, said = run(path, "--server", broker.url, "--limit", 7)
    assert code == 0
    assert said.startswith("published 7 notifications in ")


def test_what_is_bad_is_counted_and_skipped(
    tmp_path: Path, broker: ThreadBroker
) -> None:
    path = tmp_path / "history.ndjson"
    path.write_text('{"n": 1}\n{"n": [1]}\n{"n": 2}\n')
    code, said = run(path, "--server", broker.url, "--json")
    assert code == 1
    assert {k: json.loads(said)[k] for k in ("published", "bad")} == {
        "published": 2,
        "bad": 1,
    }
    with pytest.raises(siena.SienaError, match="row 2"):
        run(path, "--server", broker.url, "--strict")
    # A speed needs times; and every row must have one.
    assert run(path, "--speed", 2)[0] == 2
    assert run(path, "--speed", "fast", "--time", "n")[0] == 2
    code, _ = run(path, "--server", broker.url, "--time", "at")
    assert code == 1
