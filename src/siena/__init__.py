"""Siena: content-based publish/subscribe.

Publishers send notifications, subscribers say what they want with filters and
patterns, and neither side names the other.

>>> import siena
>>> wanted = siena.parse_filter("airline = UA and price < 500")
>>> wanted.matches(siena.Notification(airline="UA", price=449, dest="DEN"))
True
>>> siena.covers(siena.parse_filter("price < 800"), wanted)
True
"""

import importlib
import typing

from siena.algebra.covering import covers_advertisement
from siena.algebra.overlap import overlaps
from siena.algebra.relations import counterexample, covers, equivalent
from siena.algebra.sat import satisfiable
from siena.algebra.simplify import simplify
from siena.errors import SienaError
from siena.lang.parser import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_notification,
    parse_pattern,
    parse_predicate,
)
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Pattern,
    Predicate,
    Value,
)

__version__ = "0.1.0"

if typing.TYPE_CHECKING:
    from siena.client.connect import connect


def __getattr__(name: str) -> object:
    """Load what only programs with a broker need when they need it."""
    if name == "connect":
        connecting = importlib.import_module("siena.client.connect")
        return connecting.connect
    raise AttributeError(f"module 'siena' has no attribute {name!r}")


__all__ = [
    "Advertisement",
    "Constraint",
    "Filter",
    "Kind",
    "Notification",
    "Operator",
    "Pattern",
    "Predicate",
    "SienaError",
    "Value",
    "connect",
    "counterexample",
    "covers",
    "covers_advertisement",
    "equivalent",
    "overlaps",
    "parse_advertisement",
    "parse_filter",
    "parse_interest",
    "parse_notification",
    "parse_pattern",
    "parse_predicate",
    "satisfiable",
    "simplify",
]
