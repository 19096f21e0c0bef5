"""Reading SQL selectors into expressions.

::

    selector    ::=  conjunction ("or" conjunction)*
    conjunction ::=  negation ("and" negation)*
    negation    ::=  "not" negation | comparison
    comparison  ::=  sum (("=" | "<>" | "!=" | "<" | "<=" | ">" | ">=") sum
                  |  "is" ["not"] "null" | ["not"] "between" sum "and" sum
                  |  ["not"] "in" "(" sum, … ")"
                  |  ["not"] "like" pattern ["escape" pattern])*
    pattern     ::=  string | sum of constants
    sum         ::=  product (("+" | "-") product)*
    product     ::=  unary (("*" | "/" | "%") unary)*
    unary       ::=  ("+" | "-") unary | "(" selector ")" | "exists" "(" name ")"
                  |  literal | "null" | name

Logic is three-valued: what is compared with an absent property is unknown, and only
what is true matches.  Arithmetic on one property is solved
(:mod:`siena.dialects.factoring`).
"""

from siena.dialects.sql.defaults import with_defaults
from siena.dialects.sql.names import NameReader
from siena.dialects.sql.settling import settle
from siena.dialects.sql.strictness import (
    check_characters,
    check_token,
)
from siena.dialects.sql.tokens import (
    fail_at_number,
    read_number,
    read_pattern,
)
from siena.dialects.sql.values import (
    UNKNOWN,
    UNKNOWN_CONDITION,
    constant,
    is_unknown,
    may_be_true,
    negative,
    ordered,
)
from siena.dialects.sql.variants import VARIANTS
from siena.errors import SienaError
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
    names_of,
)

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
        found = settle(reader.selector(), settles_like=reader.variant.settles_like)
    except SienaError as error:
        raise error.at(text, min(reader.tokens.start, len(text))) from None
    reader.tokens.expect_end()
    return with_defaults(found, reader.variant.defaults)


