"""Finite sets of values that are enough to tell expressions apart.

Theory of operation
-------------------
Every relation between expressions asks whether some notification exists.  Names are
filled independently, so it is enough to have, for each name, one value of every
*cell*: a cell holds the values that agree on the truth of each constraint on that name.
``Values`` numbers such values and turns a constraint into the bit mask of those that
satisfy it; bit 0 stands for "the attribute is absent".

``EXHAUSTIVE`` needs no argument: the universe of A.5.6, whatever the question is.  It
finds most witnesses, and its masks are computed once.  ``constructed`` is complete for
the constraints it is given, for these reasons.

*Ordered kinds.*  Cells are the operands themselves and the gaps between neighbours
(and beyond the ends).  For operands u < v, reals perhaps, the gap holds a value of the
domain if and only if the smallest value of the domain above u lies below v, or, below
all operands, the domain's least value does.  We take each operand rounded into the
domain with its neighbours on both sides, and both ends of the domain.

*Strings.*  Let O be the operands that are compared by order, equality or prefix, T the
substrings, S the suffixes, and let x be any string of a cell.  Let w be the longest
prefix of x that is also a prefix of some operand in O.

- If x = w, then x is one of the finitely many prefixes of operands: we take them all.
- Otherwise x = w c rest, where w c is a prefix of no operand.  So the order of x and
  every operand is settled no later than at c, and no operand equals x or has it as
  prefix beyond w.  Replace c, if it occurs in no operand at all, by our representative
  of the same gap between the characters that do; this keeps the order.  Let t1 … tk be
  the elements of T that occur in x, s the longest element of S that x ends with
  (perhaps ""), and z a character that occurs nowhere.  Then ``w c z t1 z … tk z s`` is
  in the cell of x: order, equality and prefixes stand as said; all ti occur and all
  suffixes of x in S are suffixes of s; any other u of T would have to lie, as it has
  no z, inside w c, a ti or s, hence in x; any other u of S would have to be a suffix
  of s, hence of x.

  We take these strings for all w, c, all subsets of T and all of S.

*Wildcards and folded case.*  There it is not enough to look at parts; one string of
every cell is then found by following all constraints at once
(:mod:`brute_force.cells`).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, product

from brute_force.cells import foreign_characters, strings_of_all_cells
from brute_force.language import (
    ADMITTED,
    FOLDING,
    INTEGER_MAX,
    INTEGER_MIN,
    KINDS,
    OPERATORS,
    TIME_MAX,
    TIME_MIN,
    Constraint,
    Raw,
    Value,
)

ABSENT = 1  # the mask of the one bit that says: no such attribute
FLOAT_MAX = math.nextafter(math.inf, 0)
BOOLEANS = (False, True)
LETTERS = "ab\0\U0010ffff"  # those of A.5.6: neighbours, and both ends of the alphabet
# One between U+0000 and a, one between b and U+10FFFF; and their capitals.
FOREIGN = "!zAB"
# The operators that look at the inside or the end of a string.
SUBSTRINGS, SUFFIXES = ("*", "does not contain"), ("*<", "does not end with")


class Values:
    """A numbered set of values of all kinds, and the masks of constraints over it.

    >>> values = Values({"integer": [4, 5], "string": ["a"]})
    >>> bin(values.mask(Constraint("x", "number", ">", 4)))
    '0b1000'
    >>> values[3]
    Value(kind='integer', raw=5)
    """

    def __init__(self, by_kind: Mapping[str, Iterable[Raw]]) -> None:
        self._segments: dict[str, tuple[int, Sequence[Raw]]] = {}
        self._masks: dict[tuple[str, str, Raw | None], int] = {}
        offset = 1  # bit 0 is ABSENT
        for kind in KINDS:
            raws = tuple(dict.fromkeys(by_kind.get(kind, ())))
            self._segments[kind] = offset, raws
            offset += len(raws)
        self.everything = (1 << offset) - 1

    def __getitem__(self, bit: int) -> Value:
        for kind, (offset, raws) in self._segments.items():
            if offset <= bit < offset + len(raws):
                return Value(kind, raws[bit - offset])
        raise IndexError(bit)

    def mask(self, constraint: Constraint) -> int:
        """The values that satisfy the constraint, whatever its name is."""
        key = constraint[1:]
        found = self._masks.get(key)
        if found is None:
            found = self._masks[key] = self._computed(*key)
        return found

    def _computed(self, wanted: str, operator: str, operand: Raw | None) -> int:
        if operator == "absent":
            return ABSENT
        holds = OPERATORS[operator]
        mask = 0
        for kind in ADMITTED[wanted]:
            offset, raws = self._segments[kind]
            # Through text: far quicker than setting bits of a long integer singly.
            bits = ["1" if holds(raw, operand) else "0" for raw in reversed(raws)]
            mask |= int("".join(bits) or "0", 2) << offset
        return mask


def constructed(constraints: Iterable[Constraint]) -> Values:
    """Values that meet every cell of these constraints on one name; see above."""
    operands: dict[str, list[Raw]] = defaultdict(list)
    strings = []
    for constraint in constraints:
        if isinstance(constraint.operand, str):
            strings.append(constraint)
        elif constraint.operand is not None:
            operands[constraint.wanted].append(constraint.operand)
    numbers = [*operands["integer"], *operands["float"], *operands["number"]]
    return Values(
        {
            "string": _strings(strings),
            "integer": _integers(numbers),
            "float": _floats(numbers),
            "boolean": BOOLEANS,
            "time": _times(operands["time"]),
        }
    )


def _integers(operands: Iterable[Raw]) -> Iterator[int]:
    yield from (0, INTEGER_MIN, INTEGER_MAX)
    for operand in operands:
        floor = math.floor(operand)  # type: ignore[arg-type] # numbers only
        for value in range(floor - 2, floor + 3):
            if INTEGER_MIN <= value <= INTEGER_MAX:
                yield value


def _floats(operands: Iterable[Raw]) -> Iterator[float]:
    yield from (0.0, -FLOAT_MAX, FLOAT_MAX)
    for operand in operands:
        # An integer is rounded to the nearest double, which is its neighbour on one
        # side; two steps both ways therefore reach beyond it on both.
        centre = float(operand)
        below, above = (
            math.nextafter(centre, -math.inf),
            math.nextafter(centre, math.inf),
        )
        outer = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
        for value in (centre, below, above, *outer):
            if math.isfinite(value):
                yield value


def _times(operands: Iterable[Raw]) -> Iterator[int]:
    yield from (0, TIME_MIN, TIME_MAX)
    for operand in operands:
        for value in range(int(operand) - 2, int(operand) + 3):
            if TIME_MIN <= value <= TIME_MAX:
                yield value


def _strings(constraints: Sequence[Constraint]) -> Iterator[str]:
    if any("like" in c.operator or FOLDING in c.operator for c in constraints):
        yield from strings_of_all_cells(constraints)
        return
    inside = {*SUBSTRINGS, *SUFFIXES}
    compared = {str(c.operand) for c in constraints if c.operator not in inside}
    substrings = {str(c.operand) for c in constraints if c.operator in SUBSTRINGS}
    suffixes = {"", *(str(c.operand) for c in constraints if c.operator in SUFFIXES)}
    letters = set().union(*compared, *substrings, *suffixes)
    foreign = list(foreign_characters(letters))
    prefixes = {
        operand[:end] for operand in compared for end in range(len(operand) + 1)
    }
    prefixes.add("")
    yield from prefixes
    heads = [w + c for w in prefixes for c in chain(letters, foreign)]
    z = foreign[0]
    tails = [
        z + "".join(t + z for t in inner) + suffix
        for inner in _subsets(sorted(substrings))
        for suffix in suffixes
    ]
    for head in heads:
        if head not in prefixes:
            for tail in tails:
                yield head + tail


def _subsets(substrings: Sequence[str]) -> Iterator[tuple[str, ...]]:
    sizes = range(len(substrings) + 1)
    return chain.from_iterable(combinations(substrings, size) for size in sizes)


def _words(letters: str, length_max: int) -> Iterator[str]:
    for length in range(length_max + 1):
        yield from map("".join, product(letters, repeat=length))


def _with_a_foreigner(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        for place in range(len(word) + 1):
            for foreigner in FOREIGN:
                yield word[:place] + foreigner + word[place:]


FLOAT_LANDMARKS = (*range(-4, 5), -0.5, 0.5, 2.5, 2**53, -(2**53), 2**63, -(2**63))
EXHAUSTIVE = Values(
    {
        "string": chain(_words(LETTERS, 5), _with_a_foreigner(_words(LETTERS, 3))),
        "integer": chain(range(-12, 13), _integers((2**53, -(2**53)))),
        "float": _floats(FLOAT_LANDMARKS),
        "boolean": BOOLEANS,
        "time": _times((0, TIME_MIN, TIME_MAX)),
    }
)
