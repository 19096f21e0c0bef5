"""Predicates as SQL selectors.

A comparison with a value of another kind is false in a selector and ``<>`` is true, so
that inequality is written in two halves, or with a pattern that only strings match; as
is ``NOT LIKE``.  What excludes something of anything that is there is written with
``NOT``, of a condition that is false of values of other kinds.
"""

from collections.abc import Iterable

from siena.dialects.sql.strictness import (
    FIELDS,
    has_control,
    is_azure_name,
    is_plain_name,
)
from siena.dialects.sql.tokens import RESERVED, WORD
from siena.dialects.sql.variants import VARIANTS, Variant
from siena.dialects.writing.errors import NotWritableError
from siena.dialects.writing.products import Choice, Conjunction, products_of
from siena.model import Constraint, Kind, Operator, Predicate, Value
from siena.model.operators import NEGATED
from siena.model.wildcards import Part, read_wildcards

_ESCAPE = "!"
_PLAIN = {
    Operator.EQ: "=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
}
_LIKES = {
    Operator.PREFIX: "{}%",
    Operator.NOT_PREFIX: "{}%",
    Operator.SUFFIX: "%{}",
    Operator.NOT_SUFFIX: "%{}",
    Operator.SUBSTRING: "%{}%",
    Operator.NOT_SUBSTRING: "%{}%",
}


def write_sql(predicate: Predicate, variant: str = "sql") -> str:
    """The selector that matches what a predicate matches.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(write_sql(parse("price > 3 and symbol starts with D or side != sell")))
    price > 3 AND symbol LIKE 'D%' OR side <> 'sell' AND side LIKE '%'
    >>> print(write_sql(parse("side != sell or not string side any")))
    side <> 'sell'
    """
    return _Writer(VARIANTS[variant]).predicate(predicate)


