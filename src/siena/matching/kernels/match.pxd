# What only the compiled kernel has: the bytes of an object, functions that C puts where
# they are called, and a hint to the processor.
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    Py_buffer,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from siena.matching.kernels.inline.hashing cimport (
    hash_bytes,
    mix,
    scrambled,
    tag_of,
)
from siena.matching.kernels.inline.noted cimport SEARCHED, may_be_noted
from siena.matching.kernels.inline.octets cimport (
    big_endian,
    double_of,
    float_of,
    is_longer,
    is_utf8,
    item,
    load,
    same_bytes,
    signed_of,
)
from siena.matching.kernels.inline.views cimport doubles, ints, longs, octets, words
from siena.matching.kernels.values cimport Values

cdef extern from *:
    """
    #if defined(_MSC_VER) && !defined(__clang__)
    #define prefetch(p) ((void)(p))
    #else
    #define prefetch(p) __builtin_prefetch(p)
    #endif
    """
    void prefetch(const void *p) nogil
