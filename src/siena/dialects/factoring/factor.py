"""Factoring expressions into rules.

*Theory of operation.*  An expression is covered from the bottom up: of each part the
cover says where it is true, and of a negated part, where it is false.  ``and`` is a
product of alternatives and ``or`` a union.  ``except`` takes away, which needs an exact
cover of what is taken away; where there is none, it stays in the residual.

Where something may fail, order matters: the right side of ``or`` counts only where the
left side is false, and not where it failed.
"""

from collections.abc import Iterator

from siena.dialects.factoring.atoms import cover_condition
from siena.dialects.factoring.cover import (
    EVERYTHING,
    NOTHING,
    Alternatives,
    Cover,
    any_value,
    least,
    product,
    removed,
    union,
)
from siena.errors import LimitError
from siena.model import Constraint, Filter, Kind, Operator, Predicate
from siena.model.expression import (
    TRUE,
    Attribute,
    Call,
    Expression,
    Failure,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
    compile_expression,
    names_of,
)
from siena.model.expression.operations import FAILING, LOGIC
from siena.model.expression.rule import Rule
from siena.model.expression.tree import walk
from siena.model.operators import NEGATIONS


def factor(expression: Expression, *, many: frozenset[str] = frozenset()) -> Rule:
    """The rule that matches what an expression is true of.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> print(factor(parse("x * 2 > 6 and (y = 1 or y = 2)")))
    x > 3 and y = 1 or x > 3 and y = 2
    >>> print(factor(parse("x < y and [z = 1]")))
    x any and y any and z = 1, if x < y

    ``many`` are the names that may have several values each.
    """
    try:
        alternatives, rest = _Factoring(many).cover(expression)
    except LimitError:
        # It is as deep as an expression may be, and says no more deeper than that.
        return Rule(Predicate([Filter()]), expression)
    return Rule(Predicate(map(Filter, least(alternatives))), rest)


class _Factoring:
    """The walk over an expression."""

    def __init__(self, many: frozenset[str]) -> None:
        self.many = many
        # Both sides of an `xor` are asked for twice, and so are those inside it.
        self.known: dict[tuple[Expression, bool], Cover] = {}

    def cover(self, expression: Expression, *, negated: bool = False) -> Cover:
        """Where an expression is true, or where it is false."""
        key = expression, negated
        if key not in self.known:
            self.known[key] = self.find(expression, negated=negated)
        return self.known[key]

    def find(self, expression: Expression, *, negated: bool) -> Cover:
        """:meth:`cover` of what is not known yet."""
        match expression:
            case Literal(value):
                return Cover(EVERYTHING) if value is (not negated) else NOTHING
            case Attribute(name):
                constraint = Constraint(name, Operator.EQ, True)
                return self.constraint(constraint, negated=negated)
            case Constraint():
                return self.constraint(expression, negated=negated)
            case Call(operation, arguments):
                if operation is Operation.NOT:
                    return self.cover(arguments[0], negated=not negated)
                if operation in {Operation.AND, Operation.OR}:
                    return self.junction(expression, negated=negated)
                if operation is Operation.XOR:
                    return self.xor(*arguments, negated=negated)
                if operation in {Operation.EXCEPT, Operation.HOLDS}:
                    return self.two_valued(expression, negated=negated)
                if operation is Operation.SOME:
                    return self.some(expression, negated=negated)
                return cover_condition(
                    expression, negated=negated, many=self.many, cover=self.cover
                )

    def constraint(self, constraint: Constraint, *, negated: bool) -> Cover:
        """A constraint, or its negation on an attribute that is what it is about."""
        if not negated:
            return Cover([(constraint,)])
        opposite = negation(constraint)
        if constraint.name in self.many and not _is_about_presence(constraint):
            # Of several values none may satisfy it, which no constraint says.
            found = any_value(constraint.name)
            return Cover(found, call(Operation.NOT, constraint))
        return Cover([(opposite,)])

    def junction(self, whole: Call, *, negated: bool) -> Cover:
        """``and`` or ``or``, which negation makes of each other."""
        parts = [
            call(Operation.NOT, part) if negated else part for part in whole.arguments
        ]
        if (whole.operation is Operation.AND) is not negated:
            return product(self.independent(parts))
        stated: Expression = call(Operation.NOT, whole) if negated else whole
        if not may_fail(whole):
            return union([self.cover(part) for part in parts], stated)
        # A part counts only where no part before it failed.
        found: list[Cover] = []
        before = Cover(EVERYTHING)
        for part in parts:
            found.append(product([(before, stated), (self.cover(part), part)]))
            before = product([(before, stated), (not_failed(part), stated)])
        return union(found, stated)

    def independent(
        self, parts: list[Expression]
    ) -> Iterator[tuple[Cover, Expression]]:
        """The parts of a conjunction with their covers, to be multiplied.

        Two constraints on a multi-valued name may hold of two values, so that they
        never contradict each other.  Only the first part that looks at such a name
        stays in the cover; the others are for the residual.
        """
        taken: set[str] = set()
        for part in parts:
            cover = self.cover(part)
            names = self.names(cover.alternatives) & self.many
            yield (Cover(EVERYTHING, part) if names & taken else cover), part
            taken |= names

    def xor(self, one: Expression, other: Expression, *, negated: bool) -> Cover:
        """One of two but not both; negated, both or none."""
        ways = [
            all_of((one, other if negated else call(Operation.NOT, other))),
            all_of(
                (
                    call(Operation.NOT, one),
                    call(Operation.NOT, other) if negated else other,
                )
            ),
        ]
        return union([self.cover(way) for way in ways], any_of(ways))

    def some(self, whole: Call, *, negated: bool) -> Cover:
        """A condition on one value of an attribute, which may have several."""
        attribute, condition = whole.arguments
        assert isinstance(attribute, Attribute)
        name = attribute.name
        if name not in self.many:
            return self.cover(condition, negated=negated)
        if negated:
            return Cover(EVERYTHING, call(Operation.NOT, whole))
        # Of one value everything is true that is asked, and so of some value each part.
        alternatives, rest = _Factoring(self.many - {name}).cover(condition)
        alternatives = least(alternatives)
        several = any(sum(c.name == name for c in a) > 1 for a in alternatives)
        return Cover(alternatives, whole if several or rest is not None else None)

    def two_valued(self, whole: Call, *, negated: bool) -> Cover:
        """``except`` and ``holds``, which are never unknown and never fail."""
        first, *others = whole.arguments
        if negated:
            found = [Cover(self.complement(first))]
            found += [self.cover(other) for other in others]
            covered = union(found, call(Operation.NOT, whole))
            is_exact = found[0].alternatives is not EVERYTHING
            return (
                covered
                if is_exact
                else covered._replace(rest=call(Operation.NOT, whole))
            )
        alternatives, rest = self.cover(first)
        rests = [] if rest is None else [call(Operation.HOLDS, rest)]
        if others:
            alternatives, left = self.taken_away(alternatives, others[0])
            rests += left
        return Cover(alternatives, all_of(rests) if rests else None)

    def taken_away(
        self, alternatives: Alternatives, unwanted: Expression
    ) -> tuple[Alternatives, list[Expression]]:
        """What is left without the unwanted, and what of that is for the residual."""
        parts: tuple[Expression, ...] = (unwanted,)
        if _is_plain_or(unwanted):
            assert isinstance(unwanted, Call)
            parts = unwanted.arguments  # what can be taken away exactly is
        left: list[Expression] = []
        is_full = False
        for part in parts:
            found, rest = self.cover(part)
            is_exact = rest is None and not self.names(found) & self.many
            fewer = removed(alternatives, found) if is_exact and not is_full else None
            if fewer is None:
                left.append(part)
                # What was too much for one part would be so for those behind it.
                is_full = is_full or is_exact
            else:
                alternatives = fewer
        return alternatives, (
            [call(Operation.EXCEPT, TRUE, any_of(left))] if left else []
        )

    def complement(self, expression: Expression) -> Alternatives:
        """Where an expression is anything but true; everything if that is unclear."""
        alternatives, left = self.taken_away(EVERYTHING, expression)
        return EVERYTHING if left else alternatives

    def names(self, alternatives: Alternatives) -> frozenset[str]:
        """The names in alternatives that are about values, not about presence."""
        return frozenset(
            c.name for a in alternatives for c in a if not _is_about_presence(c)
        )


