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

from siena.dialects.sql.defaults import with_defaults
from siena.dialects.sql.settling import settle
from siena.dialects.sql.strictness import (
    KEYWORDS,
    check_characters,
    check_field,
    check_token,
)
from siena.dialects.sql.tokens import (
    RESERVED,
    STRICT_TOKEN,
    TOKEN,
    fail_at_number,
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
        found = settle(reader.selector(), settles_like=reader.variant.settles_like)
    except SienaError as error:
        raise error.at(text, min(reader.tokens.start, len(text))) from None
    reader.tokens.expect_end()
    return with_defaults(found, reader.variant.defaults)


class _Reader(Climber[Expression]):
    """The grammar above, the weaker rules by their strength."""

    def __init__(self, text: str, variant: Variant) -> None:
        if variant.is_strict:
            # Keywords are compared in small letters, and are those that are capitals.
            super().__init__(text, STRICT_TOKEN, str.swapcase)
        else:
            super().__init__(text, TOKEN)
        self.variant = variant

    def selector(self) -> Expression:
        """The whole text."""
        start = self.tokens.start
        return self.checked(self.climb(), start)

    def climb(self, weakest: int = 0) -> Expression:
        if self.variant.is_strict and weakest > _NOT and self.tokens.at("not"):
            self.tokens.fail("not stands before a condition, or in parentheses")
        return super().climb(weakest)

    def strength(self) -> int | None:
        if self.variant.is_strict and self.tokens.at("between"):
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
        if tokens.take("between"):
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
            found = tokens.describe()
            tokens.fail(f"expected between, in or like, found {found}")
        place = tokens.start
        pattern = self.string("like wants a quoted pattern")
        mark = ""
        if tokens.take("escape"):
            mark = self.string("escape wants a quoted character")
            if len(mark) != 1:
                tokens.fail("an escape is one character")
        if self.variant.is_strict:
            check_characters(tokens, pattern, place)
        pattern = read_pattern(tokens, pattern, mark, self.variant)
        # Not as the constraint that it may be: settling has to know it is a `like`.
        return Call(Operation.LIKE, (subject, Literal(pattern)))

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
        # What is strict has been looked at before, and reserves other words.
        is_reserved = not self.variant.is_strict and tokens.word in RESERVED
        if tokens.kind != "word" or is_reserved or tokens.token in KEYWORDS:
            what = "a name in brackets or quotes may be any word"
            tokens.fail(f"expected a value, found {tokens.describe()}", hint=what)
        found, start = tokens.token, tokens.start
        tokens.advance()
        if tokens.at("("):
            tokens.fail(f'there is no function "{found}" in a filter', position=start)
        while tokens.at(".") and tokens.start == start + len(found):
            tokens.advance()
            if tokens.kind in {"quoted", "bracketed"} and self.section(found):
                found += "." + unquoted(tokens.token)
                tokens.advance()
                break
            if tokens.kind != "word":
                tokens.fail(
                    f"expected a name behind the dot, found {tokens.describe()}"
                )
            found += "." + tokens.token
            tokens.advance()
        section, dot, rest = found.partition(".")
        section = self.section(section) or section
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

    def section(self, word: str) -> str:
        """The section that a word is, where more may be written than in one way."""
        scope = word.lower() if self.variant.delimits_fields else ""
        return scope if scope in self.variant.sections else ""

    def at_quoted_string(self) -> bool:
        return self.tokens.kind == "quoted" and not self.variant.quoted_names

    def string(self, otherwise: str) -> str:
        tokens = self.tokens
        if tokens.kind != "string" and not self.at_quoted_string():
            tokens.fail(f"{otherwise}, found {tokens.describe()}")
        found = unquoted(tokens.token)
        tokens.advance()
        return found

    def compared(
        self, operation: Operation, left: Expression, right: Expression, start: int
    ) -> Expression:
        """A comparison of two values."""
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
        if self.variant.wants_conditions and not _may_be_true(found):
            self.tokens.fail("this is neither true nor false", position=start)
        return found


def ordered(operation: Operation, left: Expression, right: Expression) -> Expression:
    """A comparison of order; booleans have none, and are not like what has one."""
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Literal) and isinstance(side.value, bool):
            # False of anything that is there: nothing is like a number and a text.
            tests = (call(Operation.ALIKE, other, Literal(v)) for v in (0, ""))
            return all_of(tests)
    return call(operation, left, right)


def negative(value: Expression) -> Expression:
    """The number with the other sign."""
    if isinstance(value, Literal) and type(value.value) in {int, float}:
        assert isinstance(value.value, (int, float))
        return Literal(-value.value)
    return call(Operation.NEGATIVE, value)


def _may_be_true(expression: Expression) -> bool:
    match expression:
        case Literal(value):
            return isinstance(value, bool)
        case Call(operation, _):
            return operation in LOGIC | CONDITIONS
        case _:
            return True
