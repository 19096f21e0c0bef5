"""Reading SQL selectors into expressions.

::

    selector    ::=  conjunction ("or" conjunction)*
    conjunction ::=  negation ("and" negation)*
    negation    ::=  "not" negation | comparison
    comparison  ::=  sum (("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") sum
                  |  "is" ["not"] "null" | ["not"] "between" sum "and" sum
                  |  ["not"] "in" "(" sum, … ")"
                  |  ["not"] "like" string ["escape" string])*
    sum         ::=  product (("+" | "-") product)*
    product     ::=  unary (("*" | "/" | "%") unary)*
    unary       ::=  ("+" | "-") unary | "(" selector ")" | "exists" "(" name ")"
                  |  literal | name

Logic is three-valued: what is compared with an absent property is unknown, and only
what is true matches.  Arithmetic on one property is solved
(:mod:`siena.dialects.factoring`).
"""

from siena.dialects.sql.settling import settle
from siena.dialects.sql.strictness import check_characters, check_field, check_token
from siena.dialects.sql.tokens import (
    RESERVED,
    TOKEN,
    read_number,
    read_pattern,
    unquoted,
)
from siena.dialects.sql.variants import VARIANTS, Variant
from siena.errors import SienaError
from siena.lang.expression.climbing import Climber
from siena.model import Constraint, Operator
from siena.model.expression import (
    TRUE,
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
)
from siena.model.expression.operations import CONDITIONS, LOGIC

_COMPARISONS = {
    "=": Operation.EQ,
    "<>": Operation.NE,
    "!=": Operation.NE,
    "<": Operation.LT,
    "<=": Operation.LE,
    ">": Operation.GT,
    ">=": Operation.GE,
}
# How strongly what joins two values does so.
_OR, _AND, _NOT, _TEST, _SUM, _PRODUCT, _SIGN = range(7)
_STRENGTHS = {
    "or": _OR,
    "and": _AND,
    **dict.fromkeys((*_COMPARISONS, "is", "not", "between", "in", "like"), _TEST),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "%"), _PRODUCT),
}


def read_sql(text: str, variant: str = "sql") -> Expression:
    """The expression of a selector.

    >>> from siena.dialects.factoring import factor
    >>> print(factor(read_sql("price * 2 > 7 AND symbol IN ('DIS', 'KO')")))
    price > 3.5 and symbol = DIS or price > 3.5 and symbol = KO
    """
    if variant == "sql" and not text.strip():
        return TRUE  # no selector, as Jakarta Messaging has it
    reader = _Reader(text, VARIANTS[variant])
    try:
        found = settle(reader.selector())
    except SienaError as error:
        raise error.at(text, min(reader.tokens.start, len(text))) from None
    reader.tokens.expect_end()
    return found


