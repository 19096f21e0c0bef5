"""Finding the combinations of notifications that match a compound.

Every operator is a small machine; a compound is a tree of them, and each
notification goes down the tree once.  One notification completes at most one match
of each machine.  What the machines find, by induction over the tree:

``filter``
    every notification that matches it, alone.
``Either``
    what its left side finds and what its right side finds.  Where one notification
    completes a match of each, the left one is taken and the right one is dropped:
    a subscriber is told once.
``Then``
    the first match of its left side; from the next notification on, and among those
    generated *after* all of that match, the first match of its right side.  Then it
    starts again.  It keeps no alternatives, like
    :class:`~siena.matching.pattern.PatternMatcher`.
``Both``
    the first match of each side, whichever comes first and whatever their times.
    If these two share a notification and must not, it keeps both and waits until a
    later match of one side fits the one that is kept of the other.  Then it starts
    again.

Nothing here grows with the stream: ``Then`` keeps at most one match and ``Both`` two,
and no match has more notifications than the compound has parts, of which there are
at most :data:`~siena.model.compound.PARTS_MAX`.
"""

from typing import NamedTuple, Protocol

from siena.model import Filter, Notification, Predicate
from siena.model.compound import Both, Compound, Either, Part, Then


class Occurrence(NamedTuple):
    """One notification as it was offered; its number tells it from equal ones."""

    number: int
    time: float
    notification: Notification


Match = tuple[Occurrence, ...]


class CompoundMatcher:
    """The search for one compound in one stream of notifications.

    >>> from siena.lang.parser import parse_filter as parse
    >>> swing = Both(parse("change < 0"), parse("change > 0"))
    >>> matcher = CompoundMatcher(swing)
    >>> matcher.offer(Notification(change=2), time=1)
    >>> matcher.offer(Notification(change=3), time=2)
    >>> matcher.offer(Notification(change=-1), time=3)
    (<Notification change = -1>, <Notification change = 2>)

    The notifications of a match stand in the order of the parts they play.
    """

    __slots__ = ("_machine", "_offered", "compound")

    def __init__(self, compound: Compound) -> None:
        self.compound = compound
        self._machine = _machine_of(compound)
        self._offered = 0

    def reset(self) -> None:
        """Forget everything that was offered."""
        self._machine.reset()

    def offer(
        self, notification: Notification, time: float
    ) -> tuple[Notification, ...] | None:
        """The match that ``notification`` completes, if it completes one.

        ``time`` is when it was generated, in any unit; an integer stays exact.

        Cost: at most one match of each part.
        """
        self._offered += 1
        found = self._machine.offer(Occurrence(self._offered, time, notification))
        if found is None:
            return None
        return tuple(occurrence.notification for occurrence in found)


class _Machine(Protocol):
    def offer(self, occurrence: Occurrence) -> Match | None: ...

    def reset(self) -> None: ...


class _One:
    """A filter or a predicate: it has no state."""

    __slots__ = ("interest",)

    def __init__(self, interest: Filter | Predicate) -> None:
        self.interest = interest

    def reset(self) -> None:
        pass

    def offer(self, occurrence: Occurrence) -> Match | None:
        return (occurrence,) if self.interest.matches(occurrence.notification) else None


class _Either:
    __slots__ = ("left", "right")

    def __init__(self, compound: Either) -> None:
        self.left = _machine_of(compound.left)
        self.right = _machine_of(compound.right)

    def reset(self) -> None:
        self.left.reset()
        self.right.reset()

    def offer(self, occurrence: Occurrence) -> Match | None:
        # Both see every notification, whatever the other makes of it.
        left, right = self.left.offer(occurrence), self.right.offer(occurrence)
        return right if left is None else left


class _Then:
    __slots__ = ("found", "left", "right")

    def __init__(self, compound: Then) -> None:
        self.left = _machine_of(compound.left)
        self.right = _machine_of(compound.right)
        self.reset()

    def reset(self) -> None:
        self.left.reset()
        self.right.reset()
        self.found: Match | None = None

    def offer(self, occurrence: Occurrence) -> Match | None:
        if self.found is None:
            self.found = self.left.offer(occurrence)
            return None
        if occurrence.time <= max(part.time for part in self.found):
            return None
        right = self.right.offer(occurrence)
        if right is None:
            return None
        found = self.found + right
        self.reset()
        return found


class _Both:
    __slots__ = ("kept_left", "kept_right", "left", "right", "shares")

    def __init__(self, compound: Both) -> None:
        self.left = _machine_of(compound.left)
        self.right = _machine_of(compound.right)
        self.shares = compound.same_occurrence_allowed
        self.reset()

    def reset(self) -> None:
        self.left.reset()
        self.right.reset()
        self.kept_left: Match | None = None
        self.kept_right: Match | None = None

    def offer(self, occurrence: Occurrence) -> Match | None:
        left, right = self.left.offer(occurrence), self.right.offer(occurrence)
        # The first match of a side is kept; later ones are only tried.
        self.kept_left = self.kept_left or left
        self.kept_right = self.kept_right or right
        found = (
            self.join(self.kept_left, self.kept_right)
            or self.join(left, self.kept_right)
            or self.join(self.kept_left, right)
        )
        if found is not None:
            self.reset()
        return found

    def join(self, left: Match | None, right: Match | None) -> Match | None:
        """The two as one match, if there are two and they may stand together."""
        if left is None or right is None:
            return None
        # The numbers are unique, so nothing else of an occurrence is compared.
        if not self.shares and not set(left).isdisjoint(right):
            return None
        return left + right


def _machine_of(part: Part) -> _Machine:
    match part:
        case Either():
            return _Either(part)
        case Then():
            return _Then(part)
        case Both():
            return _Both(part)
        case Filter() | Predicate():
            return _One(part)
