"""The wire's inner loops: publications cut out of a stream, deliveries laid out for it.

What is written here must be, byte for byte, what :mod:`siena.protocol.deliveries`
writes one by one.  Lengths and numbers are little-endian.

Why not in the room of the protocol: kernels are compiled together, and these work on
what the engine reads and finds.
"""

import cython

# Operations; siena.protocol.frames has the same numbers.
PUB = cython.declare(cython.int, 0x02)
MSG = cython.declare(cython.int, 0x12)
# A frame's length, its operation, and in a delivery the count of subscriptions.
HEAD = cython.declare(cython.int, 5)
MSG_HEAD = cython.declare(cython.int, 7)

# Why cutting ended.
NEEDS_MORE = cython.declare(cython.int, 0)
OTHER_FRAME = cython.declare(cython.int, 1)
BAD_LENGTH = cython.declare(cython.int, 2)
NO_ROOM = cython.declare(cython.int, 3)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def put(p: cython.uchar[::1], at: cython.Py_ssize_t, value: cython.uint) -> cython.void:
    """Write 32 bits."""
    p[at] = value & 255
    p[at + 1] = (value >> 8) & 255
    p[at + 2] = (value >> 16) & 255
    p[at + 3] = (value >> 24) & 255


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def copy(
    source: cython.const[cython.uchar][::1],
    start: cython.Py_ssize_t,
    target: cython.uchar[::1],
    at: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Copy bytes; compiled, by the library's own loop."""
    if size == 0:
        return
    if cython.compiled:
        memcpy(cython.address(target[at]), cython.address(source[start]), size)
    else:
        target[at : at + size] = source[start : start + size]


def cut(data, start, end, limit, block_limit, blocks, offsets, first):  # type: ignore[no-untyped-def]
    """Copy the blocks of PUB frames that stand in a row; where it ended, and why.

    Frames are read from ``data[start:end]``.  Block ``first`` goes to
    ``blocks[offsets[first]]``, and so on, while there is room in both.  One that is
    longer than ``block_limit`` is another frame.
    """
    d: cython.const[cython.uchar][::1] = data
    b: cython.uchar[::1] = blocks
    o: cython.longlong[::1] = offsets
    if not cython.compiled:
        d, b, o = map(memoryview, (data, blocks, offsets))
    at: cython.Py_ssize_t = start
    last: cython.Py_ssize_t = end
    n: cython.Py_ssize_t = first
    room: cython.Py_ssize_t = len(blocks)
    places: cython.Py_ssize_t = len(offsets) - 1
    longest: cython.Py_ssize_t = limit
    longest_block: cython.Py_ssize_t = block_limit
    size: cython.Py_ssize_t
    why: cython.int = NEEDS_MORE
    with cython.nogil:
        while last - at >= HEAD:
            size = (
                d[at]
                | (d[at + 1] << 8)
                | (d[at + 2] << 16)
                | (cython.cast(cython.Py_ssize_t, d[at + 3]) << 24)
            )
            if size == 0 or size > longest:
                why = BAD_LENGTH
                break
            if d[at + 4] != PUB or size - 1 > longest_block:
                why = OTHER_FRAME
                break
            if last - at < 4 + size:
                break
            if n == places or room - o[n] < size - 1:
                why = NO_ROOM
                break
            copy(d, at + HEAD, b, o[n], size - 1)
            o[n + 1] = o[n] + size - 1
            n += 1
            at += 4 + size
    return at, n, why


def measure(
    offsets, counts, filters, slots, stamps, serial, sizes, frames, touched, others
):  # type: ignore[no-untyped-def]
    """Find out what each connection gets of a batch.

    ``counts`` and ``filters`` are matches; ``slots[f]`` is the connection of interest
    ``f``, below zero where it belongs to none.  For each connection ``sizes`` is how
    many bytes and ``frames`` how many deliveries; both are 0 before.  ``touched`` has
    those that get some.  Message and interest of all that belong to no connection go
    to ``others``, two rows.  ``stamps`` remembers the last message of each connection,
    as ``serial`` and what follows.

    Returns how many are touched, how many others there are, and all bytes.
    """
    o: cython.const[cython.longlong][::1] = offsets
    c: cython.const[cython.int][::1] = counts
    f: cython.const[cython.int][::1] = filters
    s: cython.const[cython.int][::1] = slots
    st: cython.int[::1] = stamps
    si: cython.longlong[::1] = sizes
    fr: cython.int[::1] = frames
    t: cython.int[::1] = touched
    ot: cython.int[:, ::1] = others
    if not cython.compiled:
        o, c, f, s = map(memoryview, (offsets, counts, filters, slots))
        st, si, fr, t = map(memoryview, (stamps, sizes, frames, touched))
        ot = memoryview(others)
    total: cython.Py_ssize_t = len(counts)
    now: cython.int = serial
    n: cython.Py_ssize_t = 0
    found: cython.Py_ssize_t = 0
    strangers: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t = 0
    m: cython.Py_ssize_t
    k: cython.int
    slot: cython.int
    with cython.nogil:
        for m in range(total):
            for k in range(c[m]):
                slot = s[f[n]]
                if slot < 0:
                    ot[0, strangers] = cython.cast(cython.int, m)
                    ot[1, strangers] = f[n]
                    strangers += 1
                else:
                    if st[slot] != now:
                        st[slot] = now
                        if fr[slot] == 0:
                            t[found] = slot
                            found += 1
                        fr[slot] += 1
                        si[slot] += MSG_HEAD + o[m + 1] - o[m]
                        size += MSG_HEAD + o[m + 1] - o[m]
                    si[slot] += 4
                    size += 4
                n += 1
            now += 1
    return found, strangers, size


def lay_out(
    blocks, offsets, counts, filters, slots, numbers, stamps, serial, sizes, frames,
    touched, first, begun, out,
):  # type: ignore[no-untyped-def]  # fmt: skip
    """Write what each connection gets, as MSG frames back to back.

    ``sizes``, ``frames`` and the first ``first`` of ``touched`` are as ``measure`` has
    left them, and 0 again afterwards.  ``numbers[f]`` is the number that its connection
    has given interest ``f``.  ``begun`` is scratch: for each connection the frame being
    written, and behind those the connections of one message.

    Returns of each touched connection itself, its bytes and how many deliveries.
    """
    b: cython.const[cython.uchar][::1] = blocks
    o: cython.const[cython.longlong][::1] = offsets
    c: cython.const[cython.int][::1] = counts
    f: cython.const[cython.int][::1] = filters
    s: cython.const[cython.int][::1] = slots
    nu: cython.const[cython.uint][::1] = numbers
    st: cython.int[::1] = stamps
    p: cython.longlong[::1] = sizes
    fr: cython.int[::1] = frames
    t: cython.const[cython.int][::1] = touched
    be: cython.longlong[::1] = begun
    w: cython.uchar[::1] = out
    if not cython.compiled:
        b, o, c, f = map(memoryview, (blocks, offsets, counts, filters))
        s, nu, st, p = map(memoryview, (slots, numbers, stamps, sizes))
        fr, t, be, w = map(memoryview, (frames, touched, begun, out))
    total: cython.Py_ssize_t = len(counts)
    rows: cython.Py_ssize_t = len(sizes)
    connections: cython.Py_ssize_t = first
    now: cython.int = serial
    n: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = 0
    open_frames: cython.Py_ssize_t
    i: cython.Py_ssize_t
    m: cython.Py_ssize_t
    size: cython.Py_ssize_t
    ids: cython.Py_ssize_t
    k: cython.int
    slot: cython.int
    with cython.nogil:
        # From sizes to places.
        for i in range(connections):
            size = p[t[i]]
            p[t[i]] = at
            at += size
        for m in range(total):
            open_frames = 0
            for k in range(c[m]):
                slot = s[f[n]]
                if slot >= 0:
                    if st[slot] != now:
                        st[slot] = now
                        be[slot] = p[slot]
                        be[rows + open_frames] = slot
                        open_frames += 1
                        p[slot] += MSG_HEAD
                    put(w, p[slot], nu[f[n]])
                    p[slot] += 4
                n += 1
            size = o[m + 1] - o[m]
            for i in range(open_frames):
                slot = cython.cast(cython.int, be[rows + i])
                at = be[slot]
                ids = (p[slot] - at - MSG_HEAD) >> 2
                copy(b, o[m], w, p[slot], size)
                p[slot] += size
                put(w, at, cython.cast(cython.uint, p[slot] - at - 4))
                w[at + 4] = MSG
                w[at + 5] = ids & 255
                w[at + 6] = (ids >> 8) & 255
            now += 1
    # Bytes of their own: they may wait in a queue while others are written.
    written = []
    at = 0
    for i in range(connections):
        slot = t[i]
        size = p[slot] - at
        if cython.compiled:
            data: bytes = cython.cast(cython.p_char, cython.address(w[at]))[:size]
        else:
            data = w[at : at + size].tobytes()
        written.append((slot, data, fr[slot]))
        at = p[slot]
        p[slot] = 0
        fr[slot] = 0
    return written
