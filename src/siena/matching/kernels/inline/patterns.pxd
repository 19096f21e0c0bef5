# Characters in UTF-8, folded, and the patterns that they match.

# Tokens of a pattern below zero: one character, and any run of them.
cdef enum:
    OPEN = -1
    STAR = -2

cdef inline int width_of(int byte) noexcept nogil:
    """How many bytes a character has that begins with this byte."""
    if byte < 0x80:
        return 1
    if byte < 0xE0:
        return 2
    return 3 if byte < 0xF0 else 4

cdef inline int character_at(const unsigned char *p, Py_ssize_t i) noexcept nogil:
    """The character that begins at a byte."""
    cdef int c = p[i]
    if c < 0x80:
        return c
    if c < 0xE0:
        return ((c & 0x1F) << 6) | (p[i + 1] & 0x3F)
    if c < 0xF0:
        return ((c & 0x0F) << 12) | ((p[i + 1] & 0x3F) << 6) | (p[i + 2] & 0x3F)
    return (
        ((c & 0x07) << 18)
        | ((p[i + 1] & 0x3F) << 12)
        | ((p[i + 2] & 0x3F) << 6)
        | (p[i + 3] & 0x3F)
    )

cdef inline int folded_of(int c, const int *pages, const int *shifts) noexcept nogil:
    """What a character is folded to."""
    if c < 0x80:
        return c + 32 if 65 <= c <= 90 else c
    return c + shifts[256 * pages[c >> 8] + (c & 255)]

cdef inline bint is_like(
    const unsigned char *p, Py_ssize_t i, Py_ssize_t end,
    const int *tokens, Py_ssize_t j, Py_ssize_t last,
    const int *pages, const int *shifts, bint folds,
) noexcept nogil:
    """Whether a text is as the tokens say.

    What stands behind the last star is compared from the end: nearly all that are not
    alike differ there.  Of the rest, only the last star that was met is tried again,
    one character further: whatever an earlier one could take, this one can.
    """
    cdef Py_ssize_t star = -1
    cdef Py_ssize_t mark = 0
    cdef int c
    while j < last and tokens[last - 1] != STAR:
        if i >= end:
            return False
        end -= 1
        while (p[end] & 0xC0) == 0x80 and end > i:
            end -= 1
        c = character_at(p, end)
        if folds:
            c = folded_of(c, pages, shifts)
        last -= 1
        if tokens[last] != OPEN and tokens[last] != c:
            return False
    while i < end:
        if j < last:
            if tokens[j] == STAR:
                star = j
                mark = i
                j += 1
                continue
            c = character_at(p, i)
            if folds:
                c = folded_of(c, pages, shifts)
            if tokens[j] == OPEN or tokens[j] == c:
                i += width_of(p[i])
                j += 1
                continue
        if star < 0 or star == last - 1:
            return star >= 0
        mark += width_of(p[mark])
        i = mark
        j = star + 1
    while j < last and tokens[j] == STAR:
        j += 1
    return j == last
