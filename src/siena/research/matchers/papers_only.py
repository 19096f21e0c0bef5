"""The papers' matchers know the papers' operators, and say so of all others."""

from siena.errors import InvalidConstraintError
from siena.matching.matcher import filters_of
from siena.model import Filter, Operator, Predicate


def require_papers_operators(interest: Filter | Predicate) -> None:
    """Refuse what the papers do not have: absence, negations, patterns, folded case.

    Raises:
        InvalidConstraintError: if there is such a constraint.
    """
    for f in filters_of(interest):
        for constraint in f:
            if constraint.operator > Operator.ANY:
                raise InvalidConstraintError(
                    f"{constraint}: no operator of the papers",
                    hint="siena.matching has a table for all of them",
                )
