# Bytes as numbers and as texts.
from libc.string cimport memcmp, memcpy

cdef inline unsigned long long load(
    const unsigned char *p, Py_ssize_t i, Py_ssize_t size
) noexcept nogil:
    """Up to eight bytes as a number, in the order of this machine."""
    cdef unsigned long long word = 0
    memcpy(&word, p + i, size)
    return word

cdef inline bint same_bytes(
    const unsigned char *a, Py_ssize_t i,
    const unsigned char *b, Py_ssize_t j,
    Py_ssize_t size,
) noexcept nogil:
    if size >= 4 and size <= 8:
        # Two halves that overlap; names and values are mostly this short.
        return load(a, i, 4) == load(b, j, 4) and load(a, i + size - 4, 4) == load(
            b, j + size - 4, 4
        )
    return memcmp(a + i, b + j, size) == 0

cdef inline bint is_utf8(
    const unsigned char *p, Py_ssize_t i, Py_ssize_t end
) noexcept nogil:
    """Whether the bytes are characters: no overlong forms, no surrogates."""
    cdef int n, c, low, high
    while i + 8 <= end and (load(p, i, 8) & 0x8080808080808080ULL) == 0:
        i += 8
    while i < end:
        c = p[i]
        i += 1
        if c < 0x80:
            continue
        low = 0x80
        high = 0xBF
        if c < 0xC2 or c > 0xF4:
            return False
        if c < 0xE0:
            n = 1
        elif c < 0xF0:
            n = 2
            if c == 0xE0:
                low = 0xA0
            elif c == 0xED:
                high = 0x9F
        else:
            n = 3
            if c == 0xF0:
                low = 0x90
            elif c == 0xF4:
                high = 0x8F
        if i + n > end or p[i] < low or p[i] > high:
            return False
        i += 1
        while n > 1:
            if p[i] < 0x80 or p[i] > 0xBF:
                return False
            i += 1
            n -= 1
    return True

cdef inline bint is_longer(
    const unsigned char *p, Py_ssize_t i, Py_ssize_t end, Py_ssize_t limit
) noexcept nogil:
    """Whether UTF-8 has more characters than a limit; counted only if it may."""
    cdef Py_ssize_t count = 0
    if end - i <= limit:
        return False
    while i < end:
        count += (p[i] & 0xC0) != 0x80
        i += 1
    return count > limit

cdef inline unsigned long long big_endian(
    const unsigned char *p, Py_ssize_t i, int size
) noexcept nogil:
    cdef unsigned long long value = 0
    cdef int k
    for k in range(size):
        value = (value << 8) | p[i + k]
    return value

cdef inline long long signed_of(unsigned long long value, int size) noexcept nogil:
    """An integer of ``size`` bytes, in two's complement."""
    cdef int bits = 8 * size
    if size < 8 and (value >> (bits - 1)) & 1:
        return <long long>value - (<long long>1 << bits)
    return <long long>value

cdef inline unsigned long long item(
    const unsigned char *p, Py_ssize_t i, int size
) noexcept nogil:
    """Item ``i`` of items of 1, 2, 4 or 8 bytes: sizes that the compiler knows."""
    if size == 8:
        return load(p, 8 * i, 8)
    if size == 4:
        return load(p, 4 * i, 4)
    if size == 2:
        return load(p, 2 * i, 2)
    return p[i]

cdef inline double double_of(unsigned long long bits) noexcept nogil:
    """The double with these bits."""
    cdef double real
    memcpy(&real, &bits, 8)
    return real

cdef inline double float_of(unsigned int bits) noexcept nogil:
    """The single-precision float with these bits."""
    cdef float real
    memcpy(&real, &bits, 4)
    return real

cdef inline int compare(
    const unsigned char *p, Py_ssize_t start, Py_ssize_t end,
    const unsigned char *q, Py_ssize_t i, Py_ssize_t j,
) noexcept nogil:
    """The order of two strings: by byte, which is by character."""
    while start < end and i < j:
        if p[start] != q[i]:
            return 1 if p[start] > q[i] else -1
        start += 1
        i += 1
    if start < end:
        return 1
    return -1 if i < j else 0

cdef inline int compare_reversed(
    const unsigned char *p, Py_ssize_t start, Py_ssize_t end,
    const unsigned char *q, Py_ssize_t i, Py_ssize_t j,
) noexcept nogil:
    """The same, with the first string read from its end."""
    while start < end and i < j:
        if p[end - 1] != q[i]:
            return 1 if p[end - 1] > q[i] else -1
        end -= 1
        i += 1
    if start < end:
        return 1
    return -1 if i < j else 0
