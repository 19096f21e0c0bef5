"""Plain filters, read fast: constraints joined by ``and``, nothing else.

Nearly every filter of a large set is of this form, and made of constraints that
other filters contain too.  So the text is only cut into constraints here, and
each distinct piece of text is read once, by the full reader, and remembered.
Whatever is not plain, or wrong in any way, is left to the full reader: it is the
slow twin of this module, and the only one that reports errors.
"""

import re
from functools import lru_cache

from siena.errors import SienaError
from siena.lang.interests import InterestReader
from siena.model import Constraint
from siena.model.limits import CONSTRAINTS_MAX, TEXT_CHARACTERS_MAX
from siena.model.spelling import BAREWORD

# How many pieces are remembered; at 200 bytes or so each, about 15 MB.
PIECES_REMEMBERED_MAX = 65_536
# Longer pieces are rare, and would make the memory above a false promise.
_PIECE_CHARACTERS_MAX = 100

# One constraint, and what follows it: a comma, `and`, or the end.  It may take
# for a constraint what is none (`not = 3`); the full reader will say so.
_PIECE = re.compile(
    rf"""\s*(
        (?:{BAREWORD}\s+)? (?:{BAREWORD} | "[^"\\]*")
        \s* (?: (?:>=|<=|!=|>\*|\*<|[=<>*]) \s*
                (?: {BAREWORD} | [+-]?[0-9]+(?:\.[0-9]+)? | "[^"\\]*" )
              | \ (?ai:any|exists) )(?![\w./:-])
    )\s*(?:,|(?ai:and)(?![\w./:-])|($))""",
    re.VERBOSE,
)


def read_plain(text: str) -> list[Constraint] | None:
    """The constraints of a plain filter, or None if the text is anything else.

    >>> read_plain("exchange = NYSE and integer change < 0")
    [<Constraint exchange = NYSE>, <Constraint integer change < 0>]
    >>> read_plain("x = 1 or x = 2")
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        return None
    found: list[Constraint] = []
    position = 0
    try:
        while len(found) < CONSTRAINTS_MAX:
            match = _PIECE.match(text, position)
            if match is None:
                return None
            found.append(_read_piece(match[1]))
            if match[2] is not None:
                return found
            position = match.end()
    except SienaError:
        return None
    return None


def _read_piece(piece: str) -> Constraint:
    if len(piece) > _PIECE_CHARACTERS_MAX:
        return _read(piece)
    return _read_remembered(piece)


def _read(piece: str) -> Constraint:
    reader = InterestReader(piece)
    constraint = reader.constraint(negated=False)[0][0]
    reader.expect_end()
    return constraint


_read_remembered = lru_cache(maxsize=PIECES_REMEMBERED_MAX)(_read)
