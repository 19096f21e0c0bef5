"""Overlap: whether an advertisement and an interest have a notification in common.

A subscription is only worth forwarding towards publishers whose advertisements
it overlaps.  Overlap is not an inclusion, and not transitive.
"""

from collections.abc import Iterable
from functools import partial

from siena.algebra.points import (
    ABSENT,
    NotShownError,
    Point,
    Search,
    all_found,
    first_found,
    notification_of,
)
from siena.algebra.sat import may_be_absent, sat
from siena.model import Advertisement, Constraint, Filter, Notification, Predicate


def overlaps(advertisement: Advertisement, interest: Filter | Predicate) -> bool:
    """Whether something that may be published would match.

    A no is shown; a yes may be one that could not be decided.

    >>> from siena.lang import parse_advertisement, parse_filter
    >>> overlaps(parse_advertisement("integer x = 3, integer x = 7"),
    ...          parse_filter("x > 3, x < 5"))
    False

    Reference:
        CU-CS-888-99, section 3.5; erratum E1 says where the papers need it.
    """
    try:
        return common_notification(advertisement, interest) is not None
    except NotShownError:
        return True  # it may, and what may match is not to be kept back


def common_notification(
    advertisement: Advertisement, interest: Filter | Predicate
) -> Notification | None:
    """A notification that is admitted and matches, with the interest's names only.

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    filters = interest if isinstance(interest, Predicate) else (interest,)
    points = first_found(partial(_common_points, advertisement, f) for f in filters)
    return None if points is None else notification_of(points)


def _common_points(advertisement: Advertisement, f: Filter) -> dict[str, Point] | None:
    return all_found(
        {
            name: partial(_common_point, wanted, advertisement.by_name.get(name, ()))
            for name, wanted in f.by_name.items()
        }
    )


def _common_point(
    wanted: tuple[Constraint, ...], offered: tuple[Constraint, ...]
) -> Point | None:
    """A point that satisfies all that is wanted, and is offered or absent."""
    if may_be_absent(wanted):
        return ABSENT
    searches: Iterable[Search] = (partial(sat, (*wanted, o)) for o in offered)
    return first_found(searches)
