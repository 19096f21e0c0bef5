# What C puts where it is called, and what the kernel reads of the memory itself.
from siena.matching.kernels.inline.hashing cimport mix, tag_of
from siena.matching.kernels.inline.noted cimport (
    BIT_WORDS,
    SEARCHED,
    set_bit,
    sort_noted,
)
from siena.matching.kernels.inline.octets cimport compare, compare_reversed
from siena.matching.kernels.inline.patterns cimport (
    character_at,
    folded_of,
    is_like,
    width_of,
)
from siena.matching.kernels.inline.views cimport ints, octets

cimport cython


@cython.final
cdef class Values:
    # The table: operands in order and in reverse order, tries, ranks, rows and lists.
    cdef int breaks
    cdef int *break_starts
    cdef unsigned char *break_bytes
    cdef int reverse_breaks
    cdef int *reverse_starts
    cdef unsigned char *reverse_bytes
    cdef int edge_mask
    cdef int *edges
    cdef unsigned char *node_ends
    cdef int *node_links
    cdef Py_ssize_t longest
    cdef bint has_parts
    # What is looked for in folded values, and the atoms that this leads to.
    cdef int fold_mask
    cdef int *fold_edges
    cdef int *fold_links
    cdef int *fold_atoms
    cdef int *fold_pages
    cdef int *fold_shifts
    cdef int *atom_tokens
    cdef int *atom_bounds
    cdef int *atom_flags
    # Which names atoms are about, what those of a name are, and the bit of the last.
    cdef int *atom_names
    cdef int *name_uses
    cdef int name_bit
    cdef int atoms
    cdef int first_atom
    cdef int *local_starts
    cdef int *local_ranks
    cdef int *row_places
    cdef int *arena
    cdef Py_ssize_t hash_start
    cdef Py_ssize_t hash_mask
    # The memory: places that find entries, entries, bytes of long values, and lists.
    cdef int memory_mask
    cdef int slots_max
    cdef int *memory_slots
    cdef int memory_count
    cdef int memory_max
    cdef int *memory
    cdef unsigned char *memory_bytes
    cdef unsigned char *pool
    cdef Py_ssize_t pool_used
    cdef Py_ssize_t pool_room
    cdef int *lists
    cdef int lists_used
    cdef int lists_room
    # The node that was noted last in which value, by serials of values.
    cdef int *node_seen
    cdef int nodes
    cdef int serial
    # Whether there was no room for a value.
    cdef bint is_full
    cdef object keep

    cdef void forget(self) noexcept nogil
    cdef int learn(
        self, int name, unsigned char *p, Py_ssize_t start, Py_ssize_t end,
        unsigned long long h, Py_ssize_t place,
    ) noexcept nogil

    # For itself.
    cdef int rank(
        self, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef int reverse_rank(
        self, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef int child(self, int node, int byte) noexcept nogil
    cdef int find_list(self, int tag, int operand) noexcept nogil
    cdef void note(self, int item) noexcept nogil
    cdef void note_substrings(
        self, int name, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef void walk(
        self, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef Py_ssize_t step(self, Py_ssize_t node, int byte) noexcept nogil
    cdef int folded_child(self, int node, int byte) noexcept nogil
    cdef void note_atoms_of(
        self, int node, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef int folded_step(
        self, int node, int byte, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef void note_atoms(
        self, unsigned char *p, Py_ssize_t start, Py_ssize_t end
    ) noexcept nogil
    cdef void note_bits(self, int head) noexcept nogil
    cdef void note_lists(
        self, int name, unsigned char *p, Py_ssize_t start, Py_ssize_t end,
        int contained,
    ) noexcept nogil
    cdef void spread(self) noexcept nogil
