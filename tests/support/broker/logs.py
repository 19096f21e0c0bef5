"""Brokers that keep a log, and what tests put into it and read from it."""

import secrets
from pathlib import Path

import siena
from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.log.records import DamagedLogError
from siena.broker.log.stores.log_store import LogStore
from siena.broker.settings import Log as LogSettings, Settings
from siena.client.client import Client
from siena.model import Value

# The smallest: four files of four KiB.
SMALL = {"bytes": 16_384, "segment_bytes": 4_096}


def kept_in(folder: Path, **log: object) -> Settings:
    return Settings(
        listen=("127.0.0.1:0",),
        log=LogSettings(path=str(folder), **log),  # type: ignore[arg-type]
    )


def url(broker: Broker) -> str:
    return broker.addresses[0].url


async def publish(broker: Broker, count: int, first: int = 0, **more: Value) -> None:
    async with siena.connect(url(broker)) as client:
        for n in range(first, first + count):
            await client.publish({"n": n, **more})
        await client.flush()


async def numbers(broker: Broker, interest: str = "[]", start: int = 0) -> list[Value]:
    async with siena.connect(url(broker)) as client:
        found = client.log.read(interest, start)
        return [logged.notification["n"] async for logged in found]


def everything(store: LogStore) -> list[bytes]:
    found: list[bytes] = []
    at = store.earliest
    while at < store.latest:
        before = at
        for record in store.scan(at, 1_000):
            assert record.first >= at
            found += record.all_blocks()
            at = record.end
        if at == before:  # offsets that were given up are all that is left
            break
    return found


def readable(store: LogStore) -> dict[int, bytes]:
    """All that a log has, by offset; each once, and ascending."""
    found: dict[int, bytes] = {}
    start = store.earliest
    while start < store.latest:
        before = start
        try:
            for record in store.scan(start, 10**9):
                assert record.first >= start, "an offset that was there before"
                blocks = enumerate(record.all_blocks(), record.first)
                found.update(blocks)
                start = record.end
        except DamagedLogError as error:
            start = _end_of(error)
        if start == before:
            break
    return found


def _end_of(error: DamagedLogError) -> int:
    assert error.gap is not None
    return error.gap[1]


def blocks(count: int) -> list[bytes]:
    return [encode({"n": n}) for n in range(count)]


Parts = list[tuple[bytes, int]]


async def staged(client: Client, *counts: int, first: int = 0) -> Parts:
    """Parts of so many notifications, numbered through."""
    parts = []
    for count in counts:
        name = secrets.token_bytes(16)
        part = ({"n": n} for n in range(first, first + count))
        parts.append((name, await client.log.stage(name, part)))
        first += count
    return parts
