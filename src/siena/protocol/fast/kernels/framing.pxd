# What only the compiled kernel has: the bytes of an object, a copy of bytes, and bytes
# that are written once.
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    Py_buffer,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.string cimport memcpy
