"""Which operands occur in a text: all of them at once, in one pass over the text.

The automaton of Aho and Corasick.  Its nodes are the beginnings of the operands; node
0 is the empty one, and the nodes are numbered by their length.  Characters are code
points.  A text is followed from node to node, always to the longest beginning of an
operand with which the text so far ends.

=============  ===========  ======================================================
``edge``       int64[2^k]   node · 2^21 + character, or -1: a hash table, half empty
``edge_to``    int32[2^k]   the node that this edge leads to
``depth``      int32[n]     the length of a node
``fall``       int32[n]     the longest node that this one ends with, itself aside
``ending``     int32[n]     the operand that is this node, or -1
``shorter``    int32[n]     the next node on the way of falls that is an operand, or 0
=============  ===========  ======================================================

Reference:
    A. V. Aho, M. J. Corasick: Efficient string matching.  CACM 18 (6), 1975.
"""

import cython

if not cython.compiled:  # otherwise in strings.pxd
    from siena.matching.kernels.inline.hashing import mix
    from siena.matching.kernels.inline.views import ints, longs

# One more bit than a code point has.
SHIFT = cython.declare(cython.int, 21)

# Beside an operand that occurs: the text begins with it, the text ends with it.
PREFIX = cython.declare(cython.int, 1)
SUFFIX = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class Automaton:
    """Finds operands in texts; its arrays belong to the caller and are filled here."""

    mask: cython.ulonglong
    edge: cython.p_longlong
    edge_to: cython.p_int
    depth: cython.p_int
    fall: cython.p_int
    ending: cython.p_int
    shorter: cython.p_int
    arrays: object  # keeps alive what the pointers point to

    def __init__(self, edge, edge_to, depth, fall, ending, shorter):
        self.arrays = (edge, edge_to, depth, fall, ending, shorter)
        self.mask = len(edge) - 1
        self.edge = longs(edge)
        self.edge_to = ints(edge_to)
        self.depth = ints(depth)
        self.fall = ints(fall)
        self.ending = ints(ending)
        self.shorter = ints(shorter)

    def build(
        self,
        text: cython.int[::1],
        first: cython.int[::1],
        order: cython.int[::1],
        at: cython.int[::1],
    ):
        """Make the nodes; return how many there are.

        Operand ``o`` is ``text[first[o] : first[o + 1]]``, and ``order`` lists the
        operands from the longest to the shortest.  ``at`` is scratch, a zero for each
        operand.  On entry ``edge`` and ``ending`` are all -1, and the others all 0.

        All operands grow together, so that shorter nodes exist before longer ones
        need them to fall to.
        """
        nodes: cython.int = 1
        active: cython.int = order.shape[0]
        length: cython.int = 0
        i: cython.int
        while True:
            while (
                active
                and first[order[active - 1] + 1] - first[order[active - 1]] == length
            ):
                active -= 1
                self.ending[at[order[active]]] = order[active]
            if active == 0:
                return nodes
            for i in range(active):
                o: cython.int = order[i]
                character: cython.int = text[first[o] + length]
                p: cython.Py_ssize_t = self.place(at[o], character)
                if self.edge[p] < 0:
                    self.grow(nodes, at[o], character, p)
                    nodes += 1
                at[o] = self.edge_to[p]
            length += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def grow(
        self,
        new: cython.int,
        node: cython.int,
        character: cython.int,
        p: cython.Py_ssize_t,
    ) -> cython.void:
        """Make ``new`` the node that ``node`` leads to, by the edge at place ``p``."""
        # Before the edge exists: a child of the root must not fall to itself.
        fall: cython.int = self.step(self.fall[node], character)
        self.edge[p] = (cython.cast(cython.longlong, node) << SHIFT) + character
        self.edge_to[p] = new
        self.depth[new] = self.depth[node] + 1
        self.fall[new] = fall
        self.shorter[new] = fall if self.ending[fall] >= 0 else self.shorter[fall]

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, node: cython.int, character: cython.int) -> cython.Py_ssize_t:
        """Where the edge is in the table, or where it would be."""
        key: cython.longlong = (cython.cast(cython.longlong, node) << SHIFT) + character
        p: cython.ulonglong = mix(cython.cast(cython.ulonglong, key)) & self.mask
        while self.edge[p] >= 0 and self.edge[p] != key:
            p = (p + 1) & self.mask
        return p

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def step(self, node: cython.int, character: cython.int) -> cython.int:
        """The longest node with which node and character end."""
        while True:
            p: cython.Py_ssize_t = self.place(node, character)
            if self.edge[p] >= 0:
                return self.edge_to[p]
            if node == 0:
                return 0
            node = self.fall[node]

    def scan(
        self,
        text: cython.int[::1],
        first: cython.int[::1],
        start: cython.Py_ssize_t,
        seen: cython.int[::1],
        found_first: cython.int[::1],
        found: cython.int[::1],
    ):
        """List the operands in each text; return how many texts are done.

        Text ``t`` is ``text[first[t] : first[t + 1]]``.  Its operands go to
        ``found[found_first[t] : found_first[t + 1]]``, each once, as the operand's
        number · 4 + ``PREFIX`` + ``SUFFIX``.  Texts before ``start`` are done; if
        ``found`` is too short for all of the others, some are left to do.

        ``seen`` is scratch: for each operand a -1, on entry and on return.
        """
        t: cython.Py_ssize_t
        for t in range(start, first.shape[0] - 1):
            n = self.scan_one(
                ints(text),
                first[t],
                first[t + 1],
                ints(seen),
                ints(found),
                found_first[t],
                found.shape[0],
            )
            for i in range(found_first[t], n):
                seen[found[i] >> 2] = -1
            if n == found.shape[0]:
                return t
            found_first[t + 1] = n
        return first.shape[0] - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def scan_one(
        self,
        text: cython.p_int,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        seen: cython.p_int,
        found: cython.p_int,
        n: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
    ) -> cython.Py_ssize_t:
        """List the operands in one text; return where the list ends."""
        node: cython.int = 0
        i: cython.Py_ssize_t
        for i in range(begin, end):
            node = self.step(node, text[i])
            ends: cython.int = node if self.ending[node] >= 0 else self.shorter[node]
            while ends:
                operand: cython.int = self.ending[ends]
                if seen[operand] >= 0:
                    break  # and with it all the shorter ones were seen
                if n == room:
                    return n
                seen[operand] = n
                # Of all that end here only the longest can have begun the text.
                found[n] = 4 * operand + (
                    PREFIX if self.depth[ends] == i + 1 - begin else 0
                )
                n += 1
                ends = self.shorter[ends]
        ends = node if self.ending[node] >= 0 else self.shorter[node]
        while ends:
            found[seen[self.ending[ends]]] |= SUFFIX
            ends = self.shorter[ends]
        return n
