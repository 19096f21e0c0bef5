r"""Mutated buffers: the engine reads them as the slow parser does, and no byte more.

    PYTHONPATH=tests/support:tests \
        .venv/bin/python -m fuzz.blocks --buffers 1000000 --seed 1

Each buffer has a few blocks, most of them damaged, and is as long as its own piece of
memory, so that the address sanitizer sees whoever reads beyond it (``make sanitize``).
The memory of values is small, so that it is full again and again.
"""

import argparse
import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from matching.slow_blocks import BadBlockError, read_block
from siena.lang import parse_filter
from siena.matching.engine import engine as engine_module
from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.model.limits import NAME_CHARACTERS_MAX, STRING_CHARACTERS_MAX

# At most 64, because the same filters are tried as bits.
FILTERS = [
    parse_filter(text)
    for text in (
        "x > 3", "x = 1", "integer x < 0", "float x >= 0.5", "x any", "y any", "s = ab",
        "s >* a", "s *< b", 's * "é"', "boolean z any", "z = true", "t any",
        "t > 1998-03-04T18:43:37Z", "s >= a and x != 2", '"" any', 's * "a" and s *< b',
        "x > 0 and y > 0", "x < 9 and y != 1 and z any", "s = ab and x any",
        's = ab and s * "b" and x > 1', "t any and x any", "y < 5 and s >* a",
        'x != 1 and s * "b"', "x >= 9223372036854775807", "x < -9223372036854775807",
        "x > 1e300", "y <= -1e19", "z != true and x any", 's = "" and y any',
        "x = 5 and y = 5", "n1 = 1 and n2 = 2", "n1 > 0 and n3 > 0 and n5 > 0",
    )
]  # fmt: skip
NAMES = ["x", "y", "s", "z", "t", "", "n1", "n2", "n3", "q", "unknown", "é", "x\0"]
TEXTS = [b"", b"ab", b"a", b"b", b"xab", b"\xc3\xa9", b"a\0b", b"ab" * 20, b"z" * 33]
NOT_UTF8 = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc3",
            b"\x80", b"\xe0\x80\x80", b"\xf0\x80\x80\x80",
            b"aaaaaaaa\xe2\x82"]  # fmt: skip
INTEGERS = [0, 1, 2, 5, 127, 128, 255, 256, 65535, 65536, 2**31, 2**32, 2**63 - 1]
LENGTHS = [0, 1, 15, 16, 31, 32, 255, 256, 1024, 1025, 65535, 65536, 2**31, 2**32 - 1]
# Blocks that are kept to be damaged.
STOCK = 1_024

Rng = random.Random


class Verdict(NamedTuple):
    """What a block should give: whether it is bad, and otherwise who matches."""

    is_bad: bool
    matching: tuple[int, ...]
    mask: int


# --- Making buffers -----------------------------------------------------------------


def string(rng: Rng, text: bytes) -> bytes:
    """A string in any of msgpack's forms that can hold it."""
    forms = [b"\xdb" + struct.pack(">I", len(text))]
    if len(text) < 65536:
        forms.append(b"\xda" + struct.pack(">H", len(text)))
    if len(text) < 256:
        forms.append(b"\xd9" + bytes([len(text)]))
    if len(text) < 32:
        forms += [bytes([0xA0 | len(text)])] * 4
    return rng.choice(forms) + text


def integer(rng: Rng) -> bytes:
    value = rng.choice(INTEGERS) * rng.choice((1, 1, -1)) + rng.choice((0, 0, -1, 1))
    size = rng.choice((1, 2, 4, 8))
    bits = value & (1 << 8 * size) - 1
    return bytes([rng.choice((0xCC, 0xD0)) + size.bit_length() - 1]) + bits.to_bytes(
        size, "big"
    )


def real(rng: Rng) -> bytes:
    value = rng.choice(
        (0.0, -0.0, 0.5, 1.0, 5.0, 3.25, 2.0**63, -(2.0**63), -2e19, 1e308, 5e-324,
         float("nan"), float("inf"), -float("inf")),
    )  # fmt: skip
    if rng.random() < 0.3 and not 1e38 < abs(value) < float("inf"):
        return b"\xca" + struct.pack(">f", value)
    return b"\xcb" + struct.pack(">d", value)


def moment(rng: Rng) -> bytes:
    seconds = rng.choice((0, 1, 889037017, 2**32 - 1, 2**34 - 1, 253402300799))
    nanoseconds = rng.choice((0, 1000, 999_999_999, 1_000_000_000, 2**30 - 1))
    form = rng.randrange(4)
    if form == 0:
        return b"\xd6\xff" + struct.pack(">I", seconds & 0xFFFFFFFF)
    if form == 1:
        return b"\xd7\xff" + struct.pack(">Q", nanoseconds << 34 | seconds)
    seconds = rng.choice((seconds, -seconds, -62135596800, -62135596801, 253402300800))
    size = 12 if form == 2 else rng.choice((0, 4, 8, 11, 13))
    return bytes([0xC7, size, 0xFF]) + struct.pack(">Iq", nanoseconds, seconds)


