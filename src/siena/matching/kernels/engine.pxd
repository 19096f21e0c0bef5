# What only the compiled kernel has: a copy of bytes, and a hint to the processor.
from libc.string cimport memcmp, memcpy

cdef extern from *:
    """
    #if defined(_MSC_VER) && !defined(__clang__)
    #define prefetch(p) ((void)(p))
    #else
    #define prefetch(p) __builtin_prefetch(p)
    #endif
    """
    void prefetch(const void *p) nogil
