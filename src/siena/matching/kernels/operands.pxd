# What C puts where it is called.
from siena.matching.kernels.inline.hashing cimport mix
