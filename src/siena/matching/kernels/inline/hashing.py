"""Hashes of words and of bytes: what is entered by one kernel is found by another."""

from siena.matching.kernels.inline.octets import load

_MULTIPLIER = 0x9E3779B97F4A7C15
_WORD = 0xFFFFFFFFFFFFFFFF


def mix(key):
    """The upper half of a product: bits that depend on all bits of the key."""
    return ((key * _MULTIPLIER) & _WORD) >> 32


def scrambled(h, word):
    h = ((h ^ word) * _MULTIPLIER) & _WORD
    return h ^ (h >> 32)


def hash_bytes(p, start, end, seed):
    """A hash, eight bytes at a time; of what has an equal one the bytes are compared.

    The seed is secret, so that strings that collide cannot be prepared.
    """
    secret = scrambled(seed, _MULTIPLIER) | 1
    h = scrambled(seed, end - start)
    while start + 8 <= end:
        h = _folded(h ^ load(p, start, 8), secret)
        start += 8
    if start + 4 <= end:
        rest = load(p, start, 4) | (load(p, end - 4, 4) << 32)
        return _folded(h ^ rest, secret)
    if start < end:
        middle = start + ((end - start) >> 1)
        rest = p[start] | (p[middle] << 8) | (p[end - 1] << 16)
        return _folded(h ^ rest, secret)
    return h


def _folded(a, b):
    """Both halves of a product in one."""
    product = a * b
    return (product & _WORD) ^ (product >> 64)


def tag_of(h):
    """The part of a hash that is kept beside what it found."""
    return h >> 33
