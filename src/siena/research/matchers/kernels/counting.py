"""Counting: credit each satisfied constraint to the filters that contain it.

A *group* is the index of one attribute name and one kind of value.  Every value and
every operand has a *key*, an integer that keeps the order of its kind, so that each
operator is a question about keys.  A *row* belongs to one group and one key that
occurs in its constraints; a group ends with one more row, of no key.

================  ==========  =====================================================
``group_row``     int32[G+1]  the first row of each group; then the number of rows
``key``           int64[R+1]  the key of each row, ascending inside a group
``row``           int32[8 (R+1)]  for each row and each of the columns below, the place
                              in ``owner`` of the first entry at this key or above it
``owner``         int32[]     filters; the same one once for each of its constraints
``size``          uint8[F]    how many constraints each filter has (256 is 0)
================  ==========  =====================================================

So the owners of one column are sorted by key, and each operator is satisfied for a
stretch of them: ``=`` for those of one row, ``<`` for all above the value's key, ``>``
for all below it, ``!=`` for both.  The columns follow each other inside a group, and
since ``<`` is satisfied up to its end and ``>`` from its beginning, the two are one
stretch.

A *target* is what is wanted in the end: a filter, a predicate or an interface.

================  ==========  =====================================================
``target``        int32[F]    the target of each filter
``label``         int32[T]    what is written when a target matches
``always``        int32[]     targets with a filter that has no constraints
``wanted``        uint64[F]   the names of a filter, as a Bloom filter of 64 bits
``name_bits``     uint64[N]   the bits of each name
``test_name``     int32[S]    selectivity table: a name …
``test_first``    int32[S+1]  … and where in ``test_target`` the targets begin that
``test_target``   int32[]     cannot match without it
================  ==========  =====================================================

A batch of messages, encoded (only names that occur in filters; names are distinct
inside a message):

================  ==========  =====================================================
``first``         int32[M+1]  the first attribute of each message
``name``          int32[A]    the name of each attribute
``group``         int32[A]    its group, or -1 if there is none for its kind
``value``         int64[A]    the key of its value
``text``          int32[A]    which text it is, or -1 if it is not a string
``part_first``    int32[P+1]  the first part of each text
``part``          int32[]     operands inside a text: number · 4 + bits (``strings``)
================  ==========  =====================================================

Why one module: across modules Cython inlines nothing that is not in a ``.pxd``.

Reference:
    A. Carzaniga, A. L. Wolf: Forwarding in a content-based network.  SIGCOMM 2003;
    our specification, C.3.
"""

import cython

if not cython.compiled:  # otherwise in counting.pxd
    from siena.matching.kernels.inline.views import ints, longs, octets, words

# Columns of a row.
EQ = cython.declare(cython.int, 0)
NE = cython.declare(cython.int, 1)
LT = cython.declare(cython.int, 2)
GT = cython.declare(cython.int, 3)
PREFIX = cython.declare(cython.int, 4)
SUFFIX = cython.declare(cython.int, 5)
SUBSTRING = cython.declare(cython.int, 6)
ANY = cython.declare(cython.int, 7)

