"""Constraints: the atoms of the filter language.

A constraint is one condition on one attribute, such as ``change < 0``.  What
constraints say about *each other* is :mod:`siena.algebra`.
"""

from typing import Any, NamedTuple, Self

from siena.errors import InvalidConstraintError, InvalidNotificationError, LimitError
from siena.model.canonical import canonical
from siena.model.limits import OPERAND_CHARACTERS_MAX
from siena.model.operators import STRING_OPERATORS, WITHOUT_OPERAND, Operator
from siena.model.spelling import quote, spell, spell_name, spell_string
from siena.model.values import INTEGER_MAX, INTEGER_MIN, Kind, Value, as_name, as_value

# Their operands are patterns, which are written in quotes always.
_PATTERNS = frozenset({Operator.LIKE, Operator.NOT_LIKE})
# Between a name and a literal that is written as any other.
_PLAIN = {
    operator: f" {operator.symbol} "
    for operator in Operator
    if operator not in WITHOUT_OPERAND | _PATTERNS and not operator.ignores_case
}


class _Fields(NamedTuple):
    """The four parts, in the order in which constraints are sorted.

    Values are compared last, between constraints of one kind, where they have an
    order.  A tuple, because constraints are hashed, compared and sorted by the
    million.
    """

    name: str
    operator: Operator
    kind: Kind
    value: Value | None


class Constraint(_Fields):
    """One condition on one attribute: a name, an operator and a value.

    >>> falling = Constraint("change", Operator.LT, 0)
    >>> print(falling)
    change < 0
    >>> falling.matches(-4), falling.matches(-0.5), falling.matches(2.5)
    (True, True, False)

    A value of another kind is not selected, and is not an error: publishers and
    subscribers never agreed on a schema.

    >>> falling.matches("-4.0")
    False

    A number without a type is about integers and floats alike; name a kind to
    mean one of them.

    >>> print(Constraint("change", Operator.LT, 0, Kind.FLOAT))
    float change < 0.0

    Raises:
        InvalidConstraintError: if operator, kind and value do not go together.
    """

    # The kind is part of equality: without it, level = 1 and level = true would
    # be one key of every dictionary.
    __slots__ = ()

    def __new__(
        cls,
        name: str,
        operator: Operator,
        value: Value | None = None,
        kind: Kind | None = None,
    ) -> Self:
        """Check the parts against each other, and bring them into their one form."""
        return cls.named(as_name(name), operator, value, kind)

    @classmethod
    def named(
        cls, name: str, operator: Operator, value: Value | None, kind: Kind | None
    ) -> Self:
        """A constraint on a name that has been checked already, by a parser."""
        checked, kind = _check(operator, value, kind)
        if isinstance(checked, str) and operator in STRING_OPERATORS:
            operator, checked = canonical(operator, checked)
        return cls.trusted(name, operator, checked, kind)

    @classmethod
    def trusted(
        cls, name: str, operator: Operator, value: Value | None, kind: Kind
    ) -> Self:
        """A constraint of parts that go together, as their maker knows."""
        # What a named tuple's own does, in one call less.
        return tuple.__new__(cls, (name, operator, kind, value))

    def __getnewargs__(self) -> tuple[str, Operator, Value | None, Kind]:
        # Pickling calls __new__, whose order of arguments is not the fields'.
        return self.name, self.operator, self.value, self.kind

    def _replace(self, **changes: Any) -> Self:  # noqa: ANN401 -- as a tuple has it
        # A tuple's own would check nothing.
        parts = {**self._asdict(), **changes}
        return type(self)(**parts)

    def matches(self, value: Value) -> bool:
        """Whether an attribute holding ``value`` satisfies this constraint."""
        if type(value) in self.kind.types:
            return self.operator.holds(value, self.value)
        return self.operator is Operator.OTHER

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of value that may satisfy it; none if the attribute is absent."""
        if self.operator is Operator.OTHER:
            return Kind.ANY.parts - self.kind.parts
        return frozenset() if self.operator is Operator.ABSENT else self.kind.parts

    def __str__(self) -> str:
        name, operator = spell_name(self.name), self.operator
        if operator in _PLAIN:  # by far the most there are
            if type(self.value) is str:
                return f"{name}{_PLAIN[operator]}{spell_string(self.value)}"
            if self.kind is Kind.NUMBER:
                return f"{name}{_PLAIN[operator]}{self.value!r}"
        if self.value is None:
            typed = "" if self.kind is Kind.ANY else f"{self.kind.word} "
            if operator is Operator.OTHER:
                return f"not {typed}{name} any"
            return f"{typed}{name} {operator.symbol}"
        typed = "" if self.kind is Kind.wanted_by(self.value) else f"{self.kind.word} "
        if operator.exact in _PATTERNS:
            literal = quote(str(self.value))
        else:
            literal = spell(self.value)
        ending = " ignoring case" if operator.ignores_case else ""
        return f"{typed}{name} {operator.symbol} {literal}{ending}"

    def __repr__(self) -> str:
        return f"<Constraint {self}>"


def _check(
    operator: Operator, value: Value | None, kind: Kind | None
) -> tuple[Value | None, Kind]:
    """The operand and the kind of a constraint, each in its one form."""
    if operator in WITHOUT_OPERAND:
        kind = Kind.ANY if kind is None else kind
        if operator is Operator.ABSENT and kind is not Kind.ANY:
            raise InvalidConstraintError("what is absent has no type")
        if operator is Operator.OTHER and kind is Kind.ANY:
            raise InvalidConstraintError("not any needs a type")
        return None, kind
    if value is None:
        raise InvalidConstraintError(f"{operator.symbol} needs a value")
    try:
        operand = as_value(value)
    except InvalidNotificationError as error:
        raise InvalidConstraintError(error.message, hint=error.hint) from None
    if isinstance(operand, str) and len(operand) > OPERAND_CHARACTERS_MAX:
        what = "characters in the value of a constraint"
        raise LimitError("OPERAND_CHARACTERS_MAX", OPERAND_CHARACTERS_MAX, what)
    if kind is None:
        kind = Kind.wanted_by(operand)
    operand = convert(operand, kind)
    if kind is Kind.NUMBER and isinstance(operand, float) and _is_whole(operand):
        operand = int(operand)  # equal numbers are written alike
    if not operator.accepts(kind):
        ending = " ignoring case" if operator.ignores_case else ""
        raise InvalidConstraintError(
            f"{operator.symbol}{ending} does not apply to {kind.word} values",
            hint="it compares strings" if operator in STRING_OPERATORS else "",
        )
    return operand, kind


def _is_whole(operand: float) -> bool:
    return operand.is_integer() and INTEGER_MIN <= operand <= INTEGER_MAX


def convert(operand: Value, kind: Kind) -> Value:
    """The operand as a value of the kind, where that loses nothing.

    >>> convert(3, Kind.FLOAT)
    3.0
    >>> convert(3.5, Kind.INTEGER)
    Traceback (most recent call last):
    siena.errors.InvalidConstraintError: 3.5 is not an integer value
    """
    if kind.admits(Kind.of(operand)):
        return operand
    if kind is Kind.FLOAT and type(operand) is int and int(float(operand)) == operand:
        return float(operand)
    article = "an" if kind is Kind.INTEGER else "a"
    raise InvalidConstraintError(f"{spell(operand)} is not {article} {kind.word} value")
