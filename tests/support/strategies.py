"""How to draw values, constraints, filters and the rest: from tiny domains, on purpose.

Random filters over a large domain never touch each other, and a law would hold by
never being asked anything.  So there are three names, a handful of numbers and short
strings over four characters, chosen where procedures go wrong: at the ends of a
domain, around zero, where doubles stop telling integers apart, and one step beside.

Where texts are read and printed the domain should be wide instead: the strategies
called ``any_…`` draw from everything that the model allows.
"""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Pattern,
    Predicate,
    Value,
)
from siena.model.operators import NEGATIONS, STRING_OPERATORS
from siena.model.values import INTEGER_MAX, INTEGER_MIN

# --- The tiny domains -------------------------------------------------------------

NAMES = ("x", "y", "z")

# The first and the last character there are, and two neighbours in between.
ALPHABET = "ab\0\U0010ffff"
# The capital of one of them, for what ignores case.
CAPITAL = "A"
# All strings up to length three; the short ones often, because they meet more often.
_SHORT = tuple("".join(cs) for n in range(3) for cs in product(ALPHABET, repeat=n))
STRINGS = (*_SHORT * 3, *("".join(cs) for cs in product(ALPHABET, repeat=3)))

INTEGERS = (
    *(0, 1, -1, 2, -2, 3, -3),
    *(2**53 - 1, 2**53, 2**53 + 1),
    *(INTEGER_MIN, INTEGER_MIN + 1, INTEGER_MAX - 1, INTEGER_MAX),
)
FLOAT_MAX = math.nextafter(math.inf, 0)
FLOATS = (
    *(0.0, 0.5, 2.0, 2.5, 3.0, -1.0),
    *(math.nextafter(2.0, 0), math.nextafter(2.0, 3)),
    *(math.nextafter(0.0, 1), math.nextafter(0.0, -1)),
    *(2.0**53, math.nextafter(2.0**53, math.inf)),
    *(-(2.0**63), 2.0**63, -FLOAT_MAX, FLOAT_MAX),
)
BOOLEANS = (False, True)

MICROSECOND = timedelta(microseconds=1)
TIME_MIN = datetime.min.replace(tzinfo=UTC)
TIME_MAX = datetime.max.replace(tzinfo=UTC)
_NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
TIMES = (
    *(TIME_MIN, TIME_MIN + MICROSECOND, TIME_MAX - MICROSECOND, TIME_MAX),
    *(_NOON - MICROSECOND, _NOON, _NOON + MICROSECOND),
    datetime(1970, 1, 1, tzinfo=UTC),
)

# Which kinds a test draws from: alone each kind is asked often enough, together
# they must not blur.
ALL_KINDS = tuple(Kind)
FAMILIES: dict[str, tuple[Kind, ...]] = {
    "strings": (Kind.STRING,),
    "integers": (Kind.INTEGER,),
    "floats": (Kind.FLOAT,),
    "numbers": (Kind.INTEGER, Kind.FLOAT, Kind.NUMBER),
    "booleans": (Kind.BOOLEAN,),
    "times": (Kind.TIME,),
    "mixed": ALL_KINDS,
}

_ORDERED = (
    *(Operator.EQ, Operator.NE),
    *(Operator.LT, Operator.LE, Operator.GT, Operator.GE),
)
_OF_STRINGS = (*_ORDERED, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING)
_LIKE = tuple(o for o in Operator if o.exact.name.endswith("LIKE"))
_FOLDED = tuple(o for o in Operator if o.ignores_case and o not in _LIKE)
_NEGATED = (Operator.NOT_PREFIX, Operator.NOT_SUFFIX, Operator.NOT_SUBSTRING)
# Patterns over the same characters: stars outside, inside and next to open places.
_PATTERNS = (
    *("a*b", "a*a", "*a*b", "a*b*", "*a*b*", "*b?", "?a*", "a?b", "?", "??*", "b*?a"),
    *("*ab*a*", "*a?b*", "a*\0", "*A*b", "A?*", "*\U0010ffff*a", "*a*a*", "aa*bb"),
)
# Texts in which case is to be ignored, or not: short, and often capitals.
_CASED = (
    "a",
    "A",
    "ab",
    "aB",
    "Ab",
    "b",
    "aa",
    "Aa",
    "ba",
    "aba",
    "\0a",
    "a\U0010ffff",
)

