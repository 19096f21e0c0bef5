"""Proofs that a rule is covered: by one other, or by several together.

*Theory of operation.*  A rule is covered if each of its filters is.  For each filter
there is an event that it matches; what covers the filter fires there.  So the rules
that fire at all these events are the only ones that can cover the rule alone, and those
that fire at some of them may cover it together.  Of these the algebra is asked.

Where several are needed, an event that they miss leads to those that are missing: they
fire there, and are asked next time.  If nothing else fires there, that event shows that
the rule is needed.

A residual is part of a rule.  A rule with one covers another only if it asks no more
than the other does: each condition of its residual is one of the other's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from siena.algebra.covering import covers_filter
from siena.algebra.disjunction import decide_covers_predicate
from siena.algebra.explanation import Reason, explain_covers
from siena.algebra.points import NotShownError
from siena.algebra.text.allowance import asked
from siena.model import Filter, Notification, Predicate
from siena.model.expression import Call, Expression, Operation
from siena.model.limits import FILTERS_MAX
from siena.rules.review.index import RuleIndex, example_of

# How much work one question about a union of filters may take: some tenths of a second.
STEPS_MAX = 40_000
# How often what a union misses may lead to more of it.
ROUNDS_MAX = 16
# Filters of one rule whose events are looked at first; most questions end there.
FIRST_EVENTS = 6


class Part(NamedTuple):
    """A filter of the covered rule, and what covers it: filters, each of a rule."""

    filter: Filter
    by: tuple[tuple[int, Filter], ...]

    def reasons(self) -> list[Reason]:
        """Constraint by constraint, why a filter covers; or that the union does."""
        if len(self.by) == 1:
            return explain_covers(self.by[0][1], self.filter)
        because = f"within the union of {len(self.by)} filters"
        return [Reason(True, str(self.filter), because)]


@dataclass(frozen=True, slots=True)
class Proof:
    """That rules cover another, filter by filter; and an event that all can see."""

    covering: tuple[int, ...]
    parts: tuple[Part, ...]
    example: Notification | None


@dataclass(frozen=True, slots=True)
class RuleCovers:
    """What is known about one rule: what it selects, who covers it, who does not.

    ``live_filters`` are its filters that something matches, as far as they were asked.
    ``alone`` is an event at which no other rule fires.  ``undecided`` says that the
    work that is allowed did not suffice somewhere.
    """

    live_filters: tuple[Filter, ...] = ()
    dead_filters: tuple[Filter, ...] = ()
    single: tuple[Proof, ...] = ()
    together: Proof | None = None
    alone: Notification | None = None
    undecided: bool = False


@asked
def find_covers(index: RuleIndex, number: int) -> RuleCovers:
    """Who covers a rule of an index, with the proofs."""
    return _Search(index, number).run()


def conditions(residual: Expression | None) -> frozenset[Expression]:
    """The conditions of a residual, all of which must hold."""
    if residual is None:
        return frozenset()
    if isinstance(residual, Call) and residual.operation is Operation.AND:
        return frozenset(residual.arguments)
    return frozenset({residual})


class _Search:
    """The search for what covers one rule."""

    def __init__(self, index: RuleIndex, number: int) -> None:
        self.index = index
        self.number = number
        self.rule = index.rules[number].rule
        self.asked = conditions(self.rule.residual)
        self.examples: dict[Filter, Notification] = {}
        self.near: dict[Filter, Mapping[int, Sequence[Filter]]] = {}
        self.dead: list[Filter] = []
        self.alone: Notification | None = None
        self.undecided = False

    def run(self) -> RuleCovers:
        filters = _spread(self.rule.predicate.filters)
        candidates: set[int] | None = None
        for count, filter_ in enumerate(filters):
            if count >= FIRST_EVENTS and not candidates and self.alone is not None:
                break  # covered neither by one nor by several: the rest adds nothing
            near = self.look_at(filter_)
            if near is not None:
                candidates = (
                    set(near) if candidates is None else candidates.intersection(near)
                )
        singles = tuple(
            proof
            for n in sorted(candidates or ())
            if (proof := self.covered_by(n)) is not None
        )
        together = None
        if not singles and self.alone is None and self.near and not self.undecided:
            together = self.covered_together()
        return RuleCovers(
            tuple(self.examples),
            tuple(self.dead),
            singles,
            together,
            self.alone,
            self.undecided,
        )

    def look_at(self, filter_: Filter) -> Mapping[int, Sequence[Filter]] | None:
        """The others that may cover a filter; ``None`` if nothing matches it."""
        try:
            example = example_of(filter_)
        except NotShownError:
            self.undecided = True
            return {}
        if example is None:
            self.dead.append(filter_)
            return None
        self.examples[filter_] = example
        self.near[filter_] = near = self.others_at(example)
        return near

    def others_at(self, event: Notification) -> Mapping[int, Sequence[Filter]]:
        """The others that may cover, of those that fire at an event of this rule."""
        found = self.index.covering(event)
        found.pop(self.number, None)
        if self.alone is None and self.index.fires(self.number, event):
            # Those without a residual fire for certain, and cost nothing to ask.
            others = sorted(found, key=lambda n: not self.index.rules[n].rule.is_exact)
            firing = any(self.index.fires(n, event) for n in others)
            self.alone = None if firing else event
        return {n: filters for n, filters in found.items() if self.may_cover(n)}

    def may_cover(self, number: int) -> bool:
        residual = self.index.rules[number].rule.residual
        return residual is None or conditions(residual) <= self.asked

    def covered_by(self, number: int) -> Proof | None:
        """The proof that one other rule covers this one, if there is one."""
        parts: list[Part] = []
        left: list[Filter] = []
        for filter_, near in self.near.items():
            by = next((g for g in near[number] if covers_filter(g, filter_)), None)
            if by is None:
                left.append(filter_)
            else:
                parts.append(Part(filter_, ((number, by),)))
        wide = self.index.rules[number].rule.predicate
        for filter_ in left:
            verdict = decide_covers_predicate(
                wide, Predicate([filter_]), steps_max=STEPS_MAX
            )
            if not verdict.holds:
                self.undecided = self.undecided or not verdict.shown
                return None
            parts.append(Part(filter_, tuple((number, g) for g in wide)))
        return self.proof(parts)

    def covered_together(self) -> Proof | None:
        """The proof that several other rules cover this one, if there is one."""
        parts: list[Part] = []
        open_: list[Filter] = []
        for filter_, near in self.near.items():
            by = next(
                (
                    (n, g)
                    for n, filters in near.items()
                    for g in filters
                    if covers_filter(g, filter_)
                ),
                None,
            )
            if by is None:
                open_.append(filter_)
            else:
                parts.append(Part(filter_, (by,)))
        for filter_ in open_:
            part = self.covered_by_union(filter_)
            if part is None:
                return None
            parts.append(part)
        return self.proof(parts)

    def covered_by_union(self, filter_: Filter) -> Part | None:
        rivals = dict.fromkeys(_owned(self.near[filter_]))
        for _ in range(ROUNDS_MAX):
            if not rivals or len(rivals) > FILTERS_MAX:
                return None
            verdict = decide_covers_predicate(
                Predicate(g for _, g in rivals),
                Predicate([filter_]),
                steps_max=STEPS_MAX,
            )
            if verdict.holds:
                return Part(filter_, tuple(rivals))
            if verdict.witness is None:
                self.undecided = True
                return None
            more = dict.fromkeys(_owned(self.others_at(verdict.witness)))
            if not more.keys() - rivals.keys():
                return None
            rivals |= more
        self.undecided = True
        return None

    def proof(self, parts: Sequence[Part]) -> Proof:
        covering = tuple(sorted({n for part in parts for n, _ in part.by}))
        example = next(iter(self.examples.values()), None)
        return Proof(covering, tuple(parts), example)


def _owned(
    near: Mapping[int, Sequence[Filter]],
) -> Iterator[tuple[int, Filter]]:
    for number, filters in near.items():
        for filter_ in filters:
            yield number, filter_


def _spread(filters: Sequence[Filter]) -> list[Filter]:
    """All filters, but first some that lie far apart: they have least in common."""
    step = max(1, len(filters) // FIRST_EVENTS)
    first = dict.fromkeys(filters[::step])
    return [*first, *(f for f in filters if f not in first)]
