"""Factoring: an expression becomes a rule, a covering predicate and a residual.

``solving`` (comparisons of numbers) → ``needs`` (what a value needs to be known) →
``atoms`` (conditions) → ``cover`` (unions and products) → ``factor``, the room's front.
"""

from siena.dialects.factoring.factor import factor

__all__ = ["factor"]
