"""The relations, for whatever values they are asked about, each with its verdict.

This is the room's front: it lifts the exact procedures from filters to
predicates and patterns.  A witness comes with every no of ``covers`` and
``equivalent`` and with every yes of ``overlaps`` and ``satisfiable``.
"""

from collections.abc import Callable
from functools import partial

from siena.algebra.covering import (
    advertisement_counterexample,
    counterexample_filter,
    covers_filter,
)
from siena.algebra.disjunction import (
    covers_pattern,
    covers_predicate,
    decide_covers_predicate,
)
from siena.algebra.overlap import common_notification
from siena.algebra.points import NotShownError
from siena.algebra.sat import witness
from siena.algebra.text.allowance import asked
from siena.algebra.verdict import YES, Verdict, not_shown
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate

Interest = Filter | Predicate | Pattern


@asked
def covers(general: Interest, specific: Interest) -> bool:
    """Whether ``general`` selects everything that ``specific`` selects.

    >>> from siena.lang import parse_interest as parse
    >>> covers(parse("price < 500"), parse("price < 300 and airline = UA"))
    True
    >>> covers(parse("x < 5 or x >= 5"), parse("number x any"))
    True

    Exact between filters; between predicates, exact up to a bound on the work
    (``SEARCH_STEPS_MAX``, of :mod:`siena.algebra.text.allowance` and
    :mod:`siena.algebra.disjunction`), beyond which the answer is no.  Patterns of
    the same length are compared step by step, which is what unsubscribing needs; a
    pattern of one step is its predicate.
    """
    if isinstance(general, Filter) and isinstance(specific, Filter):
        return covers_filter(general, specific)
    if _steps(general) == _steps(specific) == 1:
        return covers_predicate(_predicate(general), _predicate(specific))
    return covers_pattern(_pattern(general), _pattern(specific))


@asked
def decide_covers(general: Interest, specific: Interest) -> Verdict:
    """:func:`covers`, with a notification that shows a no.

    Between patterns of two steps and more there is no single such notification;
    the witness is one for the first step that is not covered.
    """
    if isinstance(general, Filter) and isinstance(specific, Filter):
        return _refuted_by(partial(counterexample_filter, general, specific))
    if _steps(general) != _steps(specific):
        reason = f"patterns of {_steps(general)} and {_steps(specific)} steps"
        return Verdict(holds=False, reason=reason)
    steps = zip(_pattern(general), _pattern(specific), strict=True)
    for wide, narrow in steps:
        verdict = decide_covers_predicate(wide, narrow)
        if not verdict.holds:
            return verdict
    return YES


@asked
def counterexample(general: Interest, specific: Interest) -> Notification | None:
    """A notification that ``specific`` selects and ``general`` does not, if found."""
    return decide_covers(general, specific).witness


@asked
def equivalent(left: Interest, right: Interest) -> bool:
    """Whether two interests select the same.

    >>> from siena.lang import parse_interest as parse
    >>> equivalent(parse("integer x = 4"), parse("integer x > 3, integer x < 5"))
    True
    """
    return covers(left, right) and covers(right, left)


@asked
def decide_equivalent(left: Interest, right: Interest) -> Verdict:
    """:func:`equivalent`, with a notification that only one of the two selects."""
    verdicts = [decide_covers(left, right), decide_covers(right, left)]
    refuted = [v for v in verdicts if not v.holds]
    # A no that is shown says more than one that is not.
    return next((v for v in refuted if v.shown), refuted[0]) if refuted else YES


@asked
def decide_covers_advertisement(
    general: Advertisement, specific: Advertisement
) -> Verdict:
    """Whether ``general`` admits everything that ``specific`` admits."""
    return _refuted_by(partial(advertisement_counterexample, general, specific))


@asked
def decide_overlaps(
    advertisement: Advertisement, interest: Filter | Predicate
) -> Verdict:
    """Whether something that may be published would match, with an example."""
    return _shown_by(partial(common_notification, advertisement, interest))


@asked
def decide_satisfiable(interest: Filter | Predicate) -> Verdict:
    """Whether anything at all would match, with an example."""
    return _shown_by(partial(witness, interest))


def _refuted_by(find: Callable[[], Notification | None]) -> Verdict:
    """Yes if there is no counterexample."""
    try:
        found = find()
    except NotShownError as error:
        return not_shown(error.limit)
    return YES if found is None else Verdict(holds=False, witness=found)


def _shown_by(find: Callable[[], Notification | None]) -> Verdict:
    """Yes if there is an example."""
    try:
        found = find()
    except NotShownError as error:
        return not_shown(error.limit)
    return Verdict(holds=found is not None, witness=found)


def _steps(interest: Interest) -> int:
    return len(interest) if isinstance(interest, Pattern) else 1


def _pattern(interest: Interest) -> Pattern:
    return interest if isinstance(interest, Pattern) else Pattern([interest])


def _predicate(interest: Interest) -> Predicate:
    return _pattern(interest).steps[0]
