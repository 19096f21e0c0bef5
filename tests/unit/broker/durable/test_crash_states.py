"""A loss of power at any moment: the small files say what was acknowledged.

Cursors, neighbours and publishers are on the disk when it is said that they are,
however the log is synced; so are readers and sinks, whose files must at least be whole.
"""

import ast
import asyncio
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from broker.crashes import Recorded, crash_states, lay_out
from siena.broker.clients.remembered import FILE as IDENTITIES, Line, Remembered, _lines
from siena.broker.durable.checked_file import CheckedFile, read_checked
from siena.broker.durable.cursors.cursor import Cursor, Epoch, Spec
from siena.broker.durable.cursors.registry import Cursors
from siena.broker.durable.relays.relay import Relay
from siena.broker.durable.relays.relay_file import RelayFile
from siena.broker.log.batches.idempotent_batches import State
from siena.broker.log.cursors import Readers
from siena.broker.log.state_file import StateFile
from siena.clock import SystemClock
from siena.lang.parser import parse_filter
from siena.messages import Side

TAIL = 10_000
SPEC = Spec(30, 0, None)


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of files are opened in it."""
    shared = Path("/dev/shm")  # noqa: S108 -- a folder of its own is made in it
    place = shared if os.access(shared, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="siena-crash-", dir=place))
    (folder / "made").mkdir()
    yield folder
    shutil.rmtree(folder)


class History:
    """What was done to the disk, and what was promised after how many steps."""

    def __init__(self, folder: Path) -> None:
        self.files = Recorded(folder)
        self._told: dict[str, list[tuple[int, str]]] = {}

    def promise(self, of: str, what: str) -> None:
        """From now on a thing is so."""
        self._told.setdefault(of, []).append((len(self.files.done), what))

    def check(self, steps: int, found: dict[str, str], otherwise: str) -> None:
        """What was found is what was promised last, or was on its way."""
        for of, told in self._told.items():
            before = [what for at, what in told if at <= steps] or [otherwise]
            after = [what for at, what in told if at > steps]
            assert found.get(of, otherwise) in {before[-1], *after}, (of, steps, told)
        assert found.keys() <= self._told.keys()

    def told_by(self, steps: int) -> dict[str, str]:
        """What was promised last after so many steps."""
        return {
            of: [what for at, what in told if at <= steps][-1]
            for of, told in self._told.items()
            if told[0][0] <= steps
        }

    def each(self, seed: int) -> Iterator[tuple[int, dict[str, bytes]]]:
        """What may be left, and after how many steps."""
        return crash_states(self.files.done, random.Random(seed), 4)


# --- Cursors --------------------------------------------------------------------------


async def cursors_history(folder: Path, seed: int, steps: int) -> History:
    """Durable subscriptions that come, go, are sought and acknowledged."""
    rng = random.Random(seed)
    history = History(folder)
    cursors = Cursors(folder, TAIL, history.files)
    waits: list[asyncio.Future[None]] = []

    def then(cursor: Cursor, what: str) -> Callable[[OSError | None], None]:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waits.append(ended)

        def told(failure: OSError | None) -> None:
            assert failure is None
            history.promise(cursor.name, what)
            ended.set_result(None)

        return told

    for n in range(steps):
        known = list(cursors)
        way = rng.random()
        if way < 0.3 or not known:
            cursor = cursors.make("", f"n{n}", Epoch("x any", 0), SPEC)
            cursors.save(cursor, then(cursor, "there 0"))
        elif way < 0.5:
            cursor = rng.choice(known)
            cursor.reset(n)
            cursors.save(cursor, then(cursor, f"there {n}"))
        elif way < 0.6:
            cursor = rng.choice(known)
            cursors.forget(cursor, then(cursor, "gone"))
        elif way < 0.7:
            cursors._file.rewrite()
        else:
            cursors.acked(rng.choice(known), [rng.randrange(TAIL)])
        if waits and rng.random() < 0.6:
            await waits[-1]
    await asyncio.gather(*waits)
    await cursors.close()
    return history


async def test_durable_subscriptions_are_as_they_were_acknowledged(
    memory: Path,
) -> None:
    for seed in range(6):
        history = await cursors_history(memory / "made", seed, 30)
        for steps, state in history.each(seed):
            lay_out(memory / "left", state)
            cursors = Cursors(memory / "left", TAIL)
            found = {c.name: f"there {c.position}" for c in cursors}
            history.check(steps, found, "gone")
        lay_out(memory / "made", {})


# --- Neighbours -----------------------------------------------------------------------


async def test_what_neighbours_want_is_as_it_was_written(memory: Path) -> None:
    history = History(memory / "made")
    relays: list[Relay] = []
    file = RelayFile(memory / "made", lambda: relays, history.files)
    file.begin()
    rng = random.Random(1)
    for n in range(60):
        if rng.random() < 0.3 or not relays:
            relays.append(Relay(n, f"b{n}", Side.PEER, 0))
            file.save(relays[-1])
        relay = rng.choice(relays)
        relay.wanted[parse_filter(f"x = {n}")] += 1
        file.save_wanted(relay.number, f"x = {n}", gained=True)
        file.flush()
        file.save_position(relay)
        if rng.random() < 0.5:
            kept = asyncio.get_running_loop().create_future()
            file._file.append(
                msgspec.msgpack.encode([1, relay.number, n]), kept.set_result
            )
            assert await kept is None
            for each in relays:
                texts = sorted(str(f) for f in each.wanted)
                history.promise(each.name, str(texts))
        elif rng.random() < 0.3:
            file._file.rewrite()
    await file.close()
    for steps, state in history.each(1):
        lay_out(memory / "left", state)
        found = {r.name: r.wanted for r in RelayFile(memory / "left", list).read()}
        for name, told in history.told_by(steps).items():
            wanted = {str(f) for f in found[name]}
            assert wanted.issuperset(ast.literal_eval(told))


# --- Whole files ----------------------------------------------------------------------


async def test_a_checked_file_has_what_was_said_to_be_there(memory: Path) -> None:
    history = History(memory / "made")
    said = ["0"]
    path = memory / "made" / "x.state"
    file = CheckedFile(path, lambda: said[-1].encode() * 2_000, history.files)
    for n in range(1, 20):
        said.append(str(n))
        kept: asyncio.Future[OSError | None]
        kept = asyncio.get_running_loop().create_future()
        file.save(kept.set_result)
        assert await kept is None
        history.promise("it", str(n))
    await file.close()
    for steps, state in history.each(1):
        lay_out(memory / "left", state)
        data = read_checked(memory / "left" / "x.state")
        found = {} if data is None else {"it": data[: len(data) // 2_000].decode()}
        history.check(steps, found, "0")


def test_readers_and_sinks_are_where_they_said_however_the_log_is_synced(
    memory: Path,
) -> None:
    history = History(memory / "made")
    folder, files = memory / "made", history.files
    readers = Readers(folder / "readers.json", SystemClock(), 60.0, files=files)
    sinks = StateFile(folder / "sinks.json", State, State(), files=files)
    for n in range(1, 20):
        readers.commit("me", n)
        history.promise("me", str(n))
        sinks.value.tag = n
        sinks.save()
        history.promise("tag", str(n))
    for steps, state in history.each(1):
        left = memory / "left"
        lay_out(left, state)
        again = Readers(left / "readers.json", SystemClock(), 60.0)
        tag = StateFile(left / "sinks.json", State, State()).value.tag
        found = {"me": str(again.ask("me") or 0), "tag": str(tag)}
        history.check(steps, found, "0")


def test_identities_are_there_however_often_the_broker_is_started(
    memory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    history = History(memory / "made")
    lines = {f"i{n}": Line(f"i{n}", {1: "x any"}) for n in range(50)}
    for _ in range(5):  # each start writes them anew
        remembered = Remembered(None, None, memory / "made", history.files)  # type: ignore[arg-type]
        remembered._write_anew(lines)
        history.promise("all", str(len(lines)))
    for steps, state in history.each(1):
        lay_out(memory / "left", state)
        found = len(list(_lines(memory / "left" / IDENTITIES)))
        history.check(steps, {"all": str(found)}, "0")
    assert "damaged" not in caplog.text
