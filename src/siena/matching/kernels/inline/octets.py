"""Bytes as numbers and as texts."""

import struct


def load(p, i, size):
    """Up to eight bytes as a number, in the order of this machine."""
    return int.from_bytes(p[i : i + size], "little")


def same_bytes(a, i, b, j, size):
    return a[i : i + size] == b[j : j + size]


def is_utf8(p, i, end):
    """Whether the bytes are characters: no overlong forms, no surrogates."""
    try:
        bytes(p[i:end]).decode()
    except UnicodeDecodeError:
        return False
    return True


def is_longer(p, i, end, limit):
    """Whether UTF-8 has more characters than a limit."""
    return sum((byte & 0xC0) != 0x80 for byte in p[i:end]) > limit


def big_endian(p, i, size):
    return int.from_bytes(p[i : i + size], "big")


def signed_of(value, size):
    """An integer of ``size`` bytes, in two's complement."""
    return int.from_bytes(value.to_bytes(size, "big"), "big", signed=True)


def item(p, i, size):
    """Item ``i`` of items of 1, 2, 4 or 8 bytes."""
    return load(p, size * i, size)


def double_of(bits):
    """The double with these bits."""
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def float_of(bits):
    """The single-precision float with these bits."""
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def compare(p, start, end, q, i, j):
    """The order of two strings: by byte, which is by character."""
    first, second = bytes(p[start:end]), bytes(q[i:j])
    return (first > second) - (first < second)


def compare_reversed(p, start, end, q, i, j):
    """The same, with the first string read from its end."""
    first, second = bytes(p[start:end])[::-1], bytes(q[i:j])
    return (first > second) - (first < second)
