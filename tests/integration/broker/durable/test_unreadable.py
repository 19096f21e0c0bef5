"""What cannot be read now is read later; what is damaged is told, and nothing else."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import siena
from broker.logs import kept_in, numbers, publish, url
from siena.broker.broker import Broker
from siena.broker.durable import page, reading
from siena.broker.durable.cursors import finder
from siena.broker.durable.relays import sending
from siena.broker.settings import Settings, as_settings
from siena.client.missed_interval import MissedInterval
from wire import serving, until


class Descriptors:
    """Whether there are any left, to read a log with."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.are_used_up = False
        self.refused = 0
        real = os.pread

        def pread(descriptor: int, size: int, place: int) -> bytes:
            if self.are_used_up:
                self.refused += 1
                raise OSError(errno.EMFILE, "Too many open files")
            return real(descriptor, size, place)

        monkeypatch.setattr(os, "pread", pread)
        for module in (finder, reading, sending, page):
            monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)


@pytest.fixture
def descriptors(monkeypatch: pytest.MonkeyPatch) -> Iterator[Descriptors]:
    found = Descriptors(monkeypatch)
    yield found
    found.are_used_up = False


def stored_in(folder: Path, name: str, *links: Broker) -> Settings:
    form: dict[str, object] = {
        "name": name,
        "listen": ["127.0.0.1:0"],
        "accept_peers": True,
        "log": {"path": str(folder / name)},
        "links": [{"url": url(each)} for each in links],
    }
    return as_settings(form)


def flip(folder: Path, text: bytes) -> None:
    """Damage the record that has a text."""
    for path in folder.glob("*.log"):
        data = bytearray(path.read_bytes())
        if text in data:
            data[data.index(text)] ^= 1
            path.write_bytes(data)
            return
    raise AssertionError(f"{text!r} is nowhere")


async def test_a_new_one_that_cannot_be_looked_for_now_gets_everything_later(
    tmp_path: Path, descriptors: Descriptors, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await publish(broker, 100)
        descriptors.are_used_up = True
        late = client.subscribe("[]", durable="late", start="all")
        await late.settled()
        await until(lambda: descriptors.refused >= 3)
        descriptors.are_used_up = False
        found = [(await late.get(20.0)).offset for _ in range(100)]
        assert found == [*range(100)]
        assert caplog.text.count("the log cannot be read") == 1, "said once"
        assert broker.state.counters.log_unreadable == 0


async def test_what_was_found_and_cannot_be_read_now_is_delivered_later(
    tmp_path: Path, descriptors: Descriptors
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await client.subscribe("[]", durable="billing").settled()
        await publish(broker, 100)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        descriptors.are_used_up = True
        read = client.subscribe("[]", durable="billing")
        await read.settled()
        await until(lambda: descriptors.refused >= 3)
        descriptors.are_used_up = False
        found = [(await read.get(20.0)).offset for _ in range(100)]
        assert found == [*range(100)]


async def test_a_neighbour_gets_later_what_cannot_be_read_now(
    tmp_path: Path, descriptors: Descriptors
) -> None:
    async with serving(stored_in(tmp_path, "b0")) as b0:
        async with (
            serving(stored_in(tmp_path, "b1", b0)) as b1,
            siena.connect(url(b1)) as reader,
        ):
            await until(lambda: bool(b1.state.links))
            await reader.subscribe("n any", durable="billing").settled()
        async with siena.connect(url(b0)) as client:
            for n in range(5):
                await client.publish(n=n, ack=True)
        async with serving(stored_in(tmp_path, "b1")) as b1:
            descriptors.are_used_up = True
            b1.links.call(stored_in(tmp_path, "b1", b0).links)
            await until(lambda: bool(b0.state.links))
            await until(lambda: descriptors.refused >= 3)
            descriptors.are_used_up = False
            journal = b1.log_service.journal
            assert journal is not None
            await until(lambda: journal.store.latest == 5)
            assert await numbers(b1) == [*range(5)]


async def test_damage_costs_what_is_damaged_and_is_told(tmp_path: Path) -> None:
    """Who reads durably hears a GAP, also if nobody read when it was found."""
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        for n in range(9):
            await client.publish(n=n, text=f"number {n}", ack=True)
    flip(tmp_path, b"number 3")
    gaps: list[MissedInterval] = []
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker), on_gap=gaps.append) as client,
    ):
        read = client.subscribe("[]", durable="late", start="all")
        found = [(await read.get(20.0)).offset for _ in range(8)]
        assert found == [0, 1, 2, 4, 5, 6, 7, 8]
        assert any("has lost offsets 3 to 3" in gap.reason for gap in gaps)
        assert broker.state.counters.log_unreadable == 1


async def test_a_neighbour_is_told_of_damage(tmp_path: Path) -> None:
    async with serving(stored_in(tmp_path, "b0")) as b0:
        async with (
            serving(stored_in(tmp_path, "b1", b0)) as b1,
            siena.connect(url(b1)) as reader,
        ):
            await until(lambda: bool(b1.state.links))
            await reader.subscribe("n any", durable="billing").settled()
        async with siena.connect(url(b0)) as client:
            for n in range(5):
                await client.publish(n=n, text=f"number {n}", ack=True)
        flip(tmp_path / "b0", b"number 3")
        gaps: list[MissedInterval] = []
        async with (
            serving(stored_in(tmp_path, "b1")) as b1,
            siena.connect(url(b1), on_gap=gaps.append) as reader,
        ):
            read = reader.subscribe("n any", durable="billing")
            await read.settled()
            b1.links.call(stored_in(tmp_path, "b1", b0).links)
            found = [(await read.get(20.0)).notification["n"] for _ in range(4)]
            assert found == [0, 1, 2, 4]
            await until(lambda: any("lost offsets 3 to 3" in g.reason for g in gaps))