# --- Values and notifications -----------------------------------------------------

_DOMAINS: dict[Kind, tuple[Value, ...]] = {
    Kind.STRING: STRINGS,
    Kind.INTEGER: INTEGERS,
    Kind.FLOAT: FLOATS,
    Kind.BOOLEAN: BOOLEANS,
    Kind.TIME: TIMES,
    Kind.NUMBER: (*INTEGERS, *FLOATS),
}

strings = st.sampled_from(STRINGS)


@cache
def values_of(kinds: tuple[Kind, ...]) -> SearchStrategy[Value]:
    """Values that constraints of these kinds are about."""
    return st.one_of([st.sampled_from(_DOMAINS[k]) for k in kinds if k in _DOMAINS])


values = values_of(ALL_KINDS)


def notifications(
    names: Sequence[str] = NAMES, *, of: SearchStrategy[Value] = values
) -> SearchStrategy[Notification]:
    """Notifications with some of the names."""
    return st.dictionaries(st.sampled_from(names), of, max_size=len(names)).map(
        Notification
    )


# --- Constraints, filters and what is made of them --------------------------------
# Each is cached: a strategy that is made anew for every example is slow.


@cache
def constraints(
    kinds: tuple[Kind, ...] = ALL_KINDS,
    names: tuple[str, ...] = NAMES,
    *,
    papers: bool = False,
) -> SearchStrategy[Constraint]:
    """Constraints; operator and kind are drawn together, so that they always fit.

    With ``papers``, their operators only.
    """
    every = ([*_every_constraint(k, names)] for k in kinds)
    known = ([c for c in each if c.operator <= Operator.ANY] for each in every)
    return st.one_of([st.sampled_from(each) for each in (known if papers else every)])


