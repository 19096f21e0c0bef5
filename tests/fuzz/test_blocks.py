"""A few thousand of the million buffers that ``fuzz.blocks`` can make."""

import pytest

from fuzz.blocks import Fuzzer
from siena.matching.engine import engine


def test_mutated_buffers_are_read_as_the_slow_parser_reads_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit in ("VALUE_BYTES_REMEMBERED", "OPERANDS_LISTED"):
        monkeypatch.setattr(engine, limit, 1_024)
    fuzzer = Fuzzer(seed=11)
    fuzzer.run(2_000)
    assert fuzzer.disagreements == []
    assert fuzzer.seen["good"] > 1_000
    assert fuzzer.seen["bad"] > 2_000
