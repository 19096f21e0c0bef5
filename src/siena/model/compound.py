"""Compound interests: two interests joined by ``or``, ``and`` or ``then``.

They exist in Python and in JSON only, because in text ``and`` and ``or`` belong to
filters.  What they find in a stream of notifications is
:mod:`siena.matching.compound`; routing knows nothing of them, and carries their
:meth:`~Joined.union` instead.

Reference:
    CU-CS-902-00, section 2.4.1; our specification, A.6.2.
"""

from dataclasses import dataclass

from siena.errors import LimitError
from siena.model.filter import Filter, Predicate

# Filters and predicates in one compound, as many as a pattern may have steps.  It
# bounds the nesting too: each level adds one, so nothing is ever deeper than this.
PARTS_MAX = 64


@dataclass(frozen=True, slots=True)
class Joined:
    """Two interests, joined; which way is told by the class.

    >>> from siena.lang.parser import parse_filter as parse
    >>> fall, rise = parse("change < 0"), parse("change > 0")
    >>> swing = Then(Both(fall, rise), parse("what = close"))
    >>> len(swing.parts)
    3
    >>> print(swing.union())
    change < 0 or change > 0 or what = close
    """

    left: "Part"
    right: "Part"

    def __post_init__(self) -> None:
        if len(self.parts) > PARTS_MAX:
            raise LimitError("PARTS_MAX", PARTS_MAX, "parts in a compound")

    @property
    def parts(self) -> tuple[Filter | Predicate, ...]:
        """The filters and predicates it is made of, from left to right."""
        return (*_parts(self.left), *_parts(self.right))

    def union(self) -> Predicate:
        """Everything that can play a part in a match.

        Who subscribes for this, and matches the compound where the notifications
        arrive, misses nothing and pays with traffic.

        Raises:
            LimitError: if the parts have more filters than one predicate may have.
        """
        return Predicate(f for part in self.parts for f in _filters(part))


@dataclass(frozen=True, slots=True)
class Either(Joined):
    """What matches the left side or the right side."""


@dataclass(frozen=True, slots=True)
class Both(Joined):
    """A match of the left side and one of the right side, in any order.

    One notification may play a part on both sides only if ``same_occurrence_allowed``.
    Two notifications with the same content are two occurrences, and always may.
    """

    same_occurrence_allowed: bool = False


@dataclass(frozen=True, slots=True)
class Then(Joined):
    """A match of the left side, and after it one of the right side.

    A chain of these over filters finds what the pattern with the same steps finds.
    """


Compound = Either | Both | Then
Part = Filter | Predicate | Compound
"""What a side of a compound may be."""


def _parts(part: Part) -> tuple[Filter | Predicate, ...]:
    return part.parts if isinstance(part, Joined) else (part,)


def _filters(part: Filter | Predicate) -> tuple[Filter, ...]:
    return part.filters if isinstance(part, Predicate) else (part,)
