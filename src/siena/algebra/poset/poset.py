"""The poset: filters ordered by covering, with immediate links only.

``roots`` are the filters that nothing else covers: what a broker must tell its
neighbours.  A poset with few roots summarises well; a flat one is a list.

*Theory of operation.*  A filter covers another if it does so name by name, and
:mod:`siena.algebra.poset.axis` remembers the answer for each pair of conditions.  To
find all filters above or below a new one, :mod:`siena.algebra.poset.shelf` has each
filter under *one* of its conditions, for queries that allow fewer names than the
query has, and under *all* of them, for queries that allow more.  No query
compares with everything, and next to a filter that differs in one bound only
(:mod:`siena.algebra.poset.line`) it looks no further than that.  Among the filters
found, the immediate ones are those without another found filter between: one look at
their own links tells.
"""

from collections.abc import Iterator, Mapping
from typing import Generic

from siena.algebra.poset.change import Change, change_of, filters_of
from siena.algebra.poset.conditions import (
    Covering,
    Reading,
    advertisement_reading,
    subscription_reading,
)
from siena.algebra.poset.entry_index import Entrance
from siena.algebra.poset.known import Known
from siena.algebra.poset.line import Lines, Neighbours
from siena.algebra.poset.location import Location
from siena.algebra.poset.shelf import F, Key, Node, Query, Shelf
from siena.algebra.poset.simple import Bound
from siena.model import Advertisement, Filter, Value


