"""The poset as the papers search it: from the roots, comparing filter with filter.

:class:`~siena.algebra.poset.poset.Poset` finds neighbours by indexes.  This one walks
links and counts how often it compares, which is what the papers' complexity claims are
about; both must come to the same links.

Reference:
    CU-CS-888-99, section 5.1; our specification, B.2.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping

from siena.algebra.pairwise import covers_pairwise
from siena.model import Filter, Value


class SearchedPoset:
    """Filters ordered by pairwise covering, with immediate links.

    >>> from siena.lang.parser import parse_filter as parse
    >>> poset = SearchedPoset()
    >>> for text in ("x > 3", "x > 1", "x > 2", "y = 1"):
    ...     poset.add(parse(text))
    >>> sorted(map(str, poset.roots))
    ['x > 1', 'y = 1']
    >>> [str(f) for f in poset.match({"x": 3})]
    ['x > 1', 'x > 2']
    >>> poset.tested  # both roots, and what is below the one that matched
    4
    """

    def __init__(self) -> None:
        # The number of each filter.  What is walked is ordered by them, and not by
        # hashes, which differ from run to run: how many pairs are asked depends on it.
        self._numbers: dict[Filter, int] = {}
        self.above: dict[Filter, set[Filter]] = {}
        """Immediate predecessors of each filter."""
        self.below: dict[Filter, set[Filter]] = {}
        """Immediate successors."""
        self.compared = 0
        """How often two filters were compared."""
        self.tested = 0
        """How often a filter was tested with a notification."""

    @property
    def roots(self) -> list[Filter]:
        """The filters that no other covers."""
        return [f for f, above in self.above.items() if not above]

    def add(self, f: Filter) -> None:
        """Search from the roots for its place; of filters that are equal, one stays."""
        predecessors = self._predecessors(f)
        if any(self._covers(f, p) for p in predecessors):
            return
        successors = self._successors(f, predecessors)
        for p in predecessors:
            for s in successors & self.below[p]:
                self.below[p].remove(s)
                self.above[s].remove(p)
        self._numbers[f] = len(self._numbers)
        self.above[f], self.below[f] = predecessors, successors
        for p in predecessors:
            self.below[p].add(f)
        for s in successors:
            self.above[s].add(f)

    def match(self, notification: Mapping[str, Value]) -> list[Filter]:
        """All filters that match, from the general to the special."""

        def matches(f: Filter) -> bool:
            self.tested += 1
            return f.matches(notification)

        return [f for f, is_match in self._walk(self.roots, matches) if is_match]

    def _predecessors(self, f: Filter) -> set[Filter]:
        """Down along filters that cover it; the last ones are immediate."""
        seen = dict(self._walk(self.roots, lambda g: self._covers(g, f)))
        covering = {g for g, covers in seen.items() if covers}
        return {g for g in covering if not self.below[g] & covering}

    def _successors(self, f: Filter, predecessors: set[Filter]) -> set[Filter]:
        """Down from the predecessors, no further than to filters that it covers."""
        starts = predecessors or set(self.roots)
        first = [g for p in starts for g in self.below[p]] if predecessors else starts
        seen = dict(self._walk(first, lambda g: not self._covers(f, g)))
        found = [g for g, is_apart in seen.items() if not is_apart]
        # Two of them, found on different branches, may be comparable.  The general ones
        # were found first, so what is below one of them is soon known to be.
        return {
            g for g in found if not any(h != g and self._covers(h, g) for h in found)
        }

    def _walk(
        self, starts: Iterable[Filter], goes_on: Callable[[Filter], bool]
    ) -> Iterator[tuple[Filter, bool]]:
        """Breadth first, each filter once; below those only for which it goes on."""
        number = self._numbers.__getitem__
        waiting = deque(sorted(set(starts), key=number))
        seen = set(waiting)
        while waiting:
            f = waiting.popleft()
            answer = goes_on(f)
            yield f, answer
            if answer:
                new = sorted((g for g in self.below[f] if g not in seen), key=number)
                seen.update(new)
                waiting.extend(new)

    def _covers(self, f: Filter, g: Filter) -> bool:
        self.compared += 1
        return covers_pairwise(f, g)
