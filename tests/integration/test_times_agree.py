"""A time means one thing on every way: what is less than a microsecond is cut off."""

import json
import struct
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

from kernels import plain
from matching.slow_blocks import read_block
from siena.block import decode, decode_named, encode
from siena.broker.http.body import read_notifications
from siena.broker.http.json_requests import JsonRequests
from siena.lang import parse_filter, parse_notification
from siena.lang.notification_form import notification_from_text
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.engine.linear_tier import LinearTier
from siena.matching.input.arrow import TextColumn, read_batch
from siena.matching.input.json_rows import encode_texts
from siena.matching.kernels import match
from siena.model import Filter
from siena.protocol.frames import Op, Splitter
from siena.protocol.text.requests import read_pairs
from siena.spark.batch.columns import engine_column
from siena.spark.source.log_reading import text_of
from siena.spark.source.publishing import blocks_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds since 1970, and nanoseconds behind them: the issue's own example, one that
# would be rounded to the next second, one before 1970, and the first and last of all.
TIMES = [
    (889_037_017, 1_900),
    (889_037_017, 999_999_999),
    (889_037_017, 0),
    (-1, 999),
    (-62_135_596_800, 1_001),
    (253_402_300_799, 999_999_999),
]
# Those that 64 bits of nanoseconds can hold.
IN_ARROW = [(s, n) for s, n in TIMES if abs(s) < 2**33]


def cut(seconds: int, nanoseconds: int) -> datetime:
    return EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1_000)


def spelled(seconds: int, nanoseconds: int) -> str:
    """With nine digits, as many programs write it."""
    moment = (EPOCH + timedelta(seconds=seconds)).replace(tzinfo=None)
    return f"{moment.isoformat()}.{nanoseconds:09}Z"


def block_of(seconds: int, nanoseconds: int) -> bytes:
    return b"\x81\xa1t\xc7\x0c\xff" + struct.pack(">Iq", nanoseconds, seconds)


def column_of(seconds: int, nanoseconds: int) -> pa.Array:
    total = seconds * 1_000_000_000 + nanoseconds
    return pa.array([total], pa.int64()).view(pa.timestamp("ns", "UTC"))


def blocks_in(frames: bytes) -> Iterator[bytes]:
    for frame in Splitter().feed(frames):
        assert frame.op == Op.PUB
        yield frame.body


# --- Readers ------------------------------------------------------------------------


def of_text(at: str) -> object:
    return parse_notification(f"t = {at}")["t"]


def of_filter(at: str) -> object:
    return parse_filter(f"t > {at}").constraints[0].value


def of_line(at: str) -> object:
    return read_pairs(f"t={at}")["t"]


def of_json(at: str) -> object:
    return notification_from_text(json.dumps({"t": {"time": at}}))["t"]


def of_many_json(at: str) -> object:
    text = json.dumps({"t": {"time": at}}).encode()
    blocks, _, _ = encode_texts(TextColumn.of([text]))
    return decode(bytes(blocks))["t"]


def of_socket(at: str) -> object:
    frames = JsonRequests().read(json.dumps({"pub": {"t": {"time": at}}}))
    (block,) = blocks_in(frames)
    return decode(block)["t"]


def of_spark_text(at: str) -> object:
    text = json.dumps({"t": {"time": at}})
    batch = pa.RecordBatch.from_pydict({"notification": [text]})
    (block,) = blocks_of(batch, "notification")
    return decode(block)["t"]


TEXT_READERS = [of_text, of_filter, of_line, of_json, of_many_json, of_socket,
                of_spark_text]  # fmt: skip


@pytest.mark.parametrize("read", TEXT_READERS)
@pytest.mark.parametrize("at", TIMES)
def test_in_a_text(read: Callable[[str], object], at: tuple[int, int]) -> None:
    assert read(spelled(*at)) == cut(*at)


async def posted(kind: str, form: object) -> object:
    found = await read_notifications(kind, json.dumps(form).encode())
    (block,) = found.run.blocks()
    notification = decode(block)
    return notification["t" if "t" in notification else "time"]


def of_post(at: str) -> Awaitable[object]:
    return posted("application/json", {"t": {"time": at}})


def of_cloud_event(at: str) -> Awaitable[object]:
    event = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "order"}
    return posted("application/cloudevents+json", {**event, "time": at})


@pytest.mark.parametrize("read", [of_post, of_cloud_event])
@pytest.mark.parametrize("at", TIMES)
async def test_over_http(
    read: Callable[[str], Awaitable[object]], at: tuple[int, int]
) -> None:
    assert await read(spelled(*at)) == cut(*at)


@pytest.mark.parametrize("at", TIMES)
def test_in_a_block(at: tuple[int, int]) -> None:
    block, wanted = block_of(*at), cut(*at)
    assert decode(block)["t"] == wanted
    assert decode_named(block, {"t"}) == {"t": wanted}
    assert read_block(block)["t"] == wanted
    assert notification_from_text(text_of(block))["t"] == wanted
    assert decode(encode(decode(block))) == decode(block)


def filters_around(wanted: datetime) -> list[Filter]:
    """One that this time alone satisfies, and two that only other times do."""
    at = wanted.isoformat()
    return [parse_filter(f"t {operator} {at}") for operator in ("=", "<", ">")]


@pytest.mark.parametrize("kernel", ["compiled", "plain"])
@pytest.mark.parametrize("at", TIMES)
def test_in_the_engine(kernel: str, at: tuple[int, int]) -> None:
    """And a delivered notification satisfies the filter for which it was delivered."""
    columns = Columns()
    filters = filters_around(cut(*at))
    for number, each in enumerate(filters):
        columns.add(each, number)
    kernels = {"compiled": match.Kernel, "plain": plain("match").Kernel}
    engine = Engine(lay_out(columns.snapshot(), 1), kernels[kernel])
    block = block_of(*at)
    offsets = np.array([0, len(block)], np.int64)
    assert engine.match(block, offsets).filters.tolist() == [0]
    tier = LinearTier(enumerate(filters))
    assert tier.match(block, offsets, [True]).filters.tolist() == [0]
    assert filters[0].matches(decode(block))


@pytest.mark.parametrize("at", IN_ARROW)
def test_in_an_arrow_column(at: tuple[int, int]) -> None:
    columns = Columns()
    for number, each in enumerate(filters_around(cut(*at))):
        columns.add(each, number)
    engine = Engine(lay_out(columns.snapshot(), 1))
    read = engine_column(column_of(*at))
    assert read is not None
    batch = pa.record_batch({"t": read})
    assert engine.match_arrow(read_batch(batch)).filters.tolist() == [0]
    (block,) = blocks_of(batch, None)
    assert decode(block)["t"] == cut(*at)
