"""Leaving: what a neighbour wanted is forgotten, once its link has gone.

All at once if it is little, in steps if it is much.  What no neighbour was told goes
first, so that nothing is told that is about to go as well.  Until all of it has gone,
there is no new link to that neighbour: its old entries could not be told from new ones.
"""

from collections.abc import Callable, Iterable

from siena.messages import Outbox
from siena.model import Filter
from siena.routing.interest_table import Holder
from siena.routing.steps.backlog import Task
from siena.routing.tables import Tables


class Leaving:
    """The neighbours that have gone and are not forgotten yet.

    ``done`` says what follows when one is.
    """

    def __init__(self, tables: Tables, done: Callable[[], Outbox]) -> None:
        self._tables = tables
        self._done = done
        self._numbers: set[int] = set()

    def __contains__(self, number: object) -> bool:
        return number in self._numbers

    def forget(self, number: int) -> Outbox:
        """Forget a neighbour; in steps, if it wanted much."""
        held, step_max = self._tables.filters.holdings(number), self._tables.step_max
        if step_max is None or sum(len(items) for _, items in held) <= step_max:
            return self._tables.disconnect(number)
        self._numbers.add(number)
        out = self._tables.disconnect(number, is_forgotten=False)
        self._tables.backlog.add(self._in_steps(number, step_max))
        return out

    def _in_steps(self, number: int, step_max: int) -> Task:
        tables = self._tables
        tables.apply_advertisements(tables.advertisements.forget(number))
        yield tables.sync()
        for is_told in (False, True):
            for holder, items in tables.filters.holdings(number):
                for since in range(0, len(items), step_max):
                    some = items[since : since + step_max]
                    self._drop(holder, some, is_told=is_told)
                    yield tables.sync()
        self._numbers.discard(number)
        yield self._done()

    def _drop(self, holder: Holder, some: Iterable[Filter], *, is_told: bool) -> None:
        tables = self._tables
        for item in some:
            if is_told or not tables.is_told(item):
                tables.apply_filters(tables.filters.drop(holder, item))
