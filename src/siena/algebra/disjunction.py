"""Covering between predicates: whether filters are contained in a union of filters.

Deciding that is hard in general (it contains the complement of satisfiability),
so the search is exact up to a bound on its work, and says when it gave up.

*Theory of operation.*  A counterexample matches some filter ``f`` of the specific
predicate and violates at least one constraint of each general filter.  A general
filter on a name that ``f`` lacks is violated by leaving that name out.  For the
others the search keeps, name by name, the constraints that the counterexample
must violate; it looks for values that fit, finds a general filter that they
still match, and tries to violate each of its constraints in turn.  When no
filter matches any more, the values are the counterexample; when every branch is
contradictory, there is none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from siena.algebra.covering import covers_filter, implies
from siena.algebra.sat import sat, witness_values
from siena.algebra.verdict import NOT_SHOWN, YES, Verdict
from siena.model import Constraint, Filter, Notification, Pattern, Predicate, Value

# How many times a search may ask `sat` before it gives up: a few milliseconds
# for predicates that people write, a tenth of a second at the worst.
SEARCH_STEPS_MAX = 10_000


def decide_covers_predicate(
    general: Predicate, specific: Predicate, *, steps_max: int = SEARCH_STEPS_MAX
) -> Verdict:
    """Whether ``general`` selects all that ``specific`` selects, with a witness if not.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> decide_covers_predicate(parse("x < 5 or x >= 5"), parse("number x any")).holds
    True
    >>> verdict = decide_covers_predicate(parse("x < 5 or x > 5"), parse("x > 3"))
    >>> print(verdict.witness)
    x = 5
    """
    budget = _Budget(steps_max)
    undecided = False
    for f in specific:
        if any(covers_filter(g, f) for g in general):
            continue  # the pairwise test of the papers, filter by filter
        values = witness_values(f)
        if values is None:
            continue
        # A name that f lacks is left out of the counterexample.
        rivals = [g for g in general if g.by_name.keys() <= f.by_name.keys()]
        try:
            found = _search(f, rivals, values, {}, budget)
        except _GaveUpError:
            undecided = True
            continue
        if found is not None:
            return Verdict(holds=False, witness=Notification(found))
    return NOT_SHOWN if undecided else YES


def covers_predicate(general: Predicate, specific: Predicate) -> bool:
    """Whether covering is shown; "not shown" counts as no."""
    return decide_covers_predicate(general, specific).holds


def covers_pattern(general: Pattern, specific: Pattern) -> bool:
    """Whether two patterns have the same length, and step covers step.

    This is what unsubscribing means for patterns.  It is not inclusion of what
    they match: a more general pattern may be satisfied, and start over, earlier.

    Reference:
        CU-CS-888-99, section 3.8.
    """
    return len(general) == len(specific) and all(
        covers_predicate(g, s) for g, s in zip(general, specific, strict=True)
    )


def reduce_predicate(predicate: Predicate) -> Predicate:
    """The predicate without the filters that the others make superfluous.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(reduce_predicate(parse("x > 5 or x > 3 or x = 9 and y = 1")))
    x > 3
    """
    kept = [f for f in predicate if witness_values(f) is not None]
    # From the most particular to the most general, so that of two equal filters
    # the shorter stays; each is weighed against what is still there.
    for f in sorted(kept, key=len, reverse=True):
        others = [g for g in kept if g is not f]
        if others and covers_predicate(Predicate(others), Predicate([f])):
            kept = others
    return Predicate(kept)


class _GaveUpError(Exception):
    """The budget is spent."""


@dataclass(slots=True)
class _Budget:
    left: int

    def spend(self) -> None:
        if self.left == 0:
            raise _GaveUpError
        self.left -= 1


def _search(
    f: Filter,
    rivals: Sequence[Filter],
    values: dict[str, Value],
    violated: dict[str, tuple[Constraint, ...]],
    budget: _Budget,
) -> dict[str, Value] | None:
    """Values that match ``f`` and no rival, violating what is already chosen."""
    rival = next((g for g in rivals if g.matches(values)), None)
    if rival is None:
        return values
    for constraint in rival:
        name = constraint.name
        given = f.by_name[name]
        if implies(given, (constraint,)):
            continue  # cannot be violated at all
        budget.spend()
        unwanted = (*violated.get(name, ()), constraint)
        value = sat(given, unwanted)
        if value is not None:
            found = _search(
                f, rivals, values | {name: value}, violated | {name: unwanted}, budget
            )
            if found is not None:
                return found
    return None
