"""The index of interests: each distinct filter once, made of distinct constraints.

::

    filter      0        1     2              members  0 1 | 1 | 1 2 …
    constraints x>3,y=1  y=1   y=1,z any      starts   0   2   3   5

A table of the engine has every constraint as a filter of its own, so it says which of
them a notification satisfies, each decided once however many filters have it.  How many
a filter misses is then a sum over arrays: a hundred thousand filters take milliseconds.
``tests/unit/broker/questions`` asks every filter itself.

The index follows what comes and goes; what is gone is marked, and left out when all of
it is made anew.
"""

from array import array
from collections.abc import Iterable, Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from siena.matching.table import ForwardingTable
from siena.messages import Interest, Interface
from siena.messages.requests import filters_of
from siena.model import Constraint, Filter, Value
from siena.model.expression.residual import ResidualPredicate
from siena.routing.interest_table import Holder

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

T = TypeVar("T")
Counts = dict[T, int]

# Who wants something: a party of a client, or a neighbour for an origin behind it.
Wanting = str | Holder
# The share of filters that nobody holds at which the index is made anew.
GONE_SHARE_MAX = 0.5
GONE_MAX = 1_000


class InterestIndex:
    """What is wanted at a broker, to be asked about as a whole.

    >>> from siena.lang.parser import parse_interest
    >>> index = InterestIndex()
    >>> index.enter("1/1", parse_interest("x > 3 and y = 1"))
    >>> index.enter("2/1", parse_interest("y = 1 or z any"))
    >>> index.missing({"x": 4, "z": 1}).tolist()
    [1, 1, 0]
    >>> index.leave("2/1", parse_interest("y = 1 or z any"))
    >>> [str(index.filters[number]) for number in index.held()]
    ['x > 3 and y = 1']
    """

    def __init__(self) -> None:
        # All that is wanted, by whom; in order, for dictionaries have one.
        self._wanted: dict[tuple[Wanting, Interest], None] = {}
        self._begin()

    def _begin(self) -> None:
        # One that no other index has, for what is remembered by number may outlive it.
        self.generation = object()
        """While it stays, filters keep their numbers."""
        self.filters: list[Filter] = []
        """The distinct filters, by number."""
        self.constraints: list[Constraint] = []
        """The distinct constraints, by number."""
        self._numbers: dict[Filter, int] = {}
        # Who holds each filter, and in how many of their interests.
        self._holders: list[Counts[Wanting]] = []
        self._of_neighbours: dict[Interface, Counts[int]] = {}
        self._residuals: dict[Wanting, ResidualPredicate] = {}
        self._constraint_numbers: dict[Constraint, int] = {}
        self._table = ForwardingTable()
        # Integers side by side, which NumPy copies at once: of a list it reads each,
        # and nobody else can do anything meanwhile.
        self._members, self._ends = array("i"), array("i")
        self._held_by = array("i")
        self._gone = 0
        self._spelled: list[str] = []
        # Copies of these, made when they are asked for.
        self._arrays: tuple[Ints, Ints, Ints] | None = None

    def __len__(self) -> int:
        """How many distinct filters are held."""
        return len(self.filters) - self._gone

    @property
    def interests(self) -> int:
        """How many interests there are, of clients and neighbours."""
        return len(self._wanted)

    # --- Changes --------------------------------------------------------------------

    def enter(self, holder: Wanting, interest: Interest) -> None:
        """A holder wants something; to say so again changes nothing."""
        if (holder, interest) not in self._wanted:
            self._wanted[holder, interest] = None
            self._hold(holder, interest)

    def _hold(self, holder: Wanting, interest: Interest) -> None:
        for f in dict.fromkeys(filters_of(interest)):
            number = self._numbers.get(f)
            if number is None:
                number = self._add(f)
            self._gone -= not self._holders[number]
            _count(self._holders[number], holder)
            self._held_by[number] = len(self._holders[number])
            if isinstance(holder, Holder):
                _count(self._of_neighbours.setdefault(holder.hop, {}), number)
        if isinstance(interest, ResidualPredicate):
            self._residuals[holder] = interest
        self._arrays = None

    def _add(self, f: Filter) -> int:
        number = self._numbers[f] = len(self.filters)
        self.filters.append(f)
        self._holders.append({})
        self._members.extend(map(self._number_of, f.constraints))
        self._ends.append(len(self._members))
        self._held_by.append(0)
        self._gone += 1
        return number

    def _number_of(self, constraint: Constraint) -> int:
        number = self._constraint_numbers.get(constraint)
        if number is None:
            number = self._constraint_numbers[constraint] = len(self.constraints)
            self.constraints.append(constraint)
            self._table.add(0, Filter((constraint,)))
        return number

    def leave(self, holder: Wanting, interest: Interest) -> None:
        """A holder wants something no longer."""
        if (holder, interest) not in self._wanted:
            return
        del self._wanted[holder, interest]
        for f in dict.fromkeys(filters_of(interest)):
            number = self._numbers[f]
            _discount(self._holders[number], holder)
            self._held_by[number] = len(self._holders[number])
            self._gone += not self._holders[number]
            if isinstance(holder, Holder):
                _discount(self._of_neighbours[holder.hop], number)
        self._residuals.pop(holder, None)
        self._arrays = None
        if self._gone > GONE_MAX and self._gone > GONE_SHARE_MAX * len(self.filters):
            self._make_anew()

    def _make_anew(self) -> None:
        self._begin()
        for holder, interest in self._wanted:
            self._hold(holder, interest)

    def prepare(self) -> None:
        """Compile what has come, which the next answer would do."""
        self._as_arrays()
        self.truth({})

    # --- Answers --------------------------------------------------------------------

    def number(self, f: Filter) -> int | None:
        """The number of a filter that was wanted once."""
        return self._numbers.get(f)

    def holders(self, number: int) -> Iterable[Wanting]:
        """Who wants a filter."""
        return self._holders[number]

    def of_neighbour(self, hop: Interface) -> Ints:
        """The filters that a neighbour wants."""
        held = self._of_neighbours.get(hop, {})
        return np.fromiter(held, np.int32, len(held))

    def residuals(self, number: int) -> list[ResidualPredicate] | None:
        """What the holders of a filter ask besides; none if one of them asks nothing.

        One residual for a party: it has one interest.
        """
        found = [self._residuals.get(holder) for holder in self._holders[number]]
        asked = [each for each in found if each is not None]
        return asked if len(asked) == len(found) else None

    def held(self) -> Ints:
        """The numbers of the filters that are held, ascending."""
        return np.flatnonzero(self.counts()).astype(np.int32)

    def counts(self) -> Ints:
        """By how many each filter is held."""
        return self._as_arrays()[2]

    def truth(self, notification: Mapping[str, Value]) -> Bools:
        """Of each constraint whether a notification satisfies it.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        found = np.zeros(len(self.constraints), np.bool_)
        found[self._table.match_filters(notification)] = True
        return found

    def missing(self, notification: Mapping[str, Value]) -> Ints:
        """Of each filter how many of its constraints a notification does not satisfy.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        return self.sums(~self.truth(notification))

    def sums(self, of_constraints: npt.NDArray[np.generic]) -> Ints:
        """Of each filter the sum of something over its constraints."""
        members, ends, _ = self._as_arrays()
        running = np.zeros(len(members) + 1, np.int32)
        np.cumsum(of_constraints[members], out=running[1:], dtype=np.int32)
        sums: Ints = np.diff(running[ends], prepend=np.int32(0))
        return sums

    def tally(self, of_constraints: Bools, of_filters: Ints) -> Ints:
        """Of each constraint that is chosen, the sum over the filters that have it."""
        members, ends, _ = self._as_arrays()
        weights = np.repeat(of_filters, np.diff(ends, prepend=np.int32(0)))
        found = np.bincount(members, weights, minlength=len(self.constraints))
        found[~of_constraints] = 0
        return found.astype(np.int32)

    def has(self, constraint: Constraint) -> Bools:
        """Which filters have a constraint."""
        chosen = np.zeros(len(self.constraints), np.bool_)
        number = self._constraint_numbers.get(constraint)
        if number is not None:
            chosen[number] = True
        return self.sums(chosen) > 0

    def sizes(self) -> Ints:
        """How many constraints each filter has."""
        _, ends, _ = self._as_arrays()
        sizes: Ints = np.diff(ends, prepend=np.int32(0))
        return sizes

    def distinct_names(self, names: Iterable[str]) -> Ints:
        """Of each filter, about how many of these names it has a constraint."""
        # In one pass, however many names there are.
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        about = (places.get(constraint.name, -1) for constraint in self.constraints)
        named = np.fromiter(about, np.int64, len(self.constraints))
        members, _, _ = self._as_arrays()
        filters = np.repeat(np.arange(len(self.filters)), self.sizes())
        of_members = named[members]
        is_named = of_members >= 0
        pairs = filters[is_named] * len(places) + of_members[is_named]
        once = np.unique(pairs) // max(1, len(places))
        found = np.bincount(once, minlength=len(self.filters))
        return found.astype(np.int32)

    def spelled(self) -> list[str]:
        """Each constraint as a text, in small letters, to be searched."""
        known = self._spelled
        known += [str(c).lower() for c in self.constraints[len(known) :]]
        return known

    def named(self, names: Iterable[str]) -> Ints:
        """Of each filter, how many of its constraints are about one of these names."""
        wanted = frozenset(names)
        about = (constraint.name in wanted for constraint in self.constraints)
        return self.sums(np.fromiter(about, np.bool_, len(self.constraints)))

    def _as_arrays(self) -> tuple[Ints, Ints, Ints]:
        if self._arrays is None:
            self._arrays = (
                np.array(self._members, np.int32),
                np.array(self._ends, np.int32),
                np.array(self._held_by, np.int32),
            )
        return self._arrays


def _count(counts: Counts[T], key: T) -> None:
    counts[key] = counts.get(key, 0) + 1


def _discount(counts: Counts[T], key: T) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