class Poset(Generic[F]):
    """Filters ordered by covering.

    >>> from siena.lang.parser import parse_filter as parse
    >>> poset = Poset.of_filters()
    >>> for text in ("airline = UA, price < 500", "airline any", "price < 500"):
    ...     _ = poset.add(parse(text))
    >>> sorted(map(str, poset.roots))
    ['airline any', 'price < 500']

    Filters that select the same are one; the first that came stands for all.
    Filters that nothing can match are kept apart, linked to none: they are in the
    poset, and no neighbour needs to hear of them.

    Cost: see ``benchmarks/poset.py``; an addition looks at the filters that share
    conditions with the new one, never at all of them.

    Reference:
        CU-CS-888-99, section 5.1.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shelves: dict[str, Shelf[F]] = {}
        self._nodes: dict[Key, Node[F]] = {}
        self._lines: Lines[F] = Lines()
        self._roots: set[Node[F]] = set()
        self._impossible: dict[F, None] = {}
        self._known: Known[F] = Known()
        # Until the next change: the last query, and where notifications begin.
        self._asked: tuple[F, Query | None] | None = None
        self._entrance: Entrance[F] | None = None

    @classmethod
    def of_filters(cls, covering: Covering = "exact") -> "Poset[Filter]":
        """An empty poset of filters, in the reading of subscriptions."""
        return Poset[Filter](subscription_reading(covering))

    @classmethod
    def of_advertisements(cls, covering: Covering = "exact") -> "Poset[Advertisement]":
        """An empty poset of advertisements."""
        return Poset[Advertisement](advertisement_reading(covering))

    def __len__(self) -> int:
        return len(self._nodes) + len(self._impossible)

    def __iter__(self) -> Iterator[F]:
        yield from (node.filter for node in self._nodes.values())
        yield from self._impossible

    def __contains__(self, f: F) -> bool:
        return self.find(f) is not None

    @property
    def roots(self) -> frozenset[F]:
        """The filters that no other covers."""
        return filters_of(self._roots)

    @property
    def impossible(self) -> frozenset[F]:
        """The filters that nothing can match."""
        return frozenset(self._impossible)

    def find(self, f: F) -> F | None:
        """The filter of the poset that selects the same, if there is one."""
        if f in self._impossible:
            return f
        node = self._node(f)
        return None if node is None else node.filter

    def predecessors(self, f: F) -> frozenset[F]:
        """The immediate predecessors: the least filters that cover this one."""
        node = self._node(f)
        return filters_of(node.predecessors) if node else frozenset()

    def successors(self, f: F) -> frozenset[F]:
        """The immediate successors: the greatest filters that this one covers."""
        node = self._node(f)
        return filters_of(node.successors) if node else frozenset()

    def covering(self, f: F) -> frozenset[F]:
        """All filters of the poset that cover ``f``, itself or an equal included."""
        above = self._known.above(f)
        if above is not None:
            return filters_of(above)
        query = self._query(f)
        if query is None:
            return frozenset(self)
        return filters_of(self._above(query))

    def covered_by(self, f: F) -> frozenset[F]:
        """All filters of the poset that ``f`` covers, itself or an equal included."""
        below = self._known.below(f)
        if below is not None:
            return filters_of(below) | self.impossible
        query = self._query(f)
        if query is None:
            return self.impossible
        return filters_of(self._below(query)) | self.impossible

    def add(self, f: F) -> Change[F]:
        """Put a filter between those that cover it and those that it covers."""
        known = self._known.get(f)
        if known is not None:
            return change_of(known, changed=False)
        query = self._query(f)
        if query is None:
            changed = f not in self._impossible
            self._impossible[f] = None
            return Change(f, changed, frozenset(), frozenset())
        if query.key is not None and query.key in self._nodes:
            return change_of(self._nodes[query.key], changed=False)
        over, under = self._lines.neighbours(query)
        above, below = self._above(query, over), self._below(query, under)
        node = self._enter(f, query)
        # Immediate, because nothing that was found lies in between.
        node.predecessors = {p for p in above if p.successors.isdisjoint(above)}
        node.successors = {s for s in below if s.predecessors.isdisjoint(below)}
        self._link(node)
        return change_of(node, changed=True)

    def remove(self, f: F) -> Change[F]:
        """Take a filter out, or the one that selects the same."""
        node = self._node(f)
        if node is None:
            changed = f in self._impossible
            self._impossible.pop(f, None)
            return Change(f, changed, frozenset(), frozenset())
        change = change_of(node, changed=True)
        self._unlink(node)
        self._leave(node)
        return change

    def match(self, notification: Mapping[str, Value]) -> frozenset[F]:
        """The filters that match, found from the roots downward.

        A filter that does not match hides all that it covers.  For advertisements
        this is the set of those that admit the notification.
        """
        if self._entrance is None:
            self._entrance = Entrance(self._roots)
        return frozenset(self._entrance.match(notification))

    def check(self) -> None:
        """Verify all invariants, comparing everything with everything."""
        nodes = list(self._nodes.values())
        for shelf in self._shelves.values():
            shelf.axis.check()
        for low in nodes:
            above = {n for n in nodes if n is not low and self._covers(n, low)}
            least = {
                p for p in above if not any(self._covers(p, q) for q in above - {p})
            }
            assert low.predecessors == least, low.filter
            assert (low in self._roots) == (not above), low.filter
            assert all(low in p.successors for p in low.predecessors)
            assert all(low in s.predecessors for s in low.successors)
        assert self._roots <= set(nodes)

    def _covers(self, general: Node[F], specific: Node[F]) -> bool:
        wide = self._reading.conditions(general.filter)
        narrow = self._reading.conditions(specific.filter)
        assert wide is not None
        assert narrow is not None
        fewer, more = (wide, narrow) if self._reading.names_grow else (narrow, wide)
        return fewer.keys() <= more.keys() and all(
            self._reading.covers(wide[name], narrow[name]) for name in fewer
        )

    def _query(self, f: F) -> Query | None:
        """Where a filter would stand; remembered until something changes."""
        if self._asked is None or self._asked[0] != f:
            self._asked = f, self._locate(f)
        return self._asked[1]

    def _locate(self, f: F) -> Query | None:
        conditions = self._reading.conditions(f)
        if conditions is None:
            return None
        located = {
            name: shelf.axis.locate(condition)
            for name, condition in conditions.items()
            if (shelf := self._shelves.get(name)) is not None
        }
        return Query(conditions, located)

    def _node(self, f: F) -> Node[F] | None:
        node = self._known.get(f)
        if node is not None:
            return node
        query = self._query(f)
        if query is None or query.key is None:
            return None
        return self._nodes.get(query.key)

    def _above(self, query: Query, near: Neighbours[F] | None = None) -> set[Node[F]]:
        """What covers the query; but nothing that is above those that are near."""
        gaps = {
            name: query.located[name].above_until(self._location(node, name))
            for name, node in (near or {}).items()
        }
        found = set(near.values()) if near else set()
        if all(gaps.values()):
            masks = {n: w.above for n, w in query.located.items() if n not in gaps}
            if self._reading.names_grow:
                found |= self._with_names_within(masks, gaps)
            else:
                found |= self._with_names_beyond(masks | gaps, query)
        return found

    def _below(self, query: Query, near: Neighbours[F] | None = None) -> set[Node[F]]:
        """What the query covers; but nothing that is below those that are near."""
        gaps = {
            name: query.located[name].below_until(self._location(node, name))
            for name, node in (near or {}).items()
        }
        found = set(near.values()) if near else set()
        if all(gaps.values()):
            masks = {n: w.below for n, w in query.located.items() if n not in gaps}
            if self._reading.names_grow:
                found |= self._with_names_beyond(masks | gaps, query)
            else:
                found |= self._with_names_within(masks, gaps)
        return found

    def _location(self, node: Node[F], name: str) -> Location:
        return self._shelves[name].axis.location(node.conditions[name])

    def _with_names_within(
        self, masks: dict[str, int], gaps: dict[str, int]
    ) -> set[Node[F]]:
        """The nodes all of whose conditions are in the masks, some in the gaps."""
        if gaps:
            masks = masks | gaps
            first = min(gaps, key=lambda name: self._shelves[name].estimate(gaps[name]))
            return {
                node
                for node in self._shelves[first].members(gaps[first])
                if gaps.keys() <= node.conditions.keys()
                and all(masks.get(n, 0) >> c & 1 for n, c in node.conditions.items())
            }
        nameless = self._nodes.get(frozenset())
        found = set() if nameless is None else {nameless}
        for name, mask in masks.items():
            found.update(
                node
                for node in self._shelves[name].accessed(mask)
                if all(masks.get(n, 0) >> c & 1 for n, c in node.conditions.items())
            )
        return found

    def _with_names_beyond(self, masks: dict[str, int], query: Query) -> set[Node[F]]:
        """The nodes that have, for each name of the query, a condition in its mask."""
        if len(masks) < len(query.conditions):
            return set()  # one of the names is on no shelf
        if not masks:
            return set(self._nodes.values())
        # Start from the name that leaves the fewest nodes to look at.
        first = min(masks, key=lambda name: self._shelves[name].estimate(masks[name]))
        others = [(name, mask) for name, mask in masks.items() if name != first]
        return {
            node
            for node in self._shelves[first].members(masks[first])
            if all(
                (c := node.conditions.get(name)) is not None and mask >> c & 1
                for name, mask in others
            )
        }

    def _enter(self, f: F, query: Query) -> Node[F]:
        node: Node[F] = Node(f, {})
        self._known.enter(node)
        self._asked = self._entrance = None
        for name, condition in query.conditions.items():
            shelf = self._shelves.get(name)
            if shelf is None:
                shelf = self._shelves[name] = Shelf(self._reading)
            where = query.located.get(name) or shelf.axis.locate(condition)
            node.conditions[name] = shelf.enter(node, condition, where)
        self._nodes[node.key] = node
        self._lines.add(node, self._bounds(node))
        if node.conditions:
            self._shelf_of_access(node).open_to(node)
        return node

    def _leave(self, node: Node[F]) -> None:
        del self._nodes[node.key]
        self._known.leave(node)
        self._asked = self._entrance = None
        self._lines.remove(node, self._bounds(node))
        conditions = self._reading.conditions(node.filter)
        assert conditions is not None
        for name, number in node.conditions.items():
            shelf = self._shelves[name]
            shelf.leave(node, number, conditions[name])
            if not shelf.axis:
                del self._shelves[name]

    def _bounds(self, node: Node[F]) -> dict[str, Bound]:
        return {
            name: bound
            for name, number in node.conditions.items()
            if (bound := self._shelves[name].axis.bounds.get(number)) is not None
        }

    def _shelf_of_access(self, node: Node[F]) -> Shelf[F]:
        """The shelf where the node is found least often in vain."""
        node.access = min(
            node.conditions.items(),
            key=lambda item: self._shelves[item[0]].reach(item[1]),
        )
        return self._shelves[node.access[0]]

    def _link(self, node: Node[F]) -> None:
        for low in node.successors:
            for high in low.predecessors & node.predecessors:
                high.successors.discard(low)
                low.predecessors.discard(high)
            low.predecessors.add(node)
            self._roots.discard(low)
        for high in node.predecessors:
            high.successors.add(node)
        if not node.predecessors:
            self._roots.add(node)

    def _unlink(self, node: Node[F]) -> None:
        self._roots.discard(node)
        for high in node.predecessors:
            high.successors.discard(node)
        for low in node.successors:
            low.predecessors.discard(node)
            for high in node.predecessors:
                # Another way down from `high` ends in a predecessor of `low`.
                if not any(self._is_above(high, p) for p in low.predecessors):
                    high.successors.add(low)
                    low.predecessors.add(high)
            if not low.predecessors:
                self._roots.add(low)

    def _is_above(self, high: Node[F], low: Node[F]) -> bool:
        """Whether one node covers another, from the bits of the shelves."""
        fewer, more = (high, low) if self._reading.names_grow else (low, high)
        return all(
            name in more.conditions
            and self._shelves[name].axis.covers(
                high.conditions[name], low.conditions[name]
            )
            for name in fewer.conditions
        )
