"""Overlap: whether an advertisement and an interest have a notification in common.

A subscription is only worth forwarding towards publishers whose advertisements
it overlaps.  Overlap is not an inclusion, and not transitive.
"""

from siena.algebra.sat import sat
from siena.model import Advertisement, Filter, Notification, Predicate, Value


def overlaps(advertisement: Advertisement, interest: Filter | Predicate) -> bool:
    """Whether something that may be published would match.

    >>> from siena.lang import parse_advertisement, parse_filter
    >>> overlaps(parse_advertisement("integer x = 3, integer x = 7"),
    ...          parse_filter("x > 3, x < 5"))
    False

    Reference:
        CU-CS-888-99, section 3.5; erratum E1 says where the papers need it.
    """
    return common_notification(advertisement, interest) is not None


def common_notification(
    advertisement: Advertisement, interest: Filter | Predicate
) -> Notification | None:
    """A notification that is admitted and matches, with the interest's names only."""
    filters = interest if isinstance(interest, Predicate) else (interest,)
    for f in filters:
        values = _common_values(advertisement, f)
        if values is not None:
            return Notification(values)
    return None


def _common_values(advertisement: Advertisement, f: Filter) -> dict[str, Value] | None:
    values: dict[str, Value] = {}
    for name, wanted in f.by_name.items():
        for offered in advertisement.by_name.get(name, ()):
            value = sat((*wanted, offered))
            if value is not None:
                values[name] = value
                break
        else:
            return None
    return values
