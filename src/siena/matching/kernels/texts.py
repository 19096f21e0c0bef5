"""Which of many texts occur in strings: one automaton, one look at each byte.

The automaton is Aho and Corasick's with all its steps written out, in ``steps[32 *
state + class]``, so that those of a state are one line of the cache.  A step to where
texts end has its highest bit set.  What :mod:`siena.matching.texts` wants to know of a
row is collected in bits, one for each *mark* that texts have.

A row may also have what is no string, which is not looked at, and the two letters
beyond ASCII that ignoring case makes ASCII of: flags say so.
"""

import cython

if not cython.compiled:  # otherwise in texts.pxd
    from siena.matching.kernels.inline.octets import big_endian
    from siena.matching.kernels.inline.views import ints, octets, shorts

# Flags of a row; siena.matching.texts has the same.
HAS_OTHERS = cython.declare(cython.int, 1)
IS_STRANGE = cython.declare(cython.int, 2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def end_of(
    p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Where a value that is no string ends, or beyond ``end`` if it is none."""
    c: cython.int = p[i]
    i += 1
    if c < 0x80 or c >= 0xE0 or c == 0xC2 or c == 0xC3:
        return i
    if 0xCC <= c <= 0xCF:
        return i + (1 << (c - 0xCC))
    if 0xD0 <= c <= 0xD3:
        return i + (1 << (c - 0xD0))
    if c == 0xCA:
        return i + 4
    if c == 0xCB:
        return i + 8
    if c == 0xD6:
        return i + 5
    if c == 0xD7:
        return i + 9
    if c == 0xC7:
        return i + 14
    return end + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def text_at(
    p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Where the bytes of a string begin whose head is at ``i``; 0 if it is none."""
    c: cython.int = p[i]
    if (c & 0xE0) == 0xA0:
        return i + 1
    if 0xD9 <= c <= 0xDB and i + 1 + (1 << (c - 0xD9)) <= end:
        return i + 1 + (1 << (c - 0xD9))
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def size_at(p: cython.p_uchar, i: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """How many bytes the string has whose head is at ``i``."""
    c: cython.int = p[i]
    if c < 0xC0:
        return c & 0x1F
    return cython.cast(cython.Py_ssize_t, big_endian(p, i + 1, 1 << (c - 0xD9)))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def first_name(
    p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Where the first name of a block stands; 0 if it is no block."""
    if i < end and (p[i] & 0xF0) == 0x80:
        return i + 1
    if i + 3 <= end and p[i] == 0xDE:
        return i + 3
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_in_order(
    p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether all names of a block, of which the first is at ``i``, ascend."""
    before: cython.Py_ssize_t = i
    before_end: cython.Py_ssize_t = i
    at: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    key: cython.Py_ssize_t
    is_first: cython.bint = True
    if i == 0:
        return False
    while i < end:
        at = text_at(p, i, end)
        if at == 0 or size_at(p, i) >= end - at:
            return False
        stop = at + size_at(p, i)
        key = at
        i = stop
        if not is_first:
            # Up to where they differ, or one of them ends.
            while before < before_end and at < stop and p[before] == p[at]:
                before += 1
                at += 1
            if at == stop or (before < before_end and p[before] > p[at]):
                return False
        is_first = False
        before = key
        before_end = stop
        at = text_at(p, i, end)
        if at == 0:
            i = end_of(p, i, end)
        elif size_at(p, i) > end - at:
            return False
        else:
            i = at + size_at(p, i)
    return i == end


def values_of(data, start, end, names):  # type: ignore[no-untyped-def]
    """The bytes of some attributes of a block, and 0xC1 for each that is absent.

    ``names`` are in order.  None if those of the block are not, as they may be where it
    comes from elsewhere, or if it is no block.
    """
    p: cython.p_uchar = octets(data)
    stop: cython.Py_ssize_t = end
    i: cython.Py_ssize_t = first_name(p, start, stop)
    if not is_in_order(p, i, stop):
        return None
    at: cython.Py_ssize_t
    size: cython.Py_ssize_t
    found = []
    wanted = iter(names)
    name = next(wanted, None)
    while name is not None and 0 < i < stop:
        at = text_at(p, i, stop)
        if at == 0 or at + size_at(p, i) >= stop:
            break
        size = size_at(p, i)
        key = data[at : at + size]
        i = at + size
        at = text_at(p, i, stop)
        at = at + size_at(p, i) if at else end_of(p, i, stop)
        while name is not None and name < key:
            found.append(b"\xc1")
            name = next(wanted, None)
        if name == key:
            found.append(data[i:at])
            name = next(wanted, None)
        i = at
    while name is not None:
        found.append(b"\xc1")
        name = next(wanted, None)
    return b"".join(found)


@cython.final
@cython.cclass
class TextKernel:
    """The arrays of one automaton; any number of threads may use them."""

    classes: cython.p_uchar
    steps: cython.p_ushort
    starts: cython.p_int
    marks: cython.p_int
    keep: object

    def __init__(self, classes, steps, starts, marks):  # type: ignore[no-untyped-def]
        self.keep = (classes, steps, starts, marks)
        self.classes = octets(classes)
        self.steps = shorts(steps)
        # Of each state where the marks of the texts that end there are.
        self.starts = ints(starts)
        self.marks = ints(marks)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scan(
        self,
        p: cython.p_uchar,
        i: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        found: cython.p_uchar,
        at: cython.Py_ssize_t,
    ) -> cython.int:
        """Note the marks of ``p[i:end]`` from ``found[at]`` on; the flags of it."""
        state: cython.int = 0
        flags: cython.int = 0
        c: cython.int
        k: cython.int
        while i < end:
            c = p[i]
            i += 1
            state = self.steps[32 * state + self.classes[c]]
            if state >= 0x8000:
                state -= 0x8000
                for k in range(self.starts[state], self.starts[state + 1]):
                    found[at + (self.marks[k] >> 3)] |= 1 << (self.marks[k] & 7)
            if c >= 0xC5:
                # LATIN SMALL LETTER LONG S is `s` in another case, KELVIN SIGN is `k`.
                if c == 0xC5 and i < end and p[i] == 0xBF:
                    flags = IS_STRANGE
                if c == 0xE2 and i + 1 < end and p[i] == 0x84 and p[i + 1] == 0xAA:
                    flags = IS_STRANGE
        return flags

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scan_block(
        self,
        p: cython.p_uchar,
        i: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        found: cython.p_uchar,
        at: cython.Py_ssize_t,
        longest: cython.p_int,
        row: cython.Py_ssize_t,
    ) -> cython.int:
        """The same of all strings of a block; what is no block is strange.

        Nothing outside ``p[i:end]`` is read, whatever the block says of its lengths.
        """
        flags: cython.int = 0
        text: cython.Py_ssize_t
        size: cython.Py_ssize_t
        is_value: cython.bint = False
        i = first_name(p, i, end)
        if i == 0:
            return IS_STRANGE
        while i < end:
            text = text_at(p, i, end)
            if text == 0:
                if not is_value:
                    return IS_STRANGE
                flags |= HAS_OTHERS
                i = end_of(p, i, end)
            else:
                size = size_at(p, i)
                if size > end - text:
                    return IS_STRANGE
                if is_value:
                    flags |= self.scan(p, text, text + size, found, at)
                    if size > longest[row]:
                        longest[row] = cython.cast(cython.int, size)
                i = text + size
            is_value = not is_value
        return flags if i == end and not is_value else IS_STRANGE

    def look(self, data, offsets, rows, are_blocks, found, longest, flags):  # type: ignore[no-untyped-def]
        """Note of some rows what occurs in their strings.

        Row ``r`` is ``data[offsets[r]:offsets[r + 1]]``, a block or a string; the marks
        are bits of ``found[r]``.  ``longest[r]`` becomes the bytes of the longest
        string, if that is more.
        """
        o: cython.const[cython.longlong][::1] = offsets
        r: cython.const[cython.longlong][::1] = rows
        f: cython.uchar[::1] = flags
        p: cython.p_uchar = octets(data)
        bits: cython.p_uchar = octets(found.reshape(-1))
        lengths: cython.p_int = ints(longest)
        if not cython.compiled:
            o, r, f = map(memoryview, (offsets, rows, flags))
        wide: cython.Py_ssize_t = found.shape[1]
        blocks: cython.bint = are_blocks
        count: cython.Py_ssize_t = len(rows)
        i: cython.Py_ssize_t
        row: cython.Py_ssize_t
        size: cython.Py_ssize_t
        with cython.nogil:
            for i in range(count):
                row = r[i]
                if blocks:
                    f[row] |= self.scan_block(
                        p, o[row], o[row + 1], bits, row * wide, lengths, row
                    )
                else:
                    f[row] |= self.scan(p, o[row], o[row + 1], bits, row * wide)
                    size = o[row + 1] - o[row]
                    if size > lengths[row]:
                        lengths[row] = cython.cast(cython.int, size)