def nested(rng: Rng) -> bytes:
    depth = rng.choice((1, 1, 2, 50, 5000 if rng.random() < 0.02 else 3))
    return rng.choice((b"\x91", b"\x81\xa1x", b"\xdc\0\1", b"\xde\0\1\xa1x")) * depth


def other(rng: Rng) -> bytes:
    """One of all 256 first bytes, with some bytes behind it."""
    return bytes([rng.randrange(256)]) + rng.randbytes(rng.randrange(10))


def text(rng: Rng) -> bytes:
    if rng.random() < 0.05:
        return string(rng, rng.choice(TEXTS) + rng.choice(NOT_UTF8))
    if rng.random() < 0.3:
        return string(rng, b"ab%d" % rng.randrange(100_000))
    return string(rng, rng.choice(TEXTS))


VALUES: list[Callable[[Rng], bytes]] = [
    lambda rng: bytes([rng.randrange(128)]),
    lambda rng: bytes([rng.randrange(0xE0, 0x100)]),
    lambda rng: rng.choice((b"\xc2", b"\xc3")),
    integer, integer, real, moment, text, text, text,
]  # fmt: skip
ODD_VALUES: list[Callable[[Rng], bytes]] = [nested, other]


def head(rng: Rng, count: int) -> bytes:
    forms = [b"\xdf" + struct.pack(">I", count), b"\xde" + struct.pack(">H", count)]
    if count < 16:
        forms += [bytes([0x80 | count])] * 4
    return rng.choice(forms)


def whole(rng: Rng) -> bytes:
    """A block that is good, or bad in one well-formed way."""
    names = rng.sample(NAMES, rng.choice((0, 1, 2, 3, 4, 6)))
    if rng.random() < 0.02:
        names = [f"n{i}" for i in range(rng.choice((17, 40)))]
    pairs = [(string(rng, n.encode()), rng.choice(VALUES)(rng)) for n in names]
    if pairs and rng.random() < 0.1:
        which = rng.randrange(len(pairs))
        pairs[which] = pairs[which][0], rng.choice(ODD_VALUES)(rng)
    if pairs and rng.random() < 0.05:  # the same name again, maybe in another form
        pairs.append((string(rng, rng.choice(names).encode()), b"\x01"))
    if rng.random() < 0.03:
        pairs.append((string(rng, rng.choice(NOT_UTF8)), b"\x01"))
    if rng.random() < 0.002:
        pairs.append((string(rng, too_long(rng, NAME_CHARACTERS_MAX)), b"\x01"))
    if rng.random() < 0.00002:
        value = string(rng, too_long(rng, STRING_CHARACTERS_MAX))
        pairs.append((string(rng, rng.choice((b"s", b"long"))), value))
    return head(rng, len(pairs)) + b"".join(key + value for key, value in pairs)


def too_long(rng: Rng, limit: int) -> bytes:
    """Around a limit that counts characters, not bytes."""
    return rng.choice((b"k", b"\xc3\xa9")) * (limit + rng.choice((0, 1)))


