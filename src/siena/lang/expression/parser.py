"""Reading expressions, the residuals of rules, from text.

::

    expression  ::=  except · or · xor · and · not · comparison · + - · * / %
    comparison  ::=  sum ("=" | "!=" | "<" | "<=" | ">" | ">=") sum
    atom        ::=  literal | attribute | function "(" expression, … ")"
                  |  "(" expression ")" | "[" constraint "]"
    attribute   ::=  word | "attribute" "(" quoted ")"

Operations are given from the weakest to the strongest, and join from the left.  A
constraint in brackets is one of the filter language.  A word is an attribute, so that
strings are quoted.  The JSON forms are in :mod:`siena.lang.expression.form`.
"""

import re
from typing import NoReturn

from siena.errors import Place, SienaError
from siena.lang.expression.climbing import Climber
from siena.lang.expression.tokens import END
from siena.lang.literals import read_literal
from siena.lang.parser import parse_filter
from siena.lang.scanner import QUOTED_TEXT, TIME_TEXT, Scanner
from siena.model.expression import Attribute, Expression, Literal, Operation, call
from siena.model.expression.spelling import EXPRESSION_WORD

# Closer than in filters, where 2-3 may be meant for a word: here it is a difference.
_NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<constraint>\[(?:[^\]\["']|{QUOTED_TEXT})*\])
    | (?P<literal>{QUOTED_TEXT}|{TIME_TEXT}|{_NUMBER})
    | (?P<word>{EXPRESSION_WORD})
    | (?P<symbol><=|>=|!=|[-=<>+*/%(),])
    )""",
    re.VERBOSE,
)
_INFIX = {
    operation.value: (operation, operation.shape.strength)
    for operation in Operation
    if operation.shape.strength is not None and operation is not Operation.NOT
}
_NOT = Operation.NOT.shape.strength or 0
_FUNCTIONS = {o.value: o for o in Operation if o.shape.strength is None}


def parse_expression(text: str) -> Expression:
    """The expression of a text; ``spell_expression`` writes it.

    >>> parse_expression("price * 2 > 7")
    Call(operation=<Operation.GT: '>'>, arguments=(Call(operation=<Operation.MULTIPLY:
    '*'>, arguments=(Attribute(name='price'), Literal(value=2,
    kind=<Kind.INTEGER: 1>))), Literal(value=7, kind=<Kind.INTEGER: 1>)))
    >>> parse_expression("length(price")
    Traceback (most recent call last):
    siena.errors.FilterSyntaxError: column 13: expected ")" after the arguments,
    found the end
    """
    reader = _Reader(text)
    try:
        found = reader.climb()
    except SienaError as error:
        # What is wrong with a whole expression is wrong where its end was read.
        raise error.at(text, min(reader.tokens.start, len(text))) from None
    reader.tokens.expect_end()
    return found


class _Reader(Climber[Expression]):
    """The grammar above: a method for each rule."""

    def __init__(self, text: str) -> None:
        super().__init__(text, _TOKEN)

    def strength(self) -> int | None:
        tokens = self.tokens
        # Behind an operand, a sign is an operation.
        word = tokens.token[:1] if tokens.kind == "literal" else tokens.word
        found = _INFIX.get(word)
        return found[1] if found else None

    def joined(self, left: Expression, strength: int, start: int) -> Expression:  # noqa: ARG002 -- operations here join alike, wherever they began
        tokens = self.tokens
        if tokens.kind == "literal":
            word = tokens.token[0]
            tokens.skip_to(tokens.start + 1)
        else:
            word = tokens.word
            tokens.advance()
        return call(_INFIX[word][0], left, self.climb(strength + 1))

    def operand(self) -> Expression:
        """A literal, an attribute, a call, a constraint, or what is in parentheses."""
        tokens = self.tokens
        if tokens.take("not"):
            return call(Operation.NOT, self.climb(_NOT))
        if tokens.kind == "literal":
            return self.literal()
        if tokens.kind == "constraint":
            return self.constraint()
        if tokens.kind == "word" and tokens.word not in _INFIX:
            return self.word()
        if not tokens.take("("):
            tokens.fail(f"expected a value, found {tokens.describe()}")
        found = self.climb()
        tokens.expect(")")
        return found

    def literal(self) -> Literal:
        tokens = self.tokens
        try:
            value = read_literal(Scanner(tokens.token))
        except SienaError as error:
            self.move(error)
        tokens.advance()
        return Literal(value)

    def constraint(self) -> Expression:
        tokens = self.tokens
        try:
            found = parse_filter(tokens.token[1:-1])
        except SienaError as error:
            self.move(error, 1)
        if len(found) != 1:
            tokens.fail(f"one constraint is wanted, and these are {len(found)}")
        tokens.advance()
        return found.constraints[0]

    def word(self) -> Expression:
        tokens = self.tokens
        word, start = tokens.token, tokens.start
        tokens.advance()
        if word.lower() in {"true", "false"}:
            return Literal(word.lower() == "true")
        if not tokens.at("("):
            return Attribute(word)
        if word == "attribute":
            return self.quoted_attribute()
        if word not in _FUNCTIONS:
            hint = "functions are " + ", ".join(_FUNCTIONS)
            tokens.fail(f'there is no function "{word}"', hint=hint, position=start)
        arguments = self.arguments()
        try:
            return call(_FUNCTIONS[word], *arguments)
        except SienaError as error:
            raise error.at(tokens.text, start) from None

    def arguments(self) -> list[Expression]:
        tokens = self.tokens
        tokens.expect("(")
        found: list[Expression] = []
        while not tokens.at(")") and tokens.kind != END:
            found.append(self.climb())
            if not tokens.take(","):
                break
        tokens.expect(")", "after the arguments")
        return found

    def quoted_attribute(self) -> Attribute:
        tokens = self.tokens
        tokens.expect("(")
        name = self.literal().value if tokens.kind == "literal" else None
        if not isinstance(name, str):
            tokens.fail("attribute is followed by a name in quotes")
        tokens.expect(")")
        return Attribute(name)

    def move(self, error: SienaError, offset: int = 0) -> NoReturn:
        """Raise an error about a part of the text, at its place in the whole."""
        inner = error.place.position if error.place else 0
        place = min(self.tokens.start + offset + inner, len(self.tokens.text))
        error.place = Place(self.tokens.text, place)
        raise error from None
