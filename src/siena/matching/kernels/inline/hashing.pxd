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

cdef extern from *:
    """
    #if defined(__SIZEOF_INT128__)
    static inline unsigned long long siena_folded(
        unsigned long long a, unsigned long long b
    ) {
        unsigned __int128 product = (unsigned __int128)a * b;
        return (unsigned long long)product ^ (unsigned long long)(product >> 64);
    }
    #else
    static inline unsigned long long siena_folded(
        unsigned long long a, unsigned long long b
    ) {
        unsigned long long low = a & 0xFFFFFFFFULL, high = a >> 32;
        unsigned long long other = b & 0xFFFFFFFFULL, top = b >> 32;
        unsigned long long first = low * other, second = high * other;
        unsigned long long middle = low * top + (first >> 32);
        second += middle & 0xFFFFFFFFULL;
        return (a * b) ^ (high * top + (middle >> 32) + (second >> 32));
    }
    #endif
    """
    unsigned long long folded "siena_folded"(
        unsigned long long a, unsigned long long b
    ) noexcept nogil

cdef inline unsigned long long hash_bytes(
    const unsigned char *p, Py_ssize_t start, Py_ssize_t end, unsigned long long seed
) noexcept nogil:
    """A hash, eight bytes at a time; whoever finds an equal one compares the bytes.

    The seed is secret, so that nobody can prepare strings that collide.  To add it is
    not enough: of a product, high bits of a factor reach only high bits of the lower
    half, whatever was added, and the next word can take such a difference back.  So
    what is multiplied with is secret, too, and both halves of the product count.
    """
    cdef unsigned long long secret = scrambled(seed, 0x9E3779B97F4A7C15ULL) | 1
    cdef unsigned long long h = scrambled(seed, <unsigned long long>(end - start))
    while start + 8 <= end:
        h = folded(h ^ load(p, start, 8), secret)
        start += 8
    # The last bytes, in two halves that overlap: no loop, no byte beyond the end.
    if start + 4 <= end:
        return folded(h ^ (load(p, start, 4) | (load(p, end - 4, 4) << 32)), secret)
    if start < end:
        return folded(
            h
            ^ (
                <unsigned long long>p[start]
                | (<unsigned long long>p[start + ((end - start) >> 1)] << 8)
                | (<unsigned long long>p[end - 1] << 16)
            ),
            secret,
        )
    return h

cdef inline int tag_of(unsigned long long h) noexcept nogil:
    """The part of a hash that is kept beside what it found."""
    return <int>(h >> 33)
