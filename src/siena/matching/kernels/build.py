"""What is slow about laying out a table, as loops over integers.

The arrays that come out are described in :mod:`siena.matching.kernels.match`; who
calls is :mod:`siena.matching.engine.layout`.  Everything here lets other threads run: a
table is laid out anew while another one is matching.

Why one module: lists, groups and what both are made of are one format.
"""

import cython

if not cython.compiled:  # otherwise in build.pxd
    from siena.matching.kernels.inline.hashing import mix

EQ = cython.declare(cython.int, 0)
LT = cython.declare(cython.int, 4)
NE = cython.declare(cython.int, 6)
CONTAINED = cython.declare(cython.int, 3)
# Directories of up to so many names are read from end to end;
# siena.matching.engine.arena has the same number.
NAMES_SCANNED = cython.declare(cython.int, 16)
# Where the form of a part is in its tag, and one form; siena.matching.engine.parts has
# both.
FORM_SHIFT = cython.declare(cython.int, 18)
BANDED = cython.declare(cython.int, 3)


def order_members(offsets, members, probabilities, names, kinds):  # type: ignore[no-untyped-def]
    """Put the constraints of each filter in order: the least probable first.

    A range gives way to an equality, though: whatever comes second is found by a
    search among the filters that have both.  Where the first is a range, the second is
    one on another name, if there is one.
    """
    o: cython.const[cython.longlong][::1] = offsets
    m: cython.int[::1] = members
    q: cython.const[cython.double][::1] = probabilities
    nm: cython.const[cython.int][::1] = names
    kd: cython.const[cython.int][::1] = kinds
    if not cython.compiled:
        o, m, q = map(memoryview, (offsets, members, probabilities))
        nm, kd = map(memoryview, (names, kinds))
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    z: cython.Py_ssize_t
    first: cython.Py_ssize_t
    end: cython.Py_ssize_t
    item: cython.int
    total: cython.Py_ssize_t = len(offsets) - 1
    with cython.nogil:
        for i in range(total):
            first = o[i]
            end = o[i + 1]
            for j in range(first + 1, end):
                item = m[j]
                z = j
                while z > first and q[m[z - 1]] > q[item]:
                    m[z] = m[z - 1]
                    z -= 1
                m[z] = item
            if kd[m[first]] >= LT:
                j = first + 1
                while j < end and kd[m[j]] != EQ:
                    j += 1
                if j < end:
                    item = m[j]
                    while j > first:
                        m[j] = m[j - 1]
                        j -= 1
                    m[j] = item
            if end - first > 2 and kd[m[first]] >= LT:
                j = first + 1
                while j < end and nm[m[j]] == nm[m[first]]:
                    j += 1
                if j < end:
                    item = m[j]
                    while j > first + 1:
                        m[j] = m[j - 1]
                        j -= 1
                    m[j] = item


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def write_constraints(
    arena: cython.int[::1],
    at: cython.Py_ssize_t,
    members: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    words: cython.const[cython.int][:, ::1],
) -> cython.Py_ssize_t:
    """Write constraints, three words each; where they end."""
    i: cython.Py_ssize_t
    for i in range(first, end):
        arena[at] = words[members[i], 0]
        arena[at + 1] = words[members[i], 1]
        arena[at + 2] = words[members[i], 2]
        at += 3
    return at


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_short(
    members: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    words: cython.const[cython.int][:, ::1],
) -> cython.bint:
    """Whether a filter has one constraint behind its first, and no substring."""
    return end - first == 2 and ((words[members[first + 1], 0] >> 1) & 7) != CONTAINED


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def open_directory(
    arena: cython.int[::1], at: cython.Py_ssize_t, names: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Begin a directory with room for some names; where it ends."""
    size: cython.int = 2
    i: cython.Py_ssize_t
    if names <= NAMES_SCANNED:
        arena[at] = 0
        arena[at + 1] = 0
        return at + 4 + 4 * names
    while size < 2 * names:
        size *= 2
    arena[at] = size - 1
    for i in range(size):
        arena[at + 4 + 4 * i] = -1
    return at + 4 + 4 * size


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def enter_name(
    arena: cython.int[::1],
    directory: cython.Py_ssize_t,
    name: cython.int,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.void:
    """Put a name with what belongs to it into a directory that has room for it."""
    mask: cython.int = arena[directory]
    place: cython.Py_ssize_t
    if mask == 0:
        place = arena[directory + 1]
        arena[directory + 1] += 1
    else:
        place = mix(cython.cast(cython.ulonglong, name + 1)) & mask
        while arena[directory + 4 + 4 * place] != -1:
            place = (place + 1) & mask
    place = directory + 4 + 4 * place
    arena[place] = name + 1
    arena[place + 1] = start
    arena[place + 2] = end


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_parts(
    arena: cython.int[::1],
    at: cython.Py_ssize_t,
    order: cython.const[cython.int][::1],
    tags: cython.const[cython.longlong][::1],
    keys: cython.const[cython.int][:, ::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    skipped: cython.int,
    offsets: cython.const[cython.longlong][::1],
    members: cython.const[cython.int][::1],
    words: cython.const[cython.int][:, ::1],
    owners: cython.const[cython.int][::1],
) -> cython.Py_ssize_t:
    """Write the filters ``order[first:end]`` as parts, one for each tag; their end.

    The first ``skipped`` constraints of a filter, and the next one, which is its key,
    are not written among the others.
    """
    head: cython.Py_ssize_t
    i: cython.Py_ssize_t = first
    j: cython.Py_ssize_t
    f: cython.int
    form: cython.int
    width: cython.int
    while i < end:
        head = at
        at += 5
        f = order[i]
        form = (tags[i] >> FORM_SHIFT) & 3
        width = 0
        j = i
        while j < end and tags[j] == tags[i]:
            f = order[j]
            arena[at] = keys[j, 0]
            at += 1
            if form == BANDED:
                arena[at] = keys[j, 1]
                at += 1
                width = max(width, keys[j, 1] - keys[j, 0])
            at = write_constraints(
                arena, at, members, offsets[f] + skipped + 1, offsets[f + 1], words
            )
            arena[at] = owners[f]
            at += 1
            j += 1
        arena[head] = words[members[offsets[f] + skipped], 0] >> 1
        arena[head + 1] = form
        arena[head + 2] = cython.cast(
            cython.int, offsets[f + 1] - offsets[f] - skipped - 1
        )
        arena[head + 3] = cython.cast(cython.int, j - i)
        arena[head + 4] = width
        i = j
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_entries(
    arena: cython.int[::1],
    at: cython.Py_ssize_t,
    order: cython.const[cython.int][::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    skipped: cython.int,
    count: cython.Py_ssize_t,
    offsets: cython.const[cython.longlong][::1],
    members: cython.const[cython.int][::1],
    words: cython.const[cython.int][:, ::1],
    owners: cython.const[cython.int][::1],
) -> cython.Py_ssize_t:
    """Write the filters ``order[first:end]``, first those of two constraints; the end.

    How many these are is written to ``arena[count]``.
    """
    j: cython.Py_ssize_t
    f: cython.int
    arena[count] = 0
    for j in range(first, end):
        f = order[j]
        if is_short(members, offsets[f], offsets[f + 1], words):
            at = write_constraints(
                arena, at, members, offsets[f] + skipped, offsets[f + 1], words
            )
            arena[at] = owners[f]
            at += 1
            arena[count] += 1
    for j in range(first, end):
        f = order[j]
        if not is_short(members, offsets[f], offsets[f + 1], words):
            arena[at] = owners[f]
            arena[at + 1] = cython.cast(
                cython.int, offsets[f + 1] - offsets[f] - skipped
            )
            at = write_constraints(
                arena, at + 2, members, offsets[f] + skipped, offsets[f + 1], words
            )
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def write_run(
    arena: cython.int[::1],
    at: cython.Py_ssize_t,
    order: cython.const[cython.int][::1],
    tags: cython.const[cython.longlong][::1],
    keys: cython.const[cython.int][:, ::1],
    first: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    skipped: cython.int,
    offsets: cython.const[cython.longlong][::1],
    members: cython.const[cython.int][::1],
    words: cython.const[cython.int][:, ::1],
    owners: cython.const[cython.int][::1],
) -> cython.Py_ssize_t:
    """Write a run: its parts, then the filters without a tag, which come first."""
    head: cython.Py_ssize_t = at
    tagged: cython.Py_ssize_t = first
    while tagged < end and tags[tagged] < 0:
        tagged += 1
    at = write_parts(
        arena, at + 2, order, tags, keys, tagged, end, skipped,
        offsets, members, words, owners,
    )  # fmt: skip
    arena[head] = cython.cast(cython.int, at)
    return write_entries(
        arena, at, order, first, tagged, skipped, head + 1,
        offsets, members, words, owners,
    )  # fmt: skip


def fill_lists(
    arena, start, spans, order, seconds, tags, keys,
    offsets, members, words, owners, short, places,
):  # type: ignore[no-untyped-def]  # fmt: skip
    """Write the lists; where they end.

    List ``l`` has the filters ``order[spans[l]:spans[l + 1]]``: first those of one
    constraint, whose second name is -1, then the others, by second name, tag and key.
    Its place goes to ``places[l]``, negative if it has more than ``short`` of those.
    """
    ar: cython.int[::1] = arena
    sp: cython.const[cython.longlong][::1] = spans
    od: cython.const[cython.int][::1] = order
    sc: cython.const[cython.int][::1] = seconds
    tg: cython.const[cython.longlong][::1] = tags
    ky: cython.const[cython.int][:, ::1] = keys
    of: cython.const[cython.longlong][::1] = offsets
    me: cython.const[cython.int][::1] = members
    wo: cython.const[cython.int][:, ::1] = words
    ow: cython.const[cython.int][::1] = owners
    pl: cython.int[::1] = places
    if not cython.compiled:
        ar, sp, od, sc = map(memoryview, (arena, spans, order, seconds))
        tg, ky = map(memoryview, (tags, keys))
        of, me, wo, ow = map(memoryview, (offsets, members, words, owners))
        pl = memoryview(places)
    at: cython.Py_ssize_t = start
    small: cython.Py_ssize_t = short
    head: cython.Py_ssize_t
    run: cython.Py_ssize_t
    i: cython.Py_ssize_t
    z: cython.Py_ssize_t
    end: cython.Py_ssize_t
    names: cython.Py_ssize_t
    directory: cython.Py_ssize_t
    row: cython.Py_ssize_t
    lists: cython.Py_ssize_t = len(spans) - 1
    with cython.nogil:
        for row in range(lists):
            head = at
            at += 3
            i = sp[row]
            end = sp[row + 1]
            while i < end and sc[od[i]] < 0:
                ar[at] = ow[od[i]]
                at += 1
                i += 1
            ar[head] = cython.cast(cython.int, at - head - 3)
            if end - i <= small:
                pl[row] = head
                at = write_entries(ar, at, od, i, end, 1, head + 1, of, me, wo, ow)
                ar[head + 2] = cython.cast(cython.int, at)
                continue
            pl[row] = -head
            ar[head + 1] = 0
            ar[head + 2] = at
            names = 0
            for z in range(i, end):
                names += z == i or sc[od[z]] != sc[od[z - 1]]
            directory = at
            at = open_directory(ar, at, names)
            while i < end:
                z = i + 1
                while z < end and sc[od[z]] == sc[od[i]]:
                    z += 1
                run = at
                at = write_run(ar, at, od, tg, ky, i, z, 1, of, me, wo, ow)
                enter_name(ar, directory, sc[od[i]], run, at)
                i = z
    return at


def fill_groups(
    arena, start, order, larger, smaller, tags, keys,
    offsets, members, words, owners, pairs,
):  # type: ignore[no-untyped-def]  # fmt: skip
    """Write the groups and their directories; where they end.

    The filters ``order`` are sorted by larger name, smaller name, tag and key, and
    ``larger[i]`` and so on belong to ``order[i]``.
    The place of the directory of a name goes to ``arena[pairs + name]``.
    """
    ar: cython.int[::1] = arena
    od: cython.const[cython.int][::1] = order
    la: cython.const[cython.int][::1] = larger
    sm: cython.const[cython.int][::1] = smaller
    tg: cython.const[cython.longlong][::1] = tags
    ky: cython.const[cython.int][:, ::1] = keys
    of: cython.const[cython.longlong][::1] = offsets
    me: cython.const[cython.int][::1] = members
    wo: cython.const[cython.int][:, ::1] = words
    ow: cython.const[cython.int][::1] = owners
    if not cython.compiled:
        ar, od, la, sm = map(memoryview, (arena, order, larger, smaller))
        tg, ky, of, me = map(memoryview, (tags, keys, offsets, members))
        wo, ow = memoryview(words), memoryview(owners)
    at: cython.Py_ssize_t = start
    base: cython.Py_ssize_t = pairs
    total: cython.Py_ssize_t = len(order)
    i: cython.Py_ssize_t = 0
    z: cython.Py_ssize_t
    last: cython.Py_ssize_t
    names: cython.Py_ssize_t
    directory: cython.Py_ssize_t
    group: cython.Py_ssize_t
    name: cython.int
    with cython.nogil:
        while i < total:
            name = la[i]
            names = 0
            z = i
            while z < total and la[z] == name:
                names += z == i or sm[z] != sm[z - 1]
                z += 1
            directory = at
            ar[base + name] = cython.cast(cython.int, directory)
            at = open_directory(ar, at, names)
            while i < z:
                last = i + 1
                while last < z and sm[last] == sm[i]:
                    last += 1
                group = at
                at = write_run(ar, at, od, tg, ky, i, last, 0, of, me, wo, ow)
                enter_name(ar, directory, sm[i], group, at)
                i = last
    return at


def enter_lists(arena, start, mask, operands, tags, places):  # type: ignore[no-untyped-def]
    """Enter the places of lists into the hash table of the arena."""
    ar: cython.int[::1] = arena
    op: cython.const[cython.int][::1] = operands
    tg: cython.const[cython.int][::1] = tags
    pl: cython.const[cython.int][::1] = places
    if not cython.compiled:
        ar, op, tg, pl = map(memoryview, (arena, operands, tags, places))
    base: cython.Py_ssize_t = start
    last: cython.Py_ssize_t = mask
    i: cython.Py_ssize_t
    place: cython.Py_ssize_t
    key: cython.ulonglong
    total: cython.Py_ssize_t = len(places)
    with cython.nogil:
        for i in range(total):
            key = (cython.cast(cython.ulonglong, tg[i]) << 32) | cython.cast(
                cython.ulonglong, op[i]
            )
            place = mix(key) & last
            while ar[base + 4 * place + 2] != 0:
                place = (place + 1) & last
            place = base + 4 * place
            ar[place] = op[i]
            ar[place + 1] = tg[i]
            ar[place + 2] = pl[i]


def fill_masks(starts, kinds, places, bits, masks, spare):  # type: ignore[no-untyped-def]
    """Write, for each rank of each dimension, which of 64 owners a value satisfies.

    Dimension ``d`` has the ranks ``starts[d]`` to ``starts[d + 1]``.  Constraint ``i``
    is of a kind, and the rank where it begins or ends or that it names is
    ``places[i]``; its owner is the bit ``bits[i]``.  ``spare`` is three times as long.
    """
    s: cython.const[cython.longlong][::1] = starts
    k: cython.const[cython.int][::1] = kinds
    p: cython.const[cython.longlong][::1] = places
    b: cython.const[cython.int][::1] = bits
    m: cython.ulonglong[::1] = masks
    t: cython.ulonglong[:, ::1] = spare
    if not cython.compiled:
        s, k, p, b = map(memoryview, (starts, kinds, places, bits))
        m, t = map(memoryview, (masks, spare))
    i: cython.Py_ssize_t
    d: cython.Py_ssize_t
    v: cython.Py_ssize_t
    bit: cython.ulonglong
    rising: cython.ulonglong
    unequal: cython.ulonglong
    total: cython.Py_ssize_t = len(kinds)
    dimensions: cython.Py_ssize_t = len(starts) - 1
    with cython.nogil:
        for i in range(total):
            bit = cython.cast(cython.ulonglong, 1) << b[i]
            if k[i] == EQ:
                m[p[i]] |= bit
            elif k[i] == LT:
                t[1, p[i]] |= bit
            elif k[i] == NE:
                t[2, p[i]] |= bit
            else:
                t[0, p[i]] |= bit
        for d in range(dimensions):
            rising = 0
            unequal = 0
            for v in range(s[d], s[d + 1]):
                rising |= t[0, v]
                m[v] |= rising | unequal
                unequal |= t[2, v]
            rising = 0
            unequal = 0
            v = s[d + 1] - 1
            while v >= s[d]:
                rising |= t[1, v]
                m[v] |= rising | unequal
                unequal |= t[2, v]
                v -= 1
