"""Residuals, decided fast: for all rows of a batch at once, each value once.

What public rules leave to residuals are mostly long alternatives: a thousand strings of
which one has to occur, a dozen regular expressions, words that may stand anywhere.
Those about one attribute become one regular expression, whose automaton reads each
distinct value once.  What one part of a residual has decided is not asked of the next.

Only whether a residual is *true* is asked for.  Where nothing above a part negates it,
unknown is as good as false; what is negated otherwise, or may fail, is left to
:func:`siena.model.expression.holds`, which is also the twin of all this in the tests.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from siena.errors import SienaError
from siena.model import Constraint, Kind, Operator
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    compile_expression,
    holds,
    names_of,
)
from siena.model.expression.evaluation import truth
from siena.model.expression.operations import ANYWHERE, FAILING
from siena.model.expression.regular import QUOTING, compile_regular
from siena.model.expression.tree import walk
from siena.model.limits import REGULAR_CHARACTERS_MAX
from siena.spark.rules.distinct import (
    Attributes,
    Bools,
    Event,
    Places,
    Texts,
    Values,
)

# Values for which it pays to compile a pattern once more, for a whole column.
COLUMN_VALUES_MIN = 128
# Characters that one regular expression is made of at most, with room for its frame.
PATTERN_CHARACTERS_MAX = REGULAR_CHARACTERS_MAX // 2

Test = Callable[[Attributes, Places], Bools]
_FRAMES = {
    Operator.EQ: r"\A{}\z",
    Operator.PREFIX: r"\A{}",
    Operator.SUFFIX: r"{}\z",
    Operator.SUBSTRING: "{}",
}
# Of any attribute, not a named one.
_ANYWHERE = None


def decide(expression: Expression) -> Test:
    """The test of which rows of a batch an expression holds.

    >>> from siena.lang.expression import parse_expression
    >>> test = decide(parse_expression('[x * "ab"] or [x >* "cd"] or [y = 3]'))
    >>> events = {0: {"x": "cab"}, 1: {"x": "acd", "y": 3}, 2: {}}
    >>> test(Attributes(3, None, lambda _rows: events), np.arange(3)).tolist()
    [True, True, False]
    """
    for node in walk(expression):
        if isinstance(node, Call) and node.operation in FAILING:
            return _by_event(expression, lambda event: holds(expression, event))
    return _positive(expression)


def _positive(expression: Expression) -> Test:
    """Where it is true; unknown is as good as false."""
    match expression:
        case Literal(value):
            return lambda _attributes, rows: np.full(len(rows), value is True)
        case Call(Operation.AND, parts):
            return partial(_all, [_positive(part) for part in parts])
        case Call(Operation.OR, parts):
            return partial(_any, _alternatives(parts))
        case Call(Operation.HOLDS, (inner,)):
            return _positive(inner)
        case Call(Operation.EXCEPT, (left, right)):
            return partial(_all, [_positive(left), partial(_not, _positive(right))])
        case Call(Operation.NOT, (Call(Operation.HOLDS | Operation.EXCEPT) as inner,)):
            # These two are never unknown.
            return partial(_not, _positive(inner))
        case Call(Operation.NOT):
            return _plain(expression)
        case _:
            return _alternatives([expression])[0]


def _all(tests: Sequence[Test], attributes: Attributes, rows: Places) -> Bools:
    """Where all tests are passed, each asked of what the others have left."""
    left = np.arange(len(rows))
    for test in tests:
        if len(left):
            left = left[test(attributes, rows[left])]
    found = np.zeros(len(rows), np.bool_)
    found[left] = True
    return found


def _any(tests: Sequence[Test], attributes: Attributes, rows: Places) -> Bools:
    """Where one of the tests is passed, each asked of what the others have left."""
    left = np.arange(len(rows))
    for test in tests:
        if len(left):
            left = left[~test(attributes, rows[left])]
    found = np.ones(len(rows), np.bool_)
    found[left] = False
    return found


def _not(test: Test, attributes: Attributes, rows: Places) -> Bools:
    return ~test(attributes, rows)


def _alternatives(parts: Iterable[Expression]) -> list[Test]:
    """The tests of which one has to be passed: those of strings first, together."""
    patterns: dict[str | None, list[str]] = {}
    others: list[Test] = []
    for part in parts:
        found = _pattern(part)
        if found is not None:
            name, pattern = found
            patterns.setdefault(name, []).append(pattern)
        elif isinstance(part, Constraint):
            others.append(_constraint(part))
        elif isinstance(part, Call) and part.operation in _LOGIC:
            others.append(_positive(part))
        else:
            others.append(_plain(part))
    joined = [
        _string_test(name, test)
        for name, several in patterns.items()
        for test in _joined(several)
    ]
    return [*joined, *others]


_LOGIC = {
    Operation.AND,
    Operation.OR,
    Operation.HOLDS,
    Operation.EXCEPT,
    Operation.NOT,
}


def _constraint(constraint: Constraint) -> Test:
    """The test of one attribute, value by value."""
    name = constraint.name
    of_nothing = truth(constraint, None) is True

    def answer(values: Values) -> Bools:
        return _bools(truth(constraint, value) is True for value in values.values())

    def test(attributes: Attributes, rows: Places) -> Bools:
        attribute = attributes.of(name, rows)
        found = attribute.tell(rows, answer)
        return found | attribute.is_absent(rows) if of_nothing else found

    return test


def _plain(expression: Expression) -> Test:
    evaluate = compile_expression(expression)
    return _by_event(expression, lambda event: evaluate(event, []) is True)


def _by_event(expression: Expression, holds_of: Callable[[Event], bool]) -> Test:
    """The test of several attributes: each combination of their values once."""
    names = sorted(names_of(expression))
    if any(isinstance(n, Call) and n.operation in ANYWHERE for n in walk(expression)):
        return lambda attributes, rows: _bools(map(holds_of, attributes.events(rows)))

    def test(attributes: Attributes, rows: Places) -> Bools:
        found = [attributes.of(name, rows) for name in names]
        groups = np.zeros(len(rows), np.int64)
        firsts = np.arange(min(1, len(rows)))
        for attribute in found:
            # As few groups as there are, so that numbers stay small.
            joined = groups * (len(attribute.distinct) + 1) + attribute.codes[rows]
            _, firsts, groups = np.unique(
                joined, return_index=True, return_inverse=True
            )
        events: list[dict[str, Any]] = [{} for _ in firsts]
        for attribute in found:
            codes = attribute.codes[rows[firsts]]
            used, places = np.unique(codes, return_inverse=True)
            held: list[Any] = Values(attribute, used[used >= 0]).values()
            if len(held) < len(used):
                held.insert(0, None)  # the first code is that of no value
            for event, place in zip(events, places.tolist(), strict=True):
                if held[place] is not None:
                    event[attribute.name] = held[place]
        return np.asarray(_bools(map(holds_of, events))[groups])

    return test


def _bools(answers: Iterable[bool]) -> Bools:
    return np.fromiter(answers, np.bool_)


def _pattern(part: Expression) -> tuple[str | None, str] | None:
    """The attribute and the regular expression of a test of a string, if it is one."""
    match part:
        case Call(Operation.MATCHES, (Attribute(name), Literal(str() as pattern))):
            return _fitting(name, pattern)
        case Call(Operation.ANYWHERE_MATCHES, (Literal(str() as pattern),)):
            return _fitting(_ANYWHERE, pattern)
        case Constraint(name=name, operator=operator, value=str() as value, kind=kind):
            frame = _FRAMES.get(operator.exact)
            is_folded = operator is not operator.exact
            # Beyond ASCII, two tables of cases may differ.
            if frame is None or kind is not Kind.STRING:
                return None
            if is_folded and not value.isascii():
                return None
            pattern = frame.format(_escaped(value))
            return _fitting(name, f"(?i){pattern}" if is_folded else pattern)
        case _:
            return None


def _escaped(value: str) -> str:
    """The value as a pattern: with a backslash before what is no letter or digit."""
    return (
        re.sub(r"([^\w])", r"\\\1", value, flags=re.ASCII)
        if value.isascii()
        else ("".join(re.escape(c) if c.isascii() else c for c in value))
    )


def _fitting(name: str | None, pattern: str) -> tuple[str | None, str] | None:
    return (name, pattern) if len(pattern) < PATTERN_CHARACTERS_MAX else None


def _joined(patterns: Iterable[str]) -> list["_Pattern"]:
    """Tests of which one is passed wherever a pattern occurs."""
    tests: list[_Pattern] = []
    waiting: list[str] = []
    size = 0
    for pattern in patterns:
        if QUOTING in pattern:
            tests.append(_Pattern(pattern))
            continue
        if waiting and size + len(pattern) + 5 > PATTERN_CHARACTERS_MAX:
            tests += _compiled(waiting)
            waiting, size = [], 0
        waiting.append(pattern)
        size += len(pattern) + 5
    return [*tests, *_compiled(waiting)]


def _compiled(patterns: list[str]) -> list["_Pattern"]:
    if len(patterns) > 1:
        try:
            return [_Pattern("|".join(f"(?:{pattern})" for pattern in patterns))]
        except SienaError:
            pass  # too much for one automaton, or groups of one name
    return [_Pattern(pattern) for pattern in patterns]


class _Pattern:
    """A regular expression, asked of many strings."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.occurs_in = compile_regular(pattern)

    def __call__(self, texts: Texts) -> Bools:
        """In which of them it occurs."""
        if len(texts) >= COLUMN_VALUES_MIN:
            column = texts if isinstance(texts, pa.Array) else pa.array(texts)
            try:
                found = pc.match_substring_regex(column, self.pattern)
            except pa.ArrowInvalid:
                pass  # too much for the automaton that Arrow makes: one by one
            else:
                return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)
        strings = texts.to_pylist() if isinstance(texts, pa.Array) else texts
        return _bools(map(self.occurs_in, strings))


def _string_test(name: str | None, pattern: _Pattern) -> Test:
    if name is not _ANYWHERE:

        def occurs(attributes: Attributes, rows: Places) -> Bools:
            attribute = attributes.of(name, rows)
            return attribute.tell(rows, lambda values: values.strings(pattern))

        return occurs

    def occurs_anywhere(attributes: Attributes, rows: Places) -> Bools:
        found = np.zeros(len(rows), np.bool_)
        for each in attributes.names(rows):
            attribute = attributes.of(each, rows)
            found |= attribute.tell(rows, lambda values: values.texts(pattern))
        return found

    return occurs_anywhere
