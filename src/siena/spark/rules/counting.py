"""Conditions on several events: windowed counts, and sequences, of one group.

A :class:`Condition` is a correlation as workers need it.  A :class:`Window` is what is
remembered of one group: never more than the condition counts, and nothing that is older
than its span.  What has led to an alert is used up, and counting begins anew.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from siena.errors import FilterError, LimitError
from siena.model.values import Value
from siena.rules.correlation import Correlation, CorrelationKind
from siena.spark.streams.sequences import Search

# What a window counts to: so much it remembers of each group.
COUNT_MAX = 10_000
# Rules of one correlation, a bit each.
RULES_MAX = 63
MICROSECONDS = 1_000_000
_COUNTED = {">=", ">", "="}
_NEVER = -(2**63)


class Condition(NamedTuple):
    """A correlation: what it counts, of which rules, and what it is called."""

    id: str
    version: str
    severity: str
    mark: str
    kind: str
    rules: tuple[str, ...]
    group_by: tuple[str, ...]
    span: int  # in microseconds
    wanted: int  # events, values or rules
    fields: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str, str], ...] = ()
    generates: bool = False

    @classmethod
    def of(cls, form: dict[str, Any]) -> "Condition":
        """The condition of what JSON has made of one."""
        made: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in form.items()}
        return cls(**made)

    def attribute(self, name: str, rule_id: str) -> str:
        """Where a name of ``group_by`` is found in what a rule selects."""
        for alias, rule, attribute in self.aliases:
            if alias == name and rule == rule_id:
                return attribute
        return name

    def names(self) -> set[str]:
        """The attributes by which events are grouped and told apart."""
        aliased = {attribute for _, _, attribute in self.aliases}
        return {*self.group_by, *self.fields, *aliased}

    def group(
        self, rule_id: str, event: Mapping[str, Value]
    ) -> tuple[Value, ...] | None:
        """The group of an event that a rule selects; none if an attribute is absent."""
        values = [event.get(self.attribute(n, rule_id)) for n in self.group_by]
        found = tuple(value for value in values if value is not None)
        return found if len(found) == len(values) else None

    def told(self) -> str:
        """What has to be, in a few words."""
        span = f"within {self.span / MICROSECONDS:g} s"
        match self.kind:
            case CorrelationKind.EVENT_COUNT:
                return f"{self.wanted} events {span}"
            case CorrelationKind.VALUE_COUNT:
                return f"{self.wanted} values of {', '.join(self.fields)} {span}"
            case CorrelationKind.TEMPORAL:
                return f"{' and '.join(self.rules)} {span}"
            case _:
                return f"{' then '.join(self.rules)} {span}"


def condition_of(correlation: Correlation, mark: str) -> Condition:
    """The condition of a correlation.

    Raises:
        FilterError: if it is about what did not come, which no event tells.
        LimitError: if it counts further, or is about more rules, than is remembered.
    """
    kind = correlation.kind
    wanted = len(correlation.rules)
    if kind in {CorrelationKind.EVENT_COUNT, CorrelationKind.VALUE_COUNT}:
        if correlation.comparison not in _COUNTED:
            raise FilterError(
                f"a count {correlation.comparison} {correlation.count} is about events "
                "that did not come",
                hint="counts are compared by >=, > and =",
            )
        wanted = max(1, correlation.count + (correlation.comparison == ">"))
        if kind is CorrelationKind.VALUE_COUNT and not correlation.fields:
            raise FilterError("a count of values names the field")
    if wanted > COUNT_MAX:
        raise LimitError("COUNT_MAX", COUNT_MAX, "events of a group to count")
    if len(correlation.rules) > RULES_MAX:
        raise LimitError("RULES_MAX", RULES_MAX, "rules in a correlation")
    entry = correlation.entry
    return Condition(
        id=entry.id,
        version=entry.version,
        severity=entry.severity,
        mark=mark,
        kind=str(kind),
        rules=correlation.rules,
        group_by=correlation.group_by,
        span=correlation.span_s * MICROSECONDS,
        wanted=wanted,
        fields=correlation.fields,
        aliases=correlation.aliases,
        generates=correlation.generates,
    )


class Window:
    """What is remembered of one group of events, for one condition.

    >>> seconds = 1_000_000
    >>> two = Condition("c", "", "", "", "event_count", ("a",), (), 60 * seconds, 2)
    >>> window = Window(two)
    >>> [window.offer(1, at * seconds, None) for at in (0, 61, 70, 80)]
    [False, False, True, False]
    """

    __slots__ = ("_condition", "_search", "_seen", "_times", "last")

    def __init__(self, condition: Condition, state: Any = None) -> None:  # noqa: ANN401
        self._condition = condition
        # When the newest event was; of events when they were, ascending; of what is
        # told apart, a value or a rule, when it was there last; and what a search has.
        self.last: int
        self._times: list[int]
        self._seen: dict[Any, int]
        accepted: list[tuple[int, Any]]
        self.last, self._times, self._seen, accepted = state or (_NEVER, [], {}, [])
        is_ordered = condition.kind == CorrelationKind.TEMPORAL_ORDERED
        self._search = (
            Search(condition.wanted, condition.span, accepted) if is_ordered else None
        )

    @property
    def state(self) -> Any:  # noqa: ANN401 -- of tuples, numbers and texts
        """All that is remembered, to be made a window of again."""
        accepted = [] if self._search is None else self._search.accepted
        return self.last, self._times, self._seen, accepted

    @property
    def span(self) -> int:
        """How far events may be from each other."""
        return self._condition.span

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        accepted = self._search is not None and self._search.accepted
        return not (self._times or self._seen or accepted)

    def offer(self, rules: int, time: int, value: str | None) -> bool:
        """Whether an event completes what is wanted.

        Bit ``i`` of ``rules`` is whether rule ``i`` selects it.
        """
        condition = self._condition
        self.last = max(self.last, time)
        if self._search is not None:
            return self._search.offer(rules, time, None) is not None
        start = self.last - condition.span
        if time < start:
            return False  # it comes too late to be within the span
        if condition.kind == CorrelationKind.EVENT_COUNT:
            insort(self._times, time)
            del self._times[: bisect_left(self._times, start)]
            is_enough = len(self._times) >= condition.wanted
        elif condition.kind == CorrelationKind.VALUE_COUNT:
            is_enough = value is not None and self._saw([value], time, start)
        else:
            steps = [i for i in range(condition.wanted) if rules >> i & 1]
            is_enough = self._saw(steps, time, start)
        if is_enough:
            self._times.clear()
            self._seen.clear()
        return is_enough

    def _saw(self, what: Iterable[Any], time: int, start: int) -> bool:
        """Whether as many as are wanted are within the span, with these."""
        seen = self._seen
        for each in what:
            # Behind all others, so that the oldest stand in front.
            seen[each] = max(time, seen.pop(each, time))
        while (first := next(iter(seen))) is not None and seen[first] < start:
            del seen[first]
        if len(seen) < self._condition.wanted:
            return False
        # What came late may stand behind what was before it.
        kept = sorted((at, each) for each, at in seen.items() if at >= start)
        self._seen = {each: at for at, each in kept}
        return len(kept) >= self._condition.wanted

    def is_over(self, now: int) -> bool:
        """Whether nothing that comes can be within the span of what is remembered."""
        return now - self.last > self._condition.span
