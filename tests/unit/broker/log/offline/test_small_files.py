"""Every small file of a log is checked, and repaired as far as there is good in it."""

from pathlib import Path

import pytest

from siena.broker.clients.remembered import Line, _pack
from siena.broker.durable.checked_file import write_checked
from siena.broker.durable.cursors.cursor import Epoch, Spec
from siena.broker.durable.cursors.registry import Cursors, needed_from
from siena.broker.durable.relays.relay import Relay
from siena.broker.durable.relays.relay_file import RelayFile
from siena.broker.log.batches.idempotent_batches import State
from siena.broker.log.cursors import Readers
from siena.broker.log.offline.folder import OfflineLog, Report
from siena.broker.log.offline.small_files import DAMAGED
from siena.broker.log.state_file import StateFile
from siena.broker.log.store import Store
from siena.broker.log.stores.states import STORE
from siena.broker.log.stores.working_copy import CopyOf
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.messages import Side

# What can be set aside, or is taken out; `store.json` stops a repair.
FILES = (
    *("readers.json", "sinks.json", "earliest.json", "cursors.state", "relays.state"),
    *("publishers.state", "handlers.state", "identities.lines", "given.json"),
)


async def fill(folder: Path) -> None:
    """A log, and all its small files."""
    Store(folder, 4_096).close()
    Readers(folder / "readers.json", SystemClock(), 60.0).commit("me", 0)
    StateFile(folder / "sinks.json", State, State()).save()
    StateFile(folder / STORE, CopyOf, CopyOf()).save()
    cursors = Cursors(folder, 1000)
    for name in ("billing", "shipping"):
        cursors.save(cursors.make("", name, Epoch("x any", 7), Spec(30, 0, None)))
    await cursors.close()
    relays = RelayFile(folder, lambda: [Relay(7, "b7", Side.PEER, 10)])
    relays.begin()
    await relays.close()
    write_checked(folder / "publishers.state", b"{}")
    write_checked(folder / "handlers.state", b"[]")
    lines = [_pack(Line(name)) for name in ("ada", "grace")]
    (folder / "identities.lines").write_bytes(b"".join(lines))


def check(folder: Path) -> Report:
    with OfflineLog(folder) as offline:
        return offline.check(lambda _: None)


def repair(folder: Path) -> str:
    with OfflineLog(folder) as offline:
        return "\n".join(offline.repair(lambda _: None))


async def test_a_log_whose_small_files_are_good_is_good(tmp_path: Path) -> None:
    await fill(tmp_path)
    assert all(map(Path.exists, (tmp_path / name for name in (*FILES, STORE))))
    assert check(tmp_path).all_problems == []
    assert repair(tmp_path) == ""


@pytest.mark.parametrize("name", [*FILES, STORE])
async def test_rubbish_in_any_small_file_is_a_problem(
    tmp_path: Path, name: str
) -> None:
    await fill(tmp_path)
    (tmp_path / name).write_bytes(b"rubbish rubbish rubbish")
    problems = check(tmp_path).all_problems
    assert problems
    assert all(name in problem for problem in problems)


@pytest.mark.parametrize("name", FILES)
async def test_it_is_taken_out_of_the_way_and_said_what_is_lost(
    tmp_path: Path, name: str
) -> None:
    await fill(tmp_path)
    (tmp_path / name).write_bytes(b"rubbish rubbish rubbish")
    done = repair(tmp_path)
    assert f"{name} " in done or f"{name}:" in done
    assert (tmp_path / DAMAGED / name).read_bytes() == b"rubbish rubbish rubbish"
    assert check(tmp_path).all_problems == []


async def test_of_cursors_the_good_ones_stay_and_what_is_lost_is_named(
    tmp_path: Path,
) -> None:
    await fill(tmp_path)
    path = tmp_path / "cursors.state"
    data = bytearray(path.read_bytes())
    data[data.index(b"x any")] ^= 1  # of the first
    path.write_bytes(data)
    assert any("billing" in each for each in check(tmp_path).all_problems)
    with pytest.raises(SienaError, match="is damaged"):
        needed_from(tmp_path)
    done = repair(tmp_path)
    assert "billing" in done
    assert "made anew" in done
    assert "shipping" not in done
    assert [cursor.name for cursor in Cursors(tmp_path, 1000)] == ["shipping"]


async def test_of_identities_the_good_ones_stay(tmp_path: Path) -> None:
    await fill(tmp_path)
    path = tmp_path / "identities.lines"
    path.write_bytes(path.read_bytes().replace(b"ada", b"eda"))
    assert "line 1 of identities.lines" in check(tmp_path).all_problems[0]
    repair(tmp_path)
    assert check(tmp_path).all_problems == []
    assert b"grace" in path.read_bytes()
