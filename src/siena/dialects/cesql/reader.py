r"""Reading CloudEvents SQL into expressions.

::

    logic       ::=  comparison (("and" | "or" | "xor") logic)?
    comparison  ::=  sum (("=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") sum)*
    sum         ::=  product (("+" | "-") product)*
    product     ::=  test (("*" | "/" | "%") test)*
    test        ::=  unary (["not"] "like" string | ["not"] "in" "(" logic, … ")")*
    unary       ::=  ("not" | "-") unary | "exists" name | function "(" logic, … ")"
                  |  "(" logic ")" | literal | name

``and``, ``or`` and ``xor`` bind alike, to the right; ``not`` binds more strongly than
any comparison: ``not a = b`` is ``(not a) = b``.

Reference:
    CloudEvents SQL 1.0, sections 2 and 3.6, and its grammar ``CESQLParser.g4``.
"""

import re

from siena.dialects.cesql.functions import invoke
from siena.dialects.cesql.types import Type, Typed, attribute, cast, literal
from siena.errors import FilterError, SienaError
from siena.lang.expression.climbing import Climber
from siena.lang.expression.tokens import END
from siena.model import Constraint, Operator
from siena.model.expression import Expression, Literal, Operation, call
from siena.model.expression.cloudevents import INTEGER_LEAST, INTEGER_MOST
from siena.model.wildcards import escape

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
      (?P<string>"(?:[^"\\]|\\.|"")*"|'(?:[^'\\]|\\.|'')*')
    | (?P<number>[0-9]+(?![A-Za-z0-9_]))
    | (?P<word>[A-Za-z0-9_]+)
    | (?P<symbol><=|>=|!=|<>|[-=<>+*/%(),])
    )""",
    re.VERBOSE | re.DOTALL,
)
_NAME = re.compile(r"[a-z0-9]+")
_RESERVED = frozenset({"and", "or", "xor", "not", "like", "exists", "in"})
_COMPARISONS = {
    "=": Operation.EQ,
    "!=": Operation.NE,
    "<>": Operation.NE,
    "<": Operation.LT,
    "<=": Operation.LE,
    ">": Operation.GT,
    ">=": Operation.GE,
}
_ARITHMETIC = {
    "+": Operation.ADD,
    "-": Operation.SUBTRACT,
    "*": Operation.MULTIPLY,
    "/": Operation.CE_QUOTIENT,
    "%": Operation.CE_REMAINDER,
}
# How strongly what joins two values does so.
_LOGIC, _COMPARISON, _SUM, _PRODUCT, _TEST, _SIGN = range(6)
_STRENGTHS = {
    **dict.fromkeys(("and", "or", "xor"), _LOGIC),
    **dict.fromkeys(_COMPARISONS, _COMPARISON),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "%"), _PRODUCT),
    **dict.fromkeys(("not", "like", "in"), _TEST),
}
# Three runs of a like pattern: escaped, a wildcard of theirs, or anything else.
_LIKE = re.compile(r"\\([%_])|([%_])|([^%_])", re.DOTALL)


def read_cesql(text: str) -> Expression:
    """The expression of a text in CloudEvents SQL.

    >>> from siena.model.expression import spell_expression
    >>> print(spell_expression(read_cesql("type LIKE 'com.%' AND sequence = 5")))
    like(ce_text(type), "com.*") and ce_integer(ce_value(sequence)) = 5
    """
    return _read(text).expression


def read_cesql_filter(text: str) -> Expression:
    """The same as a filter, whose result is cast to a boolean.

    >>> from siena.model.expression import holds
    >>> holds(read_cesql_filter("urgent"), {"urgent": "TRUE"})
    True

    Reference:
        CloudEvents Subscriptions API 1.0, section 3.2.4.1.2, ``sql``.
    """
    return cast(_read(text), Type.BOOLEAN)


def _read(text: str) -> Typed:
    reader = _Reader(text)
    try:
        found = reader.climb()
    except SienaError as error:
        raise error.at(text, min(reader.tokens.start, len(text))) from None
    reader.tokens.expect_end()
    return found


class _Reader(Climber[Typed]):
    """The grammar above, the weaker rules by their strength."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _TOKEN)

    def strength(self) -> int | None:
        tokens = self.tokens
        return _STRENGTHS.get(tokens.word) if tokens.kind != "string" else None

    def joined(self, left: Typed, strength: int, start: int) -> Typed:  # noqa: ARG002 -- operations here join alike, wherever they began
        if strength == _TEST:
            return self.tested(left)
        if strength == _LOGIC:
            return self.logic(left)
        word = self.tokens.word
        self.tokens.advance()
        right = self.climb(strength + 1)
        if strength == _COMPARISON:
            compared = _compared(_COMPARISONS[word], left, right)
            return Typed(compared, Type.BOOLEAN)
        return _computed(_ARITHMETIC[word], left, right)

    def logic(self, left: Typed) -> Typed:
        """Everything that ``and``, ``or`` and ``xor`` join, from the right."""
        parts, joins = [left], []
        while self.strength() == _LOGIC:
            joins.append(Operation(self.tokens.word))
            self.tokens.advance()
            parts.append(self.climb(_COMPARISON))
        found = parts.pop()
        while joins:
            sides = cast(parts.pop(), Type.BOOLEAN), cast(found, Type.BOOLEAN)
            found = Typed(call(joins.pop(), *sides), Type.BOOLEAN)
        return found

    def tested(self, left: Typed) -> Typed:
        """``like`` and ``in``, behind what they are about."""
        tokens = self.tokens
        negated = tokens.take("not")
        if tokens.take("like"):
            found = self.like(left)
        elif tokens.take("in"):
            found = self.membership(left)
        else:
            tokens.fail(f"expected like or in, found {tokens.describe()}")
        return Typed(call(Operation.NOT, found) if negated else found, Type.BOOLEAN)

    def like(self, subject: Typed) -> Expression:
        if self.tokens.kind != "string":
            self.tokens.fail(
                f"like wants a quoted text, found {self.tokens.describe()}"
            )
        pattern = like_pattern(self.string())
        return call(Operation.LIKE, cast(subject, Type.STRING), Literal(pattern))

    def membership(self, subject: Typed) -> Expression:
        members = self.listed("of a set")
        if not members:
            self.tokens.fail("a set has at least one member")
        if subject.type is not None:
            # Each member is cast to what the subject is known to be.
            parts = [
                call(Operation.EQ, subject.expression, cast(member, subject.type))
                for member in members
            ]
            return call(Operation.OR, *parts)
        expressions = [member.expression for member in members]
        return call(Operation.CE_ONE_OF, subject.expression, *expressions)

    def operand(self) -> Typed:
        tokens = self.tokens
        if tokens.take("not"):
            inner = self.climb(_SIGN)
            if inner.type is Type.BOOLEAN:
                return Typed(call(Operation.NOT, inner.expression), Type.BOOLEAN)
            return Typed(call(Operation.CE_NOT, inner.expression), Type.BOOLEAN)
        if tokens.at("+") and tokens.text[tokens.end : tokens.end + 1].isdigit():
            tokens.advance()
            return self.atom()
        if tokens.at("-"):
            is_number = tokens.text[tokens.end : tokens.end + 1].isdigit()
            tokens.advance()
            if is_number:
                return self.number("-")
            return _computed(Operation.SUBTRACT, literal(0), self.climb(_SIGN))
        if tokens.at("exists"):
            tokens.advance()
            return Typed(Constraint(self.name(), Operator.ANY), Type.BOOLEAN)
        return self.atom()

    def atom(self) -> Typed:
        tokens = self.tokens
        if tokens.kind == "number":
            return self.number("")
        if tokens.kind == "string":
            return literal(self.string())
        if tokens.take("("):
            found = self.climb()
            tokens.expect(")")
            return found
        if tokens.at("true", "false"):
            found = literal(tokens.word == "true")
            tokens.advance()
            return found
        if tokens.kind == "word" and tokens.word not in _RESERVED:
            return self.word()
        return tokens.fail(f"expected a value, found {tokens.describe()}")

    def word(self) -> Typed:
        """The name of an attribute, or of a function that is called."""
        tokens = self.tokens
        start, name = tokens.start, tokens.token.upper()
        if tokens.text[tokens.end :].lstrip(" \t\r\n").startswith("("):
            tokens.advance()
            found = invoke(name, arguments := self.listed("of a function"))
            if found is None:
                count = len(arguments)
                message = f"there is no function {name} of {count} arguments"
                raise FilterError(message).at(tokens.text, start)
            return found
        return attribute(self.name())

    def name(self) -> str:
        tokens = self.tokens
        name = tokens.word
        if tokens.kind not in {"word", "number"} or not _NAME.fullmatch(name):
            hint = "names are letters and digits"
            tokens.fail(f"expected a name, found {tokens.describe()}", hint=hint)
        tokens.advance()
        return name

    def number(self, sign: str) -> Typed:
        tokens = self.tokens
        if tokens.kind != "number":
            tokens.fail(f"expected a number, found {tokens.describe()}")
        digits = tokens.token
        value = int(sign + digits) if len(digits) <= 20 else INTEGER_MOST + 1
        if not INTEGER_LEAST <= value <= INTEGER_MOST:
            tokens.fail(f"{sign}{digits[:20]} does not fit in 32 bits")
        tokens.advance()
        return literal(value)

    def string(self) -> str:
        token = self.tokens.token
        quote, body = token[0], token[1:-1]
        self.tokens.advance()
        return body.replace("\\" + quote, quote)

    def listed(self, what: str) -> list[Typed]:
        tokens = self.tokens
        found: list[Typed] = []
        tokens.expect("(", f"before the members {what}")
        while not tokens.at(")") and tokens.kind != END:
            found.append(self.climb())
            if not tokens.take(","):
                break
        tokens.expect(")", f"after the members {what}")
        return found


