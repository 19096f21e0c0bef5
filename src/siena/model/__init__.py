"""The values that everything else is about.

From the ground up: ``limits`` → ``values`` → ``folding`` and its table, ``wildcards`` →
``operators``, ``spelling`` → ``canonical`` → ``constraint`` → ``notification``,
``filter`` → ``difference``, ``pattern`` → ``compound``.  Every value is frozen and
hashable, and equality respects kinds.  Expressions are a room of their own,
``expression``.
"""

from siena.model.constraint import Constraint
from siena.model.filter import Advertisement, Filter, Predicate
from siena.model.notification import Notification
from siena.model.operators import Operator
from siena.model.pattern import Pattern
from siena.model.values import Kind, Value

__all__ = [
    "Advertisement",
    "Constraint",
    "Filter",
    "Kind",
    "Notification",
    "Operator",
    "Pattern",
    "Predicate",
    "Value",
]
