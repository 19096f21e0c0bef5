# What C puts where it is called.
from siena.matching.kernels.inline.hashing cimport mix
from siena.matching.kernels.inline.views cimport ints, longs
