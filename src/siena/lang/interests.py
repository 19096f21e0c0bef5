"""Reading interests: filters, predicates and patterns.

::

    pattern      ::=  predicate ("then" predicate)*
    predicate    ::=  disjunction ("except" disjunction)*
    disjunction  ::=  conjunction ("or" conjunction)*
    conjunction  ::=  factor (("and" | ",") factor)*
    factor       ::=  "not" factor | constraint
                   |  "(" predicate ")" | "[" [predicate] "]"
    constraint   ::=  [type] name condition
    condition    ::=  "any" | "absent"
                   |  (operator literal | ["not"] "in" list) ["ignoring" "case"]
    list         ::=  "(" literal ("," literal)* ")"

``not`` is pushed inward while reading: below it every ``or`` means *and*, every
``and`` means *or*, and every constraint is negated, on an attribute that is
present and of the same kind.  ``A except B`` is about what holds and what does not,
with nothing between, so its negation is ``not A or B``.  A rule therefore always
returns a disjunction of conjunctions, multiplied out step by step and refused at the
first step that is too large: nothing explodes before it is refused.
"""

import math

from siena.errors import LimitError
from siena.lang.constraints import ConstraintReader
from siena.lang.pieces import read_piece
from siena.model import Constraint, Kind, Operator
from siena.model.difference import without
from siena.model.limits import FILTERS_MAX, NESTING_MAX, STEPS_MAX
from siena.model.operators import NEGATIONS, WITHOUT_OPERAND
from siena.model.values import after_prefix

Alternatives = list[tuple[Constraint, ...]]
"""A disjunction of conjunctions."""


