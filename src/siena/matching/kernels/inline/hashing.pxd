# Hashes of words and of bytes: what is entered by one kernel is found by another.
from siena.matching.kernels.inline.octets cimport load

cdef inline unsigned long long mix(unsigned long long key) noexcept nogil:
    """The upper half of a product: bits that depend on all bits of the key."""
    return (key * 0x9E3779B97F4A7C15ULL) >> 32

cdef inline unsigned long long scrambled(
    unsigned long long h, unsigned long long word
) noexcept nogil:
    h = (h ^ word) * 0x9E3779B97F4A7C15ULL
    return h ^ (h >> 32)

cdef inline unsigned long long hash_bytes(
    const unsigned char *p, Py_ssize_t start, Py_ssize_t end, unsigned long long seed
) noexcept nogil:
    """A hash, eight bytes at a time; whoever finds an equal one compares the bytes.

    The seed is secret, so that nobody can prepare strings that collide.
    """
    cdef unsigned long long h = scrambled(seed, <unsigned long long>(end - start))
    while start + 8 <= end:
        h = scrambled(h, load(p, start, 8))
        start += 8
    # The last bytes, in two halves that overlap: no loop, no byte beyond the end.
    if start + 4 <= end:
        return scrambled(h, load(p, start, 4) | (load(p, end - 4, 4) << 32))
    if start < end:
        return scrambled(
            h,
            <unsigned long long>p[start]
            | (<unsigned long long>p[start + ((end - start) >> 1)] << 8)
            | (<unsigned long long>p[end - 1] << 16),
        )
    return h

cdef inline int tag_of(unsigned long long h) noexcept nogil:
    """The part of a hash that is kept beside what it found."""
    return <int>(h >> 33)
