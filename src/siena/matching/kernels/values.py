"""The memory of string values: what is known of each value of each name.

Of a value that comes again nothing is computed anew: its entry has its ranks among the
operands, its row, the operands that it contains, and the lists of filters that those
lead to.  :mod:`siena.matching.kernels.match` finds entries and asks here for new ones;
what the arrays of a table mean is written there.

An entry has sixteen words: a part of the hash, the size, the name, where the bytes
stand if they are many; rank, rank of the reversed string, where the operands and where
the lists are noted; the row, and whether the value is its operand; then up to 24 bytes.

Why one module: all that is found out about a value goes into one entry.
"""

import cython

if not cython.compiled:  # otherwise in values.pxd
    from siena.matching.kernels.inline.hashing import mix, tag_of
    from siena.matching.kernels.inline.noted import (
        BIT_WORDS,
        SEARCHED,
        set_bit,
        sort_noted,
    )
    from siena.matching.kernels.inline.octets import compare, compare_reversed
    from siena.matching.kernels.inline.patterns import (
        character_at,
        folded_of,
        is_like,
        width_of,
    )
    from siena.matching.kernels.inline.views import ints, octets

# Classes of constraints; the engine's kernel has all of them.
PREFIX = cython.declare(cython.int, 1)
SUFFIX = cython.declare(cython.int, 2)
SUBSTRING = cython.declare(cython.int, 3)

# Flags of atoms; siena.matching.engine.checking has the same.
FOLDS = cython.declare(cython.int, 1)
IS_SURE = cython.declare(cython.int, 2)

# The three tries share one table of nodes; these are their roots.
ROOT_PREFIX = cython.declare(cython.int, 0)
ROOT_SUFFIX = cython.declare(cython.int, 1)
ROOT_SUBSTRING = cython.declare(cython.int, 2)

# Words of a row and of an entry in the memory of values.
ROW = cython.declare(cython.int, 8)
ENTRY = cython.declare(cython.int, 16)
# Places of the memory of values to begin with.
SLOTS_AT_FIRST = cython.declare(cython.int, 1024)
# Values up to this many bytes stand in their entry, behind ten words.
INLINE_BYTES = cython.declare(cython.int, 24)
SERIAL_MAX = cython.declare(cython.int, 0x7FFFFFFF)
# A long value is read by four walks at once, if each has so many bytes of its own: what
# one waits for, for operands fill more than the caches, the others need not.
WALK_BYTES_MIN = cython.declare(cython.Py_ssize_t, 1024)
# And so many times as many as it reads before, to come to where it is.
WALK_SHARE_MIN = cython.declare(cython.Py_ssize_t, 4)

# What constraints on a name look for, as bits; siena.matching.engine.checking has the
# same.  Of atoms, the last bit stands for all names from its number on.
USES_PARTS = cython.declare(cython.int, 1)
USES_ATOMS = cython.declare(cython.int, 2)
LAST_BIT = cython.declare(cython.int, 31)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def child_of(
    links: cython.p_int,
    edges: cython.p_int,
    mask: cython.int,
    node: cython.int,
    byte: cython.int,
) -> cython.int:
    """The node behind an edge of a trie, or -1."""
    key: cython.longlong
    place: cython.Py_ssize_t
    # Operands are entered one after the other: most children are the next node.
    found: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, node) + 1
    if links[4 * found + 2] == node and (links[4 * found + 3] & 255) == byte:
        return cython.cast(cython.int, found)
    key = (cython.cast(cython.longlong, node) << 8) | byte
    place = mix(cython.cast(cython.ulonglong, key)) & mask
    found = edges[place]
    # A node knows where it comes from: that is read anyway, if it is the one.
    while found != 0:
        if links[4 * found + 2] == node and (links[4 * found + 3] & 255) == byte:
            return cython.cast(cython.int, found)
        place = (place + 1) & mask
        found = edges[place]
    return -1