def damaged(rng: Rng, block: bytes, donor: bytes) -> bytes:
    """The block with some of its bytes changed, lost, doubled or replaced."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at = rng.randrange(len(block) + 1)
        end = min(len(block), at + rng.choice((1, 1, 2, 4, 9)))
        how = rng.randrange(9)
        if how == 0 and at < len(block):  # flip a bit
            flipped = block[at] ^ 1 << rng.randrange(8)
            block = block[:at] + bytes([flipped]) + block[at + 1 :]
        elif how == 1:  # another byte
            block = block[:at] + rng.randbytes(1) + block[at + 1 :]
        elif how == 2:
            block = block[:at]
        elif how == 3:
            block = block[:at] + block[end:]
        elif how == 4:
            block = block[:end] + block[at:]
        elif how == 5:
            block = block[:at] + donor[rng.randrange(len(donor) + 1) :]
        elif how == 6:  # another length, in place of what stands there
            size = rng.choice((1, 2, 4))
            length = rng.choice(LENGTHS) & (1 << 8 * size) - 1
            start = rng.choice((b"", b"\xd9", b"\xda", b"\xdb", b"\xde", b"\xdf"))
            block = block[:at] + start + length.to_bytes(size, "big") + block[end:]
        elif how == 7:  # a value inside
            block = block[:at] + rng.choice(VALUES + ODD_VALUES)(rng) + block[at:]
        else:  # another number of attributes
            block = head(rng, rng.choice(LENGTHS) & 0xFFFF) + block[1:]
    return block


def buffer(rng: Rng, stock: list[bytes]) -> list[bytes]:
    """The blocks of one buffer; now and then cut elsewhere than between blocks.

    To make a block takes longer than to damage one, so there is a stock of them, and
    each buffer brings a new one.
    """
    stock[rng.randrange(len(stock))] = whole(rng)
    blocks = rng.choices(stock, k=rng.choice((1, 2, 2, 3, 4)))
    for which in range(len(blocks)):
        if rng.random() < 0.6:
            blocks[which] = damaged(rng, blocks[which], rng.choice(blocks))
    if rng.random() < 0.05:
        data = b"".join(blocks)
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(len(blocks) - 1))
        ends = [0, *cuts, len(data)]
        blocks = [data[a:b] for a, b in pairwise(ends)]
    return blocks


# --- Judging ------------------------------------------------------------------------


def judge(block: bytes) -> Verdict:
    """What the slow parser and a loop over the filters make of a block."""
    try:
        notification = read_block(block)
    except BadBlockError:
        return Verdict(is_bad=True, matching=(), mask=0)
    found = tuple(i for i, f in enumerate(FILTERS) if f.matches(notification))
    return Verdict(is_bad=False, matching=found, mask=sum(1 << i for i in found))


class Judges:
    """The slow parser, which remembers the blocks that come again and again."""

    REMEMBERED = 200_000

    def __init__(self) -> None:
        self._known: dict[bytes, Verdict] = {}

    def __call__(self, block: bytes) -> Verdict:
        verdict = self._known.get(block)
        if verdict is None:
            if len(self._known) >= self.REMEMBERED:
                self._known.clear()
            verdict = self._known[block] = judge(block)
        return verdict


def make_engine(seed: int, *, as_masks: bool = False) -> Engine:
    columns = Columns()
    for number, f in enumerate(FILTERS):
        columns.add(f, number)
    return Engine(lay_out(columns.snapshot(), seed, as_masks=as_masks))


class Fuzzer:
    """Two engines, one that lists filters and one with masks, and what they saw."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.engine = make_engine(seed)
        self.masks = make_engine(seed, as_masks=True)
        self.cursor = self.engine.cursor()
        self.judges = Judges()
        self.stock = [whole(self.rng) for _ in range(STOCK)]
        self.seen: Counter[str] = Counter()
        self.disagreements: list[tuple[list[bytes], int]] = []

    def run(self, buffers: int) -> None:
        for _ in range(buffers):
            self.check(buffer(self.rng, self.stock))

    def check(self, blocks: list[bytes]) -> None:
        """Compare all answers to one buffer, block by block."""
        offsets = np.cumsum([0, *map(len, blocks)]).astype(np.int64)
        # A copy as long as the buffer: bytes would have one byte more.
        data = np.frombuffer(b"".join(blocks), np.uint8).copy().data
        matches = self.engine.match(data, offsets)
        reasons, masks = self.masks.match_masks(data, offsets, 2**64 - 1)
        counts, filters, bits = (
            matches.counts.tolist(), matches.filters.tolist(), masks.tolist()
        )  # fmt: skip
        at = 0
        for i, block in enumerate(blocks):
            expected = self.judges(block)
            size = max(0, counts[i])
            found = tuple(sorted(filters[at : at + size]))
            at += size
            got = Verdict(counts[i] < 0, found, bits[i])
            alone = self.cursor.match(block)
            if got != expected or reasons[i] != min(0, counts[i]) or alone != counts[i]:
                self.disagreements.append((blocks, i))
            self.seen["bad" if expected.is_bad else "good"] += 1
            self.seen["matches"] += size
        if at != len(filters):
            self.disagreements.append((blocks, len(blocks)))


def with_little_memory() -> None:
    """From now on, workers remember few values: what is full is tried all the time."""
    engine_module.VALUES_REMEMBERED = 4_096
    engine_module.VALUE_BYTES_REMEMBERED = 1_024
    engine_module.OPERANDS_LISTED = 1_024


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--buffers", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with_little_memory()
    fuzzer = Fuzzer(arguments.seed)
    started = time.perf_counter()
    step = max(1, arguments.buffers // 20)
    done = 0
    while done < arguments.buffers:
        size = min(step, arguments.buffers - done)
        fuzzer.run(size)
        done += size
        seen = fuzzer.seen
        print(
            f"{done:,} buffers, {len(fuzzer.disagreements)} disagreements; "
            f"{seen['good']:,} good blocks, {seen['bad']:,} bad ones, "
            f"{seen['matches']:,} matches; {time.perf_counter() - started:.0f} s",
            flush=True,
        )
    for blocks, index in fuzzer.disagreements[:5]:
        print(f"  at {index} of {[block[:200] for block in blocks]}")
    return 1 if fuzzer.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
