"""Leaving: what a neighbour wanted is forgotten, once its link has gone.

All at once if it is little, in steps if it is much.  What no neighbour was told goes
first, so that nothing is told that is about to go as well.  Until all of it has gone,
there is no new link to that neighbour: its old entries could not be told from new ones.

What a neighbour wanted that is *missed* passes to a hop that stands for it, of which
others are told nothing: to them nothing has changed.  That hop is no neighbour, and so
nothing is sent there; what is kept for the neighbour is found under it.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from siena.messages import Interface, Outbox
from siena.model import Filter
from siena.routing.demand.covering_order import is_satisfiable
from siena.routing.interest_table import Holder
from siena.routing.steps.backlog import Task
from siena.routing.tables import Tables

# What tells the hop that stands for a neighbour from the neighbour: their numbers are
# below it.
_ABSENT = 1 << 63


def absent(number: int) -> int:
    """The hop that stands for a neighbour that is missed.

    >>> absent(7) == absent(absent(7)), absent(7) == 7
    (True, False)
    """
    return number | _ABSENT


def present(hop: int) -> int:
    """The neighbour that a hop is, or stands for.

    >>> present(absent(7)), present(7)
    (7, 7)
    """
    return hop & ~_ABSENT if hop > 0 else hop


class Leaving:
    """The neighbours that have gone and are not forgotten yet.

    ``done`` says what follows when one is; ``begin`` is called before one is missed of
    whom nothing was known.
    """

    def __init__(
        self, tables: Tables, done: Callable[[], Outbox], begin: Callable[[], None]
    ) -> None:
        self._tables = tables
        self._done = done
        self._begin = begin
        self._numbers: set[int] = set()
        # How often something was passed to a hop that stands for a neighbour.
        self._missed: Counter[Interface] = Counter()

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def forget(self, number: int, *, is_missed: bool = False) -> Outbox:
        """Forget a neighbour; in steps, if it wanted much.

        If it is missed, what it wanted passes to the hop that stands for it.
        """
        tables = self._tables
        held, step_max = tables.filters.holdings(number), tables.step_max
        if step_max is None or sum(len(items) for _, items in held) <= step_max:
            if is_missed:
                self._pass_on(number, (item for _, items in held for item in items))
            return tables.disconnect(number)
        self._numbers.add(number)
        out = tables.disconnect(number, is_forgotten=False)
        tables.backlog.add(self._in_steps(number, step_max, is_missed=is_missed))
        return out

    def wait_for(self, number: int, wanted: Iterable[Filter]) -> Outbox:
        """Let a neighbour be missed that was a neighbour in another life."""
        self._begin()
        order = self._tables.filters.order
        self._pass_on(number, (f for f in wanted if is_satisfiable(order, f)))
        return self._tables.sync()

    def give_up(self, number: int) -> Outbox:
        """Miss a neighbour no longer: it has said itself what it wants, or will not."""
        tables, hop = self._tables, absent(number)
        if tables.step_max is None:
            tables.apply_filters(tables.filters.forget(hop))
            return tables.sync() + self._done()
        tables.backlog.add(self._giving_up(hop, tables.step_max))
        return []

    def _giving_up(self, hop: int, step_max: int) -> Task:
        """Give up in steps, unless the neighbour is missed again meanwhile."""
        missed = self._missed[hop]
        for out in self._dropping(hop, step_max):
            yield out
            if self._missed[hop] != missed:
                return
        yield self._done()

    def _pass_on(self, number: int, wanted: Iterable[Filter]) -> None:
        tables = self._tables
        holder = tables.holder(absent(number), None)
        self._missed[holder.hop] += 1
        tables.spared[holder.hop] = number  # it knows itself what it wants
        for item in wanted:
            tables.apply_filters(tables.filters.announce(holder, item))

    def _in_steps(self, number: int, step_max: int, *, is_missed: bool) -> Task:
        tables = self._tables
        tables.apply_advertisements(tables.advertisements.forget(number))
        yield tables.sync()
        if is_missed:
            for _, items in tables.filters.holdings(number):
                for since in range(0, len(items), step_max):
                    self._pass_on(number, items[since : since + step_max])
                    yield tables.sync()
        yield from self._dropping(number, step_max)
        self._numbers.discard(number)
        yield self._done()

    def _dropping(self, hop: int, step_max: int) -> Task:
        tables = self._tables
        for is_told in (False, True):
            for holder, items in tables.filters.holdings(hop):
                for since in range(0, len(items), step_max):
                    some = items[since : since + step_max]
                    self._drop(holder, some, is_told=is_told)
                    yield tables.sync()

    def _drop(self, holder: Holder, some: Iterable[Filter], *, is_told: bool) -> None:
        tables = self._tables
        for item in some:
            if is_told or not tables.is_told(item):
                tables.apply_filters(tables.filters.drop(holder, item))
