"""Results put together: of several engines, each once, or by interface.

Matches of many notifications are counts and numbers, those of one notification behind
those of the one before (``Matches`` in :mod:`siena.matching.engine.engine`).
"""

import cython


def join(counts, starts, filters, always, gone, labels, stamps, serial, out, joined):  # type: ignore[no-untyped-def]
    """Join the matches of several engines, without what is gone; how many there are.

    Engine ``e`` has ``counts[e, m]`` matches of message ``m``, and the first is
    ``filters[starts[e]]``.  ``always`` matches everything; ``gone[f]`` is not 0 where
    ``f`` was removed.  What is written is ``labels[f]``, or ``f`` itself if there is
    only one label, each once for a notification: ``stamps`` remembers the last
    notification that had it, as ``serial`` and what follows.
    """
    c: cython.const[cython.int][:, ::1] = counts
    s: cython.longlong[::1] = starts
    f: cython.const[cython.int][::1] = filters
    a: cython.const[cython.int][::1] = always
    g: cython.const[cython.uchar][::1] = gone
    la: cython.const[cython.int][::1] = labels
    st: cython.int[::1] = stamps
    o: cython.int[::1] = out
    j: cython.int[::1] = joined
    if not cython.compiled:
        c, s, f, a = map(memoryview, (counts, starts, filters, always))
        g, la, st, o = map(memoryview, (gone, labels, stamps, out))
        j = memoryview(joined)
    engines: cython.Py_ssize_t = counts.shape[0]
    messages: cython.Py_ssize_t = counts.shape[1]
    # The last of `always` is no filter, so that the array is never empty.
    usual: cython.Py_ssize_t = len(always) - 1
    is_labelled: cython.bint = len(labels) > 1
    now: cython.int = serial
    n: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    m: cython.Py_ssize_t
    e: cython.Py_ssize_t
    i: cython.Py_ssize_t
    label: cython.int
    with cython.nogil:
        for m in range(messages):
            if c[0, m] < 0:
                j[m] = c[0, m]
                continue
            first = n
            for i in range(usual):
                label = la[a[i]] if is_labelled else a[i]
                if st[label] != now:
                    st[label] = now
                    o[n] = label
                    n += 1
            for e in range(engines):
                for i in range(s[e], s[e] + c[e, m]):
                    label = la[f[i]] if is_labelled else f[i]
                    if g[f[i]] == 0 and st[label] != now:
                        st[label] = now
                        o[n] = label
                        n += 1
                s[e] += c[e, m]
            j[m] = cython.cast(cython.int, n - first)
            now += 1
    return n


def prepend(counts, filters, messages, always, out):  # type: ignore[no-untyped-def]
    """Put ``always`` before the matches of each message; how many there are then.

    The counts of the first ``messages`` grow alike, but for those that are bad.
    """
    c: cython.int[::1] = counts
    f: cython.const[cython.int][::1] = filters
    a: cython.const[cython.int][::1] = always
    o: cython.int[::1] = out
    if not cython.compiled:
        c, f, a, o = map(memoryview, (counts, filters, always, out))
    total: cython.Py_ssize_t = messages
    usual: cython.int = len(always)
    at: cython.Py_ssize_t = 0
    n: cython.Py_ssize_t = 0
    m: cython.Py_ssize_t
    i: cython.int
    with cython.nogil:
        for m in range(total):
            if c[m] < 0:
                continue
            for i in range(usual):
                o[n] = a[i]
                n += 1
            for i in range(c[m]):
                o[n] = f[at]
                at += 1
                n += 1
            c[m] += usual
    return n


def turn(counts, filters, labels, starts, messages, numbers):  # type: ignore[no-untyped-def]
    """Order matches by the label of the filter, notifications in their order.

    ``starts[l]`` is where label ``l`` begins; it is where it ends afterwards.
    """
    c: cython.const[cython.int][::1] = counts
    f: cython.const[cython.int][::1] = filters
    la: cython.const[cython.int][::1] = labels
    s: cython.longlong[::1] = starts
    me: cython.int[::1] = messages
    nu: cython.int[::1] = numbers
    if not cython.compiled:
        c, f, la = map(memoryview, (counts, filters, labels))
        s, me, nu = map(memoryview, (starts, messages, numbers))
    total: cython.Py_ssize_t = len(counts)
    n: cython.Py_ssize_t = 0
    m: cython.Py_ssize_t
    k: cython.int
    label: cython.int
    with cython.nogil:
        for m in range(total):
            for k in range(c[m]):
                label = la[f[n]]
                me[s[label]] = cython.cast(cython.int, m)
                nu[s[label]] = f[n]
                s[label] += 1
                n += 1


def spread(masks, bad, bits, out, counts):  # type: ignore[no-untyped-def]
    """Write the bits of masks as numbers; how many.

    ``bad[m]`` is 0, or below zero if there is nothing to say about message ``m``.
    """
    w: cython.const[cython.ulonglong][::1] = masks
    b: cython.const[cython.int][::1] = bad
    o: cython.int[::1] = out
    c: cython.int[::1] = counts
    if not cython.compiled:
        w, b, o, c = map(memoryview, (masks, bad, out, counts))
    total: cython.Py_ssize_t = len(masks)
    width: cython.int = bits
    n: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t
    m: cython.Py_ssize_t
    k: cython.int
    with cython.nogil:
        for m in range(total):
            c[m] = b[m]
            if b[m] < 0:
                continue
            first = n
            for k in range(width):
                # Written in any case: the array has one place more than it needs.
                o[n] = k
                n += cython.cast(cython.Py_ssize_t, (w[m] >> k) & 1)
            c[m] = cython.cast(cython.int, n - first)
    return n
