"""Rules on multi-valued attributes, for an engine that sees one value of each.

Each constraint holds if one of the values satisfies it, so two constraints on one name
may hold of two values.  A filter that has two is stored under one of them, and all that
it asks is asked again, of all values.
"""

from siena.matching.input.several import is_about_presence
from siena.model import Constraint, Filter, Predicate
from siena.model.expression import Expression, all_of, any_of
from siena.model.expression.rule import Rule


def seen_by_choices(rule: Rule, many: frozenset[str]) -> Rule:
    """The same rule, of whose filters none has two constraints on one such name.

    >>> from siena.lang.parser import parse_predicate
    >>> rule = Rule(parse_predicate("x > 3 and x < 2 and y = 1"))
    >>> print(seen_by_choices(rule, frozenset({"x"})))
    x < 2 and y = 1, if [x < 2] and [x > 3] and [y = 1]
    >>> seen_by_choices(rule, frozenset({"y"})) == rule
    True
    """
    wider = [_wider(filter_, many) for filter_ in rule.predicate]
    if wider == list(rule.predicate):
        return rule
    asked: list[Expression] = [any_of(all_of(filter_) for filter_ in rule.predicate)]
    if rule.residual is not None:
        asked.append(rule.residual)
    return Rule(Predicate(wider), all_of(asked))


def _wider(filter_: Filter, many: frozenset[str]) -> Filter:
    kept: list[Constraint] = []
    taken: set[str] = set()
    for constraint in filter_:
        name = constraint.name
        if name not in many or is_about_presence(constraint):
            kept.append(constraint)
        elif name not in taken:
            taken.add(name)
            kept.append(constraint)
    return Filter(kept)
