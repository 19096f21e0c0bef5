"""``siena log``: damage is named, taken out of the way, and what is good stays."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from broker.logs import readable
from siena.broker.durable.cursors.cursor import Epoch, Spec
from siena.broker.durable.cursors.registry import Cursors
from siena.broker.log.cursors import Readers
from siena.broker.log.store import Store
from siena.cli.main import app
from siena.clock import SystemClock
from siena.matching.input.buffers import encode_all

SEGMENT_BYTES = 4_096


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["log", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log of 300 notifications in several files."""
    store = Store(tmp_path, SEGMENT_BYTES)
    for n in range(150):
        store.append(*encode_all([{"n": 2 * n}, {"n": 2 * n + 1, "x": "x" * 40}]), 7)
    store.close()
    return tmp_path


def damage(path: Path, at: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(at * len(data))] ^= 4
    path.write_bytes(data)


def test_a_good_log_is_good(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    code, said = run("check", folder)
    assert code == 0
    assert "300 notifications" in said
    assert "all good" in said
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert run("repair", folder) == (0, "nothing was damaged\n")


def test_what_is_damaged_is_named_and_repaired(folder: Path) -> None:
    first, second, *_, last = sorted(folder.glob("*.log"))
    damage(second, 0.5)
    damage(last, 0.0)
    Readers(folder / "readers.json", SystemClock(), 60.0).commit("me", 7)
    damage(folder / "readers.json", 0.5)
    code, said = run("check", folder, "--json")
    report = json.loads(said)
    (lost,) = report["lost"]
    assert (code, report["good"], report["notifications"]) == (1, False, 298)
    assert int(second.stem) < lost["first"] == lost["last"] - 1
    assert len(report["problems"]) == 3
    code, said = run("repair", folder)
    assert code == 0
    assert len([*(folder / "damaged").iterdir()]) == 3
    code, said = run("check", folder)
    assert code == 0
    assert "298 notifications" in said
    store = Store(folder, SEGMENT_BYTES)
    assert sorted(readable(store)) == [
        n for n in range(300) if not lost["first"] <= n <= lost["last"]
    ]
    assert store.latest == 300
    assert first.exists()
    store.close()


def test_a_missing_file_is_named_and_given_up(folder: Path) -> None:
    _, second, third, *_ = sorted(folder.glob("*.log"))
    second.unlink()
    code, said = run("check", folder)
    assert code == 1
    assert f"offsets {int(second.stem)} to {int(third.stem) - 1} are damaged" in said
    assert run("repair", folder)[0] == run("check", folder)[0] == 0


def test_what_is_good_is_exported(folder: Path) -> None:
    code, said = run("export", folder, "x any", "--from", "5", "--to", "9")
    assert code == 0
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["offset"] for line in lines] == [5, 7]
    assert lines[0]["notification"]["n"] == 5
    assert run("export", folder, "-o", folder / "all.ndjson")[0] == 0
    assert len((folder / "all.ndjson").read_text().splitlines()) == 300


def test_what_all_have_read_is_deleted(folder: Path) -> None:
    assert run("compact", folder)[0] != 0  # nobody reads it
    third = sorted(folder.glob("*.log"))[2]
    Readers(folder / "readers.json", SystemClock(), 60.0).commit("me", int(third.stem))
    assert run("compact", folder, "--before", int(third.stem) + 1)[0] != 0
    code, said = run("compact", folder)
    assert code == 0
    assert "deleted 2 files" in said
    assert min(folder.glob("*.log")) == third
    assert run("check", folder)[0] == 0


def test_what_a_durable_subscription_needs_is_not_deleted(folder: Path) -> None:
    second, third = sorted(folder.glob("*.log"))[1:3]

    async def subscribe() -> None:
        cursors = Cursors(folder, latest=300)
        epoch = Epoch("n any", int(second.stem))
        cursors.save(cursors.make("", "billing", epoch, Spec(30.0, 5, None)))
        await cursors.close()

    asyncio.run(subscribe())
    assert run("compact", folder, "--before", int(third.stem))[0] != 0
    assert second.exists()
    assert "deleted 1 files" in run("compact", folder)[1]
    assert min(folder.glob("*.log")) == second


def test_a_log_that_a_broker_has_open_is_left_alone(folder: Path) -> None:
    store = Store(folder, SEGMENT_BYTES)
    assert run("check", folder)[0] != 0
    store.close()
