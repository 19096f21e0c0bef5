"""A broker starts with what the version before has left, and keeps everything of it."""

import zlib
from pathlib import Path

import msgspec
import numpy as np
import pytest

import siena
from broker.logs import kept_in, publish, url
from siena.broker.durable.cursors.record_form import packed, read
from siena.broker.durable.receipts.publishers import tag_of
from siena.broker.log.offline.small_files import problems_of
from siena.broker.log.records import pack_record
from siena.matching.input.buffers import encode_all
from wire import serving

ENCODE = msgspec.msgpack.encode
# Of a durable subscription: all of it, and what was acknowledged.
BILLING = ENCODE([0, 1, "", "billing", [["[]", 0]], [30.0, 0, None], 5, [3, 4], []])
ACKED = ENCODE([1, 1, [3]])
TORN = packed([ENCODE([1, 1, [4]])])[:-1]


def left_by_the_version_before(folder: Path, cursors: bytes) -> None:
    """A log of ten, a publisher that has stored them, and no neighbours."""
    data = b""
    for n in range(10):
        blocks, offsets = encode_all([{"n": n}])
        lengths = np.diff(offsets).astype(np.uint32)
        tag = tag_of(1, n)
        data += b"".join(map(bytes, pack_record(n, 7, tag, lengths, blocks, form=1)))
    (folder / f"{0:020d}.log").write_bytes(data)
    (folder / "lock").touch()
    (folder / "relays.state").write_bytes(b"")
    (folder / "cursors.state").write_bytes(cursors)
    publishers = [["", "importer", 1, 0, 10]]
    state = {"offset": 10, "last": 1, "publishers": publishers}
    state |= {"streams": [], "lives": [[7, 0]]}
    line = msgspec.json.encode(state)
    text = b"siena 1 %08x\n" % zlib.crc32(line) + line
    (folder / "publishers.state").write_bytes(text)


@pytest.mark.parametrize("torn", [b"", TORN])
async def test_a_folder_of_the_version_before_is_gone_on_with(
    tmp_path: Path, torn: bytes
) -> None:
    left_by_the_version_before(tmp_path, packed([BILLING, ACKED]) + torn)
    if not torn:
        assert problems_of(tmp_path) == []
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker), publisher="importer") as client,
    ):
        assert await client.next_sequence() == 10
        assert await client.publish(n=10, ack=True) == 10
        async with client.subscribe("[]", durable="billing") as read:
            found = [(await read.get(20.0)).offset for _ in range(7)]
        assert found == [4, 5, 6, 7, 8, 9, 10]
    assert problems_of(tmp_path) == []


@pytest.mark.parametrize("cursors", [b"", packed([BILLING])[:30]])
async def test_without_a_whole_record_no_durable_subscription_is_known(
    tmp_path: Path, cursors: bytes
) -> None:
    """There were none, or the first was being made when the broker was killed."""
    left_by_the_version_before(tmp_path, cursors)
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 1)
    assert problems_of(tmp_path) == []


@pytest.mark.parametrize("left", range(1, len(packed([BILLING]))))
def test_a_first_record_of_the_version_before_that_is_torn_is_no_damage(
    left: int,
) -> None:
    found = read(packed([BILLING])[:left])
    assert (found.records, found.damaged) == ([], [])
    assert found.torn[0].first == 0


def test_a_file_of_zeros_is_damaged() -> None:
    assert read(bytes(512)).damaged
