# What only the compiled kernel has: a comparison of bytes.
from libc.string cimport memcmp
