"""Which rules fire at an event: all filters of all rules, in one table.

A review asks this instead of comparing every rule with every other.  What covers a rule
fires wherever that rule fires; so events of which the rule is certain leave few others
to be compared with it, and exactly those that the algebra has to look at.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from siena.algebra.points import NotShownError, Point, notification_of
from siena.algebra.sat import sat
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Notification, Value
from siena.model.expression import holds
from siena.rules.reading import ReadRule

# Conditions on one attribute whose values are remembered: rules repeat each other.
CONDITIONS_REMEMBERED_MAX = 65_536


class RuleIndex:
    """Rules by number, and the table of their filters.

    >>> from siena.rules.entry import RuleEntry
    >>> from siena.rules.reading import read_entry
    >>> texts = ("x > 3 or y = 1", "x > 5", "y any")
    >>> index = RuleIndex([read_entry(RuleEntry(t, t)) for t in texts])
    >>> index.covering({"x": 7})
    {0: [<Filter x > 3>], 1: [<Filter x > 5>]}
    """

    def __init__(self, rules: Iterable[ReadRule]) -> None:
        self.rules: Sequence[ReadRule] = tuple(rules)
        self._table = ForwardingTable()
        self._owners: list[tuple[int, Filter]] = []
        # By identity, of filters that live as long as this does.
        self._labels: dict[int, int] = {}
        for number, read in enumerate(self.rules):
            for filter_ in read.rule.predicate:
                self._table.add(len(self._owners), filter_)
                self._owners.append((number, filter_))

    def __reduce__(self) -> tuple[type["RuleIndex"], tuple[Sequence[ReadRule]]]:
        # Another process makes its own table.
        return type(self), (self.rules,)

    def prepare(self) -> None:
        """Do now what the first question would wait for, before others are started."""
        self._table.match({})

    def label_of(self, filter_: Filter) -> int | None:
        """The number of a filter that belongs to a rule, among all filters."""
        if not self._labels:
            self._labels.update((id(f), n) for n, (_, f) in enumerate(self._owners))
        return self._labels.get(id(filter_))

    def filter_at(self, label: int) -> Filter:
        """The filter with a number."""
        return self._owners[label][1]

    def covering(self, event: Mapping[str, Value]) -> dict[int, list[Filter]]:
        """The rules whose predicates match an event, with the filters that do."""
        found: dict[int, list[Filter]] = {}
        for label in sorted(self._table.match(event)):
            number, filter_ = self._owners[label]
            found.setdefault(number, []).append(filter_)
        return found

    def firing(self, event: Mapping[str, Value]) -> list[int]:
        """The rules that match an event, their residuals asked too."""
        return [n for n in self.covering(event) if self.fires(n, event)]

    def fires(self, number: int, event: Mapping[str, Value]) -> bool:
        """Whether a rule whose predicate matches an event matches it altogether."""
        residual = self.rules[number].rule.residual
        return residual is None or holds(residual, event)


def example_of(filter_: Filter) -> Notification | None:
    """An event that a filter matches, or ``None`` if there is none.

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    points: dict[str, Point] = {}
    undecided: NotShownError | None = None
    for name, condition in filter_.by_name.items():
        try:
            point = _value_of(condition)
        except NotShownError as error:
            undecided = error  # another name may be impossible, which is certain
            continue
        if point is None:
            return None
        points[name] = point
    if undecided is not None:
        raise undecided
    return notification_of(points)


@lru_cache(maxsize=CONDITIONS_REMEMBERED_MAX)
def _value_of(condition: tuple[Constraint, ...]) -> Point | None:
    return sat(condition)
