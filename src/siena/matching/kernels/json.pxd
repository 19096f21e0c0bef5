# What only the compiled kernel has: a copy of bytes; and what C puts where it is called.
from libc.string cimport memcpy

from siena.matching.kernels.inline.octets cimport is_utf8