@cache
def _every_constraint(kind: Kind, names: tuple[str, ...]) -> list[Constraint]:
    """All constraints of the kind that the tiny domains have, the simplest first."""
    operators = _OF_STRINGS if kind is Kind.STRING else _ORDERED
    found = [
        Constraint(name, operator, value, kind)
        for value in _DOMAINS.get(kind, ())
        for operator in operators
        for name in names
    ]
    if kind is Kind.STRING:
        # As often as the others, although their operands are fewer.
        found += _other_strings(names) * 6
    # One in ten says nothing but that the attribute is there, or not, or of a kind.
    other = Operator.ABSENT if kind is Kind.ANY else Operator.OTHER
    exists = [
        Constraint(name, operator, None, kind)
        for operator in (Operator.ANY, Operator.ANY, other)
        for name in names
    ]
    return [*exists * (len(found) // (27 * len(names)) + 1), *found]


def _other_strings(names: tuple[str, ...]) -> list[Constraint]:
    """Negations, patterns, and what ignores case."""
    drawn: list[tuple[tuple[Operator, ...], tuple[str, ...]]] = [
        (_NEGATED, (*_CASED, "\U0010ffff")),
        (_FOLDED, _CASED),
        ((Operator.EQ, Operator.SUBSTRING), _CASED),
        (_LIKE, _PATTERNS),
    ]
    return [
        Constraint(name, operator, value)
        for operators, values in drawn
        for value in values
        for operator in operators
        for name in names
    ]


@cache
def filters(
    kinds: tuple[Kind, ...] = ALL_KINDS,
    names: tuple[str, ...] = NAMES,
    *,
    min_size: int = 0,
    max_size: int = 4,
    papers: bool = False,
) -> SearchStrategy[Filter]:
    """Filters, often with several constraints on one name."""
    one = constraints(kinds, names, papers=papers)
    return st.lists(one, min_size=min_size, max_size=max_size).map(Filter)


@cache
def advertisements(
    kinds: tuple[Kind, ...] = ALL_KINDS,
    names: tuple[str, ...] = NAMES,
    *,
    max_size: int = 4,
) -> SearchStrategy[Advertisement]:
    """Advertisements, often with several constraints on one name."""
    one = constraints(kinds, names).filter(may_be_promised)
    return st.lists(one, max_size=max_size).map(Advertisement)


def may_be_promised(constraint: Constraint) -> bool:
    """Whether an advertisement may have the constraint."""
    return constraint.operator not in {Operator.ABSENT, Operator.OTHER}


@cache
def predicates(
    kinds: tuple[Kind, ...] = ALL_KINDS,
    names: tuple[str, ...] = NAMES[:2],
    *,
    max_size: int = 3,
    papers: bool = False,
) -> SearchStrategy[Predicate]:
    """Predicates of few filters, on two names so that all cases can be tried."""
    few = filters(kinds, names, min_size=1, max_size=3, papers=papers)
    return st.lists(few, min_size=1, max_size=max_size).map(Predicate)


@st.composite
def filters_cut_in_pieces(draw: st.DrawFn) -> tuple[Predicate, Predicate]:
    """A filter, and before it the pieces that it was cut into.

    It is cut again and again into what satisfies a constraint and what does not; so
    the pieces cover it together, and none of them alone.  Now and then one is lost.
    """
    kind = draw(st.sampled_from(ALL_KINDS[:-1]))
    present = [Constraint(name, Operator.ANY, None, kind) for name in NAMES[:2]]
    one = constraints((kind,), NAMES[:2])
    whole = [*present, *draw(st.lists(one, max_size=1))]
    pieces = [whole[2:]]
    for _ in range(draw(st.integers(1, 4))):
        piece = pieces.pop(draw(st.integers(0, len(pieces) - 1)))
        cut = draw(one.filter(lambda c: c.operator in NEGATIONS))
        other = Constraint(cut.name, NEGATIONS[cut.operator], cut.value, kind)
        pieces += [[*piece, cut], [*piece, other]]
    if draw(st.integers(0, 3)) == 0:
        pieces.pop(draw(st.integers(0, len(pieces) - 1)))
    return Predicate(map(Filter, pieces)), Predicate([Filter(whole)])


def kinds_of_one_family() -> SearchStrategy[tuple[Kind, ...]]:
    """Kinds that have values in common, or all kinds."""
    return st.sampled_from(list(FAMILIES.values()))


# --- Everything that the model allows ---------------------------------------------

_WORDS = st.sampled_from(
    [
        *("and", "or", "not", "in", "then", "any", "exists", "starts", "with", "AND"),
        *("absent", "like", "does", "except", "ignoring", "case", "contain", "Like"),
        *("true", "false", "nan", "inf", "string", "integer", "number", "time", "Time"),
        *("a", "a.b", "x-1", "a/b:c", "operand", "brand"),
    ]
)
any_names = st.text(max_size=4) | _WORDS
any_values: SearchStrategy[Value] = st.one_of(
    st.text(max_size=6),
    _WORDS,
    st.integers(INTEGER_MIN, INTEGER_MAX),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.datetimes(timezones=st.just(UTC)),
    values,
)
any_notifications = st.dictionaries(any_names, any_values, max_size=4).map(Notification)


def patterns() -> SearchStrategy[str]:
    """Patterns of ``like``, with wildcards next to each other and escaped ones."""
    piece = st.sampled_from(["*", "?", "a", "b", "A", "\\*", "\\?", "\\\\", "\0", "é"])
    return st.lists(piece, max_size=7).map("".join)


@st.composite
def any_constraints(draw: st.DrawFn) -> Constraint:
    """A constraint of any name, operator, kind and value that go together."""
    name = draw(any_names)
    if draw(st.integers(0, 4)) == 0:
        kind = draw(st.sampled_from(list(Kind)))
        other = Operator.ABSENT if kind is Kind.ANY else Operator.OTHER
        chosen = draw(st.sampled_from([Operator.ANY, other]))
        return Constraint(name, chosen, None, kind)
    if draw(st.integers(0, 3)) == 0:
        operator = draw(st.sampled_from(sorted(STRING_OPERATORS)))
        text = st.text(max_size=6) | _WORDS
        operand = draw(patterns() if operator in _LIKE else text)
        return Constraint(name, operator, operand)
    value = draw(any_values)
    concrete = Kind.of(value)
    operators = _OF_STRINGS if concrete is Kind.STRING else _ORDERED
    kind = draw(st.sampled_from([concrete, Kind.wanted_by(value)]))
    return Constraint(name, draw(st.sampled_from(operators)), value, kind)


any_filters = st.lists(any_constraints(), max_size=3).map(Filter)
any_advertisements = st.lists(
    any_constraints().filter(may_be_promised), max_size=3
).map(Advertisement)
# Text cannot say the predicate without filters, so these have one.
any_predicates = st.lists(any_filters, min_size=1, max_size=2).map(Predicate)
any_patterns = st.lists(any_predicates, min_size=1, max_size=2).map(Pattern)

# --- Texts, right and wrong -------------------------------------------------------

_TOKENS = st.sampled_from(
    [
        *(
            "x",
            "y",
            "brand",
            "a-and",
            "time",
            "integer",
            "string",
            "with",
            '"q"',
            "'r'",
        ),
        *("and", "or", "not", "in", "then", "any", "exists", "starts", "contains", ","),
        *("absent", "like", "does", "does not contain", "except", "ignoring case"),
        *("=", "!=", "<", "<=", ">", ">=", ">*", "*<", "*", "==", "!", "&&", "~"),
        *("1", "-2", "2.5", "1e3", "007", ".5", "true", "NaN", "9223372036854775808"),
        *("2026-11-15T02:40:03Z", "2026-11-15T02:40:03", "02:40:03", "1998-03-04"),
        *(
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            '"',
            "'",
            "\\",
            '"\\u0041"',
            "\u017f",
            "\u0663",
            "é",
        ),
        *(" ", " ", "  ", "\n", "\t", "\ud800", "#", ";"),
    ]
)
_CHARACTERS = st.characters()  # the halves of surrogate pairs too


@st.composite
def _mutated(draw: st.DrawFn) -> str:
    """A text that says something, with a few characters lost, added or swapped."""
    said = any_filters | any_predicates | any_patterns | any_notifications
    text = list(str(draw(said)))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        change = draw(st.sampled_from(["delete", "insert", "swap"]))
        if change == "insert":
            text.insert(at, draw(_CHARACTERS | _TOKENS))
        elif change == "delete":
            del text[at : at + 1]
        elif at + 1 < len(text):
            text[at], text[at + 1] = text[at + 1], text[at]
    return "".join(text)


@st.composite
def _concatenated(draw: st.DrawFn) -> str:
    """Tokens in a row, with or without spaces between them."""
    joint = draw(st.sampled_from(["", " ", " "]))
    return joint.join(draw(st.lists(_TOKENS, max_size=12)))


@st.composite
def _nearly_plain(draw: st.DrawFn) -> str:
    """Constraints in a row, joined by what joins them, or by what does not quite."""
    joints = [" and ", ", ", ",", " AND\n", "and ", " and", "and", " ", " or "]
    parts = draw(st.lists(_PLAIN, min_size=1, max_size=3))
    return (
        "".join(part + draw(st.sampled_from(joints)) for part in parts[1:]) + parts[0]
    )


_PLAIN = st.sampled_from(
    [
        *("x = 1", "x=-1.5", "x = brand", "y = a-and", 'x = "b c"', '"x y" != and'),
        *("x any", "x  exists", "integer x > 3", "brand any", "any = 3", "not = 3"),
        *("x >* ab", "string s any", "time any", "x = 1e3", "x = nan", "s = \u0663"),
    ]
)

texts = (
    _nearly_plain() | st.text(_CHARACTERS, max_size=20) | _mutated() | _concatenated()
)
