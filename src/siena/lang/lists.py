"""Reading plain lists: advertisements and notifications.

Both are written like a filter without ``or`` and ``not``: entries joined by
``and`` or a comma, with or without brackets around them all.
"""

from collections.abc import Iterator
from typing import NoReturn

from siena.errors import SienaError
from siena.lang.constraints import ConstraintReader
from siena.lang.literals import read_literal
from siena.lang.pieces import read_piece
from siena.model import Constraint, Kind, Notification, Operator, Value
from siena.model.constraint import convert
from siena.model.limits import ATTRIBUTES_MAX
from siena.model.spelling import quote
from siena.model.values import as_value


class ListReader(ConstraintReader):
    """The rules for lists."""

    __slots__ = ()

    def advertisement(self) -> list[Constraint]:
        """The constraints of an advertisement; ``in (…)`` gives one for each value."""
        found: list[Constraint] = []
        for start in self.entries():
            piece = read_piece(self.scanner.text, start)
            if piece:
                constraint, end = piece
                self.scanner.skip_to(end)
                if not self.at_word("ignoring"):
                    found.append(constraint)
                else:
                    self.scanner.skip_to(start)
                    found += self.promise()
            else:
                found += self.promise()
            self.check_count(len(found), start)
        return found

    def promise(self) -> list[Constraint]:
        """One entry of an advertisement."""
        kind, name = self.subject()
        if self.scanner.keyword == "in":
            self.scanner.advance()
            return self.members(kind, name, Operator.EQ)
        start = self.scanner.start
        operator = self.operator()
        if operator is Operator.ABSENT:
            hint = "leave out what is never published"
            message = "absent has no meaning in an advertisement"
            self.scanner.fail(message, hint=hint, position=start)
        if operator is Operator.ANY:
            return [Constraint.named(name, operator, None, kind)]
        return [self.operand(kind, name, operator)]

    def notification(self) -> Notification:
        """The attributes of a notification."""
        found: dict[str, Value] = {}
        for start in self.entries():
            kind, name = self.subject()
            if name in found:
                message = f"two attributes are called {quote(name)}"
                self.scanner.fail(message, position=start)
            if len(found) == ATTRIBUTES_MAX:
                what = "attributes in a notification"
                self.refuse("ATTRIBUTES_MAX", ATTRIBUTES_MAX, what, start)
            found[name] = self.attribute_value(kind)
        return Notification(found)

    def attribute_value(self, kind: Kind | None) -> Value:
        """The ``= value`` of an attribute, as a value of the type that was named."""
        scanner = self.scanner
        if scanner.token != "=":
            hint = "a notification says what is, with = only"
            scanner.fail(f"expected =, found {scanner.describe()}", hint=hint)
        if kind is Kind.NUMBER:
            scanner.fail("a value is an integer or a float, not just a number")
        scanner.advance()
        try:
            value = read_literal(scanner, kind)
            value = as_value(value if kind is None else convert(value, kind))
        except SienaError as error:
            raise error.at(scanner.text, scanner.start) from None
        scanner.advance()
        return value

    def entries(self) -> Iterator[int]:
        """Where each entry starts; between two of them eats what joins them."""
        bracketed = self.at("[")
        if bracketed:
            self.scanner.advance()
        if not (bracketed and self.at("]")):
            self.refuse_logic()
            yield self.scanner.start
            while self.at_and():
                self.scanner.advance()
                self.refuse_logic()
                yield self.scanner.start
        self.refuse_logic()
        if self.at_word("except"):
            self.fail_at_logic()
        if bracketed:
            self.expect("]", "at the end of the list")
        self.expect_end()

    def refuse_logic(self) -> None:
        """Fail at the words that only interests may use."""
        word = self.scanner.keyword
        if word in {"or", "not", "then"} or self.at("("):
            self.fail_at_logic()

    def fail_at_logic(self) -> NoReturn:
        """Fail at a word that has no meaning here."""
        self.scanner.fail(
            f"{self.scanner.describe()} has no meaning in a list of attributes",
            hint="join them with and, or with commas",
        )
