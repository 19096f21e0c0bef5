"""Covering between predicates: whether filters are contained in a union of filters.

Deciding that is hard in general (it contains the complement of satisfiability),
so the search is exact up to a bound on its work, and says when it gave up.

*Theory of operation.*  A counterexample matches some filter ``f`` of the specific
predicate and violates at least one constraint of each general filter, its *rivals*.  A
rival with a name that ``f`` lacks is violated by leaving that name out, unless some
rival asks that it be left out: such a name is *free*, and the search decides between
absence and values.  A rival that ``f`` lets violate in one way only must be violated in
that way.  For the others the search keeps, name by name, the constraints that the
counterexample must violate; it looks for values that fit, finds a rival that they still
match, and tries to violate each of its constraints in turn.  When no rival matches any
more, the values are the counterexample; when every branch is contradictory, there is
none.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from siena.algebra.covering import covers_filter, implies
from siena.algebra.points import NotShownError, Point, notification_of, values_of
from siena.algebra.sat import sat
from siena.algebra.verdict import YES, Verdict, not_shown
from siena.model import Constraint, Filter, Operator, Pattern, Predicate

Condition = tuple[Constraint, ...]
# How many constraints and filters a search may look at before it gives up: far more
# than predicates need that people write, and about a second at the worst.
SEARCH_STEPS_MAX = 200_000
LIMIT = "SEARCH_STEPS_MAX"


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
    return _decide(general, specific, _Budget(steps_max))


def _decide(general: Predicate, specific: Predicate, budget: "_Budget") -> Verdict:
    """Cheap answers for all filters first, then the searches, each with its share."""
    searches: list[_Search] = []
    try:
        for f in specific:
            budget.spend(sum(_cost(g, f) for g in general))
            if any(covers_filter(g, f) for g in general):
                continue  # the papers' own test, filter by filter
            search = _Search(f, general, budget)
            found = search.first_points()
            if found is not None:
                return Verdict(holds=False, witness=notification_of(found))
            searches.append(search)
    except _GaveUpError:
        return not_shown(LIMIT)
    undecided = ""
    for left, search in zip(range(len(searches), 0, -1), searches, strict=True):
        share = _Budget(budget.left // left)
        budget.left -= share.left
        try:
            found = search.run(share)
        except _GaveUpError:
            undecided = LIMIT
            continue
        undecided = undecided or search.doubt
        budget.left += share.left
        if found is not None:
            return Verdict(holds=False, witness=notification_of(found))
    return not_shown(undecided) if undecided else YES


def _cost(general: Filter, specific: Filter) -> int:
    """How many pairs of constraints a comparison may look at."""
    if len(general.by_name) == len(general) and len(specific.by_name) == len(specific):
        return len(general) + 1
    return len(general) * len(specific) + 1


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


class _GaveUpError(Exception):
    """The budget is spent."""


@dataclass(slots=True)
class _Budget:
    left: int

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            self.left = 0
            raise _GaveUpError


class _State(NamedTuple):
    """Points that fit so far, and what they must satisfy and violate, by name."""

    points: dict[str, Point]
    satisfied: dict[str, Condition]
    violated: dict[str, Condition]


class _Search:
    """The search for points that match ``f`` and no rival."""

    def __init__(self, f: Filter, general: Predicate, budget: _Budget) -> None:
        self.given = _with_free_names(f, general)
        self.budget = budget
        # The limit because of which a branch was left out, if one was.
        self.doubt = ""
        self.forced: dict[str, Condition] = {}
        self.rivals: list[tuple[Filter, Condition]] = []
        for rival in general:
            if rival.by_name.keys() <= self.given.keys():
                self._enter(rival, _cost(rival, f))
        self.start = self._start()

    def first_points(self) -> dict[str, Point] | None:
        """The first points that were tried, if no rival matches them."""
        if self.start is None or self._ways_out(self.start) is not None:
            return None
        return self.start.points

    def run(self, budget: _Budget) -> dict[str, Point] | None:
        """Such points, or None if there are none, or if it is doubtful."""
        self.budget = budget
        # A stack of our own: as many rivals as a predicate may have are too deep
        # for Python's.
        stack = [] if self.start is None else [self.start]
        while stack:
            state = stack.pop()
            ways = self._ways_out(state)
            if ways is None:
                return state.points
            branches = [self._violate(state, ways, i) for i in range(len(ways))]
            stack += reversed([branch for branch in branches if branch is not None])
        return None

    def _enter(self, rival: Filter, cost: int) -> None:
        self.budget.spend(cost)
        ways = tuple(c for c in rival if not implies(self.given[c.name], (c,)))
        if len(ways) == 1:
            name = ways[0].name
            self.forced[name] = (*self.forced.get(name, ()), *ways)
        else:
            self.rivals.append((rival, ways))

    def _start(self) -> _State | None:
        points: dict[str, Point] = {}
        for name, given in self.given.items():
            point = self._sat(given, self.forced.get(name, ()))
            if point is None:
                return None
            points[name] = point
        return _State(points, {}, self.forced)

    def _ways_out(self, state: _State) -> Condition | None:
        """How a rival that still matches can be violated; None if none matches."""
        self.budget.spend(len(self.rivals) + 1)
        values = values_of(state.points)
        matching = (ways for g, ways in self.rivals if g.matches(values))
        return next(matching, None)

    def _violate(self, state: _State, ways: Condition, i: int) -> _State | None:
        """Violate the rival in one way, and in none before it: no branch repeats."""
        name = ways[i].name
        satisfied = dict(state.satisfied)
        for way in ways[:i]:
            satisfied[way.name] = (*satisfied.get(way.name, ()), way)
        unwanted = (*state.violated.get(name, ()), ways[i])
        point = self._sat((*self.given[name], *satisfied.get(name, ())), unwanted)
        if point is None:
            return None
        return _State(
            state.points | {name: point}, satisfied, state.violated | {name: unwanted}
        )

    def _sat(self, wanted: Condition, unwanted: Condition) -> Point | None:
        self.budget.spend(len(wanted) + len(unwanted) + 1)
        try:
            return sat(wanted, unwanted)
        except NotShownError as error:
            self.doubt = error.limit
            return None


def _with_free_names(f: Filter, general: Predicate) -> Mapping[str, Condition]:
    """The conditions of the filter, and no condition on each free name."""
    free = {
        c.name
        for rival in general
        for c in rival
        if c.operator is Operator.ABSENT and c.name not in f.by_name
    }
    return {**f.by_name, **dict.fromkeys(sorted(free), ())} if free else f.by_name