# Counters are put back one by one if this many times fewer were used than exist.
COPY_FACTOR = cython.declare(cython.int, 32)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def lower_bound(
    key: cython.p_longlong, low: cython.int, high: cython.int, value: cython.longlong
) -> cython.int:
    """The first place from ``low`` on that holds ``value`` or more, or ``high``."""
    while low < high:
        middle: cython.int = (low + high) >> 1
        if key[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@cython.final
@cython.cclass
class Counter:
    """Matches batches of messages, one batch at a time: its counters are its own."""

    group_row: cython.p_int
    key: cython.p_longlong
    row: cython.p_int
    owner: cython.p_int
    size: cython.p_uchar
    filters: cython.int

    target: cython.p_int
    label: cython.p_int
    targets: cython.int
    always: cython.p_int
    always_count: cython.int
    wanted: cython.p_ulonglong
    name_bits: cython.p_ulonglong
    test_name: cython.p_int
    test_first: cython.p_int
    test_target: cython.p_int
    rounds: cython.int
    each: cython.bint
    bloom: cython.bint
    early: cython.bint

    # Scratch.
    left: cython.p_uchar  # constraints of a filter that are not yet satisfied
    done: cython.p_uchar  # whether a target has matched, or may not
    present: cython.p_uchar  # whether a name is in the message
    credits: cython.Py_ssize_t  # how many owners the queue holds
    open: cython.int  # targets that are not done
    bits: cython.ulonglong  # the names of the message

    # The batch.
    first: cython.p_int
    name: cython.p_int
    group: cython.p_int
    value: cython.p_longlong
    text: cython.p_int
    part_first: cython.p_int
    part: cython.p_int
    excluded: cython.p_uchar
    queue: cython.p_int
    out: cython.p_int

    arrays: object  # keeps alive what the pointers point to

    def __init__(self, index, targets, scratch, *, each, bloom, early):
        """Take the arrays by name; see the module.

        With ``each``, every filter is its own target: nothing is excluded, and
        ``target``, ``always`` apart, nothing about targets is read.
        """
        self.arrays = (dict(index), dict(targets), dict(scratch))
        self.group_row = ints(index["group_row"])
        self.key = longs(index["key"])
        self.row = ints(index["row"])
        self.owner = ints(index["owner"])
        self.size = octets(index["size"])
        self.filters = len(index["size"])
        self.target = ints(targets["target"])
        self.label = ints(targets["label"])
        self.targets = len(targets["label"])
        self.always = ints(targets["always"])
        self.always_count = len(targets["always"])
        self.wanted = words(targets["wanted"])
        self.name_bits = words(targets["name_bits"])
        self.test_name = ints(targets["test_name"])
        self.test_first = ints(targets["test_first"])
        self.test_target = ints(targets["test_target"])
        self.rounds = len(targets["test_name"])
        self.left = octets(scratch["left"])
        self.done = octets(scratch["done"])
        self.present = octets(scratch["present"])
        self.each = each
        self.bloom = bloom
        self.early = early
        self.credits = 0

    def match(self, batch, excluded, start: cython.Py_ssize_t, queue, offsets, out):
        """Match messages from ``start`` on; return how many are done, and some room.

        What message ``m`` matches goes to ``out[offsets[m] : offsets[m + 1]]``, in no
        particular order and each label once.  If ``out`` is too short for the next
        message, the room returned is how long it must be at least.

        ``excluded`` has a 1 for each target that may not match, else 0.  ``queue`` is
        scratch: two places for each stretch of owners that one message may satisfy.
        """
        self.first = ints(batch["first"])
        self.name = ints(batch["name"])
        self.group = ints(batch["group"])
        self.value = longs(batch["value"])
        self.text = ints(batch["text"])
        self.part_first = ints(batch["part_first"])
        self.part = ints(batch["part"])
        self.excluded = octets(excluded)
        self.queue = ints(queue)
        self.out = ints(out)
        ends = longs(offsets)
        messages: cython.Py_ssize_t = len(batch["first"]) - 1
        room: cython.Py_ssize_t = len(out)
        with cython.nogil:
            reached: cython.Py_ssize_t = self.run(start, messages, ends, room)
        return reached, ends[reached] + self.needed()

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def needed(self) -> cython.Py_ssize_t:
        """How many labels the message in the queue can have at most."""
        return self.credits + self.always_count if self.each else self.targets

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def run(
        self,
        start: cython.Py_ssize_t,
        messages: cython.Py_ssize_t,
        ends: cython.p_longlong,
        room: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """Match message after message, while there is room."""
        n: cython.Py_ssize_t = ends[start]
        m: cython.Py_ssize_t
        for m in range(start, messages):
            if self.bloom:
                self.gather_bits(m)
            if self.each:
                stretches = self.find(m)
                if n + self.needed() > room:
                    return m
                n = self.credit_filters(stretches, n)
                self.restore(stretches)
            else:
                if n + self.targets > room:
                    return m
                n = self.begin(m, n)
                if self.open or not self.early:
                    stretches = self.find(m)
                    n = self.credit_targets(stretches, n)
                    self.restore(stretches)
            ends[m + 1] = n
        return messages

    # --- The left side: from attributes to satisfied constraints ----------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find(self, m: cython.Py_ssize_t) -> cython.int:
        """Queue the owners of all constraints that message ``m`` satisfies.

        Returns the number of stretches; ``credits`` becomes the number of owners.
        """
        row = self.row
        n: cython.int = 0
        self.credits = 0
        j: cython.int
        z: cython.int
        for j in range(self.first[m], self.first[m + 1]):
            g = self.group[j]
            if g < 0:
                continue
            base = self.group_row[g]
            last: cython.int = self.group_row[g + 1] - 1
            value = self.value[j]
            i = lower_bound(self.key, base, last, value)
            after: cython.int = i  # the first row above the value
            if i < last and self.key[i] == value:
                after = i + 1
                n = self.push(n, row[8 * i + EQ], row[8 * after + EQ])
            n = self.push(n, row[8 * base + NE], row[8 * i + NE])
            n = self.push(n, row[8 * after + NE], row[8 * base + LT])
            n = self.push(n, row[8 * after + LT], row[8 * i + GT])
            n = self.push(n, row[8 * base + ANY], row[8 * last + 8 + EQ])
            if row[8 * base + PREFIX] == row[8 * base + ANY]:
                continue
            for z in range(
                self.part_first[self.text[j]], self.part_first[self.text[j] + 1]
            ):
                n = self.push_part(n, base, last, self.part[z])
        return n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def push_part(
        self, n: cython.int, base: cython.int, last: cython.int, part: cython.int
    ) -> cython.int:
        """Queue what is satisfied because an operand is inside the text."""
        row = self.row
        key: cython.longlong = 2 * (part >> 2) + 1
        i = lower_bound(self.key, base, last, key)
        if i == last or self.key[i] != key:
            return n
        if part & 1:
            n = self.push(n, row[8 * i + PREFIX], row[8 * i + 8 + PREFIX])
        if part & 2:
            n = self.push(n, row[8 * i + SUFFIX], row[8 * i + 8 + SUFFIX])
        return self.push(n, row[8 * i + SUBSTRING], row[8 * i + 8 + SUBSTRING])

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def push(self, n: cython.int, begin: cython.int, end: cython.int) -> cython.int:
        """Queue a stretch of owners, unless it is empty."""
        self.queue[2 * n] = begin
        self.queue[2 * n + 1] = end
        self.credits += end - begin
        return n + (begin < end)

    # --- The right side: from satisfied constraints to targets ------------------

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def credit_filters(
        self, stretches: cython.int, n: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Count; every filter is its own target."""
        owner = self.owner
        left = self.left
        out = self.out
        label = self.label
        s: cython.int
        i: cython.int
        for i in range(self.always_count):
            out[n] = label[self.always[i]]
            n += 1
        for s in range(stretches):
            for i in range(self.queue[2 * s], self.queue[2 * s + 1]):
                f = owner[i]
                if self.bloom and self.wanted[f] & ~self.bits:
                    continue
                left[f] = (left[f] - 1) & 255
                if left[f] == 0:
                    out[n] = label[f]
                    n += 1
        return n

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def credit_targets(
        self, stretches: cython.int, n: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Count; write each target once, and stop when all are done."""
        s: cython.int
        i: cython.int
        for s in range(stretches):
            for i in range(self.queue[2 * s], self.queue[2 * s + 1]):
                f = self.owner[i]
                t = self.target[f]
                if self.done[t]:
                    continue
                if self.bloom and self.wanted[f] & ~self.bits:
                    continue
                self.left[f] = (self.left[f] - 1) & 255
                if self.left[f] == 0:
                    n = self.finish(t, n)
                    if self.open == 0 and self.early:
                        return n
        return n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def finish(self, t: cython.int, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write a target that matches."""
        self.done[t] = 1
        self.open -= 1
        self.out[n] = self.label[t]
        return n + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, m: cython.Py_ssize_t, n: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Find out which targets are done before anything is counted."""
        t: cython.int
        i: cython.int
        r: cython.int
        self.open = self.targets
        for t in range(self.targets):
            self.done[t] = self.excluded[t]
            self.open -= self.excluded[t]
        for i in range(self.always_count):
            if not self.done[self.always[i]]:
                n = self.finish(self.always[i], n)
        self.mark_names(m, 1)
        for r in range(self.rounds):
            if self.open == 0 and self.early:
                break
            if self.present[self.test_name[r]]:
                continue
            for i in range(self.test_first[r], self.test_first[r + 1]):
                t = self.test_target[i]
                self.open -= 1 - self.done[t]
                self.done[t] = 1
        self.mark_names(m, 0)
        return n

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def mark_names(self, m: cython.Py_ssize_t, mark: cython.uchar) -> cython.void:
        """Tell which names are present, or that none is."""
        j: cython.int
        for j in range(self.first[m], self.first[m + 1]):
            self.present[self.name[j]] = mark

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def gather_bits(self, m: cython.Py_ssize_t) -> cython.void:
        """The names of the message, as a Bloom filter."""
        j: cython.int
        self.bits = 0
        for j in range(self.first[m], self.first[m + 1]):
            self.bits |= self.name_bits[self.name[j]]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def restore(self, stretches: cython.int) -> cython.void:
        """Set the counters that were used back to the sizes of their filters.

        A counter is a byte, so that a million of them stay in the cache; when many
        were used it is cheaper to copy all than to look for those.
        """
        s: cython.int
        i: cython.int
        f: cython.int
        left = self.left
        size = self.size
        if self.credits * COPY_FACTOR > self.filters:
            for f in range(self.filters):
                left[f] = size[f]
            return
        for s in range(stretches):
            for i in range(self.queue[2 * s], self.queue[2 * s + 1]):
                f = self.owner[i]
                left[f] = size[f]
