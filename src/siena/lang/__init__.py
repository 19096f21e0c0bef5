"""Text and JSON ⇄ values.

From the ground up: ``scanner`` → ``literals``, ``words`` → ``constraints`` →
``pieces`` → ``interests``, ``lists``, ``fast_path``; ``json_text`` →
``notification_form``; ``parser``, the room's front; then ``interest_form`` and
``addressing``.  Printing is ``str(value)``.  The room
``expression`` reads what filters cannot say.
"""

from siena.lang.interest_form import (
    advertisement_from_json,
    advertisement_to_json,
    interest_from_json,
    interest_to_json,
)
from siena.lang.notification_form import notification_from_json, notification_to_json
from siena.lang.parser import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_notification,
    parse_pattern,
    parse_predicate,
)

__all__ = [
    "advertisement_from_json",
    "advertisement_to_json",
    "interest_from_json",
    "interest_to_json",
    "notification_from_json",
    "notification_to_json",
    "parse_advertisement",
    "parse_filter",
    "parse_interest",
    "parse_notification",
    "parse_pattern",
    "parse_predicate",
]
