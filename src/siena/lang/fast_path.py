"""Plain lists of constraints, read fast: joined by ``and`` or commas, nothing else.

Nearly every filter of a large set is of this form, and so are advertisements.  The
text is only cut into constraints here, and :mod:`siena.lang.pieces` remembers what
their parts mean.  Whatever is not plain, or wrong in any way, is left to the full
reader: it is the slow twin of this module, and the only one that reports errors.
"""

import re

from siena.lang.pieces import CONSTRAINT, join_halves
from siena.model import Constraint
from siena.model.limits import CONSTRAINTS_MAX, TEXT_CHARACTERS_MAX

_OPENING = re.compile(r"\s*\[")
# One constraint, and what follows it: a comma, `and`, or the end with its bracket.
_PIECE = re.compile(
    rf"\s*+{CONSTRAINT}\s*+(?:,|(?ai:and)(?![\w./:-])|(\]?)\s*+$)", re.VERBOSE
)


def read_plain(text: str) -> list[Constraint] | None:
    """The constraints of a plain list, or None if the text is anything else.

    >>> read_plain("exchange = NYSE and integer change < 0")
    [<Constraint exchange = NYSE>, <Constraint integer change < 0>]
    >>> read_plain("[string user any]")
    [<Constraint string user any>]
    >>> read_plain("x = 1 or x = 2")
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        return None
    pieces = _cut(text)
    if pieces is None:
        return None
    found: list[Constraint] = []
    for subject, condition in pieces:
        constraint = join_halves(subject, condition)
        if constraint is None:
            return None
        found.append(constraint)
    return found


def _cut(text: str) -> list[tuple[str, str]] | None:
    """The halves of each constraint, before any of them is read in vain."""
    found: list[tuple[str, str]] = []
    opening = _OPENING.match(text)
    position = opening.end() if opening else 0
    while len(found) < CONSTRAINTS_MAX:
        match = _PIECE.match(text, position)
        if match is None:
            return None
        subject, condition, closing = match.groups()
        found.append((subject, condition))
        if closing is not None:
            return found if (closing == "]") == (opening is not None) else None
        position = match.end()
    return None
