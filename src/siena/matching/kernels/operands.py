"""The strings that filters mention: put in order, and into tries.

The arrays that come out are described in :mod:`siena.matching.kernels.match`; who
calls is :mod:`siena.matching.engine.ranks`.  Everything here lets other threads run: a
table is laid out anew while another one is matching.
"""

import cython

if not cython.compiled:  # otherwise in operands.pxd
    from siena.matching.kernels.inline.hashing import mix

ROOT_SUBSTRING = cython.declare(cython.int, 2)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_above(
    pool: cython.const[cython.uchar][::1],
    starts: cython.const[cython.longlong][::1],
    a: cython.int,
    b: cython.int,
) -> cython.bint:
    """Whether string ``a`` stands behind string ``b``."""
    i: cython.Py_ssize_t = starts[a]
    j: cython.Py_ssize_t = starts[b]
    while i < starts[a + 1] and j < starts[b + 1]:
        if pool[i] != pool[j]:
            return pool[i] > pool[j]
        i += 1
        j += 1
    return i < starts[a + 1]


def sort_strings(pool, starts, which, spare):  # type: ignore[no-untyped-def]
    """Sort the numbers ``which`` of strings by the strings; ``spare`` is as long.

    A merge sort from below, whose result is in ``which``.
    """
    p: cython.const[cython.uchar][::1] = pool
    s: cython.const[cython.longlong][::1] = starts
    w: cython.int[::1] = which
    v: cython.int[::1] = spare
    if not cython.compiled:
        p, s, w, v = map(memoryview, (pool, starts, which, spare))
    n: cython.Py_ssize_t = len(which)
    size: cython.Py_ssize_t = 1
    left: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    right: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        while size < n:
            left = 0
            while left < n:
                middle = min(left + size, n)
                right = min(left + 2 * size, n)
                i = left
                j = middle
                for k in range(left, right):
                    if i < middle and (j >= right or not is_above(p, s, w[i], w[j])):
                        v[k] = w[i]
                        i += 1
                    else:
                        v[k] = w[j]
                        j += 1
                left = right
            for k in range(n):
                w[k] = v[k]
            size *= 2


def enter_operands(pool, starts, which, roots, keys, targets, nodes, parents):  # type: ignore[no-untyped-def]
    """Enter strings into the tries; how many nodes there are.

    String ``which[i]`` goes below ``roots[i]``, and ``nodes[i]`` becomes its node.
    ``keys`` and ``targets`` are the hash table of edges; ``parents`` has for each node
    the edge that leads to it: ``parent * 256 + byte``.
    """
    p: cython.const[cython.uchar][::1] = pool
    s: cython.const[cython.longlong][::1] = starts
    w: cython.const[cython.int][::1] = which
    r: cython.const[cython.int][::1] = roots
    k: cython.longlong[::1] = keys
    t: cython.int[::1] = targets
    o: cython.int[::1] = nodes
    up: cython.longlong[::1] = parents
    if not cython.compiled:
        p, s, w, r = map(memoryview, (pool, starts, which, roots))
        k, t, o, up = map(memoryview, (keys, targets, nodes, parents))
    mask: cython.Py_ssize_t = len(keys) - 1
    count: cython.int = 3
    node: cython.int
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    place: cython.Py_ssize_t
    key: cython.longlong
    total: cython.Py_ssize_t = len(which)
    with cython.nogil:
        for i in range(total):
            node = r[i]
            for j in range(s[w[i]], s[w[i] + 1]):
                key = (cython.cast(cython.longlong, node) << 8) | p[j]
                place = mix(cython.cast(cython.ulonglong, key)) & mask
                while k[place] != -1 and k[place] != key:
                    place = (place + 1) & mask
                if k[place] == -1:
                    k[place] = key
                    t[place] = count
                    up[count] = key
                    count += 1
                node = t[place]
            o[i] = node
    return count


def link_nodes(order, keys, targets, parents, ends, fails, reports):  # type: ignore[no-untyped-def]
    """Aho and Corasick's links, for the nodes below the root of substrings.

    ``order`` has the nodes by depth, roots apart.  A node fails to the longest proper
    end of its string that is a node, and reports the next that is a whole operand.
    """
    n: cython.const[cython.int][::1] = order
    k: cython.const[cython.longlong][::1] = keys
    t: cython.const[cython.int][::1] = targets
    up: cython.const[cython.longlong][::1] = parents
    e: cython.const[cython.uchar][::1] = ends
    f: cython.int[::1] = fails
    r: cython.int[::1] = reports
    if not cython.compiled:
        n, k, t, up = map(memoryview, (order, keys, targets, parents))
        e, f, r = map(memoryview, (ends, fails, reports))
    mask: cython.Py_ssize_t = len(keys) - 1
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    key: cython.longlong
    byte: cython.longlong
    node: cython.int
    at: cython.int
    total: cython.Py_ssize_t = len(order)
    with cython.nogil:
        for i in range(total):
            node = n[i]
            at = cython.cast(cython.int, up[node] >> 8)
            byte = up[node] & 255
            if at != ROOT_SUBSTRING:
                while True:
                    at = f[at]
                    key = (cython.cast(cython.longlong, at) << 8) | byte
                    place = mix(cython.cast(cython.ulonglong, key)) & mask
                    while k[place] != -1 and k[place] != key:
                        place = (place + 1) & mask
                    if k[place] == key:
                        at = t[place]
                        break
                    if at == ROOT_SUBSTRING:
                        break
            f[node] = at
            r[node] = at if e[at] else r[at]


def enter_edges(edges, ends, keys, targets):  # type: ignore[no-untyped-def]
    """Enter edges of the tries into another hash table."""
    e: cython.const[cython.longlong][::1] = edges
    d: cython.const[cython.int][::1] = ends
    k: cython.longlong[::1] = keys
    t: cython.int[::1] = targets
    if not cython.compiled:
        e, d, k, t = map(memoryview, (edges, ends, keys, targets))
    mask: cython.Py_ssize_t = len(keys) - 1
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    total: cython.Py_ssize_t = len(edges)
    with cython.nogil:
        for i in range(total):
            place = mix(cython.cast(cython.ulonglong, e[i])) & mask
            while k[place] != -1:
                place = (place + 1) & mask
            k[place] = e[i]
            t[place] = d[i]
