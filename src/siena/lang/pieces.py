"""Constraints of the usual form, read in one step.

``[type] name operator literal``, or ``[type] name any``, is cut from a text by one
regular expression.  What comes before the operator, and what begins with it, occurs
in many constraints: each distinct half is read once, by the full reader, and
remembered.  Whatever has another form, or is wrong in any way, is left to the full
reader: it is the slow twin of this module, and the only one that reports errors.
"""

import re
from functools import lru_cache

from siena.errors import SienaError
from siena.lang.constraints import ConstraintReader
from siena.lang.scanner import NUMBER_TEXT, QUOTED_TEXT, SYMBOL_TEXT, TIME_TEXT
from siena.model import Constraint, Kind
from siena.model.canonical import canonical
from siena.model.operators import OPERATOR_OF_SYMBOL, STRING_OPERATORS, WITHOUT_OPERAND
from siena.model.spelling import BAREWORD, NOT_VALUES, RESERVED
from siena.model.values import KIND_OF_WORD

# How many halves of each sort are remembered: some 3 MB of ordinary text, and less
# than 10 MB of any, because pieces that are remembered are short.
HALVES_REMEMBERED_MAX = 4_096
# Longer pieces are rare, and would make the memory above a false promise.
_PIECE_CHARACTERS_MAX = 100

# Two groups, the halves; for re.VERBOSE.  In `(?>…)`, `*+` and `++` nothing is tried
# again shorter: a token is all of a word, as it is to the scanner, and no run of
# spaces is gone through more than twice.  It may take for a constraint what is none
# (`not = 3`); the full reader will say so.
CONSTRAINT = rf"""
    ((?:(?ai:{"|".join(KIND_OF_WORD)})\s++)? (?>{BAREWORD}|{QUOTED_TEXT}))
    \s*+ ((?>
        (?: {SYMBOL_TEXT}
          | (?ai:(?:starts|ends)\s++with|contains)(?![\w./:-]) ) \s*+
        (?: {BAREWORD} | {QUOTED_TEXT} | {TIME_TEXT} | {NUMBER_TEXT} )
      | (?ai:any|exists)(?![\w./:-]) ))
"""
_CONSTRAINT = re.compile(CONSTRAINT, re.VERBOSE)
# A condition on strings or whole numbers in plain characters, which needs no reader.
_SIMPLE = re.compile(
    rf"""({SYMBOL_TEXT})\s*+
    (?: ([A-Za-z_][A-Za-z0-9_./:-]*+)
      | "([ !\#-\[\]-~]*+)"
      | (0 | -?[1-9][0-9]{{0,14}}) )""",
    re.VERBOSE,
)
_NO_STRINGS = RESERVED | NOT_VALUES


def read_piece(text: str, position: int) -> tuple[Constraint, int] | None:
    """The constraint at a position where a token starts, and where it ends.

    >>> read_piece("not string x starts with ab or y = 3", 4)
    (<Constraint x >* ab>, 27)
    >>> read_piece("x in (1, 2)", 0)
    """
    found = _CONSTRAINT.match(text, position)
    if found is None:
        return None
    constraint = join_halves(found[1], found[2])
    return None if constraint is None else (constraint, found.end())


def join_halves(subject: str, condition: str) -> Constraint | None:
    """The constraint of two halves, or None if there is anything wrong with them.

    >>> join_halves("integer level", "> 3")
    <Constraint integer level > 3>
    >>> join_halves("integer level", "> 3.5")
    """
    if len(subject) + len(condition) > _PIECE_CHARACTERS_MAX:
        return None
    about = _read_subject(subject)
    if about is None:
        return None
    wanted, name = about
    model = _read_condition(condition, wanted)
    if model is None:
        return None
    _, operator, kind, value = model
    return Constraint.trusted(name, operator, value, kind)


@lru_cache(HALVES_REMEMBERED_MAX)
def _read_subject(text: str) -> tuple[Kind | None, str] | None:
    try:
        reader = ConstraintReader(text)
        subject = reader.subject()
        reader.expect_end()
    except SienaError:
        return None
    return subject


@lru_cache(HALVES_REMEMBERED_MAX)
def _read_condition(text: str, kind: Kind | None) -> Constraint | None:
    """The condition as a constraint, whose name means nothing."""
    simple = _read_simple(text) if kind is None else None
    if simple is not None:
        return simple
    try:
        reader = ConstraintReader(text)
        operator = reader.operator()
        if operator in WITHOUT_OPERAND:
            found = Constraint.named("", operator, None, kind)
        else:
            found = reader.operand(kind, "", operator)
        reader.expect_end()
    except SienaError:
        return None
    return found


def _read_simple(text: str) -> Constraint | None:
    """The same of a condition that no reader is needed for; of others nothing.

    >>> _read_simple("= ab"), _read_simple("< -3"), _read_simple("= true")
    (<Constraint "" = ab>, <Constraint "" < -3>, None)
    """
    found = _SIMPLE.fullmatch(text)
    if found is None:
        return None
    symbol, word, quoted, number = found.groups()
    operator = OPERATOR_OF_SYMBOL[symbol]
    if number is not None:
        if operator in STRING_OPERATORS:
            return None
        return Constraint.trusted("", operator, int(number), Kind.NUMBER)
    if word is not None and word.lower() in _NO_STRINGS:
        return None
    value = word if quoted is None else quoted
    if operator in STRING_OPERATORS:
        operator, value = canonical(operator, value)
    return Constraint.trusted("", operator, value, Kind.STRING)
