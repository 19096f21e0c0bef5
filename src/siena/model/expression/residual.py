"""Predicates with a residual: interests that filters cannot say altogether.

A broker at the edge takes one for the predicate that it is, which is routed, covered
and indexed, and asks the residual of what the predicate lets through before it
delivers.  No other broker hears of the residual.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from siena.model.expression.evaluation import holds
from siena.model.expression.rule import Rule
from siena.model.expression.spelling import spell_expression
from siena.model.expression.tree import TRUE, Expression
from siena.model.filter import Filter, Predicate
from siena.model.values import Value


@dataclass(frozen=True, slots=True, init=False)
class ResidualPredicate(Predicate):
    """A covering predicate that is an interest, and the residual that decides.

    >>> from siena.lang.parser import parse_interest
    >>> text = "bid any and ask any, if bid < ask"
    >>> interest = parse_interest(text, residuals=True)
    >>> interest.matches({"bid": 1, "ask": 2}), interest.matches({"bid": 3, "ask": 2})
    (True, False)
    >>> print(interest)
    ask any and bid any, if bid < ask
    """

    residual: Expression = TRUE

    def __init__(self, filters: Iterable[Filter], residual: Expression) -> None:
        Predicate.__init__(self, filters)
        object.__setattr__(self, "residual", residual)

    @property
    def cover(self) -> Predicate:
        """The predicate alone, as others are told it."""
        return Predicate(self.filters)

    def lets_through(self, notification: Mapping[str, Value]) -> bool:
        """Whether the residual holds of what the predicate matches."""
        return holds(self.residual, notification)

    def matches(self, notification: Mapping[str, Value]) -> bool:
        """Whether one of the filters matches, and the residual holds."""
        return Predicate.matches(self, notification) and self.lets_through(notification)

    def __reduce__(self) -> tuple[Any, ...]:
        return ResidualPredicate, (self.filters, self.residual)

    def __str__(self) -> str:
        return str(Rule(self.cover, self.residual))

    def __repr__(self) -> str:
        shown = spell_expression(self.residual)
        return f"<ResidualPredicate {self.cover}, if {shown}>"


def rule_of(interest: Filter | Predicate) -> Rule:
    """An interest as a rule: its predicate, and the residual if it has one."""
    if isinstance(interest, ResidualPredicate):
        return Rule(interest.cover, interest.residual)
    return Rule(interest if isinstance(interest, Predicate) else Predicate([interest]))


def interest_of(rule: Rule) -> Predicate:
    """A rule as an interest: its predicate, with the residual if it has one."""
    if rule.residual is None:
        return rule.predicate
    return ResidualPredicate(rule.predicate.filters, rule.residual)
