"""Writing predicates in the languages of others, where that is exact.

What another language cannot say in the same words is refused, never approximated:
``NotWritableError`` names the constraint.  ``writers`` has them by name.
"""

from siena.dialects.writing.writers import WRITERS, write_rule

__all__ = ["WRITERS", "write_rule"]
