"""The engine's kernel: from encoded notifications to the filters that match.

Compiled by Cython where there is a C compiler; otherwise the same file runs as
plain Python.  It knows integers and bytes, not filters: :mod:`siena.matching.layout`
fills the arrays, and is the only other module that knows what they mean.

Why one module: Cython inlines calls within a module, and not between two.

*Theory of operation.*  Every attribute of a notification becomes a few *coordinates*:
``x[8 * name + k]``, minus one where there is none.

==  ========================  ================================================
k   set for                   the coordinate
==  ========================  ================================================
0   every value               0; for booleans 1 (false) or 3 (true)
1   strings                   rank among the operands, in order
2   strings                   rank of the reversed string, for suffixes
3   strings                   entry of the memory of values, for substrings
4   integers and floats       rank among the numbers that the name is compared with
5   integers                  the same
6   floats                    the same
7   times                     rank among the times that the name is compared with
==  ========================  ================================================

A rank is odd where the value equals an operand and even where it lies between two, so
every constraint is an interval of ranks, or the complement of one.  Each filter is
stored once, under its least probable constraint (its *access*), and only what is
stored under a coordinate of the notification is looked at.

The arena is one array of int32:

* a hash table from (dimension, class, operand) to a list, for the classes ``EQ`` to
  ``SUBSTRING``: four words each, ``operand, dimension * 8 + class, start, end``.  A
  start below zero is the negative position of a directory; zero is an empty place.
* four words for each dimension: the directories for the classes ``LT`` to ``ANY``.
* directories: ``mask, -, -, -`` and then ``mask + 1`` places of four words, ``second
  name + 1, start, end, -``; -1 is an empty place.  A *run* is the part of a list whose
  filters have their second constraint on the same name.
* runs without a second constraint: ``end`` thresholds, then as many filters.
* other runs and short lists, entry after entry: ``threshold, filter, n`` and ``n``
  times ``dimension * 2 + negated, first, last``.
"""

import struct

import cython

COMPILED = cython.compiled

# Classes of access constraints.
EQ = cython.declare(cython.int, 0)
PREFIX = cython.declare(cython.int, 1)
SUFFIX = cython.declare(cython.int, 2)
SUBSTRING = cython.declare(cython.int, 3)
LT = cython.declare(cython.int, 4)
GT = cython.declare(cython.int, 5)
NE = cython.declare(cython.int, 6)
ANY = cython.declare(cython.int, 7)

# Why a block is bad, as the negative of a count of matches.
TRUNCATED = cython.declare(cython.int, 1)
TRAILING = cython.declare(cython.int, 2)
NOT_A_MAP = cython.declare(cython.int, 3)
NESTED = cython.declare(cython.int, 4)
WRONG_TYPE = cython.declare(cython.int, 5)
DUPLICATE = cython.declare(cython.int, 6)
NOT_UTF8 = cython.declare(cython.int, 7)
NOT_FINITE = cython.declare(cython.int, 8)
OUT_OF_RANGE = cython.declare(cython.int, 9)
TOO_MANY = cython.declare(cython.int, 10)

# Why a batch stopped before its end; the caller makes room and goes on.
ROOM_FOR_MATCHES = cython.declare(cython.int, 1)
ROOM_FOR_VALUES = cython.declare(cython.int, 2)

FNV = cython.declare(cython.ulonglong, 0x100000001B3)
MULTIPLIER = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
# Plain Python wraps at 64 bits because of this; compiled, it does nothing.
WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)

ROOT_PREFIX = cython.declare(cython.int, 0)
ROOT_SUFFIX = cython.declare(cython.int, 1)
ROOT_SUBSTRING = cython.declare(cython.int, 2)