def _compared(operation: Operation, left: Typed, right: Typed) -> Expression:
    """A comparison: of order between integers, of equality by what the right one is."""
    if operation not in {Operation.EQ, Operation.NE}:
        return call(operation, cast(left, Type.INTEGER), cast(right, Type.INTEGER))
    if right.type is not None:
        return call(operation, cast(left, right.type), right.expression)
    equal = call(Operation.CE_EQUAL, left.expression, right.expression)
    return equal if operation is Operation.EQ else call(Operation.NOT, equal)


def _computed(operation: Operation, left: Typed, right: Typed) -> Typed:
    """Arithmetic of 32-bit integers."""
    found = call(operation, cast(left, Type.INTEGER), cast(right, Type.INTEGER))
    if operation in {Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY}:
        found = call(Operation.CE_RANGE, found)
    return Typed(found, Type.INTEGER)


def like_pattern(pattern: str) -> str:
    r"""A pattern with ``%`` and ``_`` as one with ``*`` and ``?``.

    >>> like_pattern("a%b_c") == "a*b?c", like_pattern("50\\%*") == "50%\\*"
    (True, True)
    """

    def translated(match: re.Match[str]) -> str:
        escaped, wildcard, plain = match.groups()
        if wildcard:
            return "*" if wildcard == "%" else "?"
        return escape(escaped or plain)

    return _LIKE.sub(translated, pattern)