@cython.final
@cython.cclass
class Values:
    """The memory of one thread; when it is full, it begins anew."""

    def __init__(self, table, scratch):  # type: ignore[no-untyped-def]
        self.keep = (table, scratch)
        header = table["header"].tolist()
        self.breaks = header[3]
        self.reverse_breaks = header[4]
        self.has_parts = header[5] > 0
        self.break_starts = ints(table["break_starts"])
        self.break_bytes = octets(table["break_bytes"])
        self.reverse_starts = ints(table["reverse_starts"])
        self.reverse_bytes = octets(table["reverse_bytes"])
        self.edge_mask = len(table["edges"]) - 1
        self.edges = ints(table["edges"])
        self.node_ends = octets(table["node_ends"])
        self.node_links = ints(table["node_links"])
        # Behind the last node: the bytes of the longest operand, or 0 in older files.
        self.longest = int(table["node_links"][len(table["node_links"]) - 1])
        self.atoms = header[11]
        self.first_atom = len(table["node_ends"])
        self.fold_mask = len(table["fold_edges"]) - 1
        self.fold_edges = ints(table["fold_edges"])
        self.fold_links = ints(table["fold_links"])
        self.fold_atoms = ints(table["fold_atoms"])
        self.fold_pages = ints(table["fold_pages"])
        self.fold_shifts = ints(table["fold_shifts"])
        self.atom_tokens = ints(table["atom_tokens"])
        self.atom_bounds = ints(table["atom_bounds"])
        self.atom_flags = ints(table["atom_flags"])
        self.atom_names = ints(table["atom_names"])
        self.name_uses = ints(table["name_uses"])
        self.name_bit = 0
        self.local_starts = ints(table["local_starts"])
        self.local_ranks = ints(table["local_ranks"])
        self.row_places = ints(table["row_places"])
        self.arena = ints(table["arena"])
        self.hash_start = self.arena[0]
        self.hash_mask = self.arena[1]
        # Few places at first, which stay in the cache, and more as they fill.
        self.slots_max = len(scratch["memory_slots"])
        self.memory_mask = min(SLOTS_AT_FIRST, self.slots_max) - 1
        self.memory_slots = ints(scratch["memory_slots"])
        self.memory_max = len(scratch["memory"]) // 16
        self.memory_count = 0
        self.memory = ints(scratch["memory"])
        self.memory_bytes = octets(scratch["memory"].view("u1"))
        self.pool = octets(scratch["pool"])
        self.pool_used = 0
        self.pool_room = len(scratch["pool"])
        self.lists = ints(scratch["lists"])
        self.lists_used = 0
        self.lists_room = len(scratch["lists"])
        self.node_seen = ints(scratch["node_seen"])
        self.nodes = len(scratch["node_seen"])
        self.serial = 0
        self.is_full = False
        self.forget()  # whoever hands over the memory has not cleared it

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forget(self) -> cython.void:
        """Begin anew, with nothing in memory."""
        i: cython.int
        for i in range(self.memory_mask + 1):
            self.memory_slots[i] = 0
        self.memory_count = 0
        self.pool_used = 0
        self.lists_used = 0
        self.is_full = False

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
            order = compare(
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
            order = compare_reversed(
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
        return child_of(self.node_links, self.edges, self.edge_mask, node, byte)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def find_list(self, tag: cython.int, operand: cython.int) -> cython.int:
        """The list of a prefix, suffix or substring on a dimension, or 0."""
        arena = self.arena
        key: cython.ulonglong = (
            cython.cast(cython.ulonglong, tag) << 32
        ) | cython.cast(cython.ulonglong, operand)
        place: cython.Py_ssize_t = mix(key) & self.hash_mask
        i: cython.Py_ssize_t = self.hash_start + 4 * place
        while arena[i + 2] != 0:
            if arena[i] == operand and arena[i + 1] == tag:
                return arena[i + 2]
            place = (place + 1) & self.hash_mask
            i = self.hash_start + 4 * place
        return 0

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def note(self, item: cython.int) -> cython.void:
        """Write an item behind the lists, if there is room."""
        if self.lists_used == self.lists_room:
            self.is_full = True
        else:
            self.lists[self.lists_used] = item
            self.lists_used += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_substrings(
        self,
        name: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        """Note, behind their number, the substrings that occur and atoms that hold.

        Nothing is looked for that no constraint on this name asks about.
        """
        uses: cython.int = self.name_uses[name]
        node: cython.Py_ssize_t
        head: cython.int = self.lists_used
        self.note(0)
        if uses == 0:
            return
        if self.serial == SERIAL_MAX:
            for node in range(self.nodes):
                self.node_seen[node] = 0
            self.serial = 0
        self.serial += 1
        if uses & USES_PARTS:
            self.walk(p, start, end)
        if uses & USES_ATOMS:
            self.name_bit = min(name, LAST_BIT)
            self.note_atoms(p, start, end)
        if not self.is_full:
            self.lists[head] = self.lists_used - head - 1
            sort_noted(self.lists, head + 1, self.lists[head])
            self.note_bits(head)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def walk(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Note the substrings that occur, of long values in four parts at once.

        Where a walk is depends on no more bytes than the longest operand has.  So one
        that begins so many before its part is, in it, where one from the beginning
        would be; what it finds before occurs as well.
        """
        i: cython.Py_ssize_t
        a: cython.Py_ssize_t = ROOT_SUBSTRING
        b: cython.Py_ssize_t = ROOT_SUBSTRING
        c: cython.Py_ssize_t = ROOT_SUBSTRING
        d: cython.Py_ssize_t = ROOT_SUBSTRING
        before: cython.Py_ssize_t = self.longest
        part: cython.Py_ssize_t = 0
        if before > 0 and end - start > before:
            part = (end - start - before) // 4
        if part < WALK_BYTES_MIN or part < WALK_SHARE_MIN * before:
            for i in range(start, end):
                a = self.step(a, p[i])
            return
        for i in range(start, start + part + before):
            a = self.step(a, p[i])
            b = self.step(b, p[i + part])
            c = self.step(c, p[i + 2 * part])
            d = self.step(d, p[i + 3 * part])
        for i in range(start + 4 * part + before, end):  # what could not be shared
            d = self.step(d, p[i])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def step(self, node: cython.Py_ssize_t, byte: cython.int) -> cython.Py_ssize_t:
        """Where a walk is after one byte more; note the substrings that end with it.

        Aho and Corasick: where no edge goes on, go on from the longest end of what was
        read that some operand begins with.
        """
        report: cython.Py_ssize_t = -1
        while True:
            # Most nodes have few edges, and bits say for which bytes there may be one:
            # hardly any is searched for that is not there.
            if (self.node_links[4 * node + 3] >> (8 + (byte & 15))) & 1:
                report = self.child(cython.cast(cython.int, node), byte)
            if report >= 0 or node == ROOT_SUBSTRING:
                break
            node = self.node_links[4 * node]
        node = ROOT_SUBSTRING if report < 0 else report
        report = self.node_links[4 * node + 1]
        while report >= 0 and self.node_seen[report] != self.serial:
            # Noted once for a value, and with it, at once, all that it ends with: the
            # walk is over where one was noted before, however operands nest.
            self.node_seen[report] = self.serial
            self.note(cython.cast(cython.int, report))
            report = self.node_links[4 * self.node_links[4 * report] + 1]
        return node

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def folded_child(self, node: cython.int, byte: cython.int) -> cython.int:
        """As :meth:`child`, among what is looked for in folded values."""
        return child_of(self.fold_links, self.fold_edges, self.fold_mask, node, byte)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_atoms_of(
        self,
        node: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        """Note the atoms that hold, of those that one text leads to; of none for -1.

        Those of other names are passed over: a command line contains many a text that
        only names of files are compared with.
        """
        k: cython.int
        first: cython.int = self.fold_atoms[node] if node >= 0 else 0
        for k in range(first, self.fold_atoms[node + 1]):
            if not (self.atom_names[k] >> self.name_bit) & 1:
                continue
            if (self.atom_flags[k] & IS_SURE) or is_like(
                p, start, end,
                self.atom_tokens, self.atom_bounds[k], self.atom_bounds[k + 1],
                self.fold_pages, self.fold_shifts, self.atom_flags[k] & FOLDS,
            ):  # fmt: skip
                self.note(self.first_atom + k)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def folded_step(
        self,
        node: cython.int,
        byte: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """One byte of the folded value further; what is found leads to atoms."""
        links = self.fold_links
        report: cython.int = -1
        while True:
            if (links[4 * node + 3] >> (8 + (byte & 15))) & 1:
                report = self.folded_child(node, byte)
            if report >= 0 or node == ROOT_SUBSTRING:
                break
            node = links[4 * node]
        node = ROOT_SUBSTRING if report < 0 else report
        report = links[4 * node + 1]
        while report >= 0 and self.node_seen[self.first_atom + report] != self.serial:
            self.node_seen[self.first_atom + report] = self.serial
            self.note_atoms_of(report, p, start, end)
            report = links[4 * links[4 * report] + 1]
        return node

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_atoms(
        self, p: cython.p_uchar, start: cython.Py_ssize_t, end: cython.Py_ssize_t
    ) -> cython.void:
        """Note the atoms that hold of a value, reading it folded."""
        node: cython.int = ROOT_SUBSTRING
        c: cython.int
        i: cython.Py_ssize_t = start
        self.note_atoms_of(-1, p, start, end)
        while i < end:
            c = folded_of(character_at(p, i), self.fold_pages, self.fold_shifts)
            i += width_of(p[i])
            # As UTF-8, byte by byte.
            if c < 0x80:
                node = self.folded_step(node, c, p, start, end)
                continue
            if c < 0x800:
                node = self.folded_step(node, 0xC0 | c >> 6, p, start, end)
            else:
                if c < 0x10000:
                    node = self.folded_step(node, 0xE0 | c >> 12, p, start, end)
                else:
                    node = self.folded_step(node, 0xF0 | c >> 18, p, start, end)
                    node = self.folded_step(node, 0x80 | (c >> 12 & 63), p, start, end)
                node = self.folded_step(node, 0x80 | (c >> 6 & 63), p, start, end)
            node = self.folded_step(node, 0x80 | (c & 63), p, start, end)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_bits(self, head: cython.int) -> cython.void:
        """Write, behind operands that are many, bits: tests are mostly about others."""
        size: cython.int = self.lists[head]
        bits: cython.int = head + 1 + size
        z: cython.int
        if size <= SEARCHED:
            return
        for z in range(BIT_WORDS):
            self.note(0)
        if self.is_full:
            return
        for z in range(head + 1, bits):
            set_bit(self.lists, bits, self.lists[z])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_lists(
        self,
        name: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        contained: cython.int,
    ) -> cython.void:
        """Note, behind their number, the lists of operands that are part of it."""
        node: cython.int
        at: cython.int
        head: cython.int = self.lists_used
        z: cython.int
        i: cython.Py_ssize_t
        self.note(0)
        if (not self.has_parts and self.atoms == 0) or self.is_full:
            return
        node = ROOT_PREFIX
        for i in range(start, end):
            node = self.child(node, p[i])
            if node < 0:
                break
            if self.node_ends[node]:
                at = self.find_list((8 * name + 1) * 8 + PREFIX, node)
                if at:
                    self.note(at)
        node = ROOT_SUFFIX
        i = end - 1
        while i >= start:
            node = self.child(node, p[i])
            if node < 0:
                break
            if self.node_ends[node]:
                at = self.find_list((8 * name + 2) * 8 + SUFFIX, node)
                if at:
                    self.note(at)
            i -= 1
        for z in range(contained + 1, contained + 1 + self.lists[contained]):
            at = self.find_list((8 * name + 3) * 8 + SUBSTRING, self.lists[z])
            if at:
                self.note(at)
        if not self.is_full:
            self.lists[head] = self.lists_used - head - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn(
        self,
        name: cython.int,
        p: cython.p_uchar,
        start: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        h: cython.ulonglong,
        place: cython.Py_ssize_t,
    ) -> cython.int:
        """Enter a value of a name into the memory; -1 if there is no room for it."""
        size: cython.Py_ssize_t = end - start
        entry: cython.int = self.memory_count
        m: cython.Py_ssize_t = ENTRY * cython.cast(cython.Py_ssize_t, entry)
        lo: cython.int
        hi: cython.int
        mid: cython.int
        rank: cython.int
        i: cython.Py_ssize_t
        row: cython.int = self.row_places[8 * name + 1]
        odd: cython.int = 0
        if self.memory_count == self.memory_max or (
            size > INLINE_BYTES and self.pool_used + size > self.pool_room
        ):
            self.is_full = True
            return -1
        self.memory[m + 6] = self.lists_used
        self.note_substrings(name, p, start, end)
        self.memory[m + 7] = self.lists_used
        self.note_lists(name, p, start, end, self.memory[m + 6])
        if self.is_full:
            return -1
        rank = self.rank(p, start, end)
        if row > 0:
            lo = self.local_starts[name]
            hi = self.local_starts[name + 1]
            while lo < hi:
                mid = (lo + hi) >> 1
                if self.local_ranks[mid] < rank:
                    lo = mid + 1
                else:
                    hi = mid
            odd = lo < self.local_starts[name + 1] and self.local_ranks[lo] == rank
            row += ROW * (lo - self.local_starts[name])
        self.memory_slots[place] = entry + 1
        self.memory[m] = tag_of(h)
        self.memory[m + 1] = size
        self.memory[m + 2] = name
        self.memory[m + 4] = rank
        self.memory[m + 5] = self.reverse_rank(p, start, end)
        self.memory[m + 8] = row
        self.memory[m + 9] = odd
        if size <= INLINE_BYTES:
            for i in range(size):
                self.memory_bytes[4 * m + 40 + i] = p[start + i]
        else:
            self.memory[m + 3] = self.pool_used
            for i in range(size):
                self.pool[self.pool_used + i] = p[start + i]
            self.pool_used += size
        self.memory_count += 1
        if 2 * self.memory_count > self.memory_mask and self.memory_mask + 1 < (
            self.slots_max
        ):
            self.spread()
        return entry

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def spread(self) -> cython.void:
        """Find all values of the memory again, among twice as many places."""
        i: cython.int
        place: cython.int
        mask: cython.int = 2 * self.memory_mask + 1
        self.memory_mask = mask
        for i in range(mask + 1):
            self.memory_slots[i] = 0
        for i in range(self.memory_count):
            place = self.memory[ENTRY * cython.cast(cython.Py_ssize_t, i)] & mask
            while self.memory_slots[place] > 0:
                place = (place + 1) & mask
            self.memory_slots[place] = i + 1
