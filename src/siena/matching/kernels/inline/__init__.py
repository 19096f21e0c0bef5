"""Small functions that kernels share, and that C puts into each where it is called.

Cython inlines between modules only what stands in a ``.pxd``.  So each module here is
two files: the ``.pxd`` is what compiled kernels have, the ``.py`` its slow twin, for
kernels that run as plain Python.  Nothing here is compiled for itself.  A kernel's own
``.pxd`` says which functions it takes; the kernel imports their twins if it is plain.
"""
