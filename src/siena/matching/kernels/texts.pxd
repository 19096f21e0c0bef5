# What C puts where it is called.
from siena.matching.kernels.inline.octets cimport big_endian
from siena.matching.kernels.inline.views cimport ints, octets, shorts
