# What only the compiled kernel has: the bytes of an object, a copy of bytes, and a
# hint to the processor.
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    Py_buffer,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
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