def negation(constraint: Constraint) -> Constraint:
    """The constraint that holds where this one is false, and not unknown.

    >>> from siena.lang.parser import parse_filter as parse
    >>> for text in ("x > 3", "x any", "integer x any", "x contains a"):
    ...     print(negation(*parse(text)))
    x <= 3
    x absent
    not integer x any
    x does not contain a
    """
    name, operator, kind, value = constraint
    if operator is Operator.ABSENT:
        return Constraint(name, Operator.ANY)
    if operator is Operator.OTHER:
        return Constraint(name, Operator.ANY, None, kind)
    if operator is Operator.ANY:
        if kind is Kind.ANY:
            return Constraint(name, Operator.ABSENT)
        return Constraint(name, Operator.OTHER, None, kind)
    return Constraint(name, NEGATIONS[operator], value, kind)


def may_fail(expression: Expression) -> bool:
    """Whether an expression may report a failure, other than one that is caught."""
    if not isinstance(expression, Call):
        return False
    if expression.operation in {Operation.EXCEPT, Operation.HOLDS}:
        return False
    return expression.operation in FAILING or any(map(may_fail, expression.arguments))


def not_failed(part: Expression) -> Cover:
    """Where a part reports no failure, whether it is true, false or unknown."""
    if not may_fail(part):
        return Cover(EVERYTHING)
    if not names_of(part):
        failures: list[Failure] = []
        compile_expression(part)({}, failures)
        return NOTHING if failures else Cover(EVERYTHING)
    there: set[Constraint] = set()
    is_exact = True
    for node in walk(part):
        if not isinstance(node, Call):
            continue
        if node.operation in LOGIC - {Operation.NOT}:
            return Cover(EVERYTHING, part)  # what is not evaluated does not fail
        if node.operation in {Operation.CE_VALUE, Operation.CE_TEXT}:
            (attribute,) = node.arguments
            is_text = node.operation is Operation.CE_TEXT
            if isinstance(attribute, Attribute):
                kind = Kind.STRING if is_text else Kind.ANY
                there.add(Constraint(attribute.name, Operator.ANY, None, kind))
        elif node.operation in FAILING - {Operation.CE_STRING}:
            is_exact = False  # a cast may fail of what is there
    return Cover([tuple(sorted(there))], None if is_exact else part)


def _is_plain_or(expression: Expression) -> bool:
    return (
        isinstance(expression, Call)
        and expression.operation is Operation.OR
        and not may_fail(expression)
    )


def _is_about_presence(constraint: Constraint) -> bool:
    return constraint.operator is Operator.ABSENT or (
        constraint.operator is Operator.ANY and constraint.kind is Kind.ANY
    )
