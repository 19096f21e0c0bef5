"""Satisfiability for strings: intervals, cut into points and cylinders.

*Theory of operation.*  Equality, order and prefix are intervals of the order by
code point, because the string after ``s`` is ``s`` with U+0000 behind it.  What is
left of the line after intersecting them is a list of half-open intervals
``[lo, hi)``.  Each consists of finitely many *points* and of *cylinders*: all
strings that begin with a stem and then a character of some range.

::

    ["", "ab")   =   ""   "a"     and   everything from c < "a",  "a"·c for c < "b"
                     points             cylinders

Points are tried one by one.  A cylinder is infinite, and leaves room for what
suffixes and substrings ask: its stem, then the wanted substrings and the wanted
suffix, kept apart by a character ``z`` that no unwanted string contains.  An
unwanted substring could only occur inside one of these parts, never across a
``z``; that is why looking at the parts is enough, and the procedure complete.

Where wildcards or folded case come in, this is not enough:
:mod:`siena.algebra.text.automata` knows them all, and takes longer.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from siena.algebra.text.automata import search_string
from siena.algebra.text.characters import characters, following, preceding
from siena.algebra.text.guessing import excludes, guess_string
from siena.model import Constraint, Operator
from siena.model.operators import NEGATED, NEGATIONS
from siena.model.values import CHARACTER_MAX, after_prefix

# Up to how many ways to overlap a search comes first: some milliseconds.
_STATES_FEW = 64
_PLAIN = frozenset(list(Operator)[: Operator.ABSENT])
Interval = tuple[str, str | None]
"""``[lo, hi)``; ``None`` is above every string."""


class Cylinder(NamedTuple):
    """The strings ``stem·c·…`` with ``first <= c <= last``; if None, ``stem·…``."""

    stem: str
    first: str | None = None
    last: str | None = None


class Pieces(NamedTuple):
    """What an interval consists of."""

    points: tuple[str, ...]
    cylinders: tuple[Cylinder, ...]


def sat_string(
    positive: Iterable[Constraint], negative: Iterable[Constraint]
) -> str | None:
    """A string that satisfies every positive and no negative constraint.

    Cost: the total length of the operands times their number.
    """
    wanted, unwanted = without_negations(positive, negative)
    if any(c.operator is Operator.ANY for c in unwanted):
        return None
    if any(c.operator not in _PLAIN for c in (*wanted, *unwanted)):
        return _searched(wanted, unwanted)
    suffix = _longest_suffix(wanted)
    if suffix is None:
        return None
    search = _Search(
        suffix,
        substrings=_operands(wanted, Operator.SUBSTRING),
        bad_suffixes=_operands(unwanted, Operator.SUFFIX),
        bad_substrings=_operands(unwanted, Operator.SUBSTRING),
    )
    found = None
    for candidate in search.candidates(intervals(wanted, unwanted)):
        # Any will do; one that can be read is better.
        if candidate.isprintable():
            return candidate
        found = found or candidate
    return found


def _searched(wanted: list[Constraint], unwanted: list[Constraint]) -> str | None:
    """What is seen at once, or what a search finds.

    A search finds a shortest string, and so does putting together one text; where it
    would take long, one that is put together of several is as good.
    """
    if any(excludes(bad, good) for bad in unwanted for good in wanted):
        return None
    states = len(wanted) + len(unwanted)
    for constraint in wanted:
        states *= len(str(constraint.value)) + 1
    if states > _STATES_FEW or len(wanted) == 1:
        found = guess_string(wanted, unwanted)
        if found is not None:
            return found
    return search_string(wanted, unwanted)


def without_negations(
    positive: Iterable[Constraint], negative: Iterable[Constraint]
) -> tuple[list[Constraint], list[Constraint]]:
    """The same question without negations: what is not wanted is unwanted."""
    wanted: list[Constraint] = []
    unwanted: list[Constraint] = []
    for given, same, other in (
        (positive, wanted, unwanted),
        (negative, unwanted, wanted),
    ):
        for constraint in given:
            if constraint.operator in NEGATED:
                other.append(_turned(constraint))
            else:
                same.append(constraint)
    return wanted, unwanted


def _turned(constraint: Constraint) -> Constraint:
    name, operator, kind, value = constraint
    return Constraint.trusted(name, NEGATIONS[operator], value, kind)


def intervals(
    positive: Iterable[Constraint], negative: Iterable[Constraint]
) -> list[Interval]:
    r"""What equality, order and prefix leave of the line, in ascending order.

    >>> from siena.lang.parser import parse_filter
    >>> intervals(parse_filter('s >= a, s <= c, s != "b"'), parse_filter("s >* a"))
    [('b\x00', 'c\x00')]
    """
    left: list[Interval] = [("", None)]
    wanted, unwanted = without_negations(positive, negative)
    for constraints, cut in ((wanted, _within), (unwanted, _without)):
        for interval in map(_interval, constraints):
            left = left if interval is None else cut(left, interval)
    return left


def decompose(lo: str, hi: str | None) -> Pieces:
    """The points and cylinders of ``[lo, hi)``.

    >>> decompose("ab", "ac")
    Pieces(points=(), cylinders=(Cylinder(stem='ab', first=None, last=None),))
    """
    points: list[str] = []
    cylinders: list[Cylinder] = []
    if hi is not None and hi.startswith(lo):
        # From lo up to a string that begins with lo: only what lies along hi.
        _add_below(hi, len(lo), points, cylinders)
        return Pieces(tuple(points), tuple(cylinders))
    common = -1 if hi is None else common_length(lo, hi)
    cylinders.append(Cylinder(lo))
    for j in range(len(lo) - 1, common, -1):
        _add_range(cylinders, lo[:j], following(lo[j]), CHARACTER_MAX)
    if hi is not None:
        _add_range(cylinders, lo[:common], following(lo[common]), preceding(hi[common]))
        _add_below(hi, common + 1, points, cylinders)
    return Pieces(tuple(points), tuple(cylinders))


def common_length(a: str, b: str) -> int:
    """How many characters two strings begin with in common."""
    pairs = zip(a, b, strict=False)
    return next((i for i, (x, y) in enumerate(pairs) if x != y), min(len(a), len(b)))


class _Search:
    """What suffixes and substrings ask of a string, and how to build one."""

    def __init__(
        self,
        suffix: str,
        *,
        substrings: list[str],
        bad_suffixes: list[str],
        bad_substrings: list[str],
    ) -> None:
        self.suffix = suffix
        self.substrings = substrings
        self.bad_suffixes = bad_suffixes
        self.bad_substrings = bad_substrings
        bad = set("".join((*bad_suffixes, *bad_substrings)))
        self.separator = next(
            c for c in characters("\0", CHARACTER_MAX) if c not in bad
        )
        parts = (*substrings, suffix)
        self.parts_fit = not any(
            u in part for u in bad_substrings for part in parts
        ) and not any(suffix.endswith(u) for u in bad_suffixes)

    def candidates(self, left: Iterable[Interval]) -> Iterator[str]:
        """Accepted strings, one from each point and each cylinder that has one."""
        for lo, hi in left:
            pieces = decompose(lo, hi)
            yield from filter(self.accepts, pieces.points)
            yield from (
                found
                for cylinder in pieces.cylinders
                if (found := self.inside(cylinder)) is not None
            )

    def accepts(self, text: str) -> bool:
        """Whether a string has what is wanted and nothing that is not."""
        return (
            text.endswith(self.suffix)
            and all(t in text for t in self.substrings)
            and not any(text.endswith(u) for u in self.bad_suffixes)
            and not any(u in text for u in self.bad_substrings)
        )

    def inside(self, cylinder: Cylinder) -> str | None:
        """An accepted string of the cylinder."""
        if not self.parts_fit:
            return None
        start = self._start(cylinder)
        if start is None:
            return None
        if self.accepts(start):
            return start  # shorter, and easier to read
        middle = self.separator + "".join(t + self.separator for t in self.substrings)
        found = start + middle + self.suffix
        assert self.accepts(found)
        return found

    def _start(self, cylinder: Cylinder) -> str | None:
        """The stem and a character of the range, free of unwanted substrings."""
        stem = cylinder.stem
        if any(u in stem for u in self.bad_substrings):
            return None
        if cylinder.first is None or cylinder.last is None:
            return stem
        # Only a character that ends an unwanted string can complete one, so this
        # looks at one character more than there are unwanted strings.
        for character in characters(cylinder.first, cylinder.last):
            start = stem + character
            if not any(start.endswith(u) for u in self.bad_substrings):
                return start
        return None


def _longest_suffix(wanted: list[Constraint]) -> str | None:
    """The suffix that implies all the others, or None if two exclude each other."""
    longest = ""
    for suffix in _operands(wanted, Operator.SUFFIX):
        if suffix.endswith(longest):
            longest = suffix
        elif not longest.endswith(suffix):
            return None
    return longest


def _operands(constraints: list[Constraint], operator: Operator) -> list[str]:
    return [str(c.value) for c in constraints if c.operator is operator]


def _interval(constraint: Constraint) -> Interval | None:
    """The interval of a constraint, if it is one."""
    operator, value = constraint.operator, constraint.value
    if operator in {Operator.SUFFIX, Operator.SUBSTRING, Operator.ANY}:
        return None
    assert isinstance(value, str)
    after = value + "\0"  # the next string
    match operator:
        case Operator.EQ:
            return value, after
        case Operator.LT:
            return "", value
        case Operator.LE:
            return "", after
        case Operator.GT:
            return after, None
        case Operator.GE:
            return value, None
        case Operator.PREFIX:
            return value, after_prefix(value)
        case _:
            return None


def _within(left: list[Interval], cut: Interval) -> list[Interval]:
    found = []
    for lo, hi in left:
        low = max(lo, cut[0])
        high = _least(hi, cut[1])
        if high is None or low < high:
            found.append((low, high))
    return found


def _without(left: list[Interval], hole: Interval) -> list[Interval]:
    below = _within(left, ("", hole[0]))
    return below if hole[1] is None else below + _within(left, (hole[1], None))


def _least(a: str | None, b: str | None) -> str | None:
    if a is None:
        return b
    return a if b is None else min(a, b)


def _add_below(
    hi: str, start: int, points: list[str], cylinders: list[Cylinder]
) -> None:
    """The beginnings of ``hi``, and what branches off below it, from ``start`` on."""
    for k in range(start, len(hi)):
        points.append(hi[:k])
        _add_range(cylinders, hi[:k], "\0", preceding(hi[k]))


def _add_range(
    cylinders: list[Cylinder], stem: str, first: str | None, last: str | None
) -> None:
    if first is not None and last is not None and first <= last:
        cylinders.append(Cylinder(stem, first, last))
