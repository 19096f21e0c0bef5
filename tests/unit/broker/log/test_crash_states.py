"""A loss of power at any moment: nothing acknowledged is missing, garbage, or twice."""

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker.crashes import Recorded, crash_states, lay_out
from broker.logs import readable
from siena.block import encode
from siena.broker.log import group_commit
from siena.broker.log.cursors import Readers
from siena.broker.log.files import Files
from siena.broker.log.store import Store
from siena.clock import SystemClock
from siena.matching.input.buffers import encode_all
from siena.model import Value

SEGMENT_BYTES = 4_096


class Rebooted(Files):
    """The files of a machine that has started anew."""

    def boot(self) -> str:
        return "another life"


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of logs are opened in it."""
    shared = Path("/dev/shm")  # noqa: S108 -- a folder of its own is made in it
    place = shared if os.access(shared, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="siena-crash-", dir=place))
    yield folder
    shutil.rmtree(folder)


class History:
    """What a log did, what it had acknowledged after how many steps, what it wrote.

    It is synced at once, or by a thread, as for receipts, which goes on meanwhile; and
    sometimes what is written is left to the system.
    """

    def __init__(self, folder: Path, seed: int, appends: int) -> None:
        files = Recorded(folder)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(group_commit, "sync_and_close", files.sync_and_close)
            self._happen(folder, files, random.Random(seed), appends)

    def _happen(
        self, folder: Path, files: Recorded, rng: random.Random, appends: int
    ) -> None:
        self.written: dict[int, bytes] = {}
        # After so many steps these offsets were acknowledged, and this commit.
        self.acknowledged: list[tuple[int, int, int]] = []
        # After so many steps offsets below this one were given, and perhaps told.
        self.given: list[tuple[int, int]] = []
        committed = n = 0
        # What a thread is to sync, and up to which offset.
        handed_out: tuple[Callable[[], None], int] | None = None
        store = Store(folder, SEGMENT_BYTES, files)
        readers = Readers(folder / "readers.json", SystemClock(), 60.0, files=files)
        for _ in range(appends):
            count = rng.choice((1, 1, 2, 5, 20))
            batch: list[dict[str, Value]] = [
                {"n": n + k, "x": "x" * rng.randrange(60)} for k in range(count)
            ]
            n += count
            first = store.latest
            store.append(*encode_all(batch), 7)
            for place, each in enumerate(batch):
                self.written[first + place] = encode(each)
            self.given.append((len(files.done), store.latest))
            way = rng.random()
            if way < 0.3:
                store.sync()
                if rng.random() < 0.5:
                    committed = store.latest
                    readers.commit("me", committed)
                    store.make_room(committed, 3 * SEGMENT_BYTES, None)
                self._acknowledge(files, store.latest, committed)
            elif way < 0.6 and handed_out is None:
                handed_out = store.syncing(), store.latest
            elif way < 0.9 and handed_out is not None:
                (sync, end), handed_out = handed_out, None
                sync()
                self._acknowledge(files, end, committed)
            elif way > 0.95 and handed_out is None:
                store.leave_unsynced()
        self.done = files.done
        os.close(store._file)  # as if it had been killed
        store._lock.close()

    def _acknowledge(self, files: Recorded, end: int, committed: int) -> None:
        before = self.acknowledged[-1][1] if self.acknowledged else 0
        self.acknowledged.append((len(files.done), max(end, before), committed))

    def given_at(self, steps: int) -> int:
        """The first offset that was not given after so many steps."""
        return max((end for done, end in self.given if done <= steps), default=0)

    def at(self, steps: int) -> tuple[int, int]:
        """What was acknowledged after so many steps: up to an offset, and a commit."""
        found = [
            (end, commit) for done, end, commit in self.acknowledged if done <= steps
        ]
        return found[-1] if found else (0, 0)


def check(history: History, steps: int, folder: Path) -> None:
    """Open what is left, look at it, go on, and open it once more."""
    acknowledged, committed = history.at(steps)
    store = Store(folder, SEGMENT_BYTES, Rebooted())
    readers = Readers(folder / "readers.json", SystemClock(), 60.0)
    assert (readers.ask("me") or 0) >= committed, "a commit that was answered"
    found = readable(store)
    for offset in range(store.earliest, acknowledged):
        assert offset in found, f"offset {offset} was acknowledged"
    assert store.earliest <= max(committed, readers.ask("me") or 0)
    for offset, block in found.items():
        assert block == history.written[offset], "what was never written there"
    store.skip_to(readers.ask("me") or 0)
    first = store.latest
    assert first >= max([acknowledged, committed, *(n + 1 for n in found)])
    assert first >= history.given_at(steps), "an offset that may be given again"
    store.append(*encode_all([{"new": 1}]), 7)
    store.close()
    again = Store(folder, SEGMENT_BYTES)
    assert readable(again) == {**found, first: encode({"new": 1})}
    again.close()


def _try(folder: Path, states: int, seed: int, appends: int, each: int) -> int:
    tried = 0
    while tried < states:
        history = History(folder / f"made-{seed}", seed, appends)
        rng = random.Random(seed)
        for steps, state in crash_states(history.done, rng, each):
            lay_out(folder / "left", state)
            try:
                check(history, steps, folder / "left")
            except Exception as error:
                error.add_note(
                    f"seed {seed}, after step {steps}: {history.done[steps - 1]}"
                )
                raise
            tried += 1
        shutil.rmtree(folder / f"made-{seed}")
        seed += 1
    return tried


def test_nothing_acknowledged_is_missing_after_a_loss_of_power(memory: Path) -> None:
    assert _try(memory, 2_000, seed=1, appends=40, each=6) >= 2_000


@pytest.mark.slow
@pytest.mark.timeout(3_600)
def test_a_hundred_thousand_losses_of_power(memory: Path) -> None:
    assert _try(memory, 100_000, seed=1_000, appends=60, each=12) >= 100_000
