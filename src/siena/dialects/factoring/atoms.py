"""Covers of conditions: comparisons, memberships, patterns, networks.

A condition that filters can say has a cover without a rest.  Of the others the cover
says what they need: that the attributes are there, of the right kinds, how a text
begins where that is plain, and what occurs in it wherever a regular expression does.
"""

from collections.abc import Callable

from siena.dialects.factoring.casts import (
    has_casts,
    is_hopeless,
    parts_of,
    specialized,
)
from siena.dialects.factoring.cover import (
    NOTHING,
    Alternatives,
    Cover,
    any_value,
    product,
    removed,
    union,
)
from siena.dialects.factoring.literals import Texts, needed_texts
from siena.dialects.factoring.needs import needs_of
from siena.dialects.factoring.solving import solve
from siena.model import Constraint, Kind, Operator
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    call,
    holds,
    names_of,
)
from siena.model.expression.networks import read_network
from siena.model.expression.operations import ANYWHERE, COMPARISONS

CoverOf = Callable[[Expression], Cover]

_NEGATED = {
    Operation.EQ: Operation.NE,
    Operation.NE: Operation.EQ,
    Operation.LT: Operation.GE,
    Operation.GE: Operation.LT,
    Operation.GT: Operation.LE,
    Operation.LE: Operation.GT,
}


def cover_condition(
    condition: Call, *, negated: bool, many: frozenset[str], cover: CoverOf
) -> Cover:
    """The cover of a condition, or of its negation.

    ``many`` are the names that may have several values, of which little can be solved;
    ``cover`` covers what a condition becomes when it is specialized.
    """
    whole: Expression = call(Operation.NOT, condition) if negated else condition
    names = names_of(condition)
    if condition.operation in ANYWHERE:
        return Cover([()], whole)
    if names & many:
        return Cover(_needed(condition, many, negated=negated), whole)
    if not names:
        return Cover([()]) if holds(whole, {}) else NOTHING
    if negated and condition.operation in COMPARISONS:
        whole = call(_NEGATED[condition.operation], *condition.arguments)
        if not isinstance(whole, Call):
            return Cover([(whole,)]) if isinstance(whole, Constraint) else NOTHING
        condition, negated = whole, False
    found = _exact(condition, negated=negated)
    if found is not None:
        return union([Cover(found)], whole)
    if len(names) == 1 and has_casts(condition):
        (name,) = names
        return _by_kind(whole, name, cover)
    return Cover(_needed(condition, many, negated=negated), whole)


def _exact(condition: Call, *, negated: bool) -> Alternatives | None:
    """The alternatives that say a condition exactly, if it is one that filters say."""
    match condition:
        case Call(Operation.ALIKE, (Attribute(name), Literal(value))):
            kind = Kind.wanted_by(value)
            operator = Operator.OTHER if negated else Operator.ANY
            return [(Constraint(name, operator, None, kind),)]
        case Call(Operation.ONE_OF, (Attribute(name), *members)):
            return _one_of(name, members, negated=negated)
        case Call(operation, (left, right)) if operation in COMPARISONS:
            return solve(operation, left, right)
        case Call(Operation.LIKE, (Attribute(name), Literal(str() as pattern))):
            # As a constraint it would be `any`, which is false of what is no string.
            if set(pattern) == {"*"}:
                return [] if negated else any_value(name, Kind.STRING.parts)
        case _:
            pass
    return None


def _one_of(
    name: str, members: list[Expression], *, negated: bool
) -> Alternatives | None:
    found: Alternatives = []
    for member in members:
        constraint = call(Operation.EQ, Attribute(name), member)
        if not isinstance(constraint, Constraint):
            return None
        found.append((constraint,))
    return removed(any_value(name), found) if negated else found


def _by_kind(whole: Expression, name: str, cover: CoverOf) -> Cover:
    """The cover of a condition with casts on one attribute, from one for each kind."""
    found = [
        Cover([(Constraint(name, Operator.EQ, value, Kind.BOOLEAN),)])
        for value in (False, True)
        if holds(whole, {name: value})
    ]
    if holds(whole, {}):
        found.append(Cover([(Constraint(name, Operator.ABSENT),)]))
    for part in parts_of(name):
        if is_hopeless(whole, part):
            continue
        simpler = specialized(whole, name, part)
        there = Cover([part.constraints])
        if has_casts(simpler):
            found.append(Cover(there.alternatives, whole))
        else:
            found.append(product([(there, whole), (cover(simpler), simpler)]))
    return union(found, whole)


def _needed(condition: Call, many: frozenset[str], *, negated: bool) -> Alternatives:
    """What a condition needs to be true, or false, at all."""
    parts = [
        (Cover(any_value(name, kinds)), condition)
        for name, kinds in needs_of(condition, many).items()
    ]
    match condition:
        case Call(Operation.IN_NETWORK, (Attribute(name), Literal(str() as network))):
            beginning = _beginning_of(network)
            if beginning and not negated:
                return [(Constraint(name, Operator.PREFIX, beginning),)]
        case Call(Operation.MATCHES, (Attribute(name), Literal(str() as pattern))):
            if not negated:
                return _occurring(name, needed_texts(pattern))
        case _:
            pass
    return product(parts).alternatives


def _occurring(name: str, texts: Texts) -> Alternatives:
    """The alternatives that a string has the texts that a pattern needs."""
    operator = Operator.SUBSTRING_FOLDED if texts.ignores_case else Operator.SUBSTRING
    found = any_value(name, Kind.STRING.parts)
    several = 0
    for place in texts.places:
        several += len(place) > 1
        if several < 2:  # one of several, once: what it adds is not worth a product
            found = [
                (*(c for c in one if c.operator is not Operator.ANY), constraint)
                for one in found
                for constraint in (Constraint(name, operator, t) for t in sorted(place))
            ]
    return found


def _beginning_of(network: str) -> str:
    """How the text of every address of a network begins, as far as that is certain."""
    found = read_network(network)
    if found.version != 4:
        return ""  # one address has many texts
    whole = found.prefixlen // 8
    octets = str(found.network_address).split(".")[:whole]
    return ".".join(octets) + ("." if 0 < whole < 4 else "")
