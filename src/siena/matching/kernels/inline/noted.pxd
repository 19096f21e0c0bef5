# What is noted of a value: numbers of operands in order, and bits that tell others.

cdef enum:
    # Numbers up to this many are put in order by steps that shrink, with no heap.
    FEW = 256
    # Behind more operands than this there are bits, in so many words.
    SEARCHED = 4
    BIT_WORDS = 8

cdef inline void sort_noted(int *lists, int start, int size) noexcept nogil:
    """Put numbers in order, to be searched; by a heap, which needs no room.

    Of the ``size`` items the first ``top`` are a heap, and those behind in place.
    A few are sorted by Shell's method instead, whose steps are 40, 13, 4 and 1.
    """
    cdef int top = size
    cdef int i = size >> 1
    cdef int at, below, moved
    if size <= FEW:
        below = 40 if size > 80 else 13 if size > 26 else 4 if size > 8 else 1
        while below > 0:
            for i in range(start + below, start + size):
                moved = lists[i]
                at = i
                while at >= start + below and lists[at - below] > moved:
                    lists[at] = lists[at - below]
                    at -= below
                lists[at] = moved
            below //= 3
        return
    while top > 1:
        if i > 0:
            i -= 1
            moved = lists[start + i]
        else:
            top -= 1
            moved = lists[start + top]
            lists[start + top] = lists[start]
        at = i
        below = 2 * at + 1
        while below < top:
            if below + 1 < top:
                below += lists[start + below + 1] > lists[start + below]
            if lists[start + below] <= moved:
                break
            lists[start + at] = lists[start + below]
            at = below
            below = 2 * at + 1
        lists[start + at] = moved

cdef inline void set_bit(int *lists, int bits, int operand) noexcept nogil:
    """Say, in the words from ``bits`` on, that an operand is there.

    Words have 31 bits: plain Python has no 32nd in an array of integers.
    """
    cdef int bit = operand & 31
    lists[bits + ((operand >> 5) & 7)] |= 1 << (bit if bit < 30 else 30)

cdef inline bint may_be_noted(const int *lists, int bits, int operand) noexcept nogil:
    """Whether an operand may be there; if its bit is not set, it is not."""
    cdef int bit = operand & 31
    return (lists[bits + ((operand >> 5) & 7)] >> (bit if bit < 30 else 30)) & 1
