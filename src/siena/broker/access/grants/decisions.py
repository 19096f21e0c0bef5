"""Decisions: from a grant and what its holder asks for, to what is in force.

Each is a function of values, and a no comes with a notification that shows it.  Every
way to a broker ends here: frames, lines, HTTP, the log and links.
"""

from dataclasses import dataclass
from itertools import product
from math import prod

from siena.algebra.conjunction import conjoin
from siena.algebra.disjunction import decide_covers_predicate
from siena.algebra.sat import is_filter_satisfiable
from siena.algebra.verdict import Verdict
from siena.errors import LimitError, SienaError
from siena.messages import Interest
from siena.messages.requests import filters_of
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Operator,
    Pattern,
    Predicate,
)
from siena.model.expression.residual import ResidualPredicate

# Steps to show that a grant covers what is asked for: some milliseconds.  What is not
# shown is multiplied out, and still exact.
COVERING_STEPS_MAX = 4_096
# Pairs of filters that are multiplied out for one subscription; beyond it the grant is
# a guard at delivery.
NARROWED_FILTERS_MAX = 256
# Filters that an advertisement is, with all of its attributes.
OFFERED_FILTERS_MAX = 1_024


@dataclass(frozen=True, slots=True)
class InForce:
    """What a subscription is under a grant.

    ``interest`` is what is matched; if it ``is_guarded``, what matches is delivered
    only if the grant matches, too.
    """

    asked: Interest
    interest: Interest
    is_guarded: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all is in force that was asked for."""
        return not self.is_guarded and self.interest is self.asked

    def __str__(self) -> str:
        within = " within what is granted" if self.is_guarded else ""
        return f"{self.interest}{within}"


def narrow(interest: Interest, grant: Predicate) -> InForce:
    """What is in force of an interest: it, and what is granted; patterns step by step.

    >>> from siena.lang.parser import parse_interest, parse_predicate
    >>> print(narrow(parse_interest("x > 3"), parse_predicate("x < 9 or y any")))
    x < 9 and x > 3 or x > 3 and y any
    >>> narrow(parse_interest("x > 3"), parse_predicate("x > 0")).is_whole
    True
    >>> print(narrow(parse_interest("x = 1 then x = 7"), parse_predicate("x < 9")))
    x = 1 then x = 7
    >>> print(narrow(parse_interest("x = 1 then x = 7"), parse_predicate("x < 5")))
    not []
    """
    if covers_interest(grant, interest).holds:
        return InForce(interest, interest)
    steps = steps_of(interest)
    if not grant.filters:
        return InForce(interest, Predicate())
    try:
        found = [conjoin(step, grant, NARROWED_FILTERS_MAX) for step in steps]
    except LimitError:
        return InForce(interest, interest, is_guarded=True)
    if not all(step.filters for step in found):  # a step that nothing can be
        return InForce(interest, Predicate())
    if isinstance(interest, Pattern):
        return InForce(interest, Pattern(found))
    only = found[0]
    if isinstance(interest, ResidualPredicate):
        return InForce(interest, ResidualPredicate(only.filters, interest.residual))
    return InForce(interest, only.filters[0] if len(only) == 1 else only)


def covers_interest(grant: Predicate, interest: Interest) -> Verdict:
    """Whether all that an interest selects is granted; a witness of what is not."""
    if Filter() in grant.filters:
        return Verdict(holds=True)
    steps = steps_of(interest)
    for step in steps:
        verdict = decide_covers_predicate(grant, step, steps_max=COVERING_STEPS_MAX)
        if not verdict.holds:
            return verdict
    return Verdict(holds=True)


def covers_offer(grant: Predicate, offer: Advertisement) -> Verdict:
    """Whether all that is advertised may be published; a witness of what may not.

    An advertisement stands for what it admits with all of its attributes there.

    >>> from siena.lang.parser import parse_advertisement, parse_predicate
    >>> mine = parse_predicate("tenant = a")
    >>> covers_offer(mine, parse_advertisement("tenant = a, number price any")).holds
    True
    >>> print(covers_offer(mine, parse_advertisement("tenant = a, tenant = b")).witness)
    tenant = b
    >>> print(covers_offer(mine, parse_advertisement("number price any")).witness)
    price = 0
    """
    if Filter() in grant.filters:
        return Verdict(holds=True)
    try:
        offered = _offered(grant, offer)
    except SienaError:
        return Verdict(holds=False, shown=False)
    return decide_covers_predicate(grant, offered, steps_max=COVERING_STEPS_MAX)


def may_inspect(grant: Predicate, what: str) -> bool:
    """Whether something may be looked at: ``what`` is the attribute that is compared.

    >>> from siena.lang.parser import parse_predicate
    >>> may_inspect(parse_predicate("what in (counters, links)"), "links")
    True
    """
    return grant.matches({"what": what})


def steps_of(interest: Interest) -> tuple[Predicate, ...]:
    """An interest as the predicate of each of its steps."""
    if isinstance(interest, Pattern):
        return tuple(interest)
    return (Predicate(filters_of(interest)),)


def _offered(grant: Predicate, offer: Advertisement) -> Predicate:
    alternatives = list(offer.by_name.values())
    if prod(map(len, alternatives)) > OFFERED_FILTERS_MAX:
        what = "filters that an advertisement is"
        raise LimitError("OFFERED_FILTERS_MAX", OFFERED_FILTERS_MAX, what)
    # What is not advertised is not published.
    names = {c.name for f in grant for c in f} - offer.by_name.keys()
    absent = tuple(Constraint(name, Operator.ABSENT) for name in sorted(names))
    filters = (Filter((*chosen, *absent)) for chosen in product(*alternatives))
    return Predicate(f for f in filters if is_filter_satisfiable(f))
