# What only the compiled kernel has: a copy of bytes.
from libc.string cimport memcpy
