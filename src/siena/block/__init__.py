"""Blocks: the one codec of notifications as bytes.

A block is a msgpack map from names to strings, integers, floats, booleans and times
(msgpack's own timestamp).  It is what travels, what a log keeps and what the engine
matches.  ``codec`` writes and reads one at a time, in plain Python, so that a client
needs no more than msgspec, and says how long one may be; ``times`` are cut to
microseconds; ``refusals`` are the reasons for which bytes are no block.

The engine's kernel (:mod:`siena.matching.kernels.match`) is the compiled reader: it
matches blocks by the thousand without making objects of them.  A second compiled
writer is :mod:`siena.matching.kernels.json`, which makes blocks of lines of JSON.
Tests compare them with each other, and with a reader that is nothing but obvious.
"""

from siena.block.codec import (
    BLOCK_BYTES_MAX,
    Attributes,
    decode,
    decode_named,
    encode,
    encode_in_order,
)
from siena.block.refusals import BLOCK_ERRORS, Refusal

__all__ = [
    "BLOCK_BYTES_MAX",
    "BLOCK_ERRORS",
    "Attributes",
    "Refusal",
    "decode",
    "decode_named",
    "encode",
    "encode_in_order",
]
