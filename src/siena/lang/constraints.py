"""Reading one constraint: what the readers of all texts have in common."""

from typing import NoReturn

from siena.errors import LimitError, SienaError
from siena.lang.literals import read_literal, read_string
from siena.lang.scanner import END, KEYWORD, QUOTED, SYMBOL, WORD, Scanner
from siena.lang.words import (
    AFTER_DOES_NOT,
    OPERATOR_OF_WORD,
    is_not_like,
    is_word_operator,
)
from siena.model import Constraint, Kind, Operator, Value
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX
from siena.model.operators import NEGATIONS, OPERATOR_OF_SYMBOL
from siena.model.values import KIND_OF_WORD, as_name

OPERATORS_HINT = (
    "operators are = != < <= > >= any, starts with, ends with, contains, like, "
    "absent, in; types are string, integer, float, boolean, time, number"
)


class ConstraintReader:
    """The rules for the parts of a constraint, each a method that eats its part."""

    __slots__ = ("scanner",)

    def __init__(self, text: str) -> None:
        self.scanner = Scanner(text)

    def subject(self) -> tuple[Kind | None, str]:
        """The optional type, and the name that a constraint is about."""
        scanner = self.scanner
        kind = KIND_OF_WORD.get(scanner.token.lower()) if scanner.kind == WORD else None
        if kind is None:
            return None, self.name()
        word = scanner.token
        scanner.advance()
        if scanner.kind == QUOTED or (
            scanner.kind == WORD and not is_word_operator(scanner.text, scanner.start)
        ):
            return kind, self.name()
        return None, word  # an attribute that is called `time`, say

    def name(self) -> str:
        """A name, bare or quoted."""
        scanner = self.scanner
        if scanner.kind == WORD:
            name = scanner.token
        elif scanner.kind == QUOTED:
            name = read_string(scanner)
        elif scanner.kind == KEYWORD:
            hint = f'write "{scanner.token}" in quotes if it is an attribute'
            scanner.fail(f"expected a name, found {scanner.describe()}", hint=hint)
        else:
            hint = "write [] for the empty filter" if not scanner.text.strip() else ""
            scanner.fail(f"expected a name, found {scanner.describe()}", hint=hint)
        try:
            name = as_name(name)
        except SienaError as error:
            raise error.at(scanner.text, scanner.start) from None
        scanner.advance()
        return name

    def operator(self) -> Operator:
        """An operator, as a symbol or in words."""
        scanner = self.scanner
        if scanner.kind == SYMBOL:
            operator = OPERATOR_OF_SYMBOL[scanner.token]
            scanner.advance()
            return operator
        word = scanner.token.lower() if scanner.kind in {KEYWORD, WORD} else ""
        if self.at_not_like():
            scanner.advance()
            scanner.advance()
            return Operator.NOT_LIKE
        if word == "does":
            scanner.advance()
            return self.negated_operator()
        if word not in OPERATOR_OF_WORD:
            hint = _HINTS.get(word, OPERATORS_HINT)
            scanner.fail(f"expected an operator, found {scanner.describe()}", hint=hint)
        scanner.advance()
        if word in {"starts", "ends"}:
            self.expect_word("with")
        return OPERATOR_OF_WORD[word]

    def negated_operator(self) -> Operator:
        """What follows ``does``: ``not contain``, ``not start with`` and the like."""
        scanner = self.scanner
        self.expect_word("not")
        word = scanner.token.lower()
        if scanner.kind != WORD or word not in AFTER_DOES_NOT:
            hint = "write does not contain, does not start with or does not end with"
            scanner.fail(f"expected contain, found {scanner.describe()}", hint=hint)
        scanner.advance()
        if word != "contain":
            self.expect_word("with")
        return AFTER_DOES_NOT[word]

    def at_not_like(self) -> bool:
        """Whether ``not like`` is at the front."""
        scanner = self.scanner
        return scanner.keyword == "not" and is_not_like(scanner.text, scanner.end)

    def operand(
        self,
        kind: Kind | None,
        name: str,
        operator: Operator,
        *,
        negated: bool = False,
    ) -> Constraint:
        """The value at the front, and with it the whole constraint, or its negation."""
        scanner = self.scanner
        if operator in {Operator.LIKE, Operator.NOT_LIKE} and scanner.kind != QUOTED:
            hint = '* stands for any characters, ? for one: like "ab*c?"'
            found = scanner.describe()
            scanner.fail(f"expected a pattern in quotes, found {found}", hint=hint)
        value, start = read_literal(scanner, kind), scanner.start
        constraint = self.built(name, operator, value, kind, start, negated=negated)
        scanner.advance()
        if not self.at_word("ignoring"):
            return constraint
        operator = self.ignoring_case(operator)
        return self.built(name, operator, value, kind, start, negated=negated)

    def built(
        self,
        name: str,
        operator: Operator,
        value: Value,
        kind: Kind | None,
        start: int,
        *,
        negated: bool = False,
    ) -> Constraint:
        """The constraint, or its negation; what is wrong is so where the value is."""
        if negated:
            # Before it is brought into its one form: every string starts with "".
            operator = NEGATIONS[operator]
        try:
            return Constraint.named(name, operator, value, kind)
        except SienaError as error:
            raise error.at(self.scanner.text, start) from None

    def ignoring_case(self, operator: Operator) -> Operator:
        """Eat ``ignoring case``, and return the operator that does."""
        scanner = self.scanner
        if operator.folded is None:
            hint = "only equality, starts with, ends with, contains and like can"
            scanner.fail(f"{operator.symbol} does not ignore case", hint=hint)
        scanner.advance()
        self.expect_word("case")
        return operator.folded

    def members(
        self, kind: Kind | None, name: str, operator: Operator
    ) -> list[Constraint]:
        """The values of ``in (…)``, each as a constraint of its own."""
        self.expect("(", "after in")
        found = [self.member(kind, name, operator)]
        while self.at(","):
            self.scanner.advance()
            if len(found) == FILTERS_MAX:
                what = "values in a list"
                self.refuse("FILTERS_MAX", FILTERS_MAX, what, self.scanner.start)
            found.append(self.member(kind, name, operator))
        self.expect(")", "after the values")
        if not self.at_word("ignoring"):
            return found
        start = self.scanner.start
        operator = self.ignoring_case(operator)
        values = [c.value for c in found if c.value is not None]
        return [self.built(name, operator, v, kind, start) for v in values]

    def member(self, kind: Kind | None, name: str, operator: Operator) -> Constraint:
        """One value of a list."""
        value = read_literal(self.scanner, kind)
        constraint = self.built(name, operator, value, kind, self.scanner.start)
        self.scanner.advance()
        return constraint

    def at(self, punctuation: str) -> bool:
        """Whether this punctuation is at the front."""
        # No other kind of token looks like one: what is quoted begins with a quote.
        return self.scanner.token == punctuation

    def at_word(self, word: str) -> bool:
        """Whether a word is at the front that means something at this place only."""
        return self.scanner.kind == WORD and self.scanner.token.lower() == word

    def at_and(self) -> bool:
        """Whether ``and`` or a comma is at the front."""
        return self.scanner.token == "," or self.scanner.keyword == "and"

    def expect(self, punctuation: str, where: str) -> None:
        """Eat this punctuation, or fail."""
        if not self.at(punctuation):
            found = self.scanner.describe()
            self.scanner.fail(f'expected "{punctuation}" {where}, found {found}')
        self.scanner.advance()

    def expect_word(self, word: str) -> None:
        """Eat this word, or fail."""
        scanner = self.scanner
        if scanner.kind not in {KEYWORD, WORD} or scanner.token.lower() != word:
            scanner.fail(f'expected "{word}", found {scanner.describe()}')
        scanner.advance()

    def expect_end(self) -> None:
        """Fail unless everything has been read."""
        if self.scanner.kind != END:
            self.scanner.fail(
                f"expected the end, found {self.scanner.describe()}",
                hint="join constraints with and, or, or a comma",
            )

    def refuse(self, limit: str, value: int, what: str, position: int) -> NoReturn:
        """Fail because a limit was reached."""
        raise LimitError(limit, value, what).at(self.scanner.text, position)

    def check_count(self, count: int, position: int) -> None:
        """Fail if these are too many constraints for one filter."""
        if count > CONSTRAINTS_MAX:
            what = "constraints in a filter"
            self.refuse("CONSTRAINTS_MAX", CONSTRAINTS_MAX, what, position)


# What other languages say, and we say otherwise.
_HINTS = {
    "matches": "use starts with, ends with, contains or like",
    "startswith": "write starts with",
    "endswith": "write ends with",
    "between": "write x >= 1 and x <= 9",
    "is": "write =, any for an attribute that is present, or absent",
    "has": "write contains",
}
