"""The interest table: who wants what, or who advertises what.

An entry says that a *hop*, a client or a neighbouring broker, announced a filter that
entered this part of the network at an *origin*; where the hop is a client, or a broker
outside of the part, the origin is the broker itself.  One hop holds no filter that
another of its filters covers: what is covered is cancelled together with its cover.

Reference:
    CU-CS-888-99, section 5.2; our specification, B.4.2, B.5.1 and B.6.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, NamedTuple

from siena.messages import Interface
from siena.model import Value
from siena.routing.demand.covering_order import F, Order


class Holder(NamedTuple):
    """Where an entry came from: the hop, and where it entered the network."""

    hop: Interface
    origin: int


class Change(NamedTuple, Generic[F]):
    """An entry that is new, or that is gone."""

    item: F
    holder: Holder
    gained: bool


class InterestTable(Generic[F]):
    """Entries that come and go; every method answers which came and which went.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.routing.demand.covering_order import order_of_filters
    >>> table = InterestTable(order_of_filters("exact"))
    >>> for text in ("x > 5", "x > 3", "x > 4"):
    ...     for change in table.announce(Holder("a", 1), parse(text)):
    ...         print("+" if change.gained else "-", change.item)
    + x > 5
    + x > 3
    - x > 5
    >>> [change.gained for change in table.withdraw(Holder("a", 1), parse("x any"))]
    [False]
    """

    def __init__(self, order: Order[F]) -> None:
        self.order = order
        self._holders: dict[F, set[Holder]] = {}
        self._held: dict[Holder, set[F]] = {}
        self._of_hop: dict[Interface, set[Holder]] = {}
        # The hops of each item, with the number of origins: notifications ask for them.
        self._hops: dict[F, dict[Interface, int]] = {}

    def __iter__(self) -> Iterator[F]:
        return iter(self._holders)

    def __len__(self) -> int:
        return len(self._holders)

    def holders(self, item: F) -> set[Holder]:
        """Who holds an item of the table."""
        return self._holders[item]

    def held_by(self, hop: Interface) -> set[F]:
        """What a hop holds, from whatever origin."""
        of_hop = self._of_hop.get(hop, ())
        return set().union(*(self._held[holder] for holder in of_hop))

    def announced_by(self, hop: Interface) -> set[tuple[F, int]]:
        """What a hop holds, with the origins."""
        return {
            (item, holder.origin)
            for holder in self._of_hop.get(hop, ())
            for item in self._held[holder]
        }

    def announce(
        self, holder: Holder, item: F, *, keeps_covered: bool = False
    ) -> list[Change[F]]:
        """Enter an item, unless what the holder has covers it already.

        What ``keeps_covered`` is entered all the same: what covers it is about to go.
        """
        node = self.order.add(item)
        held = self._held.get(holder)
        if not held:
            return [self._enter(holder, node)]
        if keeps_covered:
            if node in held:
                return []
            narrower = held & self.order.below(node) - self.order.above(node)
            changes = [self._enter(holder, node)]
            return changes + [self._leave(holder, item) for item in sorted_(narrower)]
        # A neighbour hardly ever tells what it has told a cover of, so the item goes
        # in first: what is there is found above it and below it without a search.
        if not held.isdisjoint(self.order.above(node)):
            if node not in self._holders:
                self.order.remove(node)
            return []
        # Strictly covered, for an equal would have covered it.
        covered = held & self.order.below(node)
        changes = [self._enter(holder, node)]
        return changes + [self._leave(holder, narrow) for narrow in sorted_(covered)]

    def withdraw(
        self,
        holder: Holder,
        item: F,
        covers: Callable[[F, F], bool] | None = None,
        *,
        exact: bool = False,
    ) -> list[Change[F]]:
        """Cancel what the holder has that ``item`` covers, by the table's order.

        ``covers`` decides instead, where what a client meant must not depend on the
        order that the broker happens to keep.  If it is ``exact``, only an equal goes.
        """
        held = self._held.get(holder, set())
        if exact and item in held:
            covered = {item}
        elif exact:
            covered = held & self.order.below(item) & self.order.above(item)
        elif covers is None:
            covered = held & self.order.below(item)
        else:
            covered = {narrow for narrow in held if covers(item, narrow)}
        return [self._leave(holder, narrow) for narrow in sorted_(covered)]

    def forget(self, hop: Interface) -> list[Change[F]]:
        """Cancel all that a hop has."""
        return [
            self._leave(holder, item)
            for holder in sorted(self._of_hop.get(hop, ()))
            for item in sorted_(self._held[holder])
        ]

    def match(self, notification: Mapping[str, Value]) -> set[Interface]:
        """The hops that hold something that matches."""
        matching = self.order.match(notification)
        return set().union(*(self._hops[item] for item in matching))

    def _enter(self, holder: Holder, item: F) -> Change[F]:
        self._holders.setdefault(item, set()).add(holder)
        self._held.setdefault(holder, set()).add(item)
        self._of_hop.setdefault(holder.hop, set()).add(holder)
        hops = self._hops.setdefault(item, {})
        hops[holder.hop] = hops.get(holder.hop, 0) + 1
        return Change(item, holder, gained=True)

    def _leave(self, holder: Holder, item: F) -> Change[F]:
        self._holders[item].remove(holder)
        self._held[holder].remove(item)
        if not self._held[holder]:
            del self._held[holder]
            self._of_hop[holder.hop].remove(holder)
            if not self._of_hop[holder.hop]:
                del self._of_hop[holder.hop]
        hops = self._hops[item]
        hops[holder.hop] -= 1
        if not hops[holder.hop]:
            del hops[holder.hop]
        if not self._holders[item]:
            del self._holders[item], self._hops[item]
            self.order.remove(item)
        return Change(item, holder, gained=False)


def sorted_(items: set[F]) -> list[F]:
    """In canonical text order: what follows from a set is the same on every machine."""
    return sorted(items, key=str) if len(items) > 1 else list(items)
