"""Residuals, decided fast: many tests of one string in one pass.

What public rules leave to residuals are mostly long alternatives: a thousand strings of
which one has to occur, a dozen regular expressions, words that may stand anywhere.
Those about one attribute become one regular expression, whose automaton reads a value
once.  Values repeat, so that what was found is remembered for a while.

Only whether a residual is *true* is asked for.  Where nothing above a part negates it,
unknown is as good as false; what is negated otherwise, or may fail, is left to
:func:`siena.model.expression.holds`, which is also the twin of all this in the tests.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

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
)
from siena.model.expression.evaluation import satisfies
from siena.model.expression.operations import FAILING
from siena.model.expression.regular import compile_regular
from siena.model.expression.tree import walk
from siena.model.limits import REGULAR_CHARACTERS_MAX
from siena.model.spelling import spell

# Values of which each test remembers what it found.
VALUES_MAX = 2_048
# Characters that one regular expression is made of at most, with room for its frame.
PATTERN_CHARACTERS_MAX = REGULAR_CHARACTERS_MAX // 2

Event = Mapping[str, Any]
Test = Callable[[Event], bool]
_FRAMES = {
    Operator.EQ: r"\A{}\z",
    Operator.PREFIX: r"\A{}",
    Operator.SUFFIX: r"{}\z",
    Operator.SUBSTRING: "{}",
}
# Of any attribute, not a named one.
_ANYWHERE = None


def decide(expression: Expression) -> Test:
    """The test whether an expression holds of an event.

    >>> from siena.lang.expression import parse_expression
    >>> test = decide(parse_expression('[x * "ab"] or [x >* "cd"] or [y = 3]'))
    >>> test({"x": "cab"}), test({"x": "acd", "y": 3}), test({})
    (True, True, False)
    """
    for node in walk(expression):
        if isinstance(node, Call) and node.operation in FAILING:
            return lambda event: holds(expression, event)
    return _positive(expression)


def _positive(expression: Expression) -> Test:
    """Whether it is true, where unknown is as good as false."""
    match expression:
        case Literal(value):
            return lambda _event: value is True
        case Attribute(name):
            return lambda event: event.get(name) is True
        case Call(Operation.AND, parts):
            tests = [_positive(part) for part in parts]
            return lambda event: all(test(event) for test in tests)
        case Call(Operation.OR, parts):
            tests = _alternatives(parts)
            return lambda event: any(test(event) for test in tests)
        case Call(Operation.HOLDS, (inner,)):
            return _positive(inner)
        case Call(Operation.EXCEPT, (left, right)):
            return _except(_positive(left), _positive(right))
        case Call(Operation.NOT, (Call(Operation.HOLDS | Operation.EXCEPT) as inner,)):
            # These two are never unknown.
            test = _positive(inner)
            return lambda event: not test(event)
        case Call(Operation.NOT):
            return _plain(expression)
        case _:
            return _alternatives([expression])[0]


def _except(left: Test, right: Test) -> Test:
    return lambda event: left(event) and not right(event)


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
    return lambda event: satisfies(constraint, event)


def _plain(expression: Expression) -> Test:
    evaluate = compile_expression(expression)
    return lambda event: evaluate(event, []) is True


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


def _joined(patterns: Iterable[str]) -> list[Callable[[str], bool]]:
    """Tests of which one is passed wherever a pattern occurs."""
    tests: list[Callable[[str], bool]] = []
    waiting: list[str] = []
    size = 0
    for pattern in patterns:
        if waiting and size + len(pattern) + 5 > PATTERN_CHARACTERS_MAX:
            tests += _compiled(waiting)
            waiting, size = [], 0
        waiting.append(pattern)
        size += len(pattern) + 5
    return [*tests, *_compiled(waiting)]


def _compiled(patterns: list[str]) -> list[Callable[[str], bool]]:
    if not patterns:
        return []
    try:
        whole = "|".join(f"(?:{pattern})" for pattern in patterns)
        return [_remembering(compile_regular(whole))]
    except SienaError:
        if len(patterns) == 1:
            raise
        # Too much for one automaton, or groups of one name: each for itself.
        return [test for pattern in patterns for test in _compiled([pattern])]


def _remembering(test: Callable[[str], bool]) -> Callable[[str], bool]:
    found: dict[str, bool] = {}

    def remembered(value: str) -> bool:
        answer = found.get(value)
        if answer is None:
            if len(found) >= VALUES_MAX:
                found.clear()
            answer = found[value] = test(value)
        return answer

    return remembered


def _string_test(name: str | None, test: Callable[[str], bool]) -> Test:
    if name is _ANYWHERE:
        return lambda event: any(
            test(value if isinstance(value, str) else spell(value))
            for value in event.values()
        )

    def occurs(event: Event) -> bool:
        value = event.get(name)
        return isinstance(value, str) and test(value)

    return occurs
