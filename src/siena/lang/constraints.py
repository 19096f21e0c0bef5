"""Reading one constraint: what the readers of all texts have in common."""

from typing import NoReturn

from siena.errors import LimitError, SienaError
from siena.lang.literals import read_literal, read_string
from siena.lang.scanner import END, KEYWORD, QUOTED, SYMBOL, WORD, Scanner
from siena.model import Constraint, Kind, Operator
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX
from siena.model.operators import OPERATOR_OF_SYMBOL
from siena.model.values import KIND_OF_WORD, as_name

OPERATORS_HINT = (
    "operators are = != < <= > >= any, starts with, ends with, contains, in; "
    "types are string, integer, float, boolean, time, number"
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
        if scanner.kind in {QUOTED, WORD}:
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
        word = scanner.keyword
        if word not in _OPERATOR_OF_WORD:
            hint = _HINTS.get(scanner.token.lower(), OPERATORS_HINT)
            scanner.fail(f"expected an operator, found {scanner.describe()}", hint=hint)
        scanner.advance()
        if word in {"starts", "ends"}:
            if scanner.kind != WORD or scanner.token.lower() != "with":
                scanner.fail(f'expected "with", found {scanner.describe()}')
            scanner.advance()
        return _OPERATOR_OF_WORD[word]

    def operand(self, kind: Kind | None, name: str, operator: Operator) -> Constraint:
        """The value at the front, and with it the whole constraint."""
        scanner = self.scanner
        value = read_literal(scanner, kind)
        try:
            constraint = Constraint.named(name, operator, value, kind)
        except SienaError as error:
            raise error.at(scanner.text, scanner.start) from None
        scanner.advance()
        return constraint

    def members(
        self, kind: Kind | None, name: str, operator: Operator
    ) -> list[Constraint]:
        """The values of ``in (…)``, each as a constraint of its own."""
        self.expect("(", "after in")
        found = [self.operand(kind, name, operator)]
        while self.at(","):
            self.scanner.advance()
            if len(found) == FILTERS_MAX:
                what = "values in a list"
                self.refuse("FILTERS_MAX", FILTERS_MAX, what, self.scanner.start)
            found.append(self.operand(kind, name, operator))
        self.expect(")", "after the values")
        return found

    def at(self, punctuation: str) -> bool:
        """Whether this punctuation is at the front."""
        # No other kind of token looks like one: what is quoted begins with a quote.
        return self.scanner.token == punctuation

    def at_and(self) -> bool:
        """Whether ``and`` or a comma is at the front."""
        return self.scanner.token == "," or self.scanner.keyword == "and"

    def expect(self, punctuation: str, where: str) -> None:
        """Eat this punctuation, or fail."""
        if not self.at(punctuation):
            found = self.scanner.describe()
            self.scanner.fail(f'expected "{punctuation}" {where}, found {found}')
        self.scanner.advance()

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
    "like": "use starts with, ends with or contains",
    "matches": "use starts with, ends with or contains",
    "startswith": "write starts with",
    "endswith": "write ends with",
    "between": "write x >= 1 and x <= 9",
    "is": "write =, or any for an attribute that is present",
    "has": "write contains",
}
_OPERATOR_OF_WORD = {
    "any": Operator.ANY,
    "exists": Operator.ANY,
    "starts": Operator.PREFIX,
    "ends": Operator.SUFFIX,
    "contains": Operator.SUBSTRING,
}