INTEGER_MAX = cython.declare(cython.ulonglong, 0x7FFFFFFFFFFFFFFF)
# The seconds of a time: 34 bits of a word, and the years 1 to 9999.
SECONDS_BITS = cython.declare(cython.ulonglong, 0x3FFFFFFFF)
SECONDS_MIN = cython.declare(cython.longlong, -62135596800)
SECONDS_MAX = cython.declare(cython.longlong, 253402300799)
TWO_63 = cython.declare(cython.double, 9223372036854775808.0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def mix(key: cython.ulonglong) -> cython.ulonglong:
    """The upper half of a product: bits that depend on all bits of the key."""
    return ((key * MULTIPLIER) & WORD) >> 32


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def hash_bytes(
    p: cython.p_uchar,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    seed: cython.ulonglong,
) -> cython.ulonglong:
    """FNV-1a with a seed; whoever finds an equal hash compares the bytes as well."""
    h: cython.ulonglong = seed
    i: cython.Py_ssize_t
    for i in range(start, end):
        h = ((h ^ p[i]) * FNV) & WORD
    return h ^ (h >> 29)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def same_bytes(
    a: cython.p_uchar,
    i: cython.Py_ssize_t,
    b: cython.p_uchar,
    j: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.bint:
    k: cython.Py_ssize_t
    for k in range(size):
        if a[i + k] != b[j + k]:
            return False
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def is_utf8(
    p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.bint:
    """Whether the bytes are characters: no overlong forms, no surrogates."""
    n: cython.int
    c: cython.int
    low: cython.int
    high: cython.int
    while i < end:
        c = p[i]
        i += 1
        if c < 0x80:
            continue
        low = 0x80
        high = 0xBF
        if c < 0xC2 or c > 0xF4:
            return False
        if c < 0xE0:
            n = 1
        elif c < 0xF0:
            n = 2
            if c == 0xE0:
                low = 0xA0
            elif c == 0xED:
                high = 0x9F
        else:
            n = 3
            if c == 0xF0:
                low = 0x90
            elif c == 0xF4:
                high = 0x8F
        if i + n > end or p[i] < low or p[i] > high:
            return False
        i += 1
        while n > 1:
            if p[i] < 0x80 or p[i] > 0xBF:
                return False
            i += 1
            n -= 1
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def big_endian(
    p: cython.p_uchar, i: cython.Py_ssize_t, size: cython.int
) -> cython.ulonglong:
    value: cython.ulonglong = 0
    k: cython.int
    for k in range(size):
        value = (value << 8) | p[i + k]
    return value


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def signed(value: cython.ulonglong, size: cython.int) -> cython.longlong:
    """A big-endian integer of ``size`` bytes, in two's complement."""
    bits: cython.int = 8 * size
    if size == 8:
        if value > INTEGER_MAX:
            return -cython.cast(cython.longlong, (WORD - value)) - 1
        return cython.cast(cython.longlong, value)
    if (value >> (bits - 1)) & 1:
        return cython.cast(cython.longlong, value) - (
            cython.cast(cython.longlong, 1) << bits
        )
    return cython.cast(cython.longlong, value)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def double_of(bits: cython.ulonglong) -> cython.double:
    """The double with these bits."""
    if cython.compiled:
        real: cython.double
        memcpy(cython.address(real), cython.address(bits), 8)
        return real
    else:
        return struct.unpack("<d", struct.pack("<Q", bits))[0]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def float_of(bits: cython.uint) -> cython.double:
    """The single-precision float with these bits."""
    if cython.compiled:
        real: cython.float
        memcpy(cython.address(real), cython.address(bits), 4)
        return real
    else:
        return struct.unpack("<f", struct.pack("<I", bits))[0]


@cython.cfunc
@cython.returns(cython.p_int)
def ints(view: cython.int[::1]):  # type: ignore[no-untyped-def]
    """Compiled, the address of the first; plain, a view whose items are Python's."""
    if cython.compiled:
        return cython.address(view[0])
    return memoryview(view)


@cython.cfunc
@cython.returns(cython.p_uchar)
def octets(view: cython.uchar[::1]):  # type: ignore[no-untyped-def]
    if cython.compiled:
        return cython.address(view[0])
    return memoryview(view)


@cython.cfunc
@cython.returns(cython.p_longlong)
def longs(view: cython.longlong[::1]):  # type: ignore[no-untyped-def]
    if cython.compiled:
        return cython.address(view[0])
    return memoryview(view)


@cython.cfunc
@cython.returns(cython.p_ulonglong)
def words(view: cython.ulonglong[::1]):  # type: ignore[no-untyped-def]
    if cython.compiled:
        return cython.address(view[0])
    return memoryview(view)


@cython.cfunc
@cython.returns(cython.p_double)
def doubles(view: cython.double[::1]):  # type: ignore[no-untyped-def]
    if cython.compiled:
        return cython.address(view[0])
    return memoryview(view)


@cython.final
@cython.cclass
class Kernel:
    """The arrays of one table, and the scratch of one thread.

    Threads that match on one table at the same time have a kernel each; the arrays of
    the table are shared, and nobody writes to them.
    """

    # The table.
    seed: cython.ulonglong
    name_mask: cython.int
    name_slots: cython.p_int
    name_hashes: cython.p_ulonglong
    name_starts: cython.p_int
    name_bytes: cython.p_uchar
    breaks: cython.int
    break_starts: cython.p_int
    break_bytes: cython.p_uchar
    reverse_breaks: cython.int
    reverse_starts: cython.p_int
    reverse_bytes: cython.p_uchar
    edge_mask: cython.int
    edge_keys: cython.p_longlong
    edge_nodes: cython.p_int
    node_ends: cython.p_int
    node_fails: cython.p_int
    node_reports: cython.p_int
    number_starts: cython.p_int
    number_wholes: cython.p_longlong
    number_rests: cython.p_double
    time_starts: cython.p_int
    time_keys: cython.p_longlong
    flags: cython.p_uchar
    arena: cython.p_int
    filters: cython.Py_ssize_t
    # The scratch: coordinates, what was set, the queue of runs to read.
    x: cython.p_int
    attributes: cython.p_int
    set_count: cython.int
    key_hashes: cython.p_ulonglong
    key_starts: cython.p_longlong
    key_ends: cython.p_longlong
    attributes_max: cython.int
    queue: cython.p_int
    queue_room: cython.int
    queued: cython.int
    out: cython.p_int
    found: cython.Py_ssize_t
    # The memory of string values: bytes, ranks, and the operands that they contain.
    memory_mask: cython.int
    memory_slots: cython.p_int
    memory_count: cython.int
    memory_max: cython.int
    memory_hashes: cython.p_ulonglong
    memory_starts: cython.p_longlong
    memory_sizes: cython.p_int
    memory_ranks: cython.p_int
    memory_reverses: cython.p_int
    memory_lists: cython.p_int
    pool: cython.p_uchar
    pool_used: cython.longlong
    pool_room: cython.longlong
    lists: cython.p_int
    lists_used: cython.int
    lists_room: cython.int
    node_seen: cython.p_int
    serial: cython.int
    no_room: cython.bint
    keep: object

    def __init__(self, table, scratch):  # type: ignore[no-untyped-def]
        self.keep = (table, scratch)
        self.seed = table["seed"]
        self.name_mask = len(table["name_slots"]) - 1
        self.name_slots = ints(table["name_slots"])
        self.name_hashes = words(table["name_hashes"])
        self.name_starts = ints(table["name_starts"])
        self.name_bytes = octets(table["name_bytes"])
        self.breaks = table["breaks"]
        self.break_starts = ints(table["break_starts"])
        self.break_bytes = octets(table["break_bytes"])
        self.reverse_breaks = table["reverse_breaks"]
        self.reverse_starts = ints(table["reverse_starts"])
        self.reverse_bytes = octets(table["reverse_bytes"])
        self.edge_mask = len(table["edge_keys"]) - 1
        self.edge_keys = longs(table["edge_keys"])
        self.edge_nodes = ints(table["edge_nodes"])
        self.node_ends = ints(table["node_ends"])
        self.node_fails = ints(table["node_fails"])
        self.node_reports = ints(table["node_reports"])
        self.number_starts = ints(table["number_starts"])
        self.number_wholes = longs(table["number_wholes"])
        self.number_rests = doubles(table["number_rests"])
        self.time_starts = ints(table["time_starts"])
        self.time_keys = longs(table["time_keys"])
        self.flags = octets(table["flags"])
        self.arena = ints(table["arena"])
        self.filters = table["filters"]
        self.x = ints(scratch["x"])
        self.attributes = ints(scratch["attributes"])
        self.set_count = 0
        self.key_hashes = words(scratch["key_hashes"])
        self.key_starts = longs(scratch["key_starts"])
        self.key_ends = longs(scratch["key_ends"])
        self.attributes_max = len(scratch["key_starts"])
        self.queue = ints(scratch["queue"])
        self.queue_room = len(scratch["queue"]) // 5
        self.queued = 0
        self.found = 0
        self.memory_mask = len(scratch["memory_slots"]) - 1
        self.memory_slots = ints(scratch["memory_slots"])
        self.memory_max = len(scratch["memory_hashes"])
        self.memory_count = 0
        self.memory_hashes = words(scratch["memory_hashes"])
        self.memory_starts = longs(scratch["memory_starts"])
        self.memory_sizes = ints(scratch["memory_sizes"])
        self.memory_ranks = ints(scratch["memory_ranks"])
        self.memory_reverses = ints(scratch["memory_reverses"])
        self.memory_lists = ints(scratch["memory_lists"])
        self.pool = octets(scratch["pool"])
        self.pool_used = 0
        self.pool_room = len(scratch["pool"])
        self.lists = ints(scratch["lists"])
        self.lists_used = 0
        self.lists_room = len(scratch["lists"])
        self.node_seen = ints(scratch["node_seen"])
        self.serial = 0
        self.no_room = False

    # --- Strings: the memory of values -------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget_values(self) -> cython.void:
        i: cython.int
        for i in range(self.memory_mask + 1):
            self.memory_slots[i] = -1
        self.memory_count = 0
        self.pool_used = 0
        self.lists_used = 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def compare(
        self,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        q: cython.p_uchar,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
    ) -> cython.int:
        """The order of two strings: by byte, which is by character."""
        while start < end and i < j:
            if p[start] != q[i]:
                return 1 if p[start] > q[i] else -1
            start += 1
            i += 1
        if start < end:
            return 1
        return -1 if i < j else 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def compare_reversed(
        self,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        q: cython.p_uchar,
        i: cython.Py_ssize_t,
        j: cython.Py_ssize_t,
    ) -> cython.int:
        """The same, with the first string read from its end."""
        while start < end and i < j:
            if p[end - 1] != q[i]:
                return 1 if p[end - 1] > q[i] else -1
            end -= 1
            i += 1
        if start < end:
            return 1
        return -1 if i < j else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rank(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        lo: cython.int = 0
        hi: cython.int = self.breaks
        mid: cython.int
        order: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            order = self.compare(
                p, start, end,
                self.break_bytes, self.break_starts[mid], self.break_starts[mid + 1],
            )  # fmt: skip
            if order == 0:
                return 2 * mid + 1
            if order > 0:
                lo = mid + 1
            else:
                hi = mid
        return 2 * lo

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def reverse_rank(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        lo: cython.int = 0
        hi: cython.int = self.reverse_breaks
        mid: cython.int
        order: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            order = self.compare_reversed(
                p, start, end,
                self.reverse_bytes,
                self.reverse_starts[mid],
                self.reverse_starts[mid + 1],
            )  # fmt: skip
            if order == 0:
                return 2 * mid + 1
            if order > 0:
                lo = mid + 1
            else:
                hi = mid
        return 2 * lo

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def child(self, node: cython.int, byte: cython.int) -> cython.int:
        """The node behind an edge of the trie, or -1."""
        key: cython.longlong = (cython.cast(cython.longlong, node) << 8) | byte
        place: cython.Py_ssize_t = (
            mix(cython.cast(cython.ulonglong, key)) & self.edge_mask
        )
        while self.edge_keys[place] != key:
            if self.edge_keys[place] == -1:
                return -1
            place = (place + 1) & self.edge_mask
        return self.edge_nodes[place]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def list_node(self, node: cython.int) -> cython.void:
        if self.lists_used == self.lists_room:
            self.no_room = True
        elif self.node_seen[node] != self.serial:
            # An operand that occurs twice in a value is listed once.
            self.node_seen[node] = self.serial
            self.lists[self.lists_used] = node
            self.lists_used += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def list_operands(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """List the operands that begin, end, or occur in the string.

        Three lists, each behind its length.
        """
        node: cython.int
        report: cython.int
        head: cython.int
        i: cython.Py_ssize_t
        self.serial += 1
        head = self.lists_used
        self.lists_used += 1
        node = ROOT_PREFIX
        for i in range(start, end):
            node = self.child(node, p[i])
            if node < 0:
                break
            if self.node_ends[node]:
                self.list_node(node)
        self.lists[head] = self.lists_used - head - 1
        head = self.lists_used
        if head >= self.lists_room:
            self.no_room = True
            return
        self.lists_used += 1
        node = ROOT_SUFFIX
        i = end - 1
        while i >= start:
            node = self.child(node, p[i])
            if node < 0:
                break
            if self.node_ends[node]:
                self.list_node(node)
            i -= 1
        self.lists[head] = self.lists_used - head - 1
        head = self.lists_used
        if head >= self.lists_room:
            self.no_room = True
            return
        self.lists_used += 1
        node = ROOT_SUBSTRING
        for i in range(start, end):
            # Aho and Corasick: where no edge goes on, go on from the longest end of
            # what was read that some operand begins with.
            report = self.child(node, p[i])
            while report < 0 and node != ROOT_SUBSTRING:
                node = self.node_fails[node]
                report = self.child(node, p[i])
            node = ROOT_SUBSTRING if report < 0 else report
            report = node if self.node_ends[node] else self.node_reports[node]
            while report >= 0:
                self.list_node(report)
                report = self.node_reports[report]
        self.lists[head] = self.lists_used - head - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remember(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """The entry of a string in the memory, or -1 if there is no room for it."""
        h: cython.ulonglong = hash_bytes(p, start, end, self.seed)
        size: cython.Py_ssize_t = end - start
        place: cython.Py_ssize_t = mix(h) & self.memory_mask
        entry: cython.int = self.memory_slots[place]
        i: cython.Py_ssize_t
        while entry >= 0:
            if (
                self.memory_hashes[entry] == h
                and self.memory_sizes[entry] == size
                and same_bytes(self.pool, self.memory_starts[entry], p, start, size)
            ):
                return entry
            place = (place + 1) & self.memory_mask
            entry = self.memory_slots[place]
        if (
            self.memory_count == self.memory_max
            or self.pool_used + size > self.pool_room
            or self.lists_used + 3 > self.lists_room
        ):
            self.no_room = True
            return -1
        entry = self.memory_count
        self.memory_lists[entry] = self.lists_used
        self.list_operands(p, start, end)
        if self.no_room:
            return -1
        self.memory_slots[place] = entry
        self.memory_hashes[entry] = h
        self.memory_sizes[entry] = size
        self.memory_starts[entry] = self.pool_used
        for i in range(size):
            self.pool[self.pool_used + i] = p[start + i]
        self.pool_used += size
        self.memory_ranks[entry] = self.rank(p, start, end)
        self.memory_reverses[entry] = self.reverse_rank(p, start, end)
        self.memory_count += 1
        return entry

    # --- Coordinates ----------------------------------------------------------------

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def find_name(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t,
        h: cython.ulonglong,
    ) -> cython.int:  # fmt: skip
        """The number of a name that some filter has, or -1."""
        place: cython.Py_ssize_t = mix(h) & self.name_mask
        name: cython.int = self.name_slots[place]
        first: cython.int
        while name >= 0:
            first = self.name_starts[name]
            if (
                self.name_hashes[name] == h
                and self.name_starts[name + 1] - first == end - start
                and same_bytes(self.name_bytes, first, p, start, end - start)
            ):
                return name
            place = (place + 1) & self.name_mask
            name = self.name_slots[place]
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number_rank(
        self, name: cython.int, whole: cython.longlong, rest: cython.double
    ) -> cython.int:
        """The rank of a number: a whole part and a rest, compared one after the other.

        Exact where a double would not be: every integer of 64 bits and every double
        has such a pair.
        """
        start: cython.int = self.number_starts[name]
        lo: cython.int = start
        hi: cython.int = self.number_starts[name + 1]
        mid: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.number_wholes[mid] < whole or (
                self.number_wholes[mid] == whole and self.number_rests[mid] < rest
            ):
                lo = mid + 1
            else:
                hi = mid
        if (
            lo < self.number_starts[name + 1]
            and self.number_wholes[lo] == whole
            and self.number_rests[lo] == rest
        ):
            return 2 * (lo - start) + 1
        return 2 * (lo - start)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_integer(self, name: cython.int, value: cython.longlong) -> cython.void:
        d: cython.int = 8 * name
        rank: cython.int = self.number_rank(name, value, 0.0)
        self.x[d] = 0
        self.x[d + 4] = rank
        self.x[d + 5] = rank

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_float(self, name: cython.int, value: cython.double) -> cython.void:
        d: cython.int = 8 * name
        whole: cython.longlong
        rest: cython.double
        if value >= TWO_63:
            whole = cython.cast(cython.longlong, INTEGER_MAX)
            rest = value
        elif value < -TWO_63:
            whole = -cython.cast(cython.longlong, INTEGER_MAX) - 1
            rest = value
        else:
            whole = cython.cast(cython.longlong, value)
            if not cython.compiled:
                whole = int(value)
            if whole > value:  # the cast goes towards zero
                whole -= 1
            rest = value - whole
        rank: cython.int = self.number_rank(name, whole, rest)
        self.x[d] = 0
        self.x[d + 4] = rank
        self.x[d + 6] = rank

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_time(self, name: cython.int, value: cython.longlong) -> cython.void:
        start: cython.int = self.time_starts[name]
        lo: cython.int = start
        hi: cython.int = self.time_starts[name + 1]
        mid: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.time_keys[mid] < value:
                lo = mid + 1
            else:
                hi = mid
        self.x[8 * name] = 0
        self.x[8 * name + 7] = 2 * (lo - start) + (
            lo < self.time_starts[name + 1] and self.time_keys[lo] == value
        )

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_string(
        self,
        name: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        d: cython.int = 8 * name
        entry: cython.int = self.remember(p, start, end)
        if entry >= 0:
            self.x[d] = 0
            self.x[d + 1] = self.memory_ranks[entry]
            self.x[d + 2] = self.memory_reverses[entry]
            self.x[d + 3] = entry

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def clear(self) -> cython.void:
        """Take back all coordinates of the notification."""
        i: cython.int
        k: cython.int
        for i in range(self.set_count):
            for k in range(8):
                self.x[8 * self.attributes[i] + k] = -1
        self.set_count = 0

    # --- Reading a block: a msgpack map with string keys and plain values ---------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read(
        self, p: cython.p_uchar, i: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Set the coordinates of a block; 0, or the reason why it is bad.

        Nothing outside ``p[i:end]`` is read, whatever the block says of its lengths.
        """
        c: cython.int
        count: cython.Py_ssize_t
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        size: cython.Py_ssize_t
        start: cython.Py_ssize_t
        name: cython.int
        h: cython.ulonglong
        word: cython.ulonglong
        whole: cython.longlong
        real: cython.double
        if i >= end:
            return TRUNCATED
        c = p[i]
        i += 1
        if (c & 0xF0) == 0x80:
            count = c & 0x0F
        elif c == 0xDE:
            if i + 2 > end:
                return TRUNCATED
            count = big_endian(p, i, 2)
            i += 2
        elif c == 0xDF:
            if i + 4 > end:
                return TRUNCATED
            count = big_endian(p, i, 4)
            i += 4
        else:
            return NOT_A_MAP
        if count > self.attributes_max:
            return TOO_MANY
        for k in range(count):
            # The key.
            if i >= end:
                return TRUNCATED
            c = p[i]
            i += 1
            if (c & 0xE0) == 0xA0:
                size = c & 0x1F
            elif 0xD9 <= c <= 0xDB:
                if i + (1 << (c - 0xD9)) > end:
                    return TRUNCATED
                size = big_endian(p, i, 1 << (c - 0xD9))
                i += 1 << (c - 0xD9)
            else:
                return WRONG_TYPE
            if size > end - i:
                return TRUNCATED
            start = i
            i += size
            h = hash_bytes(p, start, i, self.seed)
            for j in range(k):
                if (
                    self.key_hashes[j] == h
                    and self.key_ends[j] - self.key_starts[j] == size
                    and same_bytes(p, self.key_starts[j], p, start, size)
                ):
                    return DUPLICATE
            self.key_hashes[k] = h
            self.key_starts[k] = start
            self.key_ends[k] = i
            name = self.find_name(p, start, i, h)
            if name >= 0:
                self.attributes[self.set_count] = name
                self.set_count += 1
            elif not is_utf8(p, start, i):
                return NOT_UTF8  # a known name needs no second look
            # The value.
            if i >= end:
                return TRUNCATED
            c = p[i]
            i += 1
            if c < 0x80:
                if name >= 0:
                    self.set_integer(name, c)
            elif c >= 0xE0:
                if name >= 0:
                    self.set_integer(name, c - 0x100)
            elif (c & 0xE0) == 0xA0 or 0xD9 <= c <= 0xDB:
                if c < 0xC0:
                    size = c & 0x1F
                else:
                    if i + (1 << (c - 0xD9)) > end:
                        return TRUNCATED
                    size = big_endian(p, i, 1 << (c - 0xD9))
                    i += 1 << (c - 0xD9)
                if size > end - i:
                    return TRUNCATED
                if not is_utf8(p, i, i + size):
                    return NOT_UTF8
                if name >= 0:
                    self.set_string(name, p, i, i + size)
                i += size
            elif 0xCC <= c <= 0xCF:
                size = 1 << (c - 0xCC)
                if i + size > end:
                    return TRUNCATED
                word = big_endian(p, i, size)
                if word > INTEGER_MAX:
                    return OUT_OF_RANGE
                if name >= 0:
                    self.set_integer(name, cython.cast(cython.longlong, word))
                i += size
            elif 0xD0 <= c <= 0xD3:
                size = 1 << (c - 0xD0)
                if i + size > end:
                    return TRUNCATED
                if name >= 0:
                    self.set_integer(name, signed(big_endian(p, i, size), size))
                i += size
            elif c == 0xCA or c == 0xCB:
                size = 4 if c == 0xCA else 8
                if i + size > end:
                    return TRUNCATED
                word = big_endian(p, i, size)
                if c == 0xCA:
                    real = float_of(cython.cast(cython.uint, word))
                else:
                    real = double_of(word)
                if real - real != 0.0:  # neither NaN nor infinite
                    return NOT_FINITE
                if name >= 0:
                    self.set_float(name, real)
                i += size
            elif c == 0xC2 or c == 0xC3:
                if name >= 0:
                    self.x[8 * name] = 1 if c == 0xC2 else 3
            elif c == 0xD6 or c == 0xD7 or c == 0xC7:
                # A time: seconds; or 30 bits of nanoseconds and 34 of seconds; or
                # four bytes of nanoseconds and eight of seconds.
                size = 4 if c == 0xD6 else 8
                if c == 0xC7:
                    if i >= end:
                        return TRUNCATED
                    if p[i] != 12:
                        return WRONG_TYPE
                    size = 12
                    i += 1
                if i + 1 + size > end:
                    return TRUNCATED
                if p[i] != 0xFF:
                    return WRONG_TYPE
                i += 1
                if size == 4:
                    whole = cython.cast(cython.longlong, big_endian(p, i, 4))
                    word = 0
                elif size == 8:
                    word = big_endian(p, i, 8)
                    whole = cython.cast(cython.longlong, word & SECONDS_BITS)
                    word >>= 34
                else:
                    word = big_endian(p, i, 4)
                    whole = signed(big_endian(p, i + 4, 8), 8)
                i += size
                if word > 999999999 or whole < SECONDS_MIN or whole > SECONDS_MAX:
                    return OUT_OF_RANGE
                if name >= 0:
                    self.set_time(
                        name,
                        whole * 1000000 + cython.cast(cython.longlong, word // 1000),
                    )
            elif (c & 0xF0) == 0x80 or (c & 0xF0) == 0x90 or 0xDC <= c <= 0xDF:
                return NESTED
            else:
                return WRONG_TYPE
            if self.no_room:
                return 0
        if i != end:
            return TRAILING
        return 0

    # --- Matching ---------------------------------------------------------------------

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def holds(self, p: cython.Py_ssize_t, n: cython.int) -> cython.bint:
        """Whether the ``n`` constraints at ``arena[p]`` hold."""
        arena = self.arena
        i: cython.int
        z: cython.int
        at: cython.int
        v: cython.int
        d: cython.int
        found: cython.bint
        for i in range(n):
            d = arena[p] >> 1
            v = self.x[d]
            if v < 0:
                return False
            if (d & 7) == 3:
                # A substring: the third list of the value has its node, or not.
                at = self.memory_lists[v]
                at += self.lists[at] + 1
                at += self.lists[at] + 1
                found = False
                for z in range(at + 1, at + 1 + self.lists[at]):
                    found |= self.lists[z] == arena[p + 1]
                if not found:
                    return False
            elif ((v >= arena[p + 1]) & (v <= arena[p + 2])) == (arena[p] & 1):
                return False
            p += 3
        return True

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def push(
        self,
        kind: cython.int,
        second: cython.int,
        start: cython.int,
        end: cython.int,
        v: cython.int,
    ) -> cython.void:
        """Write a run behind the queue; whoever counts it has queued it."""
        i: cython.int = 5 * self.queued
        self.queue[i] = kind
        self.queue[i + 1] = second
        self.queue[i + 2] = start
        self.queue[i + 3] = end
        self.queue[i + 4] = v

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def queue_runs(
        self, at: cython.Py_ssize_t, kind: cython.int, v: cython.int
    ) -> cython.void:
        """Queue the runs of a directory whose second name the notification has."""
        arena = self.arena
        mask: cython.int = arena[at]
        place: cython.Py_ssize_t
        s: cython.Py_ssize_t
        second: cython.int
        j: cython.int
        if self.queued + self.set_count + 18 > self.queue_room:
            self.execute()
        if mask < 16:
            for place in range(mask + 1):
                s = at + 4 + 4 * place
                second = arena[s]
                self.push(kind, second, arena[s + 1], arena[s + 2], v)
                self.queued += second == 0 or (
                    second > 0 and self.x[8 * (second - 1)] >= 0
                )
            return
        for j in range(-1, self.set_count):
            second = 0 if j < 0 else self.attributes[j] + 1
            place = mix(cython.cast(cython.ulonglong, second)) & mask
            s = at + 4 + 4 * place
            while arena[s] != second and arena[s] != -1:
                place = (place + 1) & mask
                s = at + 4 + 4 * place
            if arena[s] == second:
                self.push(kind, second, arena[s + 1], arena[s + 2], v)
                self.queued += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def look_up(
        self, d: cython.int, kind: cython.int, operand: cython.int
    ) -> cython.void:
        """Queue what is stored under an operand, of the classes up to ``SUBSTRING``."""
        arena = self.arena
        tag: cython.int = d * 8 + kind
        key: cython.ulonglong = (
            cython.cast(cython.ulonglong, tag) << 32
        ) | cython.cast(cython.ulonglong, operand)
        mask: cython.Py_ssize_t = arena[1]
        place: cython.Py_ssize_t = mix(key) & mask
        i: cython.Py_ssize_t = arena[0] + 4 * place
        while arena[i + 2] != 0:
            if arena[i] == operand and arena[i + 1] == tag:
                if arena[i + 2] < 0:
                    self.queue_runs(-arena[i + 2], kind, 0)
                    return
                if self.queued + 2 > self.queue_room:
                    self.execute()
                self.push(kind, -1, arena[i + 2], arena[i + 3], 0)
                self.queued += 1
                return
            place = (place + 1) & mask
            i = arena[0] + 4 * place

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def look_up_list(
        self, d: cython.int, kind: cython.int, at: cython.int
    ) -> cython.void:
        z: cython.int
        for z in range(at + 1, at + 1 + self.lists[at]):
            self.look_up(d, kind, self.lists[z])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def collect_dimension(self, d: cython.int) -> cython.void:
        """Queue what is stored under one coordinate."""
        flags: cython.int = self.flags[d]
        v: cython.int = self.x[d]
        c: cython.int
        if flags & 1:
            self.look_up(d, EQ, v)
        if flags & 0xF0:
            for c in range(4, 8):
                if flags & (1 << c):
                    self.queue_runs(self.arena[self.arena[2] + 4 * d + c - 4], c, v)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(self) -> cython.void:
        """Queue all runs that must be read for the notification."""
        i: cython.int
        k: cython.int
        d: cython.int
        at: cython.int
        for i in range(self.set_count):
            d = 8 * self.attributes[i]
            for k in range(8):
                if k != 2 and k != 3 and self.flags[d + k] and self.x[d + k] >= 0:
                    self.collect_dimension(d + k)
            if self.x[d + 3] >= 0:
                at = self.memory_lists[self.x[d + 3]]
                if self.flags[d + 1] & 2:
                    self.look_up_list(d + 1, PREFIX, at)
                at += self.lists[at] + 1
                if self.flags[d + 2] & 4:
                    self.look_up_list(d + 2, SUFFIX, at)
                at += self.lists[at] + 1
                if self.flags[d + 3] & 8:
                    self.look_up_list(d + 3, SUBSTRING, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def upper_bound(
        self, s: cython.Py_ssize_t, n: cython.int, v: cython.int
    ) -> cython.int:
        """How many of ``n`` ascending thresholds are at most ``v``."""
        lo: cython.int = 0
        hi: cython.int = n
        mid: cython.int
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.arena[s + mid] <= v:
                lo = mid + 1
            else:
                hi = mid
        return lo

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def execute(self) -> cython.void:
        """Read the queued runs; write the matching filters behind ``out[found]``."""
        arena = self.arena
        out = self.out
        n: cython.Py_ssize_t = self.found
        i: cython.int
        z: cython.int
        u: cython.int
        kind: cython.int
        v: cython.int
        s: cython.Py_ssize_t
        e: cython.Py_ssize_t
        for i in range(self.queued):
            if cython.compiled:
                if i + 6 < self.queued:
                    prefetch(arena + self.queue[5 * i + 32])
                    prefetch(arena + self.queue[5 * i + 32] + 16)
            kind = self.queue[5 * i]
            s = self.queue[5 * i + 2]
            e = self.queue[5 * i + 3]
            v = self.queue[5 * i + 4]
            if kind == LT:
                v = -v  # thresholds of `<` are negated, so that all ascend
            if self.queue[5 * i + 1] == 0:
                # Filters of one constraint: thresholds, then the filters.
                u = e
                if kind == LT or kind == GT or kind == NE:
                    u = self.upper_bound(s, e, v)
                if kind == NE:
                    for z in range(u, e):
                        out[n + z - u] = arena[s + e + z]
                    n += e - u
                    u = self.upper_bound(s, u, v - 1)
                for z in range(u):
                    out[n + z] = arena[s + e + z]
                n += u
            elif kind == LT or kind == GT:
                while s < e and arena[s] <= v:
                    if self.holds(s + 3, arena[s + 2]):
                        out[n] = arena[s + 1]
                        n += 1
                    s += 3 + 3 * arena[s + 2]
            else:
                while s < e:
                    if (kind != NE or arena[s] != v) and self.holds(
                        s + 3, arena[s + 2]
                    ):
                        out[n] = arena[s + 1]
                        n += 1
                    s += 3 + 3 * arena[s + 2]
        self.found = n
        self.queued = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def batch(
        self,
        p: cython.p_uchar,
        offsets: cython.p_longlong,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
        counts: cython.p_int,
        state: cython.p_longlong,
    ) -> cython.int:
        """Match blocks ``first`` to ``last``; 0, or why it stopped at ``state[0]``."""
        m: cython.Py_ssize_t = first
        before: cython.Py_ssize_t
        bad: cython.int
        why: cython.int = 0
        is_fresh: cython.bint = False
        while m < last:
            if room - self.found < self.filters:
                why = ROOM_FOR_MATCHES
                break
            bad = self.read(p, offsets[m], offsets[m + 1])
            if self.no_room:
                # Once more with an empty memory; if that is too small, with a larger.
                self.clear()
                self.no_room = False
                self.forget_values()
                if is_fresh:
                    why = ROOM_FOR_VALUES
                    break
                is_fresh = True
                continue
            is_fresh = False
            before = self.found
            if bad:
                counts[m] = -bad
            else:
                self.collect()
                self.execute()
                counts[m] = self.found - before
            self.clear()
            m += 1
        state[0] = m
        state[1] = self.found
        return why

    def match(self, blocks, offsets, first, last, out, counts, state):  # type: ignore[no-untyped-def]
        """Match, for Python, with the GIL released; ``state`` says how far it came.

        ``state[1]`` is how many filters stand in ``out`` already.  Offsets ascend and
        end within the blocks; the caller has checked it.
        """
        self.out = ints(out)
        self.found = state[1]
        if cython.compiled:
            p: cython.const[cython.uchar][::1] = blocks
            o: cython.longlong[::1] = offsets
            c: cython.int[::1] = counts
            t: cython.longlong[::1] = state
            a: cython.Py_ssize_t = first
            b: cython.Py_ssize_t = last
            room: cython.Py_ssize_t = len(out)
            start = cython.cast(cython.p_uchar, cython.address(p[0]))
            why: cython.int
            with cython.nogil:
                why = self.batch(
                    start,
                    cython.address(o[0]),
                    a,
                    b,
                    room,
                    cython.address(c[0]),
                    cython.address(t[0]),
                )
            return why
        return self.batch(
            memoryview(blocks),
            memoryview(offsets),
            first,
            last,
            len(out),
            memoryview(counts),
            memoryview(state),
        )


def fill(arena, places, lists, runs, entries, rest, thresholds, owners, short):  # type: ignore[no-untyped-def]
    """Write lists, directories, runs and entries into the arena; where it ends.

    The arguments are int32, as :mod:`siena.matching.layout` has them: ``places`` is
    (hash, hash mask, directories of dimensions, directories, streams);
    ``lists`` has a row for each list: tag, operand, first run, end of runs; ``runs`` a
    row for each run: second name + 1, first entry, end; ``entries[i]`` is where the
    constraints of entry ``i`` begin in ``rest``, three words each.
    """
    if not cython.compiled:
        # Views whose items are Python's integers, which do not overflow.
        arena, places, lists, runs = map(memoryview, (arena, places, lists, runs))
        entries, rest = memoryview(entries), memoryview(rest)
        thresholds, owners = memoryview(thresholds), memoryview(owners)
    ar: cython.int[::1] = arena
    pl: cython.int[::1] = places
    li: cython.int[:, ::1] = lists
    ru: cython.int[:, ::1] = runs
    en: cython.int[::1] = entries
    re: cython.int[::1] = rest
    th: cython.int[::1] = thresholds
    ow: cython.int[::1] = owners
    small: cython.int = short
    at: cython.Py_ssize_t = pl[4]
    directory: cython.Py_ssize_t = pl[3]
    row: cython.Py_ssize_t
    run: cython.Py_ssize_t
    i: cython.Py_ssize_t
    q: cython.Py_ssize_t
    place: cython.Py_ssize_t
    count: cython.Py_ssize_t
    first: cython.Py_ssize_t
    end: cython.Py_ssize_t
    kind: cython.int
    mask: cython.int
    for row in range(li.shape[0]):
        kind = li[row, 0] & 7
        first = ru[li[row, 2], 1]
        end = ru[li[row, 3] - 1, 2]
        if kind < 4 and end - first <= small:
            start: cython.int = at
            for i in range(first, end):
                count = en[i + 1] - en[i]
                ar[at] = th[i]
                ar[at + 1] = ow[i]
                ar[at + 2] = count
                for q in range(3 * count):
                    ar[at + 3 + q] = re[3 * en[i] + q]
                at += 3 + 3 * count
            stop: cython.int = at
        else:
            mask = 2
            while mask < (li[row, 3] - li[row, 2]) * 3 // 2 + 1:
                mask *= 2
            mask -= 1
            ar[directory] = mask
            for q in range(mask + 1):
                ar[directory + 4 + 4 * q] = -1
            for run in range(li[row, 2], li[row, 3]):
                place = mix(cython.cast(cython.ulonglong, ru[run, 0])) & mask
                while ar[directory + 4 + 4 * place] != -1:
                    place = (place + 1) & mask
                q = directory + 4 + 4 * place
                ar[q] = ru[run, 0]
                ar[q + 1] = at
                if ru[run, 0] == 0:
                    count = ru[run, 2] - ru[run, 1]
                    for i in range(count):
                        ar[at + i] = th[ru[run, 1] + i]
                        ar[at + count + i] = ow[ru[run, 1] + i]
                    at += 2 * count
                    ar[q + 2] = count
                else:
                    for i in range(ru[run, 1], ru[run, 2]):
                        count = en[i + 1] - en[i]
                        ar[at] = th[i]
                        ar[at + 1] = ow[i]
                        ar[at + 2] = count
                        for z in range(3 * count):
                            ar[at + 3 + z] = re[3 * en[i] + z]
                        at += 3 + 3 * count
                    ar[q + 2] = at
            start = -directory
            stop = 0
            directory += 4 + 4 * (mask + 1)
        if kind < 4:
            key: cython.ulonglong = (
                cython.cast(cython.ulonglong, li[row, 0]) << 32
            ) | cython.cast(cython.ulonglong, li[row, 1])
            place = mix(key) & pl[1]
            while ar[pl[0] + 4 * place + 2] != 0:
                place = (place + 1) & pl[1]
            q = pl[0] + 4 * place
            ar[q] = li[row, 1]
            ar[q + 1] = li[row, 0]
            ar[q + 2] = start
            ar[q + 3] = stop
        else:
            ar[pl[2] + 4 * (li[row, 0] >> 3) + kind - 4] = -start
    return at


def hash_of(data, seed):  # type: ignore[no-untyped-def]
    """The hash of a name, for whoever lays out the table of names."""
    if not data:
        return seed ^ (seed >> 29)
    if cython.compiled:
        p: cython.const[cython.uchar][::1] = data
        return hash_bytes(
            cython.cast(cython.p_uchar, cython.address(p[0])), 0, len(data), seed
        )
    return hash_bytes(data, 0, len(data), seed)


def place_of(key, mask):  # type: ignore[no-untyped-def]
    """Where the search for a key begins in a hash table."""
    word: cython.ulonglong = key
    return mix(word) & mask
