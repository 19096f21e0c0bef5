"""Reviews of rule sets: what is dead, equal, shadowed or overlaps, each with a proof.

``index`` (which rules fire at an event) → ``covers`` (proofs that rules cover another)
→ ``side_by_side`` (those of a whole set) → ``findings`` (what a review says) →
``review`` (the walk over a set, and the overlaps that are asked for).
"""

from siena.rules.review.findings import Finding, FindingKind, Review
from siena.rules.review.review import review_rules

__all__ = ["Finding", "FindingKind", "Review", "review_rules"]
