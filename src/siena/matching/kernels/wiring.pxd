# What only the compiled kernel has: a copy of bytes, and bytes that are written once.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.string cimport memcpy
