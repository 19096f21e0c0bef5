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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def place_of(
    edges: cython.const[cython.int][::1],
    parents: cython.const[cython.longlong][::1],
    key: cython.longlong,
) -> cython.Py_ssize_t:
    """Where an edge stands in a hash table of edges, or would stand."""
    mask: cython.Py_ssize_t = edges.shape[0] - 1
    place: cython.Py_ssize_t = mix(cython.cast(cython.ulonglong, key)) & mask
    while edges[place] != 0 and parents[edges[place]] != key:
        place = (place + 1) & mask
    return place


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def child_of(
    edges: cython.const[cython.int][::1],
    parents: cython.const[cython.longlong][::1],
    node: cython.int,
    byte: cython.int,
) -> cython.int:
    """The node behind an edge, or 0."""
    key: cython.longlong = (cython.cast(cython.longlong, node) << 8) | byte
    if node + 1 < parents.shape[0] and parents[node + 1] == key:
        return node + 1
    return edges[place_of(edges, parents, key)]


def enter_operands(pool, starts, which, roots, edges, nodes, parents, first, count):  # type: ignore[no-untyped-def]
    """Enter strings into the tries, from the first on, while there is room.

    String ``which[i]`` goes below ``roots[i]``, and ``nodes[i]`` becomes its node.
    ``parents`` has for each node the edge that leads to it, ``parent * 256 + byte``, or
    -1; ``edges`` is a hash table by such edges, twice as long: the node that each leads
    to, or 0.  What leads to the next node is not in it.

    Returns how many strings are entered, and how many nodes there are.
    """
    p: cython.const[cython.uchar][::1] = pool
    s: cython.const[cython.longlong][::1] = starts
    w: cython.const[cython.int][::1] = which
    r: cython.const[cython.int][::1] = roots
    e: cython.int[::1] = edges
    o: cython.int[::1] = nodes
    up: cython.longlong[::1] = parents
    if not cython.compiled:
        p, s, w, r = map(memoryview, (pool, starts, which, roots))
        e, o, up = map(memoryview, (edges, nodes, parents))
    i: cython.Py_ssize_t = first
    n: cython.int = count
    node: cython.int
    found: cython.int
    j: cython.Py_ssize_t
    key: cython.longlong
    room: cython.Py_ssize_t = len(parents)
    total: cython.Py_ssize_t = len(which)
    with cython.nogil:
        while i < total and n + (s[w[i] + 1] - s[w[i]]) <= room:
            node = r[i]
            for j in range(s[w[i]], s[w[i] + 1]):
                found = child_of(e, up, node, p[j])
                if found == 0:
                    key = (cython.cast(cython.longlong, node) << 8) | p[j]
                    if node != n - 1:
                        e[place_of(e, up, key)] = n
                    up[n] = key
                    found = n
                    n += 1
                node = found
            o[i] = node
            i += 1
    return i, n


def link_nodes(order, edges, parents, ends, links):  # type: ignore[no-untyped-def]
    """Aho and Corasick's links, for the nodes below the root of substrings.

    ``order`` has the nodes by depth, roots apart.  A node has four words: where it
    fails to, the longest proper end of its string that is a node; what it reports, the
    longest end, perhaps itself, that is a whole operand, or -1; its parent, or -1; and
    the byte of the edge from there, below bits for its own edges, by the last four bits
    of their bytes.
    """
    n: cython.const[cython.int][::1] = order
    d: cython.const[cython.int][::1] = edges
    up: cython.const[cython.longlong][::1] = parents
    e: cython.const[cython.uchar][::1] = ends
    z: cython.int[::1] = links
    if not cython.compiled:
        n, d, up = map(memoryview, (order, edges, parents))
        e, z = map(memoryview, (ends, links))
    i: cython.Py_ssize_t
    byte: cython.int
    node: cython.int
    at: cython.int
    found: cython.int
    total: cython.Py_ssize_t = len(order)
    with cython.nogil:
        for i in range(total):
            node = n[i]
            at = cython.cast(cython.int, up[node] >> 8)
            byte = cython.cast(cython.int, up[node] & 255)
            z[4 * at + 3] |= 256 << (byte & 15)
            if at != ROOT_SUBSTRING:
                while True:
                    at = z[4 * at]
                    found = child_of(d, up, at, byte)
                    if found != 0:
                        at = found
                        break
                    if at == ROOT_SUBSTRING:
                        break
            z[4 * node] = at
            z[4 * node + 1] = node if e[node] else z[4 * at + 1]


def enter_edges(parents, edges):  # type: ignore[no-untyped-def]
    """Enter edges of the tries into a hash table, but those to the next node."""
    up: cython.const[cython.longlong][::1] = parents
    e: cython.int[::1] = edges
    if not cython.compiled:
        up, e = memoryview(parents), memoryview(edges)
    node: cython.int
    count: cython.int = len(parents)
    with cython.nogil:
        for node in range(3, count):
            if (up[node] >> 8) != node - 1:
                e[place_of(e, up, up[node])] = node
