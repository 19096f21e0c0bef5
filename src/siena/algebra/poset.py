"""The poset: filters ordered by covering, with immediate links only.

``roots`` are the filters that nothing else covers: what a broker must tell its
neighbours.  A poset with few roots summarises well; a flat one is a list.

*Theory of operation.*  A filter covers another if it does so name by name
(:mod:`siena.algebra.axis` remembers the answer for each pair of conditions).  To
find all filters above or below a new one, two indexes are enough: each filter is
entered under *one* of its conditions, for queries that allow fewer names than
the query has, and under *all* of them, for queries that allow more.  No query
compares with everything.  Among the filters found, the immediate ones are those
without another found filter between: one look at their own links tells.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, Self, TypeVar

from siena.algebra.axis import Axis, Location, ones
from siena.algebra.conditions import (
    Condition,
    Covering,
    Reading,
    advertisement_reading,
    subscription_reading,
)
from siena.model import Advertisement, Filter, Value

F = TypeVar("F", Filter, Advertisement)


class Change(NamedTuple, Generic[F]):
    """What ``add`` or ``remove`` did.

    ``filter`` is the one that stands in the poset: the first of its equals that
    came.  ``changed`` says whether the poset gained or lost it; the links are the
    immediate ones that it has, or had.
    """

    filter: F
    changed: bool
    predecessors: frozenset[F]
    successors: frozenset[F]


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
    poset, and nobody needs to hear of them.

    Cost: see ``benchmarks/poset.py``; an addition looks at the filters that share
    conditions with the new one, never at all of them.

    Reference:
        CU-CS-888-99, section 5.1.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._shelves: dict[str, _Shelf[F]] = {}
        self._nodes: dict[_Key, _Node[F]] = {}
        self._roots: set[_Node[F]] = set()
        self._impossible: dict[F, None] = {}

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
        return _filters(self._roots)

    @property
    def impossible(self) -> frozenset[F]:
        """The filters that nothing can match."""
        return frozenset(self._impossible)

    def find(self, f: F) -> F | None:
        """The filter of the poset that selects the same, if there is one."""
        query = self._query(f)
        if query is None:
            return f if f in self._impossible else None
        node = self._nodes.get(query.key) if query.key is not None else None
        return None if node is None else node.filter

    def predecessors(self, f: F) -> frozenset[F]:
        """The immediate predecessors: the least filters that cover this one."""
        node = self._node(f)
        return _filters(node.predecessors) if node else frozenset()

    def successors(self, f: F) -> frozenset[F]:
        """The immediate successors: the greatest filters that this one covers."""
        node = self._node(f)
        return _filters(node.successors) if node else frozenset()

    def covering(self, f: F) -> frozenset[F]:
        """All filters of the poset that cover ``f``, itself or an equal included."""
        query = self._query(f)
        if query is None:
            return frozenset(self)
        return _filters(self._above(query))

    def covered_by(self, f: F) -> frozenset[F]:
        """All filters of the poset that ``f`` covers, itself or an equal included."""
        query = self._query(f)
        if query is None:
            return self.impossible
        return _filters(self._below(query)) | self.impossible

    def add(self, f: F) -> Change[F]:
        """Put a filter between those that cover it and those that it covers."""
        query = self._query(f)
        if query is None:
            changed = f not in self._impossible
            self._impossible[f] = None
            return Change(f, changed, frozenset(), frozenset())
        if query.key is not None and query.key in self._nodes:
            return _change(self._nodes[query.key], changed=False)
        above, below = self._above(query), self._below(query)
        node = self._enter(f, query)
        # Immediate, because nothing that was found lies in between.
        node.predecessors = {p for p in above if p.successors.isdisjoint(above)}
        node.successors = {s for s in below if s.predecessors.isdisjoint(below)}
        self._link(node)
        return _change(node, changed=True)

    def remove(self, f: F) -> Change[F]:
        """Take a filter out, or the one that selects the same."""
        node = self._node(f)
        if node is None:
            changed = f in self._impossible
            self._impossible.pop(f, None)
            return Change(f, changed, frozenset(), frozenset())
        change = _change(node, changed=True)
        self._unlink(node)
        self._leave(node)
        return change

    def match(self, notification: Mapping[str, Value]) -> frozenset[F]:
        """The filters that match, found from the roots downward.

        A filter that does not match hides all that it covers.  For advertisements
        this is the set of those that admit the notification.
        """
        found: set[_Node[F]] = set()
        queue = list(self._roots)
        seen = set(queue)
        while queue:
            node = queue.pop()
            if _selects(node.filter, notification):
                found.add(node)
                fresh = node.successors - seen
                seen |= fresh
                queue += fresh
        return _filters(found)

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

    def _covers(self, general: "_Node[F]", specific: "_Node[F]") -> bool:
        wide = self._reading.conditions(general.filter)
        narrow = self._reading.conditions(specific.filter)
        assert wide is not None
        assert narrow is not None
        fewer, more = (wide, narrow) if self._reading.names_grow else (narrow, wide)
        return fewer.keys() <= more.keys() and all(
            self._reading.covers(wide[name], narrow[name]) for name in fewer
        )

    def _query(self, f: F) -> "_Query | None":
        conditions = self._reading.conditions(f)
        if conditions is None:
            return None
        located = {
            name: shelf.axis.locate(condition)
            for name, condition in conditions.items()
            if (shelf := self._shelves.get(name)) is not None
        }
        return _Query(conditions, located)

    def _node(self, f: F) -> "_Node[F] | None":
        query = self._query(f)
        if query is None or query.key is None:
            return None
        return self._nodes.get(query.key)

    def _above(self, query: "_Query") -> "set[_Node[F]]":
        masks = {name: where.above for name, where in query.located.items()}
        if self._reading.names_grow:
            return self._with_names_within(masks)
        return self._with_names_beyond(masks, query)

    def _below(self, query: "_Query") -> "set[_Node[F]]":
        masks = {name: where.below for name, where in query.located.items()}
        if self._reading.names_grow:
            return self._with_names_beyond(masks, query)
        return self._with_names_within(masks)

    def _with_names_within(self, masks: dict[str, int]) -> "set[_Node[F]]":
        """The nodes all of whose conditions are in the masks."""
        nameless = self._nodes.get(frozenset())
        found = set() if nameless is None else {nameless}
        for name, mask in masks.items():
            found.update(
                node
                for node in self._shelves[name].accessed(mask)
                if all(masks.get(n, 0) >> c & 1 for n, c in node.conditions.items())
            )
        return found

    def _with_names_beyond(
        self, masks: dict[str, int], query: "_Query"
    ) -> "set[_Node[F]]":
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

    def _enter(self, f: F, query: "_Query") -> "_Node[F]":
        node: _Node[F] = _Node(f, {})
        for name, condition in query.conditions.items():
            shelf = self._shelves.setdefault(name, _Shelf(self._reading))
            where = query.located.get(name) or shelf.axis.locate(condition)
            node.conditions[name] = shelf.enter(node, condition, where)
        self._nodes[node.key] = node
        if node.conditions:
            self._shelf_of_access(node).open_to(node)
        return node

    def _leave(self, node: "_Node[F]") -> None:
        del self._nodes[node.key]
        for name, number in node.conditions.items():
            shelf = self._shelves[name]
            shelf.leave(node, number)
            if not shelf.axis:
                del self._shelves[name]

    def _shelf_of_access(self, node: "_Node[F]") -> "_Shelf[F]":
        """The shelf where the node is found least often in vain."""
        node.access = min(
            node.conditions.items(),
            key=lambda item: self._shelves[item[0]].reach(item[1]),
        )
        return self._shelves[node.access[0]]

    def _link(self, node: "_Node[F]") -> None:
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

    def _unlink(self, node: "_Node[F]") -> None:
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

    def _is_above(self, high: "_Node[F]", low: "_Node[F]") -> bool:
        """Whether one node covers another, from the bits of the shelves."""
        fewer, more = (high, low) if self._reading.names_grow else (low, high)
        return all(
            name in more.conditions
            and self._shelves[name].axis.above[low.conditions[name]]
            >> high.conditions[name]
            & 1
            for name in fewer.conditions
        )


_Key = frozenset[tuple[str, int]]


class _Node(Generic[F]):
    """A filter, the numbers of its conditions, and its immediate links."""

    __slots__ = ("access", "conditions", "filter", "predecessors", "successors")

    def __init__(self, f: F, conditions: dict[str, int]) -> None:
        self.filter: F = f
        self.conditions = conditions
        self.access: tuple[str, int] | None = None
        self.predecessors: set[Self] = set()
        self.successors: set[Self] = set()

    @property
    def key(self) -> _Key:
        """What nodes that select the same have in common."""
        return frozenset(self.conditions.items())


class _Query:
    """A filter that is looked for: its conditions, and where they stand."""

    __slots__ = ("conditions", "key", "located")

    def __init__(
        self, conditions: Mapping[str, Condition], located: dict[str, Location]
    ) -> None:
        self.conditions = conditions
        self.located = located
        numbers = [(name, where.number) for name, where in located.items()]
        known = [(name, number) for name, number in numbers if number is not None]
        # A filter with a condition that nobody has is not in the poset.
        self.key = frozenset(known) if len(known) == len(conditions) else None


class _Shelf(Generic[F]):
    """One name: its axis, and the nodes under each condition of it."""

    __slots__ = ("_accessed", "_accessed_bits", "_members", "_size", "axis")

    def __init__(self, reading: Reading) -> None:
        self.axis = Axis(reading)
        self._members: dict[int, set[_Node[F]]] = {}
        self._accessed: dict[int, set[_Node[F]]] = {}
        self._accessed_bits = 0
        self._size = 0

    def enter(self, node: _Node[F], condition: Condition, where: Location) -> int:
        """Enter a node under its condition."""
        number = self.axis.enter(condition, where)
        self._members.setdefault(number, set()).add(node)
        self._size += 1
        return number

    def open_to(self, node: _Node[F]) -> None:
        """Make this the shelf where the node is found by its access condition."""
        assert node.access is not None
        number = node.access[1]
        self._accessed.setdefault(number, set()).add(node)
        self._accessed_bits |= 1 << number

    def leave(self, node: _Node[F], number: int) -> None:
        """Take a node off the shelf."""
        self._size -= 1
        self._members[number].discard(node)
        if not self._members[number]:
            del self._members[number]
        nodes = self._accessed.get(number, set())
        nodes.discard(node)
        if not nodes:
            self._accessed.pop(number, None)
            self._accessed_bits &= ~(1 << number)
        self.axis.leave(number)

    def accessed(self, mask: int) -> Iterator[_Node[F]]:
        """The nodes whose access condition is in the mask."""
        for number in ones(mask & self._accessed_bits):
            yield from self._accessed[number]

    def members(self, mask: int) -> Iterator[_Node[F]]:
        """The nodes that have a condition of the mask."""
        for number in ones(mask):
            yield from self._members[number]

    def estimate(self, mask: int) -> int:
        """About how many nodes have a condition of the mask."""
        return self._size * mask.bit_count() // max(1, len(self.axis))

    def reach(self, number: int) -> int:
        """How many conditions a condition covers: how often a query meets it."""
        return self.axis.below[number].bit_count()


def _change(node: _Node[F], *, changed: bool) -> Change[F]:
    return Change(
        node.filter,
        changed,
        _filters(node.predecessors),
        _filters(node.successors),
    )


def _filters(nodes: Iterable[_Node[F]]) -> frozenset[F]:
    return frozenset(node.filter for node in nodes)


def _selects(f: Filter | Advertisement, notification: Mapping[str, Value]) -> bool:
    if isinstance(f, Filter):
        return f.matches(notification)
    return f.admits(notification)
