"""Characters in UTF-8, folded, and the patterns that they match."""

# Tokens of a pattern below zero: one character, and any run of them.
OPEN = -1
STAR = -2


def width_of(byte):
    """How many bytes a character has that begins with this byte."""
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


def character_at(p, i):
    """The character that begins at a byte."""
    return ord(bytes(p[i : i + width_of(p[i])]).decode())


def folded_of(c, pages, shifts):
    """What a character is folded to."""
    return c + shifts[256 * pages[c >> 8] + (c & 255)]


def is_like(p, i, end, tokens, j, last, pages, shifts, folds):
    """Whether a text is as the tokens say, place by place."""
    text = [ord(c) for c in bytes(p[i:end]).decode()]
    if folds:
        text = [folded_of(c, pages, shifts) for c in text]
    places = _after_stars({0}, tokens, j, last)
    for c in text:
        reached = set()
        for place in places:
            token = tokens[j + place] if j + place < last else None
            if token == STAR:
                reached.add(place)
            elif token in {OPEN, c}:
                reached.add(place + 1)
        places = _after_stars(reached, tokens, j, last)
    return last - j in places


def _after_stars(places, tokens, j, last):
    found = set(places)
    for place in range(last - j):
        if place in found and tokens[j + place] == STAR:
            found.add(place + 1)
    return found
