"""Publications for a load generator: frames copied from a pool, and stamped.

The frames of a pool have one size.  Each copy gets its running number and the time at
which it was to be sent, eight bytes each with the highest first, as msgpack has them.
"""

import cython

# Added to numbers and times, so that their msgpack form has always nine bytes.
BASE = 1 << 60


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def put(
    p: cython.uchar[::1], at: cython.Py_ssize_t, value: cython.longlong
) -> cython.void:
    """Write 64 bits, the highest first."""
    i: cython.int
    for i in range(8):
        p[at + i] = (value >> (56 - 8 * i)) & 255


def stamp(pool, size, number_at, sent_at, first, count, number, sent, step, out):  # type: ignore[no-untyped-def]
    """Copy ``count`` frames of a pool, from ``first`` on and round again.

    The running numbers begin with ``number``, and ``sent`` is the time of the first in
    nanoseconds, each ``step`` after the one before.
    """
    s: cython.const[cython.uchar][::1] = pool
    w: cython.uchar[::1] = out
    if not cython.compiled:
        s, w = map(memoryview, (pool, out))
    length: cython.Py_ssize_t = size
    n_at: cython.Py_ssize_t = number_at
    s_at: cython.Py_ssize_t = sent_at
    total: cython.Py_ssize_t = len(pool) // size
    place: cython.Py_ssize_t = first % total
    copies: cython.Py_ssize_t = count
    base: cython.longlong = BASE
    k: cython.longlong = number + base
    t: cython.longlong = sent + base
    gap: cython.double = step
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(copies):
            for j in range(length):
                w[at + j] = s[place * length + j]
            put(w, at + n_at, k + i)
            put(w, at + s_at, t + cython.cast(cython.longlong, i * gap))
            at += length
            place += 1
            if place == total:
                place = 0
