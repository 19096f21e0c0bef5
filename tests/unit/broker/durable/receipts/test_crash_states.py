"""Log and publishers after a loss of power at any moment: nothing twice, nothing lost.

A client sends again what it has no receipt for, and some that it has one for.
"""

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from broker.crashes import Recorded, crash_states, lay_out
from siena.broker.durable.checked_file import write_checked
from siena.broker.durable.page import read_page
from siena.broker.durable.receipts.publishers import (
    FILE,
    KnownPublisher,
    Publishers,
    publisher_of,
    tag_of,
)
from siena.broker.log.files import Files
from siena.broker.log.journal import Journal
from siena.broker.log.store import Store
from siena.matching.input.buffers import encode_all
from siena.model import Value

SEGMENT_BYTES = 4_096
NUMBERS = (1, 2)


class Rebooted(Files):
    """The files of a machine that has started anew."""

    def boot(self) -> str:
        return "another life"


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory, where there is one."""
    shared = Path("/dev/shm")  # noqa: S108 -- a folder of its own is made in it
    place = shared if os.access(shared, os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="siena-crash-", dir=place))
    yield folder
    shutil.rmtree(folder)


def opened(store: Store, folder: Path) -> Publishers:
    commit = SimpleNamespace(synced=store.latest, failure=None)
    journal = SimpleNamespace(store=store, group_commit=commit)
    return Publishers(cast("Journal", journal), folder, life=1)


def send(store: Store, known: KnownPublisher, first: int, end: int) -> None:
    """What is not known is written, as a record of its own."""
    for row in known.window.split(first, end):
        if not row.is_known:
            known.window.accept(row.first, row.end)
            values: list[dict[str, Value]]
            values = [{"n": n, "x": "x" * 90} for n in range(row.first, row.end)]
            offset = store.latest
            store.append(*encode_all(values), 7, tag_of(known.number, row.first))
            known.window.store(row.first, row.end, offset)


class History:
    """What two publishers sent, and up to where each had receipts when."""

    def __init__(self, folder: Path, seed: int) -> None:
        rng = random.Random(seed)
        files = Recorded(folder)
        store = Store(folder, SEGMENT_BYTES, files)
        store.sync()
        publishers = opened(store, folder)
        for number in NUMBERS:
            known = KnownPublisher("", f"p{number}", number, 0)
            publishers._known["", known.name] = publishers._numbered[number] = known
        publishers._last = len(NUMBERS)
        self._checkpoint(files, folder, publishers)
        self.sent = dict.fromkeys(NUMBERS, 0)
        self.receipts: list[tuple[int, dict[int, int]]] = []
        for _ in range(40):
            known = publishers._numbered[rng.choice(NUMBERS)]
            end = self.sent[known.number] + rng.choice((1, 2, 9))
            again = max(0, self.sent[known.number] - rng.choice((0, 0, 3)))
            send(store, known, again, end)
            self.sent[known.number] = end
            if rng.random() < 0.5:
                store.sync()
                publishers._journal.group_commit.synced = store.latest
                for each in publishers._numbered.values():
                    each.synced = self.sent[each.number]
                    if rng.random() < 0.2:  # before the other one has heard
                        self._checkpoint(files, folder, publishers)
                self.receipts.append((len(files.done), dict(self.sent)))
        self.done = files.done
        os.close(store._file)
        store._lock.close()

    def _checkpoint(self, files: Files, folder: Path, publishers: Publishers) -> None:
        scratch = folder.with_name("scratch")
        write_checked(scratch, publishers._contents())
        files.write_whole(folder / FILE, scratch.read_bytes(), sync=True)


def tagged(store: Store) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = store.earliest
    while at < store.latest:
        page = read_page(store, at, 10**9)
        at = page.end
        for record in page.records:
            whose = publisher_of(record.tag)
            assert whose is not None
            found += [(whose[0], whose[1] + k) for k in range(len(record.lengths))]
    return found


def check(history: History, steps: int, folder: Path) -> None:
    told = [sent for done, sent in history.receipts if done <= steps]
    receipts = told[-1] if told else dict.fromkeys(NUMBERS, 0)
    store = Store(folder, SEGMENT_BYTES, Rebooted())
    store.sync()
    there = {*tagged(store)}
    publishers = opened(store, folder)
    for number, known in publishers._numbered.items():
        stored = receipts[number]
        assert {(number, n) for n in range(stored)} <= there, "it had a receipt"
        send(store, known, max(0, stored - 3), history.sent[number])
    if publishers._numbered:
        found = tagged(store)
        expected = {(p, n) for p in NUMBERS for n in range(history.sent[p])}
        assert len(found) == len({*found}), "stored twice"
        assert {*found} == expected
    else:
        assert not any(receipts.values())
    store.close()


def test_what_is_sent_again_after_a_loss_of_power_is_there_once(memory: Path) -> None:
    tried = 0
    for seed in range(3):
        history = History(memory / f"made-{seed}", seed)
        rng = random.Random(seed)
        for steps, state in crash_states(history.done, rng, 3):
            lay_out(memory / "left", state)
            try:
                check(history, steps, memory / "left")
            except Exception as error:
                done = history.done[steps - 1]
                error.add_note(f"seed {seed}, after step {steps}: {done}")
                raise
            tried += 1
    assert tried > 400
