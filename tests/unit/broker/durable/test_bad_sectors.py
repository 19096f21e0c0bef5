"""What the disk does not give stops nobody else, and is not waited for for ever."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from siena.broker.durable import page
from siena.broker.durable.cursors import finder
from siena.broker.durable.cursors.cursor import Cursor, Epoch, Spec
from siena.broker.durable.cursors.finder import Finder
from siena.broker.durable.page import Page, Pages
from siena.broker.durable.relays import sending
from siena.broker.durable.relays.relay import Relay
from siena.broker.durable.relays.sending import Sending
from siena.broker.log.records import Record
from siena.broker.log.segment import Gap
from siena.broker.log.store import Store
from siena.matching.input.buffers import encode_all
from siena.messages import Side
from wire import until

SEGMENT_BYTES = 4_096


class Worn(Store):
    """A log on a disk with a bad place."""

    bad = Gap(0, 0)
    why = errno.EIO

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        if self.bad.first <= start < self.bad.end:
            raise OSError(self.why, os.strerror(self.why))
        for record in super().scan(start, budget):
            if record.first >= self.bad.first and record.first < self.bad.end:
                raise OSError(self.why, os.strerror(self.why))
            yield record


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Worn]:
    found = Worn(tmp_path, SEGMENT_BYTES)
    for n in range(60):
        found.append(*encode_all([{"n": n, "x": "x" * 400}]), 7)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (finder, sending):
        monkeypatch.setattr(module, "RETRY_SECONDS", 0.001)
    monkeypatch.setattr(page, "UNREADABLE_TRIES", 5)


def cursor_at(position: int, name: str) -> Cursor:
    found = Cursor(position, "", name, [Epoch("n >= 0", 0)], Spec(1, 0, None))
    found.position = position
    return found


@pytest.mark.parametrize("end", [11, 12, 17, 43, 59])
def test_what_is_lost_ends_where_reading_goes_on(store: Worn, end: int) -> None:
    pages = Pages(store, 1)
    store.bad = Gap(10, end)
    for _ in range(4):
        with pytest.raises(OSError, match="Input/output"):
            pages.read(10)
    assert pages.read(10) == Page([], end, Gap(10, end))
    assert pages.read(end).records[0].first == end
    assert pages.read(10).lost == Gap(10, end), "known by now"


@pytest.mark.parametrize(
    ("why", "bad"), [(errno.EMFILE, Gap(10, 12)), (errno.EIO, Gap(0, 60))]
)
def test_what_passes_and_a_disk_that_gives_nothing_are_waited_for(
    store: Worn, why: int, bad: Gap
) -> None:
    pages = Pages(store, 1)
    store.bad, store.why = bad, why
    for _ in range(20):
        with pytest.raises(OSError, match=os.strerror(why)):
            pages.read(10)
    store.bad = Gap(0, 0)
    assert pages.read(10).records[0].first == 10


async def test_others_go_on_and_what_stays_so_is_told_as_lost_once(
    store: Worn, caplog: pytest.LogCaptureFixture
) -> None:
    lost: list[tuple[set[Cursor], Gap]] = []
    found = Finder(store, lambda _: None, lambda *told: lost.append(told))
    store.bad, store.why = Gap(10, 20), errno.EMFILE
    stuck, other = cursor_at(10, "stuck"), cursor_at(40, "other")
    for each in (stuck, other):
        found.add(each)
    await until(lambda: other.outstanding == 20)
    assert (stuck.position, lost) == (10, [])
    store.why = errno.EIO
    await until(lambda: stuck.outstanding == 40)
    assert lost == [({stuck}, Gap(10, 20))]
    await until(lambda: "can be read again" in caplog.text)
    assert caplog.text.count("cannot be read") == 1
    found.is_closed = True


class Link:
    """A neighbour that wants nothing of what there is."""

    exports = None


async def test_other_neighbours_go_on(
    store: Worn, caplog: pytest.LogCaptureFixture
) -> None:
    lost: list[Gap] = []
    sends = Sending(
        *(1, store, None, None, lambda: 60, lambda _: None),  # type: ignore[arg-type]
        lambda _relays, gap: lost.append(gap),
    )
    store.bad, store.why = Gap(10, 20), errno.EMFILE
    relays = [Relay(n, str(n), Side.PEER, n) for n in (10, 40)]
    for relay in relays:
        relay.link = Link()  # type: ignore[assignment]
        sends.relays[relay.number] = relay
    sends.wake()
    await until(lambda: relays[1].position == 60)
    assert (relays[0].position, lost) == (10, [])
    store.why = errno.EIO
    await until(lambda: relays[0].position == 60)
    assert lost == [Gap(10, 20)]
    assert caplog.text.count("cannot be read") == 1
    assert "can be read again" in caplog.text
    sends.is_closed = True
