"""RELAY frames that are not as they should be are refused, and never believed."""

import struct

import numpy as np
import pytest

from siena.block import encode
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.relay_runs import RelayRun, unpack_relay
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import HEAD_BYTES

BLOCK = encode({"x": 1})
NUMBERS = np.array([0, 2, 70_000], np.uint32)
RUN = RelayRun(1, 2, 3, 4, 5, NUMBERS, run_of([BLOCK] * 3))
BODY = RUN.pack()[HEAD_BYTES:]


def test_it_is_read_as_it_was_packed() -> None:
    again = unpack_relay(BODY, 100)
    assert again[:5] == RUN[:5]
    assert again.numbers.tolist() == NUMBERS.tolist()
    assert again.publications.blocks() == [BLOCK] * 3


def patched(at: int, form: str, value: int) -> bytes:
    changed = bytearray(BODY)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (BODY[:20], "ends too early"),
        (BODY[:-1], "which it has not"),
        (BODY + b"x", "which it has not"),
        (patched(40, "<I", 0), "of 0 publications"),
        (patched(40, "<I", 2**32 - 1), "of 4294967295 publications"),
        (patched(48, "<I", 0), "do not ascend"),
        (patched(44, "<I", 1), "do not ascend"),
        (patched(24, "<Q", 2**39 - 2), "too great"),
        (patched(8, "<Q", 2**63), "too great"),
    ],
)
def test_what_is_wrong_is_said(body: bytes, what: str) -> None:
    with pytest.raises(ProtocolError, match=what):
        unpack_relay(body, 100)


def test_a_block_that_is_too_long_is_refused() -> None:
    with pytest.raises(ProtocolError):
        unpack_relay(BODY, len(BLOCK) - 1)
