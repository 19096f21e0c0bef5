"""What is noted of a value: numbers of operands in order, and bits that tell others.

Compiled, numbers are sorted in place, without room for others.
"""

from collections.abc import MutableSequence, Sequence

# Behind more operands than this there are bits, in so many words.
SEARCHED = 4
BIT_WORDS = 8


def sort_noted(lists: MutableSequence[int], start: int, size: int) -> None:
    """Put numbers in order, to be searched."""
    for i, number in enumerate(sorted(lists[start : start + size]), start=start):
        lists[i] = number


def set_bit(lists: MutableSequence[int], bits: int, operand: int) -> None:
    """Say, in the words from ``bits`` on, that an operand is there.

    Words have 31 bits: plain Python has no 32nd in an array of integers.
    """
    lists[bits + ((operand >> 5) & 7)] |= 1 << min(operand & 31, 30)


def may_be_noted(lists: Sequence[int], bits: int, operand: int) -> bool:
    """Whether an operand may be there; if its bit is not set, it is not."""
    return bool(lists[bits + ((operand >> 5) & 7)] >> min(operand & 31, 30) & 1)
