"""The engine's kernel: from encoded notifications to the filters that match.

Compiled by Cython where there is a C compiler; otherwise the same file runs as
plain Python.  It knows integers and bytes, not filters:
:mod:`siena.matching.engine.layout` and :mod:`siena.matching.kernels.build` fill the
arrays.  What is known of string values is :mod:`siena.matching.kernels.values`.

Why one module: Cython inlines calls within a module, and not between two; a call for
each attribute costs up to 8 % (decision 25).

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
every constraint is an interval of ranks, or the complement of one.  A name together
with ``k`` is a *dimension*.  Each filter is stored once:

* Filters of one constraint ``> >= any != <= <`` stand in one *stretch* for each
  dimension, ordered such that those that a value satisfies are neighbours: ``>`` by
  descending threshold, ``any``, ``!=``, ``<`` by descending threshold.  A *row* for
  each operand says from where to where, for values equal to the operand and below it.
* Filters with a constraint ``=``, prefix, suffix or substring that is improbable
  enough stand in the *list* of that constraint: of ``=`` its row knows the place, of
  the others a hash table.
* The others stand in the *group* of the two names of their least probable
  constraints, and are looked at only if the notification has both names.

The arena is one array of int32:

* header: ``hash table, its mask, rows, pairs, 0, …``, 16 words.
* the hash table, four words each: ``operand, dimension * 8 + class, list, 0``.
* rows of eight words: for values below the operand ``start, end`` of the stretch; for
  values equal to it ``start, end, start, end``; the list; 0.  Each dimension has one
  row more than operands.
* for each name the place of its directory of groups, or 0.
* a list: ``s, m, end``, then ``s`` filters of one constraint, ``m`` short entries, and
  entries up to ``end``.  The place of a long list is negative: ``s, 0, directory`` and
  ``s`` filters.
* a directory: ``0, n, 0, 0`` and then ``n`` places of four words, ``second name + 1,
  start, end, 0``; or, with many names, ``mask, 0, 0, 0`` and a hash table of ``mask +
  1`` places, where -1 is an empty one.
* a run, which is what a long list has for a second name: ``end of the parts, m``; the
  parts; ``m`` short entries; entries up to its end.
* a group is a run, whose ``m`` entries have exactly two constraints and a filter.
* a part: ``dimension, form, n, m, width`` and ``m`` times ``key``, ``n`` constraints
  and a filter.  Its filters have one more constraint each, of one form and on one
  dimension, and are sorted by it, so that a search finds those that it leaves: ``>``
  by first rank, ``<`` by the negative of the last, ``=`` by rank.  Bands are sorted by
  first rank, have the last one as a second word of the key, and reach at most ``width``
  ranks further than their first: a search finds where those begin that can hold.
* a short entry, with one more constraint that is not a substring: ``dimension * 2 +
  negated, first, last, filter``.  Whether it holds cannot be predicted, so it is tested
  without a branch.
* an entry: ``filter, n`` and ``n`` times ``dimension * 2 + negated, first, last``.

Patterns, and what ignores case, are *atoms*: like the operands of substrings, those
that hold of a value are noted when it is met first, and filters are stored under them.
What an attribute is not finds no filter.  Such constraints are left out of the arena,
where their filter has a number from ``check_base`` on; when it has been found it is
tested, by ``check_tests``: ``dimension, code, operand`` each.  There may be several
*ways* to pass: in ``check_ways``, of each where its tests begin, and how many of them
are those of the way before it.  Filters of which nothing is left are tested always.

With at most 64 interfaces there is a second form of the table, in which filters are
bits: what the filters of one constraint of a row add up to stands in ``row_masks``.
"""

import cython

from siena.model.limits import NAME_CHARACTERS_MAX, STRING_CHARACTERS_MAX

if not cython.compiled:  # otherwise in match.pxd
    from siena.matching.kernels.inline.hashing import (
        hash_bytes,
        mix,
        scrambled,
        tag_of,
    )
    from siena.matching.kernels.inline.noted import SEARCHED, may_be_noted
    from siena.matching.kernels.inline.octets import (
        big_endian,
        double_of,
        float_of,
        is_longer,
        is_utf8,
        item,
        load,
        same_bytes,
        signed_of,
    )
    from siena.matching.kernels.inline.views import doubles, ints, longs, octets, words
    from siena.matching.kernels.values import Values

COMPILED = cython.compiled

# Classes of constraints that decide where a filter is stored.
EQ = cython.declare(cython.int, 0)
PREFIX = cython.declare(cython.int, 1)
SUFFIX = cython.declare(cython.int, 2)
SUBSTRING = cython.declare(cython.int, 3)
LT = cython.declare(cython.int, 4)
GT = cython.declare(cython.int, 5)
NE = cython.declare(cython.int, 6)
ANY = cython.declare(cython.int, 7)

# Codes of tests; siena.matching.engine.checking has the same.
CHECK_ABSENT = cython.declare(cython.int, 0)
CHECK_OTHER = cython.declare(cython.int, 1)

# What is in the queue.
STRETCH = cython.declare(cython.int, 0)
LIST = cython.declare(cython.int, 1)
RUN = cython.declare(cython.int, 2)
GROUP = cython.declare(cython.int, 3)

# Forms of the constraints of a part; siena.matching.engine.parts has the same numbers.
RISING = cython.declare(cython.int, 0)
FALLING = cython.declare(cython.int, 1)
EQUAL = cython.declare(cython.int, 2)
BANDED = cython.declare(cython.int, 3)

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
TOO_LONG = cython.declare(cython.int, 11)

# What an Arrow column holds; siena.matching.input.arrow has the same numbers.
SIGNED = cython.declare(cython.int, 0)
UNSIGNED = cython.declare(cython.int, 1)
FLOATING = cython.declare(cython.int, 2)
BOOLEAN = cython.declare(cython.int, 3)
TEXT = cython.declare(cython.int, 4)
VIEW = cython.declare(cython.int, 5)
TIME_S = cython.declare(cython.int, 6)
TIME_MS = cython.declare(cython.int, 7)
TIME_US = cython.declare(cython.int, 8)
TIME_NS = cython.declare(cython.int, 9)
DICTIONARY = cython.declare(cython.int, 10)
# Words that describe a column: its type, the bytes of an item, the bitmap of those that
# are there or -1, where the batch begins in it, its items; then by type: the bytes of
# the texts; the first of the bytes of the views, and how many follow; whether indices
# are signed, the column of the values, and how many they are.
COLUMN = cython.declare(cython.int, 8)
# A view has up to this many bytes in itself.
VIEW_BYTES = cython.declare(cython.int, 12)

# Blocks that are fetched before they are read.
AHEAD = cython.declare(cython.Py_ssize_t, 4)
# Keys of a part that are searched without fetching: they are in a few cache lines.
FETCHED = cython.declare(cython.Py_ssize_t, 16)

# Why a batch stopped before its end; the caller makes room and goes on.
ROOM_FOR_MATCHES = cython.declare(cython.int, 1)
ROOM_FOR_VALUES = cython.declare(cython.int, 2)

# Plain Python wraps at 64 bits because of this; compiled, it does nothing.
WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
EXPONENT_BITS = cython.declare(cython.ulonglong, 0x7FF0000000000000)

INTEGER_MAX = cython.declare(cython.ulonglong, 0x7FFFFFFFFFFFFFFF)
# The seconds of a time: 34 bits of a word, and the years 1 to 9999.
SECONDS_BITS = cython.declare(cython.ulonglong, 0x3FFFFFFFF)
SECONDS_MIN = cython.declare(cython.longlong, -62135596800)
SECONDS_MAX = cython.declare(cython.longlong, 253402300799)
TWO_63 = cython.declare(cython.double, 9223372036854775808.0)