class _Writer:
    """The words of one maker; ``AND`` binds more strongly than ``OR`` everywhere."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant

    def predicate(self, predicate: Predicate) -> str:
        """All of it."""
        found = [
            " AND ".join(map(self.choice, choices)) or "TRUE"
            for choices in products_of(predicate)
        ]
        return " OR ".join(found) or "FALSE"

    def choice(self, choice: Choice) -> str:
        """What one attribute may be; in parentheses if it is said with ``OR``."""
        ways = choice.alternatives
        if choice.name in self.variant.defaults:
            ways = self.without_default(choice)
        parts = self.members(ways, "IN")
        if choice.excluded is not None:
            excluded = [w for each in choice.excluded.values() for w in each]
            parts.append(self.exclusion(excluded))
        return _either(parts)

    def without_default(self, choice: Choice) -> list[Conjunction]:
        """The alternatives, where an absent field is as one that has its default."""
        value = self.variant.defaults[choice.name]
        there = [w for w in choice.alternatives if w[0].operator is not Operator.ABSENT]
        is_wanted = _hold(there, value) or (
            choice.excluded is not None
            and not _hold(choice.excluded.get(Kind.NUMBER, ()), value)
        )
        if is_wanted is (len(there) == len(choice.alternatives)):
            raise self.not_writable(choice.example)
        return there

    def members(self, ways: list[Conjunction], word: str) -> list[str]:
        """The alternatives, those that are values of a list being one."""
        values = [
            way[0]
            for way in ways
            if len(way) == 1 and way[0].operator is Operator.EQ and _is_plain(way[0])
        ]
        if len(values) < 2:
            return [self.conjunction(way) for way in ways]
        listed = ", ".join(self.operand(c) for c in values)
        rest = [way for way in ways if way[0] not in values or len(way) > 1]
        return [
            f"{self.name(values[0])} {word} ({listed})",
            *(self.conjunction(way) for way in rest),
        ]

    def exclusion(self, ways: list[Conjunction]) -> str:
        """What is there, and satisfies none of these."""
        (first, *others), *more = ways
        shown = self.name(first)
        if not others and not more:
            if first.operator is Operator.EQ and _is_plain(first):
                return f"{shown} <> {self.operand(first)}"
            pattern = self.pattern(first)
            is_plain = pattern is not None and first.operator not in NEGATED
            if is_plain and self.variant.settles_like:
                return f"{shown} NOT LIKE {pattern}"
        if all(len(way) == 1 and way[0].operator is Operator.EQ for way in ways):
            (said,) = self.members(ways, "NOT IN")
            return said
        parts = [self.conjunction(way, is_settled=True) for way in ways]
        return f"NOT ({' OR '.join(parts)})"

    def conjunction(self, way: Conjunction, *, is_settled: bool = False) -> str:
        """Constraints that all must hold; settled, false of values of other kinds."""
        return " AND ".join(self.constraint(c, is_settled=is_settled) for c in way)

    def constraint(self, constraint: Constraint, *, is_settled: bool = False) -> str:
        """One constraint."""
        _, operator, kind, value = constraint
        shown = self.name(constraint)
        if operator is Operator.ABSENT:
            return f"{shown} IS NULL"
        if operator is Operator.ANY:
            return self.any(constraint, shown, is_settled=is_settled)
        if operator is Operator.OTHER:
            return f"NOT {self.any(constraint, shown, is_settled=True)}"
        if value is None or not _is_plain(constraint):
            raise self.not_writable(constraint)
        has_order = kind is Kind.NUMBER or (
            kind is Kind.STRING and self.variant.orders_anything
        )
        if operator in _PLAIN and (operator is Operator.EQ or has_order):
            return f"{shown} {_PLAIN[operator]} {self.operand(constraint)}"
        if operator is Operator.NE:
            return self.unequal(constraint, shown, value)
        pattern = self.pattern(constraint)
        if pattern is None:
            raise self.not_writable(constraint)
        negated = operator in NEGATED
        said = f"{shown} {'NOT ' if negated else ''}LIKE {pattern}"
        if self.variant.settles_like:
            # What is no string is not like anything.
            return f"{said} AND {shown} LIKE '%'" if negated else said
        return f"{said} AND {shown} >= ''" if is_settled else said

    def any(self, constraint: Constraint, shown: str, *, is_settled: bool) -> str:
        """Any value of a kind."""
        if constraint.kind is Kind.ANY:
            return f"{shown} IS NOT NULL"
        if constraint.kind is Kind.STRING:
            if is_settled and not self.variant.settles_like:
                return f"{shown} >= ''"
            return f"{shown} LIKE '%'"
        if constraint.kind is Kind.BOOLEAN:
            return f"({shown} = TRUE OR {shown} = FALSE)"
        if constraint.kind is Kind.NUMBER:
            return f"({shown} < 0 OR {shown} >= 0)"
        raise self.not_writable(constraint)

    def unequal(self, constraint: Constraint, shown: str, value: Value) -> str:
        """Another value of the same kind."""
        if isinstance(value, bool):
            return f"{shown} = {'FALSE' if value else 'TRUE'}"
        said = self.operand(constraint)
        if isinstance(value, str):
            rest = self.any(
                Constraint(constraint.name, Operator.ANY, None, Kind.STRING),
                shown,
                is_settled=True,
            )
            return f"{shown} <> {said} AND {rest}"
        return f"({shown} < {said} OR {shown} > {said})"

    def pattern(self, constraint: Constraint) -> str | None:
        """The operand of ``LIKE``, if the constraint is one of those."""
        operator, value = constraint.operator, constraint.value
        if operator in _LIKES:
            pattern = _LIKES[operator].format(_escaped(str(value)))
        elif operator in {Operator.LIKE, Operator.NOT_LIKE}:
            pattern = "%".join(map(_part, read_wildcards(str(value)).parts))
        else:
            return None
        if self.variant.is_strict and has_control(pattern):
            raise self.not_writable(constraint)
        ending = f" ESCAPE '{_ESCAPE}'" if _ESCAPE in pattern else ""
        return f"{_quoted(pattern)}{ending}"

    def operand(self, constraint: Constraint) -> str:
        """The value as a literal."""
        value = constraint.value
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return _quoted(value)
        mantissa, _, exponent = repr(value).partition("e")
        if not exponent:
            return mantissa
        return f"{mantissa}{'' if '.' in mantissa else '.0'}E{exponent}"

    def name(self, constraint: Constraint) -> str:
        """The name of an attribute, quoted where it is no plain word."""
        name = constraint.name
        if not self.variant.is_strict:
            section, dot, rest = name.partition(".")
            if dot and f"{section}." in self.variant.sections.values():
                return f"{section}.{self.word(rest)}"
            return self.word(name)
        if has_control(name):
            raise self.not_writable(constraint)
        section, dot, rest = name.partition(".")
        if dot and rest in FIELDS.get(section + dot, ()):
            return name
        if is_plain_name(name):
            return name
        return "[" + name.replace("[", "[[").replace("]", "]]") + "]"

    def word(self, name: str) -> str:
        """A name, in quotes where it is no plain word."""
        is_plain = WORD.fullmatch(name) and name.lower() not in RESERVED
        if is_plain and (self.variant.is_java or is_azure_name(name)):
            return name
        return '"' + name.replace('"', '""') + '"'

    def not_writable(self, constraint: Constraint) -> NotWritableError:
        """The refusal of a constraint."""
        return NotWritableError(constraint, "a selector")


def _is_plain(constraint: Constraint) -> bool:
    """Whether it compares with a value as selectors do: with all numbers, say."""
    value, kind = constraint.value, constraint.kind
    return value is not None and kind is Kind.wanted_by(value) is not Kind.TIME


def _hold(ways: Iterable[Conjunction], value: Value) -> bool:
    return any(all(c.matches(value) for c in way) for way in ways)


def _either(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"


def _part(part: Part) -> str:
    return "".join(
        "_" if is_open else _escaped(character)
        for character, is_open in zip(part.text, part.is_open, strict=True)
    )


def _escaped(text: str) -> str:
    return "".join(_ESCAPE + c if c in {"%", "_", _ESCAPE} else c for c in text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
