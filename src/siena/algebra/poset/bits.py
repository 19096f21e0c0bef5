"""Sets of small numbers as long integers: one bit for each number."""

from collections.abc import Iterable, Iterator

# Below this many bits, shifting is quicker than writing all of them as text.
_FEW = 8


def ones(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, ascending.

    >>> list(ones(0b10110))
    [1, 2, 4]
    """
    if bits.bit_count() < _FEW:
        while bits:
            lowest = bits & -bits
            yield lowest.bit_length() - 1
            bits ^= lowest
        return
    # Through text: finding a character is far quicker than shifting a long integer.
    text = f"{bits:b}"[::-1]
    position = text.find("1")
    while position >= 0:
        yield position
        position = text.find("1", position + 1)


def bits_of(numbers: Iterable[int]) -> int:
    """The integer with these bits.

    >>> bin(bits_of([1, 2, 4]))
    '0b10110'
    """
    listed = list(numbers)
    if not listed:
        return 0
    # In bytes: a long integer would be copied for each bit.
    found = bytearray((max(listed) >> 3) + 1)
    for number in listed:
        found[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(found, "little")