# The limits of the model, in characters.
NAME_MAX = cython.declare(cython.Py_ssize_t, NAME_CHARACTERS_MAX)
STRING_MAX = cython.declare(cython.Py_ssize_t, STRING_CHARACTERS_MAX)
# A block: the memory of values counts the bytes of its strings with 32 bits.
BLOCK_BYTES_MAX = cython.declare(cython.Py_ssize_t, 0x40000000)
# Above every name.
NAMES_MAX = cython.declare(cython.int, 0x7FFFFFFF)
# Words of a row and of an entry in the memory of values.
ROW = cython.declare(cython.int, 8)
ENTRY = cython.declare(cython.int, 16)
# Values up to this many bytes stand in their entry, behind ten words.
INLINE_BYTES = cython.declare(cython.int, 24)


@cython.final
@cython.cclass
class Kernel:
    """The arrays of one table, and the scratch of one thread.

    Threads that match on one table at the same time have a kernel each; the arrays of
    the table are shared, and none writes to them.
    """

    # The table.
    seed: cython.ulonglong
    name_mask: cython.int
    name_slots: cython.p_int
    name_bytes: cython.p_uchar
    number_starts: cython.p_int
    number_wholes: cython.p_longlong
    number_rests: cython.p_double
    dense: cython.p_longlong
    dense_ranks: cython.p_int
    time_starts: cython.p_int
    time_keys: cython.p_longlong
    row_places: cython.p_int
    arena: cython.p_int
    rows_start: cython.Py_ssize_t
    pairs: cython.Py_ssize_t
    filters: cython.Py_ssize_t
    as_masks: cython.bint
    has_wide_pairs: cython.bint
    row_masks: cython.p_ulonglong
    # The scratch: coordinates, what was set, rows to visit, the queue of what to read.
    x: cython.p_int
    attributes: cython.p_int
    set_count: cython.int
    is_sorted: cython.bint
    visits: cython.p_int
    visit_count: cython.int
    found_lists: cython.p_int
    found_count: cython.int
    key_hashes: cython.p_ulonglong
    key_starts: cython.p_longlong
    key_ends: cython.p_longlong
    attributes_max: cython.int
    # The names that the last blocks began with: of each two words, which bytes of them
    # count, its length and its number.  All are different, and what is known of those
    # that no filter has is still in `key_hashes`.
    shape: cython.p_ulonglong
    shape_sizes: cython.p_int
    shape_names: cython.p_int
    shape_count: cython.int
    shape_max: cython.int
    queue: cython.p_int
    queue_room: cython.int
    queued: cython.int
    out: cython.p_int
    room: cython.Py_ssize_t
    found: cython.Py_ssize_t
    mask: cython.ulonglong
    open: cython.ulonglong
    # Filters that are tested once they are found, or always.
    check_base: cython.int
    checks_found: cython.int
    checks: cython.int
    check_owners: cython.p_int
    check_starts: cython.p_int
    check_ways: cython.p_int
    check_tests: cython.p_int
    # The memory of string values: of each its ranks, row, lists and substrings; and of
    # its arrays those that are read here.
    values: Values
    memory_slots: cython.p_int
    memory: cython.p_int
    memory_bytes: cython.p_uchar
    pool: cython.p_uchar
    lists: cython.p_int
    no_room: cython.bint
    # An Arrow batch: the numbers of its names, its columns, and its buffers.
    column_count: cython.Py_ssize_t
    column_names: cython.p_int
    columns: cython.p_longlong
    addresses: cython.p_longlong
    sizes: cython.p_longlong
    views: object
    keep: object
    # The array of `out`, which must not go while there is a pointer into it.
    kept_out: object
    # Offsets, counts and state of batches that follow each other, and the arrays.
    held_offsets: cython.p_longlong
    held_counts: cython.p_int
    held_state: cython.p_longlong
    held_masks: cython.p_ulonglong
    held_max: cython.Py_ssize_t
    # Bytes before each of their blocks, as the protocol has them: a layer above.
    held_head: cython.Py_ssize_t
    # Attributes of the block that were as expected.
    usual: cython.int
    kept_held: object

    def __init__(self, table, scratch):  # type: ignore[no-untyped-def]
        self.keep = (table, scratch)
        header = table["header"].tolist()
        self.seed = header[0]
        self.filters = header[1]
        self.as_masks = header[6] > 0
        self.has_wide_pairs = header[7] > 0
        self.name_mask = len(table["name_slots"]) // 4 - 1
        self.name_slots = ints(table["name_slots"])
        self.name_bytes = octets(table["name_bytes"])
        self.number_starts = ints(table["number_starts"])
        self.number_wholes = longs(table["number_wholes"])
        self.number_rests = doubles(table["number_rests"])
        self.dense = longs(table["dense"])
        self.dense_ranks = ints(table["dense_ranks"])
        self.time_starts = ints(table["time_starts"])
        self.time_keys = longs(table["time_keys"])
        self.row_places = ints(table["row_places"])
        self.row_masks = words(table["row_masks"])
        self.arena = ints(table["arena"])
        self.rows_start = self.arena[2]
        self.pairs = self.arena[3]
        self.x = ints(scratch["x"])
        self.attributes = ints(scratch["attributes"])
        self.set_count = 0
        self.is_sorted = False
        self.visits = ints(scratch["visits"])
        self.visit_count = 0
        self.found_lists = ints(scratch["found_lists"])
        self.found_count = 0
        self.key_hashes = words(scratch["key_hashes"])
        self.key_starts = longs(scratch["key_starts"])
        self.key_ends = longs(scratch["key_ends"])
        self.attributes_max = len(scratch["key_starts"])
        self.shape = words(scratch["shape"])
        self.shape_sizes = ints(scratch["shape_sizes"])
        self.shape_names = ints(scratch["shape_names"])
        self.shape_count = 0
        self.shape_max = len(scratch["shape_sizes"])
        self.queue = ints(scratch["queue"])
        self.queue_room = len(scratch["queue"]) // 4 - 16
        self.queued = 0
        self.found = 0
        self.room = 0
        self.mask = 0
        self.open = 0
        self.check_base = header[8]
        self.checks_found = header[9]
        self.checks = header[10]
        self.check_owners = ints(table["check_owners"])
        self.check_starts = ints(table["check_starts"])
        self.check_ways = ints(table["check_ways"])
        self.check_tests = ints(table["check_tests"])
        self.values = Values(table, scratch)
        self.memory_slots = self.values.memory_slots
        self.memory = self.values.memory
        self.memory_bytes = self.values.memory_bytes
        self.pool = self.values.pool
        self.lists = self.values.lists
        self.no_room = False

    # --- Strings: the memory of values -------------------------------------------

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_remembered(
        self,
        m: cython.Py_ssize_t,
        name: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        h: cython.ulonglong,
    ) -> cython.bint:
        """Whether the entry at ``memory[m]`` is this value of this name."""
        if (
            self.memory[m] != tag_of(h)
            or self.memory[m + 1] != size
            or self.memory[m + 2] != name
        ):
            return False
        if size <= INLINE_BYTES:
            return same_bytes(self.memory_bytes, 4 * m + 40, p, start, size)
        return same_bytes(self.pool, self.memory[m + 3], p, start, size)

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
        slots = self.name_slots
        place: cython.Py_ssize_t = cython.cast(
            cython.Py_ssize_t, h & cython.cast(cython.ulonglong, self.name_mask)
        )
        tag: cython.int = tag_of(h)
        i: cython.Py_ssize_t = 4 * place
        while slots[i + 3] > 0:
            if (
                slots[i] == tag
                and slots[i + 2] == end - start
                and same_bytes(self.name_bytes, slots[i + 1], p, start, end - start)
            ):
                return slots[i + 3] - 1
            place = (place + 1) & self.name_mask
            i = 4 * place
        return -1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def visit(self, d: cython.int, rank: cython.int) -> cython.void:
        """Remember the row of a dimension where a rank stands, if it has rows."""
        row: cython.int = self.row_places[d]
        if row > 0:
            row += ROW * (rank >> 1)
            if cython.compiled:
                prefetch(self.arena + row)
            self.visits[2 * self.visit_count] = row
            self.visits[2 * self.visit_count + 1] = rank & 1
            self.visit_count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def integer_rank(self, name: cython.int, value: cython.longlong) -> cython.int:
        """An integer is a whole part without a rest; rests have the number's sign."""
        start: cython.int = self.number_starts[name]
        end: cython.int = self.number_starts[name + 1]
        lo: cython.int = start
        hi: cython.int = end
        mid: cython.int
        wholes = self.number_wholes
        while lo < hi:
            mid = (lo + hi) >> 1
            if wholes[mid] < value or (
                wholes[mid] == value and self.number_rests[mid] < 0.0
            ):
                lo = mid + 1
            else:
                hi = mid
        if lo < end and wholes[lo] == value and self.number_rests[lo] == 0.0:
            return 2 * (lo - start) + 1
        return 2 * (lo - start)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_integer(self, name: cython.int, value: cython.longlong) -> cython.void:
        d: cython.int = 8 * name
        n: cython.int
        low: cython.longlong = self.dense[4 * name]
        if value >= low and value <= self.dense[4 * name + 1]:
            n = self.dense_ranks[self.dense[4 * name + 2] + (value - low)]
        else:
            n = self.integer_rank(name, value)
        self.x[d] = 0
        self.x[d + 4] = n
        self.x[d + 5] = n
        self.visit(d, 0)
        self.visit(d + 4, n)
        self.visit(d + 5, n)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def set_float(self, name: cython.int, value: cython.double) -> cython.void:
        """A number is a whole part and a rest, compared one after the other.

        Exact where a double would not be: every integer of 64 bits and every double
        has such a pair.
        """
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
            # Both go towards zero, so nothing is rounded here.
            rest = value - whole
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
        mid = 2 * (lo - start)
        if (
            lo < self.number_starts[name + 1]
            and self.number_wholes[lo] == whole
            and self.number_rests[lo] == rest
        ):
            mid += 1
        self.x[d] = 0
        self.x[d + 4] = mid
        self.x[d + 6] = mid
        self.visit(d, 0)
        self.visit(d + 4, mid)
        self.visit(d + 6, mid)

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
        mid = 2 * (lo - start)
        if lo < self.time_starts[name + 1] and self.time_keys[lo] == value:
            mid += 1
        self.x[8 * name] = 0
        self.x[8 * name + 7] = mid
        self.visit(8 * name, 0)
        self.visit(8 * name + 7, mid)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_boolean(self, name: cython.int, value: cython.bint) -> cython.void:
        self.x[8 * name] = 3 if value else 1
        self.visit(8 * name, self.x[8 * name])

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
    ) -> cython.bint:
        """Whether it is one: what is remembered is, what is new must be UTF-8."""
        h: cython.ulonglong = scrambled(
            hash_bytes(p, start, end, self.seed), cython.cast(cython.ulonglong, name)
        )
        place: cython.Py_ssize_t = tag_of(h) & self.values.memory_mask
        entry: cython.int = self.memory_slots[place] - 1
        while entry >= 0 and not self.is_remembered(
            ENTRY * cython.cast(cython.Py_ssize_t, entry),
            name, p, start, end - start, h,
        ):  # fmt: skip
            place = (place + 1) & self.values.memory_mask
            entry = self.memory_slots[place] - 1
        if entry < 0:
            if not is_utf8(p, start, end):
                return False
            entry = self.values.learn(name, p, start, end, h, place)
            if entry < 0:
                self.no_room = True
                return True  # no room: the caller makes some, and begins anew
        self.set_remembered(name, entry)
        return True

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_remembered(self, name: cython.int, entry: cython.int) -> cython.void:
        """A string is what its entry in the memory of values says."""
        d: cython.int = 8 * name
        m: cython.Py_ssize_t = ENTRY * cython.cast(cython.Py_ssize_t, entry)
        self.x[d] = 0
        self.x[d + 1] = self.memory[m + 4]
        self.x[d + 2] = self.memory[m + 5]
        self.x[d + 3] = entry
        self.visit(d, 0)
        if self.memory[m + 8] > 0:
            if cython.compiled:
                prefetch(self.arena + self.memory[m + 8])
            self.visits[2 * self.visit_count] = self.memory[m + 8]
            self.visits[2 * self.visit_count + 1] = self.memory[m + 9]
            self.visit_count += 1
        if self.lists[self.memory[m + 7]] > 0:
            self.found_lists[self.found_count] = self.memory[m + 7]
            self.found_count += 1

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
        self.is_sorted = False
        self.visit_count = 0
        self.found_count = 0

    # --- Reading a block: a msgpack map with string keys and plain values ---------

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_as_before(
        self,
        p: cython.p_uchar,
        i: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        k: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether the key at ``p[i:end]`` is the one at this place of the shape."""
        size: cython.Py_ssize_t
        half: cython.Py_ssize_t
        if end - i >= 16:
            return (load(p, i, 8) & self.shape[4 * k + 2]) == self.shape[4 * k] and (
                load(p, i + 8, 8) & self.shape[4 * k + 3]
            ) == self.shape[4 * k + 1]
        # Near the end of a block, where no byte more than there are may be read.
        size = self.shape_sizes[k]
        half = min(size, 8)
        return (
            size <= end - i
            and load(p, i, half) == self.shape[4 * k]
            and load(p, i + half, size - half) == self.shape[4 * k + 1]
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def remember_key(
        self,
        p: cython.p_uchar,
        i: cython.Py_ssize_t,
        size: cython.Py_ssize_t,
        name: cython.int,
    ) -> cython.void:
        """Append a key, ``p[i:i + size]`` with the byte of its length, to the shape.

        Blocks of one publisher have the same names in the same order: to compare two
        words is quicker than to find a name and to see that it is not there twice.
        """
        k: cython.Py_ssize_t = self.shape_count
        j: cython.Py_ssize_t
        half: cython.Py_ssize_t
        ones: cython.uchar[8]
        if k == self.shape_max or size > 16:
            return
        if cython.compiled:
            for j in range(8):
                ones[j] = 0xFF
        else:
            ones = bytes([0xFF] * 8)
        half = min(size, 8)
        self.shape[4 * k] = load(p, i, half)
        self.shape[4 * k + 1] = load(p, i + half, size - half)
        self.shape[4 * k + 2] = load(ones, 0, half)
        self.shape[4 * k + 3] = load(ones, 0, size - half)
        self.shape_sizes[k] = cython.cast(cython.int, size)
        self.shape_names[k] = name
        self.shape_count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_key(
        self,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        unknown: cython.int,
    ) -> cython.int:
        """The number of a name, -1 if no filter has it; or below that, what is bad."""
        h: cython.ulonglong = hash_bytes(p, start, end, self.seed)
        name: cython.int = self.find_name(p, start, end, h)
        j: cython.int
        if name >= 0:
            return -1 - DUPLICATE if self.x[8 * name] >= 0 else name
        # No filter knows the name; it may stand there once all the same.
        for j in range(unknown):
            if (
                self.key_hashes[j] == h
                and self.key_ends[j] - self.key_starts[j] == end - start
                and same_bytes(p, self.key_starts[j], p, start, end - start)
            ):
                return -1 - DUPLICATE
        self.key_hashes[unknown] = h
        if not is_utf8(p, start, end):
            return -1 - NOT_UTF8
        if is_longer(p, start, end, NAME_MAX):
            return -1 - TOO_LONG
        return -1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def read_usual(
        self,
        p: cython.p_uchar,
        i: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        count: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Read attributes as long as they are what most are; where others begin.

        ``usual`` says how many that were: of names as in the block before, with values
        of few types, in order.  Whatever there is about the next one, good or bad, is
        left to :meth:`read`, which reads everything; this only reads faster.
        """
        shape = self.shape
        names = self.shape_names
        sizes = self.shape_sizes
        k: cython.Py_ssize_t = 0
        at: cython.Py_ssize_t
        size: cython.Py_ssize_t
        name: cython.int
        c: cython.int
        word: cython.ulonglong
        while k < count:
            if end - i >= 16:
                if (load(p, i, 8) & shape[4 * k + 2]) != shape[4 * k] or (
                    load(p, i + 8, 8) & shape[4 * k + 3]
                ) != shape[4 * k + 1]:
                    break
            elif not self.is_as_before(p, i, end, k):
                break
            at = i + sizes[k] + 1
            if at > end:
                break
            name = names[k]
            c = p[at - 1]
            if c == 0xCB or c == 0xCF:
                size = 8
                if end - at < 8:
                    break
                word = big_endian(p, at, 8)
                if c == 0xCB:
                    if (word & EXPONENT_BITS) == EXPONENT_BITS:
                        break
                    if name >= 0:
                        self.set_float(name, double_of(word))
                elif word > INTEGER_MAX:
                    break
                elif name >= 0:
                    self.set_integer(name, cython.cast(cython.longlong, word))
            elif (c & 0xE0) == 0xA0:
                size = c & 0x1F
                if end - at < size:
                    break
                if name >= 0:
                    if not self.set_string(name, p, at, at + size):
                        break
                elif not is_utf8(p, at, at + size):
                    break
            elif c < 0x80:
                size = 0
                if name >= 0:
                    self.set_integer(name, c)
            elif c == 0xCE:
                size = 4
                if end - at < 4:
                    break
                if name >= 0:
                    self.set_integer(
                        name, cython.cast(cython.longlong, big_endian(p, at, 4))
                    )
            else:
                break
            if name >= 0:
                self.attributes[self.set_count] = name
                self.set_count += 1
            else:
                self.key_starts[k - self.set_count] = i + 1
                self.key_ends[k - self.set_count] = at - 1
            i = at + size
            k += 1
            if self.no_room:
                break
        self.usual = cython.cast(cython.int, k)
        return i

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
        unknown: cython.int = 0
        k: cython.Py_ssize_t
        size: cython.Py_ssize_t
        start: cython.Py_ssize_t
        name: cython.int
        word: cython.ulonglong
        whole: cython.longlong
        real: cython.double
        if i >= end:
            return TRUNCATED
        if end - i > BLOCK_BYTES_MAX:
            return TOO_LONG
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
        i = self.read_usual(p, i, end, min(count, self.shape_count))
        if self.no_room:
            return 0
        unknown = self.usual - self.set_count
        for k in range(self.usual, count):
            # The key.
            if i >= end:
                return TRUNCATED
            if k < self.shape_count and self.is_as_before(p, i, end, k):
                start = i + 1
                i += self.shape_sizes[k]
                name = self.shape_names[k]
            else:
                self.shape_count = min(self.shape_count, cython.cast(cython.int, k))
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
                name = self.read_key(p, start, i, unknown)
                if name < -1:
                    return -1 - name
                if k == self.shape_count and c < 0xC0:
                    self.remember_key(p, start - 1, size + 1, name)
            if name >= 0:
                self.attributes[self.set_count] = name
                self.set_count += 1
            else:
                self.key_starts[unknown] = start
                self.key_ends[unknown] = i
                unknown += 1
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
                if is_longer(p, i, i + size, STRING_MAX):
                    return TOO_LONG
                if name >= 0:
                    if not self.set_string(name, p, i, i + size):
                        return NOT_UTF8
                elif not is_utf8(p, i, i + size):
                    return NOT_UTF8
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
                    self.set_integer(name, signed_of(big_endian(p, i, size), size))
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
                    self.set_boolean(name, c == 0xC3)
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
                    whole = signed_of(big_endian(p, i + 4, 8), 8)
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
    @cython.nogil
    @cython.exceptval(check=False)
    def contains(self, entry: cython.int, operand: cython.int) -> cython.bint:
        """Whether an operand is among those that a remembered value contains."""
        lists = self.lists
        at: cython.int = self.memory[ENTRY * cython.cast(cython.Py_ssize_t, entry) + 6]
        size: cython.int = lists[at]
        half: cython.int
        at += 1
        if size == 0:
            return False
        if size > SEARCHED and not may_be_noted(lists, at + size, operand):
            return False
        while size > 1:
            half = size >> 1
            at += half * (lists[at + half - 1] < operand)
            size -= half
        return lists[at] == operand

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def holds(self, p: cython.Py_ssize_t, n: cython.int) -> cython.bint:
        """Whether the ``n`` constraints at ``arena[p]`` hold."""
        arena = self.arena
        i: cython.int
        v: cython.int
        d: cython.int
        for i in range(n):
            d = arena[p] >> 1
            v = self.x[d]
            if v < 0:
                return False
            if (d & 7) == 3:
                if not self.contains(v, arena[p + 1]):
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
        start: cython.int,
        end: cython.int,
        wanted: cython.bint,
    ) -> cython.void:
        """Queue something to read, if it is wanted: written in any case, no branch."""
        i: cython.int = 4 * self.queued
        self.queue[i] = kind
        self.queue[i + 1] = start
        self.queue[i + 2] = end
        self.queued += wanted

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_attributes(self) -> cython.void:
        """Put the names of the notification in order, once that is needed."""
        i: cython.int
        j: cython.int
        name: cython.int
        if self.is_sorted:
            return
        self.is_sorted = True
        for i in range(1, self.set_count):
            name = self.attributes[i]
            j = i
            while j > 0 and self.attributes[j - 1] > name:
                self.attributes[j] = self.attributes[j - 1]
                j -= 1
            self.attributes[j] = name

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def push_directory(
        self, at: cython.Py_ssize_t, kind: cython.int, last: cython.int
    ) -> cython.void:
        """Queue what a directory has for names up to ``last`` of the notification."""
        arena = self.arena
        mask: cython.int = arena[at]
        place: cython.Py_ssize_t
        s: cython.Py_ssize_t
        second: cython.int
        j: cython.int
        if self.queued + self.set_count + 18 > self.queue_room:
            self.execute()
        if mask == 0:
            # Few names: all of them, without a branch, rather than a search for each
            # name of the notification.
            for s in range(at + 4, at + 4 + 4 * arena[at + 1], 4):
                second = arena[s] - 1
                self.push(kind, arena[s + 1], arena[s + 2], self.x[8 * second] >= 0)
            return
        self.sort_attributes()
        for j in range(self.set_count):
            second = self.attributes[j]
            if second > last:
                break
            second += 1
            place = mix(cython.cast(cython.ulonglong, second)) & mask
            s = at + 4 + 4 * place
            while arena[s] != second and arena[s] != -1:
                place = (place + 1) & mask
                s = at + 4 + 4 * place
            self.push(kind, arena[s + 1], arena[s + 2], arena[s] == second)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def push_list(self, at: cython.int) -> cython.void:
        if at > 0:
            self.push(LIST, at, 0, True)
        elif at < 0:
            at = -at
            self.push(STRETCH, at + 3, at + 3 + self.arena[at], self.arena[at] > 0)
            self.push_directory(self.arena[at + 2], RUN, NAMES_MAX)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(self) -> cython.void:
        """Queue all that must be read for the notification."""
        arena = self.arena
        i: cython.int
        z: cython.int
        at: cython.int
        row: cython.int
        for i in range(self.visit_count):
            row = self.visits[2 * i]
            if self.queued + 4 > self.queue_room:
                self.execute()
            if self.as_masks:
                z = (row - self.rows_start) // 4 + self.visits[2 * i + 1]
                self.mask |= self.row_masks[z]
            if self.visits[2 * i + 1]:
                self.push(
                    STRETCH, arena[row + 2], arena[row + 3],
                    arena[row + 2] < arena[row + 3],
                )  # fmt: skip
                self.push(
                    STRETCH, arena[row + 4], arena[row + 5],
                    arena[row + 4] < arena[row + 5],
                )  # fmt: skip
                self.push_list(arena[row + 6])
            else:
                self.push(
                    STRETCH, arena[row], arena[row + 1], arena[row] < arena[row + 1]
                )
        for i in range(self.found_count):
            at = self.found_lists[i]
            for z in range(at + 1, at + 1 + self.lists[at]):
                if self.queued + 4 > self.queue_room:
                    self.execute()
                self.push_list(self.lists[z])
        if self.has_wide_pairs:
            self.sort_attributes()  # here, because below nobody may move them
        for i in range(self.set_count):
            at = arena[self.pairs + self.attributes[i]]
            if at > 0:
                self.push_directory(at, GROUP, self.attributes[i])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def emit(self, owner: cython.int) -> cython.void:
        """A filter matches; in the form with masks, an interface."""
        if self.as_masks:
            self.mask |= cython.cast(cython.ulonglong, 1) << owner
        else:
            self.out[self.found] = owner
            self.found += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def emit_stretch(
        self, start: cython.Py_ssize_t, size: cython.Py_ssize_t
    ) -> cython.void:
        z: cython.Py_ssize_t
        if self.as_masks:
            for z in range(start, start + size):
                self.mask |= cython.cast(cython.ulonglong, 1) << self.arena[z]
        else:
            for z in range(size):
                self.out[self.found + z] = self.arena[start + z]
            self.found += size

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_wanted(self, owner: cython.int) -> cython.bint:
        """Whether it is still open that the owner matches."""
        return not self.as_masks or not ((self.mask >> owner) & 1)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def run_short(
        self, s: cython.Py_ssize_t, m: cython.Py_ssize_t, step: cython.Py_ssize_t
    ) -> cython.void:
        """Test ``m`` short entries, ``step`` words from one to the next."""
        arena = self.arena
        x = self.x
        out = self.out
        n: cython.Py_ssize_t = self.found
        mask: cython.ulonglong = self.mask
        z: cython.Py_ssize_t
        v: cython.int
        holds: cython.int
        if self.as_masks:
            for z in range(m):
                v = x[arena[s] >> 1]
                holds = (
                    ((v >= arena[s + 1]) & (v <= arena[s + 2])) ^ (arena[s] & 1)
                ) & (v >= 0)
                mask |= cython.cast(cython.ulonglong, holds) << arena[s + 3]
                s += step
            self.mask = mask
            return
        for z in range(m):
            v = x[arena[s] >> 1]
            holds = (((v >= arena[s + 1]) & (v <= arena[s + 2])) ^ (arena[s] & 1)) & (
                v >= 0
            )
            out[n] = arena[s + 3]
            n += holds
            s += step
        self.found = n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def run(
        self, s: cython.Py_ssize_t, e: cython.Py_ssize_t, m: cython.Py_ssize_t
    ) -> cython.void:
        """Test entry after entry, ``m`` of them short."""
        arena = self.arena
        self.run_short(s, m, 4)
        s += 4 * m
        while s < e:
            if self.is_wanted(arena[s]) and self.holds(s + 2, arena[s + 1]):
                self.emit(arena[s])
            s += 2 + 3 * arena[s + 1]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def up_to(
        self,
        s: cython.Py_ssize_t,
        m: cython.Py_ssize_t,
        step: cython.Py_ssize_t,
        v: cython.int,
    ) -> cython.Py_ssize_t:
        """How many of ``m`` ascending keys, ``step`` words apart, are at most ``v``."""
        lo: cython.Py_ssize_t = 0
        half: cython.Py_ssize_t
        if m == 0:
            return 0
        while m > FETCHED:  # both places that may be next, before it is known which
            half = m >> 1
            if cython.compiled:
                next_half: cython.Py_ssize_t = ((m - half) >> 1) - 1
                prefetch(self.arena + s + step * (lo + next_half))
                prefetch(self.arena + s + step * (lo + half + next_half))
            lo += half * (self.arena[s + step * (lo + half - 1)] <= v)
            m -= half
        while m > 1:
            half = m >> 1
            lo += half * (self.arena[s + step * (lo + half - 1)] <= v)
            m -= half
        return lo + (self.arena[s + step * lo] <= v)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def up_to_near(
        self,
        s: cython.Py_ssize_t,
        m: cython.Py_ssize_t,
        step: cython.Py_ssize_t,
        v: cython.int,
    ) -> cython.Py_ssize_t:
        """The same, where that is not much less than ``m``: it begins at the end."""
        back: cython.Py_ssize_t = 1
        first: cython.Py_ssize_t
        while back <= m and self.arena[s + step * (m - back)] > v:
            back <<= 1
        first = max(0, m - back + 1)
        return first + self.up_to(s + step * first, m - (back >> 1) - first, step, v)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def run_pairs(self, s: cython.Py_ssize_t, m: cython.Py_ssize_t) -> cython.void:
        """Test ``m`` entries of exactly two constraints."""
        arena = self.arena
        x = self.x
        out = self.out
        n: cython.Py_ssize_t = self.found
        z: cython.Py_ssize_t
        v: cython.int
        w: cython.int
        holds: cython.int
        for z in range(m):
            v = x[arena[s] >> 1]
            w = x[arena[s + 3] >> 1]
            holds = (
                (((v >= arena[s + 1]) & (v <= arena[s + 2])) ^ (arena[s] & 1))
                & (((w >= arena[s + 4]) & (w <= arena[s + 5])) ^ (arena[s + 3] & 1))
                & (v >= 0)
                & (w >= 0)
            )
            if self.as_masks:
                self.mask |= cython.cast(cython.ulonglong, holds) << arena[s + 6]
            else:
                out[n] = arena[s + 6]
                n += holds
            s += 7
        self.found = n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def run_keyed(
        self,
        s: cython.Py_ssize_t,
        m: cython.Py_ssize_t,
        words: cython.int,
        rest: cython.int,
        v: cython.int,
    ) -> cython.void:
        """Test ``m`` entries of a part, whose keys are one word or, of bands, two.

        What keys of one word say holds; a band holds if its second word is not below
        ``v``.
        """
        arena = self.arena
        x = self.x
        out = self.out
        n: cython.Py_ssize_t = self.found
        z: cython.Py_ssize_t
        w: cython.int
        holds: cython.int
        for z in range(m):
            holds = (words == 1) | (arena[s + 1] >= v)
            s += words
            if rest == 1:
                w = x[arena[s] >> 1]
                holds &= (
                    ((w >= arena[s + 1]) & (w <= arena[s + 2])) ^ (arena[s] & 1)
                ) & (w >= 0)
            elif rest > 1 and holds:
                holds = self.is_wanted(arena[s + 3 * rest]) and self.holds(s, rest)
            s += 3 * rest
            if self.as_masks:
                self.mask |= cython.cast(cython.ulonglong, holds) << arena[s]
            else:
                out[n] = arena[s]
                n += holds
            s += 1
        self.found = n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run_parts(self, s: cython.Py_ssize_t, e: cython.Py_ssize_t) -> cython.void:
        """Of each part, search for the entries that can match, and test these."""
        arena = self.arena
        form: cython.int
        rest: cython.int
        words: cython.int
        step: cython.Py_ssize_t
        m: cython.Py_ssize_t
        lo: cython.Py_ssize_t
        hi: cython.Py_ssize_t
        v: cython.int
        while s < e:
            v = self.x[arena[s]]
            form = arena[s + 1]
            rest = arena[s + 2]
            m = arena[s + 3]
            words = 1 + (form == BANDED)
            step = words + 3 * rest + 1
            if cython.compiled:
                prefetch(arena + s + 5 + step * m)
            # Without a coordinate, the name is there with a value of another kind.
            if v >= 0:
                lo = 0
                if form == FALLING:
                    hi = self.up_to(s + 5, m, step, -v)
                else:
                    hi = self.up_to(s + 5, m, step, v)
                    if form != RISING:
                        lo = self.up_to_near(s + 5, hi, step, v - arena[s + 4] - 1)
                if rest == 1 and words == 1:
                    self.run_short(s + 6 + step * lo, hi - lo, 5)
                else:
                    self.run_keyed(s + 5 + step * lo, hi - lo, words, rest, v)
            s += 5 + step * m

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def execute(self) -> cython.void:
        """Read what is queued; write what matches behind ``out[found]``."""
        arena = self.arena
        i: cython.int
        kind: cython.int
        s: cython.Py_ssize_t
        m: cython.Py_ssize_t
        if cython.compiled:
            for i in range(min(8, self.queued)):
                prefetch(arena + self.queue[4 * i + 1])
        for i in range(self.queued):
            if cython.compiled:
                if i + 8 < self.queued:
                    prefetch(arena + self.queue[4 * i + 33])
                    prefetch(arena + self.queue[4 * i + 33] + 16)
            if self.as_masks and (self.mask & self.open) == self.open:
                break
            kind = self.queue[4 * i]
            s = self.queue[4 * i + 1]
            if kind == STRETCH:
                self.emit_stretch(s, self.queue[4 * i + 2] - s)
            elif kind == LIST:
                self.emit_stretch(s + 3, arena[s])
                self.run(s + 3 + arena[s], arena[s + 2], arena[s + 1])
            else:
                self.run_parts(s + 2, arena[s])
                m = arena[s + 1]
                s = arena[s]
                if kind == GROUP:
                    self.run_pairs(s, m)
                    s += 7 * m
                    m = 0
                self.run(s, self.queue[4 * i + 2], m)
        self.queued = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def passes(self, check: cython.int) -> cython.bint:
        """Whether all tests of one of the ways to pass a check succeed.

        What a way begins with as the one before it did is not tested again: the test
        that failed there fails here, or those before it succeed.
        """
        ways = self.check_ways
        w: cython.Py_ssize_t
        t: cython.Py_ssize_t
        end: cython.Py_ssize_t
        failed: cython.Py_ssize_t = 0
        for w in range(
            2 * self.check_starts[check], 2 * self.check_starts[check + 1], 2
        ):
            if ways[w + 1] > failed:
                continue
            t = ways[w] + ways[w + 1]
            end = ways[w + 2]
            while t < end and self.succeeds(3 * t):
                t += 1
            if t == end:
                return True
            failed = t - ways[w]
        return False

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def succeeds(self, t: cython.Py_ssize_t) -> cython.bint:
        """Whether one test does."""
        tests = self.check_tests
        x = self.x
        d: cython.int = tests[t]
        bits: cython.int
        if tests[t + 1] == CHECK_ABSENT:
            return x[d] < 0
        if tests[t + 1] == CHECK_OTHER:
            if x[d] < 0:
                return False
            bits = (x[d] & 1) | (x[d + 1] >= 0) << 1 | (x[d + 5] >= 0) << 2
            bits |= (x[d + 6] >= 0) << 3 | (x[d + 7] >= 0) << 4
            return (bits & tests[t + 2]) == 0
        return x[d + 3] >= 0 and not self.contains(x[d + 3], tests[t + 2])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sift(self, start: cython.Py_ssize_t) -> cython.void:
        """Of what was found from a place on, keep what passes; and add what does."""
        out = self.out
        n: cython.Py_ssize_t = start
        z: cython.Py_ssize_t
        k: cython.int
        for z in range(start, self.found):
            k = out[z] - self.check_base
            if k < 0:
                out[n] = out[z]
                n += 1
            elif self.passes(k):
                out[n] = self.check_owners[k]
                n += 1
        for k in range(self.checks_found, self.checks):
            if self.passes(k):
                out[n] = self.check_owners[k]
                n += 1
        self.found = n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def match_set(self) -> cython.void:
        """Match the notification whose coordinates are set, and clear them."""
        start: cython.Py_ssize_t = self.found
        self.collect()
        self.execute()
        if self.checks:
            self.sift(start)
        self.clear()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_or_forget(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.int:
        """Read a block; when the memory of values is full, once more with an empty one.

        If ``no_room`` is set afterwards, the memory is too small for this block.
        """
        bad: cython.int = self.read(p, start, end)
        if self.no_room:
            self.clear()
            self.no_room = False
            self.values.forget()
            bad = self.read(p, start, end)
        return bad

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def batch(
        self,
        p: cython.p_uchar,
        offsets: cython.p_longlong,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        counts: cython.p_int,
        masks: cython.p_ulonglong,
        state: cython.p_longlong,
        gap: cython.Py_ssize_t,
    ) -> cython.int:
        """Match blocks ``first`` to ``last``; 0, or why it stopped at ``state[0]``.

        Between a block and the next there is a gap, of as many bytes.
        """
        m: cython.Py_ssize_t
        before: cython.Py_ssize_t
        bad: cython.int
        why: cython.int = 0
        for m in range(first, last):
            state[0] = m
            # One place more than filters: a short entry is written before it is tested.
            if not self.as_masks and self.room - self.found <= self.filters:
                why = ROOM_FOR_MATCHES
                break
            if cython.compiled and m + AHEAD < last:
                # What came a moment ago is in no cache that is near; fetched while
                # others are matched, it is.
                prefetch(p + offsets[m + AHEAD])
                prefetch(p + offsets[m + AHEAD] + 64)
                prefetch(p + offsets[m + AHEAD] + 128)
            bad = self.read_or_forget(p, offsets[m], offsets[m + 1] - gap)
            before = self.found
            self.mask = 0
            if self.no_room:
                self.no_room = False
                self.clear()
                self.values.forget()
                why = ROOM_FOR_VALUES
                break
            if bad:
                self.clear()
                counts[m] = -bad
            else:
                self.match_set()
                counts[m] = self.found - before
            if self.as_masks:
                masks[m] = self.mask & self.open
        else:
            state[0] = last
        state[1] = self.found
        return why

    def match(self, blocks, offsets, first, last, out, counts, masks, wanted, state):  # type: ignore[no-untyped-def]
        """Match, for Python, with the GIL released; ``state`` says how far it came.

        ``state[1]`` is how many filters stand in ``out`` already; ``wanted`` has the
        bits of the interfaces that are open.  Offsets ascend and end within the blocks;
        the caller has checked it.
        """
        self.use(out)
        self.found = int(state[1])
        self.open = wanted
        if cython.compiled:
            p: cython.const[cython.uchar][::1] = blocks
            a: cython.Py_ssize_t = first
            b: cython.Py_ssize_t = last
            start = cython.cast(cython.p_uchar, cython.address(p[0]))
            o = longs(offsets)
            c = ints(counts)
            w = words(masks)
            t = longs(state)
            why: cython.int
            with cython.nogil:
                why = self.batch(start, o, a, b, c, w, t, 0)
            return why
        return self.batch(
            memoryview(blocks),
            memoryview(offsets),
            first,
            last,
            memoryview(counts),
            memoryview(masks),
            memoryview(state),
            0,
        )

    def use(self, out):  # type: ignore[no-untyped-def]
        """Write matches into this array from now on."""
        self.out = ints(out)
        self.room = len(out)
        self.kept_out = out

    def hold(self, offsets, counts, state, masks, head):  # type: ignore[no-untyped-def]
        """Write offsets and counts of batches into these from now on.

        ``head`` is how many bytes stand before a block: how long it is, and what it is.
        """
        self.held_offsets = longs(offsets)
        self.held_counts = ints(counts)
        self.held_state = longs(state)
        self.held_masks = words(masks)
        self.held_max = min(len(offsets) - 1, len(counts))
        self.held_head = head
        self.kept_held = (offsets, counts, state, masks)

    def match_held(self, frames, start, end, op, longest):  # type: ignore[no-untyped-def]
        """Match the blocks of frames in a row, into arrays in use and those held.

        To take hold of an array costs more than to match a notification, and so does
        to copy one: blocks are read where they came, each behind its head.  The row
        ends before a frame of another operation, before one whose block is longer than
        ``longest`` or goes on behind ``end``, and where there is no room for more.

        Returns how many frames that were, where the row ended, and how many filters
        were found; below zero, why this cannot be done here.
        """
        at: cython.Py_ssize_t = start
        last: cython.Py_ssize_t = end
        most: cython.Py_ssize_t = longest
        wanted: cython.int = op
        head: cython.Py_ssize_t = self.held_head
        total: cython.Py_ssize_t = 0
        length: cython.Py_ssize_t
        why: cython.int
        if cython.compiled:
            # A typed view would be made, and thrown away, for each buffer.
            view: Py_buffer
            PyObject_GetBuffer(frames, cython.address(view), PyBUF_SIMPLE)
            p: cython.p_uchar = cython.cast(cython.p_uchar, view.buf)
            size: cython.Py_ssize_t = view.len
        else:
            p = memoryview(frames)
            size = p.nbytes
        if at < 0 or last > size:
            if cython.compiled:
                PyBuffer_Release(cython.address(view))
            raise ValueError("these are no places in the frames")
        with cython.nogil:
            while last - at >= head and total < self.held_max:
                length = (
                    p[at]
                    | (p[at + 1] << 8)
                    | (p[at + 2] << 16)
                    | (cython.cast(cython.Py_ssize_t, p[at + 3]) << 24)
                ) - (head - 4)
                if p[at + 4] != wanted or length < 0 or length > most:
                    break
                if last - at < head + length:
                    break
                self.held_offsets[total] = at + head
                total += 1
                at += head + length
            # As if another followed.
            self.held_offsets[total] = at + head
            self.found = 0
            why = self.batch(
                p, self.held_offsets, 0, total,
                self.held_counts, self.held_masks, self.held_state, head,
            )  # fmt: skip
        if cython.compiled:
            PyBuffer_Release(cython.address(view))
        return total, at, -why if why else self.found

    def match_one(self, block: bytes):  # type: ignore[no-untyped-def]
        """Match one block, into the array in use, which has room for every filter.

        How many filters match; below zero why the block is bad; ``None`` where
        only :meth:`match` can help.
        """
        bad: cython.int
        size: cython.Py_ssize_t = len(block)
        if self.room <= self.filters:
            return None
        self.found = 0
        if cython.compiled:
            p: cython.p_char = block
            with cython.nogil:
                bad = self.read_or_forget(cython.cast(cython.p_uchar, p), 0, size)
                if bad == 0 and not self.no_room:
                    self.match_set()
        else:
            bad = self.read_or_forget(memoryview(block), 0, size)
            if bad == 0 and not self.no_room:
                self.match_set()
        if self.no_room or bad:
            self.clear()
            if self.no_room:
                self.no_room = False
                self.values.forget()
                return None
            return -bad
        return self.found

    # --- Arrow: a column for each name --------------------------------------------

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    @cython.returns(cython.p_uchar)
    def buffer(self, number: cython.Py_ssize_t):  # type: ignore[no-untyped-def]
        """A buffer of the batch: compiled, its address; plain, a view of it."""
        if cython.compiled:
            return cython.cast(
                cython.p_uchar, cython.cast(cython.Py_ssize_t, self.addresses[number])
            )
        else:
            return self.views[number]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def is_there(self, column: cython.Py_ssize_t, i: cython.Py_ssize_t) -> cython.bint:
        """Whether item ``i`` of the column at ``columns[column]`` is not null."""
        number: cython.Py_ssize_t = self.columns[column + 2]
        if number < 0:
            return True
        return (self.buffer(number)[i >> 3] >> (i & 7)) & 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value_index(
        self, column: cython.Py_ssize_t, i: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Where the value of item ``i`` stands in its dictionary; -1 for nowhere."""
        size: cython.int = self.columns[column + 1]
        word: cython.ulonglong = item(self.buffer(self.columns[column + 4]), i, size)
        index: cython.longlong
        if self.columns[column + 5]:
            index = signed_of(word, size)
        else:
            if word > INTEGER_MAX:
                return -1
            index = cython.cast(cython.longlong, word)
        if index < 0 or index >= self.columns[column + 7]:
            return -1
        return index

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_too_wide(self, row: cython.Py_ssize_t) -> cython.bint:
        """Whether a row has more attributes than a notification may have."""
        count: cython.int = 0
        c: cython.Py_ssize_t
        i: cython.Py_ssize_t
        values: cython.Py_ssize_t
        for c in range(self.column_count):
            i = row + self.columns[COLUMN * c + 3]
            if not self.is_there(COLUMN * c, i):
                continue
            if self.columns[COLUMN * c] == DICTIONARY:
                values = COLUMN * self.columns[COLUMN * c + 6]
                i = self.value_index(COLUMN * c, i)
                if i >= 0 and not self.is_there(values, i + self.columns[values + 3]):
                    continue
            count += 1
        return count > self.attributes_max

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_text(
        self, name: cython.int, p: cython.p_uchar,
        start: cython.Py_ssize_t, end: cython.Py_ssize_t,
    ) -> cython.int:  # fmt: skip
        if name >= 0:
            return 0 if self.set_string(name, p, start, end) else NOT_UTF8
        return 0 if is_utf8(p, start, end) else NOT_UTF8

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_view(
        self, name: cython.int, at: cython.Py_ssize_t, i: cython.Py_ssize_t
    ) -> cython.int:
        """A string view: its length, and its bytes or where they stand."""
        p = self.buffer(self.columns[at + 4])
        size: cython.longlong = signed_of(load(p, 16 * i, 4), 4)
        number: cython.longlong
        start: cython.longlong
        if size < 0:
            return TRUNCATED
        if size <= VIEW_BYTES:
            return self.read_text(name, p, 16 * i + 4, 16 * i + 4 + size)
        number = signed_of(load(p, 16 * i + 8, 4), 4)
        start = signed_of(load(p, 16 * i + 12, 4), 4)
        if number < 0 or number >= self.columns[at + 6] or start < 0:
            return TRUNCATED
        number += self.columns[at + 5]
        if start + size > self.sizes[number]:
            return TRUNCATED
        return self.read_text(name, self.buffer(number), start, start + size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_time(
        self, name: cython.int, value: cython.longlong, code: cython.int
    ) -> cython.int:
        """A time in its unit; what is less than a microsecond is cut off."""
        unit: cython.longlong = 1000000
        if code == TIME_NS:
            # Towards the past, as in a block; all 64 bits of nanoseconds are in range.
            value = value // 1000 if value >= 0 else -1 - (-(value + 1)) // 1000
        else:
            if code == TIME_S:
                unit = 1
            elif code == TIME_MS:
                unit = 1000
            if value < SECONDS_MIN * unit or value >= (SECONDS_MAX + 1) * unit:
                return OUT_OF_RANGE
            value *= 1000000 // unit
        if name >= 0:
            self.set_time(name, value)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_item(
        self, name: cython.int, at: cython.Py_ssize_t, i: cython.Py_ssize_t
    ) -> cython.int:
        """Set the coordinates of item ``i`` of a column; 0, or why it is bad."""
        code: cython.int = self.columns[at]
        size: cython.int = self.columns[at + 1]
        p = self.buffer(self.columns[at + 4])
        word: cython.ulonglong
        real: cython.double
        if code == TEXT:
            return self.read_text(
                name,
                self.buffer(self.columns[at + 5]),
                cython.cast(cython.Py_ssize_t, item(p, i, size)),
                cython.cast(cython.Py_ssize_t, item(p, i + 1, size)),
            )
        if code == VIEW:
            return self.read_view(name, at, i)
        if code == BOOLEAN:
            if name >= 0:
                self.set_boolean(name, (p[i >> 3] >> (i & 7)) & 1)
            return 0
        word = item(p, i, size)
        if code == SIGNED:
            if name >= 0:
                self.set_integer(name, signed_of(word, size))
        elif code == UNSIGNED:
            if word > INTEGER_MAX:
                return OUT_OF_RANGE
            if name >= 0:
                self.set_integer(name, cython.cast(cython.longlong, word))
        elif code == FLOATING:
            if size == 4:
                real = float_of(cython.cast(cython.uint, word))
            else:
                real = double_of(word)
            if real - real != 0.0:  # neither NaN nor infinite
                return NOT_FINITE
            if name >= 0:
                self.set_float(name, real)
        else:
            return self.read_time(name, signed_of(word, 8), code)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_row(self, row: cython.Py_ssize_t) -> cython.int:
        """Set the coordinates of a row; 0, or the reason why it is bad."""
        c: cython.Py_ssize_t
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        name: cython.int
        bad: cython.int
        if self.column_count > self.attributes_max and self.is_too_wide(row):
            return TOO_MANY
        for c in range(self.column_count):
            at = COLUMN * c
            i = row + self.columns[at + 3]
            if not self.is_there(at, i):
                continue
            if self.columns[at] == DICTIONARY:
                i = self.value_index(at, i)
                if i < 0:
                    return OUT_OF_RANGE
                at = COLUMN * self.columns[at + 6]
                i += self.columns[at + 3]
                if not self.is_there(at, i):
                    continue
            name = self.column_names[c]
            if name >= 0:
                self.attributes[self.set_count] = name
                self.set_count += 1
            bad = self.read_item(name, at, i)
            if bad or self.no_room:
                return bad
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def batch_of_rows(
        self,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        counts: cython.p_int,
        state: cython.p_longlong,
    ) -> cython.int:
        """As ``batch``, with rows for blocks; never in the form with masks."""
        m: cython.Py_ssize_t
        before: cython.Py_ssize_t
        bad: cython.int
        why: cython.int = 0
        for m in range(first, last):
            state[0] = m
            if self.room - self.found <= self.filters:
                why = ROOM_FOR_MATCHES
                break
            bad = self.read_row(m)
            if self.no_room:
                # The memory of values is full: once more with an empty one.
                self.clear()
                self.no_room = False
                self.values.forget()
                bad = self.read_row(m)
            before = self.found
            if self.no_room:
                self.no_room = False
                self.clear()
                self.values.forget()
                why = ROOM_FOR_VALUES
                break
            if bad:
                self.clear()
                counts[m] = -bad
            else:
                self.match_set()
                counts[m] = cython.cast(cython.int, self.found - before)
        else:
            state[0] = last
        state[1] = self.found
        return why

    def find_names(self, names):  # type: ignore[no-untyped-def]
        """Of each name, as bytes, its number, or -1 if no filter has it."""
        found = []
        name: bytes
        size: cython.Py_ssize_t
        for name in names:
            size = len(name)
            if cython.compiled:
                chars: cython.p_char = name
                p = cython.cast(cython.p_uchar, chars)
            else:
                p = memoryview(name)
            found.append(self.find_name(p, 0, size, hash_bytes(p, 0, size, self.seed)))
        return found

    def match_rows(self, batch, names, first, last, out, counts, state):  # type: ignore[no-untyped-def]
        """As ``match``, for the rows of a :class:`siena.matching.input.arrow.Batch`.

        ``names`` are the numbers of its names.  The batch has checked that its rows
        are within its buffers, and that the offsets of texts ascend within theirs.
        """
        self.use(out)
        self.found = int(state[1])
        self.column_count = len(batch.names)
        self.column_names = ints(names)
        self.columns = longs(batch.columns)
        self.addresses = longs(batch.addresses)
        self.sizes = longs(batch.sizes)
        self.views = batch.views
        a: cython.Py_ssize_t = first
        b: cython.Py_ssize_t = last
        c = ints(counts)
        t = longs(state)
        why: cython.int
        with cython.nogil:
            why = self.batch_of_rows(a, b, c, t)
        self.views = None  # whoever made the batch may take its memory back
        return why

    # --- Notifications read beforehand --------------------------------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def write_tape(
        self, tape: cython.p_int, at: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Write down all that was read of a notification; where it ends."""
        i: cython.int
        k: cython.int
        tape[at] = self.set_count
        tape[at + 1] = self.visit_count
        tape[at + 2] = self.found_count
        at += 3
        for i in range(self.set_count):
            tape[at] = self.attributes[i]
            for k in range(8):
                tape[at + 1 + k] = self.x[8 * self.attributes[i] + k]
            at += 9
        for i in range(2 * self.visit_count):
            tape[at + i] = self.visits[i]
        at += 2 * self.visit_count
        for i in range(self.found_count):
            tape[at + i] = self.found_lists[i]
        return at + self.found_count

    def record(self, blocks, offsets, tape, starts):  # type: ignore[no-untyped-def]
        """Read blocks and write them down; how many, before one did not fit.

        What is written holds as long as this kernel forgets no value.
        """
        m: cython.Py_ssize_t
        at: cython.Py_ssize_t = 0
        room: cython.Py_ssize_t = len(tape)
        if cython.compiled:
            view: cython.const[cython.uchar][::1] = blocks
            p = cython.cast(cython.p_uchar, cython.address(view[0]))
        else:
            p = memoryview(blocks)
        o = longs(offsets)
        t = ints(tape)
        s = longs(starts)
        for m in range(len(offsets) - 1):
            if self.read(p, o[m], o[m + 1]) or self.no_room:
                self.no_room = False
                self.clear()
                return m
            if at + 12 * self.set_count + 6 * self.set_count + 3 > room:
                self.clear()
                return m
            s[m] = at
            at = self.write_tape(t, at)
            s[m + 1] = at
            self.clear()
        return len(offsets) - 1

    # --- Notifications whose names and strings were found beforehand ---------------

    def remember(self, names, kinds, values, texts, offsets):  # type: ignore[no-untyped-def]
        """Put in the place of each string, a number of a text, its entry in memory.

        How many attributes, before a string for which there was no room.
        """
        n = ints(names)
        k = ints(kinds)
        v = longs(values)
        p = octets(texts)
        o = longs(offsets)
        j: cython.Py_ssize_t
        for j in range(len(names)):
            if k[j] != TEXT:
                continue
            if not self.set_string(n[j], p, o[v[j]], o[v[j] + 1]) or self.no_room:
                self.no_room = False
                return j
            v[j] = self.x[8 * n[j] + 3]
            self.attributes[0] = n[j]
            self.set_count = 1
            self.clear()
        return len(names)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def set_value(
        self, name: cython.int, kind: cython.int, value: cython.longlong
    ) -> cython.void:
        """Set an attribute; of floats the bits are given, of strings the entry."""
        self.attributes[self.set_count] = name
        self.set_count += 1
        if kind == SIGNED:
            self.set_integer(name, value)
        elif kind == TEXT:
            self.set_remembered(name, cython.cast(cython.int, value))
        elif kind == FLOATING:
            self.set_float(name, double_of(cython.cast(cython.ulonglong, value) & WORD))
        elif kind == BOOLEAN:
            self.set_boolean(name, value != 0)
        else:
            self.set_time(name, value)

    def match_encoded(
        self, names, kinds, values, starts, first, last, out, counts, masks, wanted
    ):  # type: ignore[no-untyped-def]
        """Match notifications whose names and strings are numbers; how far it came.

        Their attributes are ``starts[m]`` to ``starts[m + 1]`` of the three arrays;
        names are distinct, and this kernel remembers the strings.
        """
        self.use(out)
        self.found = 0
        self.open = wanted
        w = words(masks)
        n = ints(names)
        k = ints(kinds)
        v = longs(values)
        s = longs(starts)
        c = ints(counts)
        m: cython.Py_ssize_t = first
        end: cython.Py_ssize_t = last
        j: cython.Py_ssize_t
        before: cython.Py_ssize_t
        with cython.nogil:
            while m < end and (self.as_masks or self.room - self.found > self.filters):
                before = self.found
                self.mask = 0
                for j in range(s[m], s[m + 1]):
                    self.set_value(n[j], k[j], v[j])
                self.match_set()
                c[m] = cython.cast(cython.int, self.found - before)
                if self.as_masks:
                    w[m] = self.mask & self.open
                m += 1
        return m, self.found


def are_within(offsets, size):  # type: ignore[no-untyped-def]
    """Whether offsets, at least one, ascend from 0 or more up to ``size`` at most."""
    o = longs(offsets)
    last: cython.longlong = size
    before: cython.longlong = 0
    i: cython.Py_ssize_t
    for i in range(len(offsets)):
        if o[i] < before:
            return False
        before = o[i]
    return before <= last


def hash_of(data, seed):  # type: ignore[no-untyped-def]
    """The hash of a name, for the layout of the table of names."""
    if not data:
        return hash_bytes(cython.NULL if cython.compiled else b"", 0, 0, seed)
    if cython.compiled:
        p: cython.const[cython.uchar][::1] = data
        return hash_bytes(
            cython.cast(cython.p_uchar, cython.address(p[0])), 0, len(data), seed
        )
    return hash_bytes(data, 0, len(data), seed)