class _Reader(NameReader):
    """The grammar above, the weaker rules by their strength."""

    def selector(self) -> Expression:
        """The whole text."""
        start = self.tokens.start
        return self.checked(self.climb(), start)

    def climb(self, weakest: int = 0) -> Expression:
        if self.variant.is_strict and weakest > _NOT and self.tokens.at("not"):
            self.tokens.fail("not stands before a condition, or in parentheses")
        return super().climb(weakest)

    def strength(self) -> int | None:
        if not self.variant.has_between and self.tokens.at("between"):
            return None
        return _STRENGTHS.get(self.tokens.word)

    def joined(self, left: Expression, strength: int, start: int) -> Expression:
        tokens = self.tokens
        word = tokens.word
        if strength == _TEST:
            found = self.compared_with(left, start)
            if self.variant.is_strict and self.strength() == _TEST:
                tokens.fail("a comparison is compared in parentheses only")
            return found
        tokens.advance()
        behind = tokens.start
        right = self.climb(strength + 1)
        if strength in {_OR, _AND}:
            parts = self.checked(left, start), self.checked(right, behind)
            return any_of(parts) if strength == _OR else all_of(parts)
        return self.computed(word, left, right)

    def computed(self, sign: str, left: Expression, right: Expression) -> Expression:
        """What a sign of arithmetic between two values means."""
        if sign == "/":
            return call(self.variant.quotient, left, right)
        if sign == "%":
            return call(self.variant.remainder, left, right)
        if sign == "+" and not self.variant.adds_strings:
            # A difference is one of numbers.
            return call(Operation.SUBTRACT, left, negative(right))
        return call(Operation(sign), left, right)

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

    def compared_with(self, left: Expression, start: int) -> Expression:
        """What follows a value that is compared, or tested in another way."""
        tokens = self.tokens
        if tokens.token in _COMPARISONS:
            operation = _COMPARISONS[tokens.token]
            tokens.advance()
            return self.compared(operation, left, self.sum(), start)
        if tokens.take("is"):
            return self.null(left, start)
        negated = tokens.take("not")
        if self.variant.has_between and tokens.take("between"):
            return self.between(left, start, negated=negated)
        found = self.tested(left)
        return call(Operation.NOT, found) if negated else found

    def between(self, subject: Expression, start: int, *, negated: bool) -> Expression:
        """Two comparisons: false both, for values that have no order to each other."""
        low = self.sum()
        self.tokens.expect("and", "after the first end of between")
        if negated:
            bounds = (Operation.LT, low), (Operation.GT, self.sum())
        else:
            bounds = (Operation.GE, low), (Operation.LE, self.sum())
        found = [self.compared(o, subject, bound, start) for o, bound in bounds]
        return any_of(found) if negated else all_of(found)

    def sum(self) -> Expression:
        """A value that is computed, without comparisons in it."""
        return self.climb(_SUM)

    def null(self, subject: Expression, start: int) -> Expression:
        negated = self.tokens.take("not")
        self.tokens.expect("null")
        is_inside = self.variant.is_strict and self.tokens.text[start] == "("
        if not isinstance(subject, Attribute) or is_inside:
            self.tokens.fail("only a name is null or not")
        operator = Operator.ANY if negated else Operator.ABSENT
        return Constraint(subject.name, operator)

    def tested(self, subject: Expression) -> Expression:
        tokens = self.tokens
        if tokens.take("in"):
            return self.member(subject, self.members())
        if not tokens.take("like"):
            expected = (
                "between, in or like" if self.variant.has_between else "in or like"
            )
            tokens.fail(f"expected {expected}, found {tokens.describe()}")
        place = tokens.start
        pattern = self.text("like", "a quoted pattern")
        mark: str | None = ""
        if tokens.take("escape"):
            mark = self.text("escape", "a quoted character")
            if mark is not None and len(mark) != 1:
                tokens.fail("an escape is one character")
        if pattern is None or mark is None or is_unknown(subject):
            return UNKNOWN_CONDITION
        if self.variant.is_strict:
            check_characters(tokens, pattern, place)
        pattern = read_pattern(tokens, pattern, mark, self.variant)
        # Not as the constraint that it may be: settling has to know it is a `like`.
        return Call(Operation.LIKE, (subject, Literal(pattern)))

    def text(self, word: str, what: str) -> str | None:
        """A text that is known beforehand; None if it is computed from NULL.

        If it is neither, the error says what stands behind which word.
        """
        if not self.variant.computes_constants:
            return self.string(f"{word} wants {what}")
        start = self.tokens.start
        found = self.sum()
        if names_of(found):
            hint = f"{what} that a property has is not read"
            text = f"{word} wants constants behind it"
            self.tokens.fail(text, hint=hint, position=start)
        value = constant(found)
        if isinstance(value, str):
            return value
        if not is_unknown(found):
            text = f"{word} wants {what}, and this is no text"
            self.tokens.fail(text, position=start)
        return None

    def member(self, subject: Expression, members: list[Expression]) -> Expression:
        """Whether a value is one of these; unknown if it is absent."""
        if is_unknown(subject):
            return UNKNOWN_CONDITION
        if any(map(is_unknown, members)):
            known = [m for m in members if not is_unknown(m)]
            found = [self.member(subject, known)] if known else []
            return any_of((*found, UNKNOWN_CONDITION))
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
        if self.variant.is_strict:
            check_token(tokens)
            if tokens.at("+", "-", "not"):
                tokens.fail("a sign stands before a value, or a parenthesis")
        is_binary = tokens.token[:2] in {"0x", "0X"}
        if tokens.kind == "number" and sign == "-" and not is_binary:
            # With its sign, for the least integer has no opposite.
            value = read_number(tokens, variant=self.variant, sign=-1)
            tokens.advance()
            return Literal(value)
        inner = self.climb(_SIGN)
        if sign == "-":
            return negative(inner)
        if isinstance(inner, Literal) and type(inner.value) in {int, float}:
            return inner
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
        if tokens.kind == "misspelled":
            fail_at_number(tokens)
        if tokens.kind == "string" or self.at_quoted_string():
            return Literal(self.string(""))
        if tokens.at("true", "false"):
            found = Literal(tokens.word == "true")
            tokens.advance()
            return found
        if self.variant.computes_constants and tokens.take("null"):
            return UNKNOWN
        if tokens.at("exists"):
            tokens.advance()
            tokens.expect("(", "after exists")
            name = self.name()
            tokens.expect(")", "after the name")
            return Constraint(name, Operator.ANY)
        return Attribute(self.name())

    def compared(
        self, operation: Operation, left: Expression, right: Expression, start: int
    ) -> Expression:
        """A comparison of two values."""
        if is_unknown(left) or is_unknown(right):
            return UNKNOWN_CONDITION
        if operation in {Operation.EQ, Operation.NE}:
            return call(operation, left, right)
        if not self.variant.orders_anything:
            for side in (left, right):
                if isinstance(side, Literal) and isinstance(side.value, (str, bool)):
                    hint = "strings and booleans are compared with = and <>"
                    self.tokens.fail("these have no order", hint=hint, position=start)
        return ordered(operation, left, right)

    def checked(self, found: Expression, start: int) -> Expression:
        """What can be true or false."""
        if self.variant.wants_conditions and not may_be_true(found):
            self.tokens.fail("this is neither true nor false", position=start)
        return found
