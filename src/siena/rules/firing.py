"""Why rules fire at an event, and which almost did."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from siena.model import Filter
from siena.model.expression import holds
from siena.model.expression.evaluation import satisfies
from siena.rules.events import Event
from siena.rules.reading import ReadRule


@dataclass(frozen=True, slots=True)
class Firing:
    """A rule at an event: the filter that comes nearest, and which constraints hold.

    ``residual`` is whether the residual holds, ``None`` if there is none to ask.
    """

    rule: ReadRule
    filter: Filter
    held: tuple[bool, ...]
    residual: bool | None = None

    @property
    def fires(self) -> bool:
        """Whether the rule matches the event."""
        return all(self.held) and self.residual is not False

    @property
    def missing(self) -> int:
        """How many conditions do not hold."""
        return self.held.count(False) + (self.residual is False)

    @property
    def rank(self) -> tuple[int, int, str]:
        """The fewest that are missing first, then the most that hold."""
        return self.missing, -sum(self.held), self.rule.id


def firing_of(read: ReadRule, event: Event) -> Firing | None:
    """How a rule stands to an event; ``None`` if it has no filter at all.

    >>> from siena.rules.entry import RuleEntry
    >>> from siena.rules.reading import read_entry
    >>> rule = read_entry(RuleEntry("r", "x > 3 and y = 1 or z any"))
    >>> found = firing_of(rule, {"x": 5, "y": 2})
    >>> print(found.filter, found.held, found.fires)
    x > 3 and y = 1 (True, False) False
    """
    best: tuple[int, int, Filter, tuple[bool, ...]] | None = None
    for filter_ in read.rule.predicate:
        held = tuple(satisfies(constraint, event) for constraint in filter_)
        key = held.count(False), -sum(held)
        if best is None or key < best[:2]:
            best = *key, filter_, held
        if best[0] == 0:
            break
    if best is None:
        return None
    residual = None
    if best[0] == 0 and read.rule.residual is not None:
        residual = holds(read.rule.residual, event)
    return Firing(read, best[2], best[3], residual)


def fired(rules: Iterable[ReadRule], event: Event) -> Iterator[Firing]:
    """The rules that match an event."""
    for read in rules:
        found = firing_of(read, event) if read.rule.matches(event) else None
        if found is not None:
            yield found


def almost(rules: Iterable[ReadRule], event: Event, count: int) -> list[Firing]:
    """The rules that come nearest to an event without matching it.

    A rule of which nothing holds comes near to nothing.
    """
    near = [
        found
        for read in rules
        if (found := firing_of(read, event)) is not None
        and not found.fires
        and any(found.held)
    ]
    return sorted(near, key=lambda found: found.rank)[:count]
