"""The poset: many filters, or advertisements, ordered by covering.

From the ground up: ``bits``, ``conditions`` (what a filter says of one attribute),
``simple``, ``likely`` → ``chain``, ``location`` → ``axis`` (all conditions on one
attribute) → ``shelf``, ``change``, ``line``, ``known``, ``entry_index`` → ``poset``.
"""

from siena.algebra.poset.poset import Poset

__all__ = ["Poset"]
