"""Searching for patterns when the steps that a notification matches are known.

The engine says which steps of which patterns a notification matches, all at once; what
is left is the greedy search of :class:`siena.matching.pattern.PatternMatcher`, here on
bits instead of filters, and with a duration.  The tests compare the two.
"""

from dataclasses import dataclass, field
from typing import Any

# Of a step, one bit.
STEP_BITS = 64


@dataclass(slots=True)
class Search:
    """The search for one pattern: what was accepted, and when.

    >>> search = Search(steps=2)
    >>> search.offer(0b01, 3, "login")
    >>> search.offer(0b10, 2, "an alarm of before")
    >>> search.offer(0b10, 4, "alarm")
    [(3, 'login'), (4, 'alarm')]

    With ``within``, what was accepted is forgotten when a notification comes that is
    later than the first by more than that; it may then be the first itself.
    """

    steps: int
    within: int | None = None
    accepted: list[tuple[int, Any]] = field(default_factory=list)

    def offer(self, matched: int, time: int, what: Any) -> list[tuple[int, Any]] | None:  # noqa: ANN401
        """The sequence that a notification completes, if it completes one.

        Bit ``i`` of ``matched`` is whether it matches step ``i``.
        """
        if self.accepted:
            if self.within is not None and time - self.accepted[0][0] > self.within:
                self.accepted = []
            elif time <= self.accepted[-1][0]:
                return None
        if not matched >> len(self.accepted) & 1:
            return None
        self.accepted.append((time, what))
        if len(self.accepted) < self.steps:
            return None
        found, self.accepted = self.accepted, []
        return found