class _Reader(Climber[Expression]):
    """The grammar above, the weaker rules by their strength."""

    def __init__(self, text: str, variant: Variant) -> None:
        super().__init__(text, TOKEN)
        self.variant = variant

    def selector(self) -> Expression:
        """The whole text."""
        start = self.tokens.start
        return self.checked(self.climb(), start)

    def strength(self) -> int | None:
        return _STRENGTHS.get(self.tokens.word)

    def joined(self, left: Expression, strength: int, start: int) -> Expression:
        tokens = self.tokens
        word = tokens.word
        if strength == _TEST:
            return self.compared_with(left)
        tokens.advance()
        behind = tokens.start
        right = self.climb(strength + 1)
        if strength in {_OR, _AND}:
            parts = self.checked(left, start), self.checked(right, behind)
            return any_of(parts) if strength == _OR else all_of(parts)
        return call(Operation(word), left, right)

    def operand(self) -> Expression:
        tokens = self.tokens
        if self.variant.is_strict:
            check_token(tokens)
        if tokens.take("not"):
            start = tokens.start
            return call(Operation.NOT, self.checked(self.climb(_NOT), start))
        if tokens.at("+", "-"):
            return self.signed()
        return self.primary()

    def compared_with(self, left: Expression) -> Expression:
        """What follows a value that is compared, or tested in another way."""
        tokens = self.tokens
        if tokens.token in _COMPARISONS:
            operation = _COMPARISONS[tokens.token]
            tokens.advance()
            return compared(operation, left, self.sum())
        if tokens.take("is"):
            return self.null(left)
        negated = tokens.take("not")
        found = self.tested(left)
        return call(Operation.NOT, found) if negated else found

    def sum(self) -> Expression:
        """A value that is computed, without comparisons in it."""
        return self.climb(_SUM)

    def null(self, subject: Expression) -> Expression:
        negated = self.tokens.take("not")
        self.tokens.expect("null")
        if not isinstance(subject, Attribute):
            self.tokens.fail("only a name is null or not")
        operator = Operator.ANY if negated else Operator.ABSENT
        return Constraint(subject.name, operator)

    def tested(self, subject: Expression) -> Expression:
        tokens = self.tokens
        if tokens.take("between"):
            low = self.sum()
            tokens.expect("and", "after the first end of between")
            bounds = ((Operation.GE, low), (Operation.LE, self.sum()))
            return all_of(compared(o, subject, bound) for o, bound in bounds)
        if tokens.take("in"):
            return self.member(subject, self.members())
        if not tokens.take("like"):
            found = tokens.describe()
            tokens.fail(f"expected between, in or like, found {found}")
        start = tokens.start
        pattern = self.string("like wants a quoted pattern")
        mark = ""
        if tokens.take("escape"):
            mark = self.string("escape wants a quoted character")
            if len(mark) != 1:
                tokens.fail("an escape is one character")
        if self.variant.is_strict:
            check_characters(tokens, pattern, start)
        pattern = read_pattern(tokens, pattern, mark, self.variant)
        return call(Operation.LIKE, subject, Literal(pattern))

    def member(self, subject: Expression, members: list[Expression]) -> Expression:
        """Whether a value is one of these; unknown if it is absent."""
        computed = [m for m in members if not isinstance(m, Literal)]
        if self.variant.knows_members or not computed:
            return call(Operation.ONE_OF, subject, *members)
        # A member that is absent is none, and says nothing about the others.
        known = [m for m in members if isinstance(m, Literal)]
        listed = (
            call(Operation.ONE_OF, subject, *known)
            if known
            else call(Operation.NE, subject, subject)
        )
        equal = (call(Operation.EQ, subject, member) for member in computed)
        return any_of((listed, *(call(Operation.HOLDS, each) for each in equal)))

    def members(self) -> list[Expression]:
        tokens = self.tokens
        tokens.expect("(", "after in")
        found = [self.sum()]
        while tokens.take(","):
            found.append(self.sum())
        tokens.expect(")", "after the members")
        return found

    def signed(self) -> Expression:
        tokens = self.tokens
        sign = tokens.token
        tokens.advance()
        if tokens.kind == "number" and sign == "-" and not tokens.word.startswith("0x"):
            # With its sign, for the least integer has no opposite.
            if self.variant.is_strict:
                check_token(tokens)
            value = read_number(tokens, variant=self.variant, sign=-1)
            tokens.advance()
            return Literal(value)
        inner = self.climb(_SIGN)
        if isinstance(inner, Literal) and type(inner.value) in {int, float}:
            assert isinstance(inner.value, (int, float))
            return Literal(-inner.value) if sign == "-" else inner
        if sign == "-":
            return call(Operation.NEGATIVE, inner)
        return call(Operation.ADD, Literal(0), inner)  # so that it is a number

    def primary(self) -> Expression:
        tokens = self.tokens
        if tokens.take("("):
            found = self.climb()
            tokens.expect(")")
            return found
        if tokens.kind == "number":
            value = read_number(tokens, variant=self.variant)
            tokens.advance()
            return Literal(value)
        if tokens.kind == "string" or self.at_quoted_string():
            return Literal(self.string(""))
        if tokens.at("true", "false"):
            found = Literal(tokens.word == "true")
            tokens.advance()
            return found
        if tokens.at("exists"):
            tokens.advance()
            tokens.expect("(", "after exists")
            name = self.name()
            tokens.expect(")", "after the name")
            return Constraint(name, Operator.ANY)
        return Attribute(self.name())

    def name(self) -> str:
        """The name of a property, with the section it is in."""
        tokens = self.tokens
        if tokens.kind in {"quoted", "bracketed"} and not self.at_quoted_string():
            found = unquoted(tokens.token)
            tokens.advance()
            return found
        if tokens.kind != "word" or tokens.word in RESERVED:
            what = "a name in brackets or quotes may be any word"
            tokens.fail(f"expected a value, found {tokens.describe()}", hint=what)
        found, start = tokens.token, tokens.start
        tokens.advance()
        if tokens.at("("):
            tokens.fail(f'there is no function "{found}" in a filter', position=start)
        while tokens.at(".") and tokens.start == start + len(found):
            tokens.advance()
            if tokens.kind != "word":
                tokens.fail(
                    f"expected a name behind the dot, found {tokens.describe()}"
                )
            found += "." + tokens.token
            tokens.advance()
        section, dot, rest = found.partition(".")
        if dot and section in self.variant.sections:
            section = self.variant.sections[section]
            if self.variant.is_strict:
                check_field(tokens, section, rest, start)
            return section + rest
        if dot and self.variant.is_strict:
            sections = ", ".join(self.variant.sections)
            hint = f"sections are {sections}; a name in brackets may have dots"
            tokens.fail(f"{found[:40]} is in no section", hint=hint, position=start)
        return found

    def at_quoted_string(self) -> bool:
        return self.tokens.kind == "quoted" and not self.variant.quoted_names

    def string(self, otherwise: str) -> str:
        tokens = self.tokens
        if tokens.kind != "string" and not self.at_quoted_string():
            tokens.fail(f"{otherwise}, found {tokens.describe()}")
        found = unquoted(tokens.token)
        tokens.advance()
        return found

    def checked(self, found: Expression, start: int) -> Expression:
        """What can be true or false."""
        if self.variant.wants_conditions and not _may_be_true(found):
            self.tokens.fail("this is neither true nor false", position=start)
        return found


def compared(operation: Operation, left: Expression, right: Expression) -> Expression:
    """A comparison; booleans have no order, and are not like what has one."""
    if operation not in {Operation.EQ, Operation.NE}:
        for side, other in ((left, right), (right, left)):
            if isinstance(side, Literal) and isinstance(side.value, bool):
                # False of anything that is there: nothing is like a number and a text.
                tests = (call(Operation.ALIKE, other, Literal(v)) for v in (0, ""))
                return all_of(tests)
    return call(operation, left, right)


def _may_be_true(expression: Expression) -> bool:
    match expression:
        case Literal(value):
            return isinstance(value, bool)
        case Call(operation, _):
            return operation in LOGIC | CONDITIONS
        case _:
            return True
