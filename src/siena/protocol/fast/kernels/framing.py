"""Framing: publications cut out of a stream, deliveries laid out for one.

What is written here must be, byte for byte, what :mod:`siena.protocol.data_frames`
writes one by one.  Lengths and numbers are little-endian.

Why one module: its loops share helpers that are inlined, and the compiler inlines those
of the same module only.
"""

import cython

from siena.protocol.data_frames import MSG_HEAD_BYTES
from siena.protocol.frames import HEAD_BYTES, Op

# The protocol's own numbers, as C has them.
PUB = cython.declare(cython.int, Op.PUB)
MSG = cython.declare(cython.int, Op.MSG)
HEAD = cython.declare(cython.int, HEAD_BYTES)
MSG_HEAD = cython.declare(cython.int, MSG_HEAD_BYTES)

# The slot of interests to which nothing goes: they say what may be published.
LICENCE_SLOT = -2
LICENCE = cython.declare(cython.int, LICENCE_SLOT)

# Why cutting ended.
NEEDS_MORE = cython.declare(cython.int, 0)
OTHER_FRAME = cython.declare(cython.int, 1)
BAD_LENGTH = cython.declare(cython.int, 2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def put(p: cython.p_uchar, at: cython.Py_ssize_t, value: cython.uint) -> cython.void:
    """Write 32 bits."""
    p[at] = value & 255
    p[at + 1] = (value >> 8) & 255
    p[at + 2] = (value >> 16) & 255
    p[at + 3] = (value >> 24) & 255


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def length_at(
    d: cython.const[cython.uchar][::1], at: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The length of the frame that begins at a place."""
    return (
        d[at]
        | (d[at + 1] << 8)
        | (d[at + 2] << 16)
        | (cython.cast(cython.Py_ssize_t, d[at + 3]) << 24)
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def copy(
    source: cython.p_uchar,
    start: cython.Py_ssize_t,
    target: cython.p_uchar,
    at: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.void:
    """Copy bytes; compiled, by the library's own loop."""
    if size == 0:
        return
    if cython.compiled:
        memcpy(target + at, source + start, size)
    else:
        target[at : at + size] = source[start : start + size]


def cut(data, start, end, limit, block_limit):  # type: ignore[no-untyped-def]
    """How many PUB frames stand in a row in ``data[start:end]``.

    Returns their number, where the row ended, and why.  One whose block is longer than
    ``block_limit`` is another frame.
    """
    d: cython.const[cython.uchar][::1] = data
    if not cython.compiled:
        d = memoryview(data)
    at: cython.Py_ssize_t = start
    last: cython.Py_ssize_t = end
    longest: cython.Py_ssize_t = limit
    longest_block: cython.Py_ssize_t = block_limit
    count: cython.Py_ssize_t = 0
    size: cython.Py_ssize_t
    why: cython.int = NEEDS_MORE
    if at < 0 or last > len(data):
        raise ValueError("these are no places in the data")
    with cython.nogil:
        while last - at >= HEAD:
            size = length_at(d, at)
            if size == 0 or size > longest:
                why = BAD_LENGTH
                break
            if d[at + 4] != PUB or size - 1 > longest_block:
                why = OTHER_FRAME
                break
            if last - at < 4 + size:
                break
            count += 1
            at += 4 + size
    return count, at, why


def skip(frames, start, bound, most):  # type: ignore[no-untyped-def]
    """How many frames stand from a place on, and where they end.

    No more than ``most``, and no further than ``bound``, but for the first.

    Raises:
        ValueError: if there is none.
    """
    d: cython.const[cython.uchar][::1] = frames
    if not cython.compiled:
        d = memoryview(frames)
    size: cython.Py_ssize_t = len(frames)
    at: cython.Py_ssize_t = start
    last: cython.Py_ssize_t = min(size, bound)
    limit: cython.Py_ssize_t = most
    count: cython.Py_ssize_t = 0
    length: cython.Py_ssize_t
    while count < limit and at >= 0 and size - at >= HEAD:
        length = length_at(d, at)
        if length == 0 or length > size - at - 4:
            break
        if count > 0 and length > last - at - 4:
            break
        count += 1
        at += 4 + length
    if count == 0:
        raise ValueError("no frame stands here")
    return count, at


def unframe(frames, start, offsets):  # type: ignore[no-untyped-def]
    """The blocks of some frames, back to back; ``offsets`` say where, one more.

    Raises:
        ValueError: if there are fewer frames than offsets.
    """
    d: cython.const[cython.uchar][::1] = frames
    o: cython.longlong[::1] = offsets
    if not cython.compiled:
        d, o = memoryview(frames), memoryview(offsets)
    count: cython.Py_ssize_t = len(offsets) - 1
    size: cython.Py_ssize_t = len(frames)
    at: cython.Py_ssize_t = start
    place: cython.Py_ssize_t = 0
    length: cython.Py_ssize_t
    i: cython.Py_ssize_t
    # Twice through the heads: then there is room for just as much as there is.
    for i in range(count):
        if at < 0 or size - at < HEAD:
            raise ValueError("fewer frames than were counted")
        length = length_at(d, at)
        if length == 0 or length > size - at - 4:
            raise ValueError("a frame has the length of another")
        o[i] = place
        place += length - 1
        at += 4 + length
    o[count] = place
    if place == 0:
        return b""
    if cython.compiled:
        blocks: bytes = PyBytes_FromStringAndSize(cython.NULL, place)
        # Nobody else has seen these bytes yet.
        p: cython.p_uchar = cython.cast(cython.p_uchar, PyBytes_AS_STRING(blocks))
        q: cython.p_uchar = cython.cast(cython.p_uchar, cython.address(d[0]))
    else:
        p, q = bytearray(place), d
    at = start
    for i in range(count):
        length = o[i + 1] - o[i]
        copy(q, at + HEAD, p, o[i], length)
        at += HEAD + length
    return blocks if cython.compiled else bytes(p)


def pick(frames, start, indices):  # type: ignore[no-untyped-def]
    """Some of the frames that stand back to back, back to back again.

    ``indices`` say which, in ascending order.

    Raises:
        ValueError: if there are fewer frames, or the indices do not ascend.
    """
    d: cython.const[cython.uchar][::1] = frames
    chosen: cython.const[cython.int][::1] = indices
    if not cython.compiled:
        d, chosen = memoryview(frames), memoryview(indices)
    count: cython.Py_ssize_t = len(indices)
    size: cython.Py_ssize_t = len(frames)
    at: cython.Py_ssize_t = start
    wanted: cython.Py_ssize_t = 0
    place: cython.Py_ssize_t = 0
    begun: cython.Py_ssize_t
    length: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    # Twice through the heads: then there is room for just as much as there is.
    for j in range(count):
        if chosen[j] < i:
            raise ValueError("the indices do not ascend")
        while i <= chosen[j]:
            if at < 0 or size - at < HEAD:
                raise ValueError("fewer frames than were counted")
            length = length_at(d, at)
            if length == 0 or length > size - at - 4:
                raise ValueError("a frame has the length of another")
            at += 4 + length
            i += 1
        wanted += 4 + length
    if wanted == 0:
        return b""
    if cython.compiled:
        picked: bytes = PyBytes_FromStringAndSize(cython.NULL, wanted)
        # Nothing else has seen these bytes yet.
        p: cython.p_uchar = cython.cast(cython.p_uchar, PyBytes_AS_STRING(picked))
        q: cython.p_uchar = cython.cast(cython.p_uchar, cython.address(d[0]))
    else:
        p, q = bytearray(wanted), d
    at = start
    i = 0
    j = 0
    while j < count:
        while i < chosen[j]:
            at += 4 + length_at(d, at)
            i += 1
        # Neighbours are copied together.
        begun = at
        while j < count and chosen[j] == i:
            at += 4 + length_at(d, at)
            i += 1
            j += 1
        copy(q, begun, p, place, at - begun)
        place += at - begun
    return picked if cython.compiled else bytes(p)


@cython.cclass
class DeliveryWriter:
    """What is known of interests and connections from one batch to the next.

    To take hold of an array costs more than to deliver a notification, so the writer
    keeps hold of those that stay the same.
    """

    # Of each interest its connection, below zero if it has none, its number there, and
    # its mark; and the mark of those that count.
    slots: cython.int[::1]
    numbers: cython.uint[::1]
    marks: cython.int[::1]
    mark: cython.int
    # Of each connection its last message, and what it gets of a batch: bytes, frames.
    stamps: cython.int[::1]
    sizes: cython.longlong[::1]
    frames: cython.int[::1]
    # Scratch: those that get some; the frame being written for each, and behind those
    # the connections of one message; and where the bytes of each are in memory.
    touched: cython.int[::1]
    begun: cython.longlong[::1]
    pages: cython.longlong[::1]
    # A batch: where its blocks are, the gaps between them, how many interests each has,
    # and which; messages and interests of those that belong to no connection.
    gap: cython.Py_ssize_t
    offsets: cython.const[cython.longlong][::1]
    counts: cython.const[cython.int][::1]
    filters: cython.const[cython.int][::1]
    others: cython.int[:, ::1]

    def know_interests(self, slots, numbers, marks):  # type: ignore[no-untyped-def]
        """Take these arrays for interests, which the caller fills."""
        if cython.compiled:
            self.slots = slots
            self.numbers = numbers
            self.marks = marks
        else:
            self.slots, self.numbers = memoryview(slots), memoryview(numbers)
            self.marks = memoryview(marks)

    def count_marked(self, mark):  # type: ignore[no-untyped-def]
        """Count from now on the messages that match a licence with this mark."""
        self.mark = mark

    def know_connections(self, stamps, sizes, frames, touched, begun, pages):  # type: ignore[no-untyped-def]
        """Take these for connections; all but the stamps are zero, or scratch."""
        if cython.compiled:
            self.stamps = stamps
            self.sizes = sizes
            self.frames = frames
            self.touched = touched
            self.begun = begun
            self.pages = pages
        else:
            self.stamps, self.sizes = memoryview(stamps), memoryview(sizes)
            self.frames, self.touched = memoryview(frames), memoryview(touched)
            self.begun = memoryview(begun)
            self.pages = [bytearray()] * len(pages)

    def know_matches(self, offsets, gap, counts, filters, others):  # type: ignore[no-untyped-def]
        """Take these for batches; in ``others`` there is room for all filters."""
        self.gap = gap
        if cython.compiled:
            self.offsets = offsets
            self.counts = counts
            self.filters = filters
            self.others = others
        else:
            self.offsets, self.counts = memoryview(offsets), memoryview(counts)
            self.filters, self.others = memoryview(filters), memoryview(others)

    def measure(self, messages, serial):  # type: ignore[no-untyped-def]
        """Find out what each connection gets of a batch of so many messages.

        Sizes and frames are 0 before.  Message and interest of all that belong to no
        connection go to the others, but for licences, which are counted only.  Stamps
        remember the last message of each connection, as ``serial`` and what follows.

        Returns how many connections get some, how many others there are, how many
        messages are bad, how many licences were matched, and by how many messages one
        that is marked.
        """
        o = self.offsets
        c = self.counts
        f = self.filters
        ot = self.others
        s = self.slots
        mk = self.marks
        mark: cython.int = self.mark
        st = self.stamps
        si = self.sizes
        fr = self.frames
        t = self.touched
        head: cython.Py_ssize_t = MSG_HEAD - self.gap
        total: cython.Py_ssize_t = messages
        now: cython.int = serial
        n: cython.Py_ssize_t = 0
        found: cython.Py_ssize_t = 0
        strangers: cython.Py_ssize_t = 0
        bad: cython.Py_ssize_t = 0
        licensed: cython.Py_ssize_t = 0
        within: cython.Py_ssize_t = 0
        is_within: cython.bint
        m: cython.Py_ssize_t
        k: cython.int
        slot: cython.int
        with cython.nogil:
            for m in range(total):
                bad += c[m] < 0
                is_within = False
                for k in range(c[m]):
                    slot = s[f[n]]
                    if slot == LICENCE:
                        licensed += 1
                        is_within |= mk[f[n]] == mark
                    elif slot < 0:
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
                            si[slot] += head + o[m + 1] - o[m]
                        si[slot] += 4
                    n += 1
                within += is_within
                now += 1
        return found, strangers, bad, licensed, within

    def judge(self, messages, choices, starts, members, mark, allowed):  # type: ignore[no-untyped-def]
        """Say of each message whether it matches one of its own interests.

        Those are ``members[starts[i] : starts[i + 1]]``, where ``i`` is its choice; if
        that is below 0 it needs none, and neither does what is bad.  ``mark`` and what
        follows, up to one for each message, are marks that no interest has.
        """
        c = self.counts
        f = self.filters
        mk = self.marks
        ch: cython.const[cython.int][::1] = choices
        fi: cython.const[cython.longlong][::1] = starts
        me: cython.const[cython.int][::1] = members
        a: cython.uchar[::1] = allowed
        if not cython.compiled:
            ch, fi = memoryview(choices), memoryview(starts)
            me, a = memoryview(members), memoryview(allowed)
        total: cython.Py_ssize_t = messages
        now: cython.int = mark
        n: cython.Py_ssize_t = 0
        m: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.int
        with cython.nogil:
            for m in range(total):
                # What one source has sent stands together: its own are marked once.
                if ch[m] >= 0 and (m == 0 or ch[m] != ch[m - 1]):
                    now += 1
                    for i in range(fi[ch[m]], fi[ch[m] + 1]):
                        mk[me[i]] = now
                a[m] = ch[m] < 0 or c[m] < 0
                for k in range(c[m]):
                    a[m] |= mk[f[n]] == now
                    n += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def page(self, slot: cython.int) -> cython.p_uchar:
        """The bytes of a connection, while they are written."""
        if cython.compiled:
            return cython.cast(
                cython.p_uchar, cython.cast(cython.size_t, self.pages[slot])
            )
        return self.pages[slot]

    def lay_out(self, blocks, messages, serial, first):  # type: ignore[no-untyped-def]
        """Write what each connection gets, as MSG frames back to back.

        Everything is as ``measure`` has left it, and sizes and frames are 0 again
        afterwards.  ``first`` is how many connections get some.

        Returns of each of them itself, its bytes and how many deliveries.
        """
        o = self.offsets
        c = self.counts
        f = self.filters
        s = self.slots
        nu = self.numbers
        st = self.stamps
        p = self.sizes
        fr = self.frames
        t = self.touched
        be = self.begun
        gap: cython.Py_ssize_t = self.gap
        total: cython.Py_ssize_t = messages
        rows: cython.Py_ssize_t = len(self.sizes)
        connections: cython.Py_ssize_t = first
        now: cython.int = serial
        n: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t
        open_frames: cython.Py_ssize_t
        i: cython.Py_ssize_t
        m: cython.Py_ssize_t
        size: cython.Py_ssize_t
        ids: cython.Py_ssize_t
        k: cython.int
        slot: cython.int
        w: cython.p_uchar
        written = []
        # Bytes of their own, which nobody else has seen yet: they may wait in a queue
        # while others are written.  From here on, sizes are places.
        for i in range(connections):
            slot = t[i]
            if cython.compiled:
                data: bytes = PyBytes_FromStringAndSize(cython.NULL, p[slot])
                self.pages[slot] = cython.cast(
                    cython.longlong,
                    cython.cast(cython.size_t, PyBytes_AS_STRING(data)),
                )
            else:
                data = self.pages[slot] = bytearray(p[slot])
            written.append((slot, data, fr[slot]))
            p[slot] = 0
            fr[slot] = 0
        if cython.compiled:
            # A typed view would be made, and thrown away, for each batch.
            view: Py_buffer
            PyObject_GetBuffer(blocks, cython.address(view), PyBUF_SIMPLE)
            b: cython.p_uchar = cython.cast(cython.p_uchar, view.buf)
        else:
            b = memoryview(blocks)
        with cython.nogil:
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
                        put(self.page(slot), p[slot], nu[f[n]])
                        p[slot] += 4
                    n += 1
                size = o[m + 1] - o[m] - gap
                for i in range(open_frames):
                    slot = cython.cast(cython.int, be[rows + i])
                    at = be[slot]
                    w = self.page(slot)
                    ids = (p[slot] - at - MSG_HEAD) >> 2
                    copy(b, o[m], w, p[slot], size)
                    p[slot] += size
                    put(w, at, cython.cast(cython.uint, p[slot] - at - 4))
                    w[at + 4] = MSG
                    w[at + 5] = ids & 255
                    w[at + 6] = (ids >> 8) & 255
                now += 1
        if cython.compiled:
            PyBuffer_Release(cython.address(view))
        for i in range(connections):
            p[t[i]] = 0
        if not cython.compiled:
            return [(slot, bytes(data), count) for slot, data, count in written]
        return written