class InterestReader(ConstraintReader):
    """The grammar above, one method per rule."""

    __slots__ = ("depth",)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    def pattern(self, steps_max: int = STEPS_MAX) -> list[Alternatives]:
        """The whole text: its steps."""
        steps = [self.predicate(negated=False)]
        while self.scanner.keyword == "then":
            if len(steps) == steps_max == 1:
                self.scanner.fail("this is a pattern, and a filter is wanted")
            if len(steps) == steps_max:
                what = "steps in a pattern"
                self.refuse("STEPS_MAX", STEPS_MAX, what, self.scanner.start)
            self.scanner.advance()
            steps.append(self.predicate(negated=False))
        self.expect_end()
        return steps

    def predicate(self, *, negated: bool) -> Alternatives:
        """A disjunction, and what is taken away from it by ``except``."""
        start = self.scanner.start
        found = self.disjunction(negated=negated)
        while self.at_word("except"):
            self.scanner.advance()
            taken = self.disjunction(negated=False)
            if negated:
                self.check_parts([found, taken], start, conjoined=False)
                found = self.any_of([found, taken])
            else:
                found = self.remainder(found, taken, start)
        return found

    def disjunction(self, *, negated: bool) -> Alternatives:
        """Conjunctions joined by ``or``."""
        start = self.scanner.start
        parts = [self.conjunction(negated=negated)]
        while self.scanner.keyword == "or":
            self.scanner.advance()
            self.append(parts, self.conjunction(negated=negated), conjoined=negated)
            self.check_parts(parts, start, conjoined=negated)
        return self.all_of(parts, start) if negated else self.any_of(parts)

    def conjunction(self, *, negated: bool) -> Alternatives:
        """Factors joined by ``and`` or a comma."""
        start = self.scanner.start
        parts = [self.factor(negated=negated)]
        while self.at_and():
            self.scanner.advance()
            self.append(parts, self.factor(negated=negated), conjoined=not negated)
            self.check_parts(parts, start, conjoined=not negated)
        return self.any_of(parts) if negated else self.all_of(parts, start)

    def factor(self, *, negated: bool) -> Alternatives:
        """A constraint, a group, or the negation of either."""
        scanner = self.scanner
        is_group = scanner.token in {"(", "["}
        if not is_group and scanner.keyword != "not":
            return self.constraint(negated=negated)
        if self.depth == NESTING_MAX:
            what = "levels of parentheses and not"
            self.refuse("NESTING_MAX", NESTING_MAX, what, scanner.start)
        self.depth += 1
        if is_group:
            inside = self.group(negated=negated)
        else:
            scanner.advance()
            inside = self.factor(negated=not negated)
        self.depth -= 1
        return inside

    def group(self, *, negated: bool) -> Alternatives:
        """What parentheses or brackets enclose; ``[]`` is the empty filter."""
        start = self.scanner.start
        closing = ")" if self.scanner.token == "(" else "]"
        self.scanner.advance()
        if closing == "]" and self.at("]"):
            self.scanner.advance()
            return [] if negated else [()]  # nothing, or everything
        inside = self.predicate(negated=negated)
        self.expect(closing, f"to close column {start + 1}")
        return inside

    def constraint(self, *, negated: bool) -> Alternatives:
        """One condition on one attribute, or on its membership in a list."""
        start = self.scanner.start
        piece = read_piece(self.scanner.text, start)
        # What became `any` was perhaps another operator, whose negation is another.
        if piece and not (negated and piece[0].operator is Operator.ANY):
            constraint, end = piece
            self.scanner.skip_to(end)
            if not self.at_word("ignoring"):
                return self.negation(constraint) if negated else [(constraint,)]
            self.scanner.skip_to(start)
        kind, name = self.subject()
        if self.scanner.keyword in {"in", "not"} and not self.at_not_like():
            return self.membership(kind, name, negated=negated)
        operator = self.operator()
        if operator in WITHOUT_OPERAND:
            return [(self.presence(kind, name, operator, start, negated=negated),)]
        constraint = self.operand(kind, name, operator, negated=negated)
        if negated and operator is Operator.PREFIX:
            return self.beside_prefix(constraint)
        return [(constraint,)]

    def presence(
        self,
        kind: Kind | None,
        name: str,
        operator: Operator,
        position: int,
        *,
        negated: bool,
    ) -> Constraint:
        """``any`` and ``absent``, of which each is the negation of the other."""
        if operator is Operator.ABSENT and kind is not None:
            hint = f"write not {kind.word} … any for one of another type"
            self.scanner.fail(
                "what is absent has no type", hint=hint, position=position
            )
        if negated:
            operator = Operator.ABSENT if operator is Operator.ANY else Operator.ANY
        if operator is Operator.ABSENT and kind is not None:
            operator = Operator.OTHER
        return Constraint(name, operator, None, kind)

    def membership(
        self, kind: Kind | None, name: str, *, negated: bool
    ) -> Alternatives:
        """``in (…)`` and ``not in (…)``."""
        start = self.scanner.start
        if self.scanner.keyword == "not":
            self.scanner.advance()
            negated = not negated
        if self.scanner.keyword != "in":
            self.scanner.fail(f"expected in, found {self.scanner.describe()}")
        self.scanner.advance()
        operator = Operator.NE if negated else Operator.EQ
        members: list[Alternatives] = [
            [(constraint,)] for constraint in self.members(kind, name, operator)
        ]
        self.check_parts(members, start, conjoined=negated)
        return self.all_of(members, start) if negated else self.any_of(members)

    def negation(self, constraint: Constraint) -> Alternatives:
        """What holds of a present attribute of the kind where this does not."""
        name, operator, kind, value = constraint
        found = Constraint.trusted(name, NEGATIONS[operator], value, kind)
        return self.beside_prefix(found) if operator is Operator.PREFIX else [(found,)]

    def beside_prefix(self, constraint: Constraint) -> Alternatives:
        """What has another beginning, as bounds.

        Strings with a prefix are an interval; the others lie below or above it.
        """
        name, operator, kind, value = constraint
        if operator is not Operator.NOT_PREFIX:
            return [(constraint,)]
        assert isinstance(value, str)
        below = (Constraint(name, Operator.LT, value, kind),)
        end = after_prefix(value)
        if end is None:
            return [below]
        return [below, (Constraint(name, Operator.GE, end, kind),)]

    def remainder(
        self, found: Alternatives, taken: Alternatives, start: int
    ) -> Alternatives:
        """What is left of alternatives where others are taken away."""
        try:
            return without(found, taken)
        except LimitError as error:
            raise error.at(self.scanner.text, start) from None

    def append(
        self, parts: list[Alternatives], part: Alternatives, *, conjoined: bool
    ) -> None:
        """Add a part, unless it adds nothing: else nothing would bound their number."""
        if part or conjoined:
            parts.append(part)

    def check_parts(
        self, parts: list[Alternatives], start: int, *, conjoined: bool
    ) -> None:
        """Refuse what must become too large, before the rest of it is read."""
        sizes = map(len, parts)
        if (math.prod(sizes) if conjoined else sum(sizes)) > FILTERS_MAX:
            self.refuse("FILTERS_MAX", FILTERS_MAX, "filters in a predicate", start)
        if conjoined:
            self.check_count(len(parts), start)

    def any_of(self, parts: list[Alternatives]) -> Alternatives:
        """The disjunction of the parts, whose number has been checked."""
        if len(parts) == 1:
            return parts[0]
        return [alternative for part in parts for alternative in part]

    def all_of(self, parts: list[Alternatives], start: int) -> Alternatives:
        """The conjunction of the parts, multiplied out; their number was checked."""
        if len(parts) == 1:
            return parts[0]
        # Parts with one alternative multiply nothing: gather them in one step.
        common = tuple(c for part in parts if len(part) == 1 for c in part[0])
        product: Alternatives = [common]
        self.check_count(len(common), start)
        for part in (part for part in parts if len(part) != 1):
            product = [left + right for left in product for right in part]
            self.check_count(max(map(len, product), default=0), start)
        return product
