"""Rules: what is wanted, cut into what filters can say and the rest.

A *rule* matches what its predicate matches and its residual, if it has one, holds of.
The predicate is routed, covered and indexed like any other; the residual is evaluated
on what the predicate lets through, and nowhere else.  Without a residual the rule *is*
its predicate, and everything that is known of predicates is known of it exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from siena.model.expression.evaluation import Values, holds, satisfies
from siena.model.expression.spelling import spell_expression
from siena.model.expression.tree import Expression
from siena.model.filter import Predicate


@dataclass(frozen=True, slots=True)
class Rule:
    """A covering predicate, and the expression that decides what it covers.

    >>> from siena.lang.expression.parser import parse_expression
    >>> from siena.lang.parser import parse_predicate
    >>> rule = Rule(parse_predicate("x any and y any"), parse_expression("x < y"))
    >>> rule.matches({"x": 1, "y": 2}), rule.matches({"x": 1})
    (True, False)
    >>> print(rule)
    x any and y any, if x < y
    """

    predicate: Predicate
    residual: Expression | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the predicate says everything."""
        return self.residual is None

    def matches(self, notification: Mapping[str, Values]) -> bool:
        """Whether the rule selects a notification.

        Where attributes have several values, the rule has to have been made for that:
        each constraint then holds if one of them satisfies it.
        """
        return self._is_covered(notification) and (
            self.residual is None or holds(self.residual, notification)
        )

    def _is_covered(self, notification: Mapping[str, Any]) -> bool:
        if tuple not in map(type, notification.values()):
            return self.predicate.matches(notification)
        return any(
            all(satisfies(constraint, notification) for constraint in filter_)
            for filter_ in self.predicate
        )

    def __str__(self) -> str:
        if self.residual is None:
            return str(self.predicate)
        return f"{self.predicate}, if {spell_expression(self.residual)}"
