"""Filters, advertisements and predicates: sets of constraints, and how they are read.

One set of constraints can be read in two ways.  A *filter* is a conjunction: it
says what a notification must contain.  An *advertisement* is a promise about
each attribute: it says what a notification may contain.  A *predicate* is a
disjunction of filters, everything that one party wants.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from siena.errors import InvalidConstraintError, LimitError
from siena.model.constraint import Constraint
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX
from siena.model.operators import Operator
from siena.model.values import Value

# What a promise cannot be about: that an attribute is not there, or not of a kind.
_REFUSED = frozenset({Operator.ABSENT, Operator.OTHER})
# Looked up with most constraints: a name of a module is found faster than a member.
_ABSENT = Operator.ABSENT


@dataclass(frozen=True, slots=True)
class ConstraintSet:
    """Constraints, each once, sorted by name, operator, kind and value."""

    constraints: tuple[Constraint, ...] = ()
    _by_name: dict[str, tuple[Constraint, ...]] | None = field(
        default=None, init=False, compare=False, repr=False
    )
    # Computed at the first use: brokers look up the same filters over and over.
    _hash: int | None = field(default=None, init=False, compare=False, repr=False)

    def __init__(self, constraints: Iterable[Constraint] = ()) -> None:
        given = tuple(constraints)
        for each in given:
            if type(each) is not Constraint:
                text = "constraints are wanted; siena.parse_filter reads a text"
                raise TypeError(text)
        if len(given) > 1:
            given = tuple(sorted(set(given)))
            if len(given) > CONSTRAINTS_MAX:
                raise LimitError(
                    "CONSTRAINTS_MAX", CONSTRAINTS_MAX, "constraints in a filter"
                )
        object.__setattr__(self, "constraints", given)
        object.__setattr__(self, "_by_name", None)
        object.__setattr__(self, "_hash", None)

    @property
    def by_name(self) -> Mapping[str, tuple[Constraint, ...]]:
        """The constraints on each name, computed at the first use."""
        if self._by_name is None:
            groups: dict[str, tuple[Constraint, ...]] = {}
            for constraint in self.constraints:
                name = constraint.name
                groups[name] = (*groups.get(name, ()), constraint)
            object.__setattr__(self, "_by_name", groups)
            return groups
        return self._by_name

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            found = hash(self.constraints)
            object.__setattr__(self, "_hash", found)
        return found

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.constraints)

    def __len__(self) -> int:
        return len(self.constraints)

    def __bool__(self) -> bool:
        # An empty filter is a filter, not nothing.
        return True

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Constraint, ...]]]:
        return type(self), (self.constraints,)

    def __str__(self) -> str:
        return " and ".join(map(str, self.constraints)) or "[]"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Filter(ConstraintSet):
    """A conjunction of constraints: what a notification must contain.

    >>> from siena.model.operators import Operator
    >>> alarms = Filter([Constraint("what", Operator.EQ, "alarm"),
    ...                  Constraint("level", Operator.GT, 3)])
    >>> print(alarms)
    level > 3 and what = alarm
    >>> alarms.matches({"what": "alarm", "level": 5, "where": "attic"})
    True

    A constraint on an absent attribute is not satisfied, unless it says ``absent``.
    The empty filter matches everything.

    >>> alarms.matches({"what": "alarm"}), Filter().matches({})
    (False, True)
    """

    def matches(self, notification: Mapping[str, Value]) -> bool:
        """Whether ``notification`` satisfies every constraint.

        Cost: one look-up and one comparison per constraint.
        """
        for constraint in self.constraints:
            value = notification.get(constraint.name)
            if value is None:
                if constraint.operator is not _ABSENT:
                    return False
            elif not constraint.matches(value):
                return False
        return True


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Advertisement(ConstraintSet):
    """What a publisher promises to stay within, attribute by attribute.

    >>> from siena.lang.parser import parse_advertisement as parse
    >>> access = parse("what = login, what = logout, string user any")
    >>> access.admits({"what": "login", "user": "carzanig"})
    True
    >>> access.admits({"what": "login", "level": 5})
    False
    """

    def __init__(self, constraints: Iterable[Constraint] = ()) -> None:
        ConstraintSet.__init__(self, constraints)
        refused = next((c for c in self.constraints if c.operator in _REFUSED), None)
        if refused is not None:
            raise InvalidConstraintError(
                f"{refused}: an advertisement says what may be there",
                hint="leave out what is never published",
            )

    def admits(self, notification: Mapping[str, Value]) -> bool:
        """Whether every attribute satisfies one of the constraints on its name."""
        return all(
            any(c.matches(value) for c in self.by_name.get(name, ()))
            for name, value in notification.items()
        )


@dataclass(frozen=True, slots=True)
class Predicate:
    """A disjunction of filters: everything that one party wants.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> traffic = parse("alert = accident or alert = congestion and severity > 2")
    >>> traffic.matches({"alert": "congestion", "severity": 3})
    True
    >>> print(traffic)
    alert = accident or alert = congestion and severity > 2

    No filter at all is the predicate that matches nothing, written ``not []``.
    """

    filters: tuple[Filter, ...] = ()

    def __init__(self, filters: "Filter | Iterable[Filter]" = ()) -> None:
        given = (filters,) if isinstance(filters, Filter) else tuple(filters)
        if not {*map(type, given)} <= {Filter}:
            raise TypeError("filters are wanted; siena.parse_predicate reads a text")
        if len(given) > 1:
            given = tuple(sorted(set(given), key=lambda f: f.constraints))
            if len(given) > FILTERS_MAX:
                raise LimitError("FILTERS_MAX", FILTERS_MAX, "filters in a predicate")
        object.__setattr__(self, "filters", given)

    def matches(self, notification: Mapping[str, Value]) -> bool:
        """Whether one of the filters matches."""
        return any(f.matches(notification) for f in self.filters)

    def __iter__(self) -> Iterator[Filter]:
        return iter(self.filters)

    def __len__(self) -> int:
        return len(self.filters)

    def __bool__(self) -> bool:
        return True

    def __reduce__(self) -> tuple[type["Predicate"], tuple[tuple[Filter, ...]]]:
        return Predicate, (self.filters,)

    def __str__(self) -> str:
        return " or ".join(map(str, self.filters)) or "not []"

    def __repr__(self) -> str:
        return f"<Predicate {self}>"
