"""Alternatives about one attribute, asked together.

Rules of others list hundreds of names and words, of which a value has to be, begin
with, end with or contain one.  Asked one by one, each folds the value anew; together,
a value is folded once, and is remembered with its answer.
"""

from collections.abc import Callable, Iterable, Sequence

from siena.model.constraint import Constraint
from siena.model.expression.regular import remembering
from siena.model.folding import fold
from siena.model.operators import Operator
from siena.model.values import Kind

_JOINED = {Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING}


def is_joined(constraint: Constraint) -> bool:
    """Whether a constraint is one that is asked together with others."""
    return constraint.kind is Kind.STRING and constraint.operator.exact in _JOINED


def one_of(constraints: Sequence[Constraint]) -> Callable[[object], bool | None]:
    """The test whether a string satisfies one of these; unknown of what is no string.

    >>> from siena.lang.parser import parse_filter as parse
    >>> texts = ["x >* ab", "x *< cd ignoring case", "x * ef"]
    >>> test = one_of([each for text in texts for each in parse(text)])
    >>> test("abc"), test("bCD"), test("E F"), test(3)
    (True, True, False, None)
    """
    exact = _Texts(c for c in constraints if c.operator is c.operator.exact)
    folded = _Texts(c for c in constraints if c.operator is not c.operator.exact)
    asked = remembering(lambda text: exact.hold(text) or folded.hold(fold(text)))
    return lambda value: asked(value) if isinstance(value, str) else None


class _Texts:
    """Texts of which a value has to be, begin with, end with or contain one."""

    def __init__(self, constraints: Iterable[Constraint]) -> None:
        found: dict[Operator, list[str]] = {operator: [] for operator in _JOINED}
        for constraint in constraints:
            found[constraint.operator.exact].append(str(constraint.value))
        self.wholes = frozenset(found[Operator.EQ])
        self.beginnings = tuple(found[Operator.PREFIX])
        self.ends = tuple(found[Operator.SUFFIX])
        self.parts = tuple(found[Operator.SUBSTRING])

    def hold(self, text: str) -> bool:
        """Whether one of them does."""
        return (
            text in self.wholes
            or text.startswith(self.beginnings)
            or text.endswith(self.ends)
            or any(map(text.__contains__, self.parts))
        )
