"""The interest table: who wants what, or who advertises what.

An entry says that a *hop*, a client or a neighbouring broker, announced a filter that
entered this part of the network at an *origin*; where the hop is a client, or a broker
outside of the part, the origin is the broker itself.  One hop holds no filter that
another of its filters covers: what is covered is cancelled together with its cover.

Reference:
    CU-CS-888-99, section 5.2; our specification, B.4.2, B.5.1 and B.6.
"""

from collections.abc import Callable, Collection as AnyOf, Iterable, Iterator, Mapping
from itertools import islice
from operator import itemgetter
from typing import Generic, NamedTuple

from msgspec import Struct

from siena.messages import Interface
from siena.model import Value
from siena.routing.demand.covering_order import Collection, F, Order

# Of so many items of one holder each is compared; of more, those that are likely.
FEW = 8


class Holder(NamedTuple):
    """Where an entry came from: the hop, and where it entered the network."""

    hop: Interface
    origin: int


class Change(NamedTuple, Generic[F]):
    """An entry that is new, or that is gone; which filter, or advertisement, it is of.

    ``words`` are those in which it was announced, where the item stands for its equals.
    """

    item: F
    holder: Holder
    gained: bool
    words: F | None = None


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
        self._entries: dict[F, Holder | _Entry] = {}
        # Most hops are parties of clients, which hold one thing: there are no objects
        # for these but the holder, which their entry has as well.
        self._of_hop: dict[Interface, _One[F] | dict[Holder, _Held[F]]] = {}
        # How many are given up at once for what covers them; without it, all.  More are
        # given up by :meth:`give_up_some`.
        self.part_max: int | None = None
        self._given_up: list[_GivenUp[F]] = []

    def __iter__(self) -> Iterator[F]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, item: object) -> bool:
        return item in self._entries

    def holders(self, item: F) -> Iterable[Holder]:
        """Who holds an item of the table."""
        entry = self._entries[item]
        return entry.holders if isinstance(entry, _Entry) else (entry,)

    def held_by(self, hop: Interface) -> set[F]:
        """What a hop holds, from whatever origin."""
        return {item for _, items in self._at(hop) for item in items}

    def held_now(self, hop: Interface) -> Iterator[tuple[Holder, F]]:
        """What a hop holds, with its holders; others may come and go meanwhile."""
        for holder, items in self._at(hop):
            for item in list(items):
                held = self._held(holder)
                if held is not None and item in held.items:
                    yield holder, item

    def _at(self, hop: Interface) -> list[tuple[Holder, AnyOf[F]]]:
        """What a hop holds, origin by origin."""
        found = self._of_hop.get(hop)
        if found is None:
            return []
        if isinstance(found, dict):
            return [(holder, held.items) for holder, held in found.items()]
        return [(found.holder, (found.item,))]

    def _held(self, holder: Holder) -> "_One[F] | _Held[F] | None":
        """What a holder has."""
        found = self._of_hop.get(holder.hop)
        if isinstance(found, dict):
            return found.get(holder)
        return found if found is not None and found.holder == holder else None

    def announced_by(self, hop: Interface) -> set[tuple[F, int]]:
        """What a hop holds, with the origins."""
        return {
            (item, holder.origin) for holder, items in self._at(hop) for item in items
        }

    def announce(
        self, holder: Holder, item: F, *, keeps_covered: bool = False
    ) -> list[Change[F]]:
        """Enter an item, unless what the holder has covers it already.

        What ``keeps_covered`` is entered all the same: what covers it is about to go.
        """
        if holder.hop not in self._of_hop:  # most often: a client's new request
            node = self.order.add(item)
            self._of_hop[holder.hop] = _One(holder, node)
            if self._entries.setdefault(node, holder) is holder:
                return [Change(node, holder, True, item)]
            return [self._note(holder, node, item)]
        held = self._held(holder)
        if held is None:
            return [self._enter(holder, self.order.add(item), item)]
        if not keeps_covered:
            if next(held.above(item, self.order), None) is not None:
                return []
            node = self.order.add(item)
            # Strictly covered, for an equal would have covered it.
            covered = set(held.below(node, self.order))
        else:
            node = self.order.add(item)
            for given_up in self._given_up:
                if given_up.holder == holder:
                    given_up.kept.add(node)
            if node in held.items:
                return []
            below = held.below(node, self.order)
            covered = set(islice(below, self.part_max and self.part_max + 1))
            if self.part_max is not None and len(covered) > self.part_max:
                self._given_up.append(_GivenUp(holder, node, list(held.items), {node}))
                covered = set()
            covered = {f for f in covered if not self.order.covers(f, node)}
        changes = [self._enter(holder, node, item)]
        return changes + [self._leave(holder, narrow) for narrow in sorted_(covered)]

    @property
    def is_giving_up(self) -> bool:
        """Whether a holder has what it was told to give up for a cover."""
        return bool(self._given_up)

    def give_up_some(self) -> list[Change[F]]:
        """Give up a part of what was put off."""
        assert self.part_max is not None
        holder, cover, items, kept = self._given_up[0]
        changes: list[Change[F]] = []
        for item in [items.pop() for _ in items[: self.part_max]]:
            covers = self.order.covers
            if item not in kept and covers(cover, item) and not covers(item, cover):
                changes += self.drop(holder, item)
        if not items:
            del self._given_up[0]
        return changes

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
        held = self._held(holder)
        if held is None:
            return []
        if exact:
            node = self.order.find(item)
            covered = {node} if node is not None and node in held.items else set()
        elif covers is None:
            covered = set(held.below(item, self.order))
        else:
            covered = {narrow for narrow in held.items if covers(item, narrow)}
        return [self._leave(holder, narrow) for narrow in sorted_(covered)]

    def forget(self, hop: Interface) -> list[Change[F]]:
        """Cancel all that a hop has."""
        return [
            self._leave(holder, item)
            for holder, items in sorted(self._at(hop), key=itemgetter(0))
            for item in sorted_(items)
        ]

    def holdings(self, hop: Interface) -> list[tuple[Holder, list[F]]]:
        """What a hop holds, origin by origin, as it is now."""
        held = sorted(self._at(hop), key=itemgetter(0))
        return [(holder, list(items)) for holder, items in held]

    def drop(self, holder: Holder, item: F) -> list[Change[F]]:
        """Cancel one item of the table, if the holder has it."""
        held = self._held(holder)
        has_it = held is not None and item in held.items
        return [self._leave(holder, item)] if has_it else []

    def match(self, notification: Mapping[str, Value]) -> set[Interface]:
        """The hops that hold something that matches."""
        hops: set[Interface] = set()
        for item in self.order.match(notification):
            entry = self._entries[item]
            if isinstance(entry, _Entry):
                hops.update(entry.hops)
            else:
                hops.add(entry.hop)
        return hops

    def _enter(self, holder: Holder, item: F, words: F) -> Change[F]:
        # One of many equal holders is enough to keep.
        return self._note(self._take(holder, item), item, words)

    def _note(self, holder: Holder, item: F, words: F) -> Change[F]:
        """Note in the entry of an item who holds it."""
        entry = self._entries.setdefault(item, holder)
        if entry is not holder:
            if isinstance(entry, Holder):
                entry = self._entries[item] = _Entry(entry)
            entry.add(holder)
        return Change(item, holder, True, words)

    def _take(self, holder: Holder, item: F) -> Holder:
        """Let a holder have an item; the holder that is known."""
        found = self._of_hop.get(holder.hop)
        if found is None:
            self._of_hop[holder.hop] = _One(holder, item)
            return holder
        if not isinstance(found, dict):
            first: _Held[F] = _Held(found.holder)
            first.add(found.item, self.order)
            found = self._of_hop[holder.hop] = {found.holder: first}
        held = found.get(holder)
        if held is None:
            held = found[holder] = _Held(holder)
        held.add(item, self.order)
        return held.holder

    def _leave(self, holder: Holder, item: F) -> Change[F]:
        found = self._of_hop[holder.hop]
        if isinstance(found, dict):
            found[holder].remove(item)
            if not found[holder].items:
                del found[holder]
        if not isinstance(found, dict) or not found:
            del self._of_hop[holder.hop]
        entry = self._entries[item]
        if isinstance(entry, _Entry):
            entry.remove(holder)
        if not isinstance(entry, _Entry) or not entry.holders:
            del self._entries[item]
            self.order.remove(item)
        return Change(item, holder, gained=False)


class _GivenUp(NamedTuple, Generic[F]):
    """What a holder had when it announced a cover of very many of it.

    Of that, all goes that is covered and was not announced again since.
    """

    holder: Holder
    cover: F
    items: list[F]
    kept: set[F]


class _One(Struct, Generic[F], frozen=True, gc=False):
    """What a hop has that has one item, from one origin."""

    holder: Holder
    item: F

    @property
    def items(self) -> tuple[F, ...]:
        """The item alone."""
        return (self.item,)

    def above(self, item: F, order: Order[F]) -> Iterator[F]:
        """Whether it covers an item: then it."""
        return iter((self.item,) if order.covers(self.item, item) else ())

    def below(self, item: F, order: Order[F]) -> Iterator[F]:
        """Whether an item covers it: then it."""
        return iter((self.item,) if order.covers(item, self.item) else ())


class _Entry:
    """Who holds an item, if several do."""

    __slots__ = ("holders", "hops")

    def __init__(self, first: Holder) -> None:
        self.holders = {first: None}
        # With the number of origins: notifications ask for the hops.
        self.hops: dict[Interface, int] = {first.hop: 1}

    def add(self, holder: Holder) -> None:
        """One more holds it."""
        self.holders[holder] = None
        self.hops[holder.hop] = self.hops.get(holder.hop, 0) + 1

    def remove(self, holder: Holder) -> None:
        """One less."""
        del self.holders[holder]
        self.hops[holder.hop] -= 1
        if not self.hops[holder.hop]:
            del self.hops[holder.hop]


class _Held(Generic[F]):
    """What one holder has; if that is much, in a collection."""

    __slots__ = ("_collection", "holder", "items")

    def __init__(self, holder: Holder) -> None:
        self.holder = holder
        self.items: set[F] = set()
        self._collection: Collection[F] | None = None

    def above(self, item: F, order: Order[F]) -> Iterator[F]:
        """What of it covers an item."""
        if self._collection is not None:
            return self._collection.above(item)
        return (wide for wide in self.items if order.covers(wide, item))

    def below(self, item: F, order: Order[F]) -> Iterator[F]:
        """What of it an item covers."""
        if self._collection is not None:
            return self._collection.below(item)
        return (narrow for narrow in self.items if order.covers(item, narrow))

    def add(self, item: F, order: Order[F]) -> None:
        """The holder has this, too."""
        self.items.add(item)
        if self._collection is not None:
            self._collection.add(item)
        elif len(self.items) > FEW:
            self._collection = order.collection()
            for each in self.items:
                self._collection.add(each)

    def remove(self, item: F) -> None:
        """The holder has it no longer."""
        self.items.remove(item)
        if self._collection is not None:
            self._collection.remove(item)


def sorted_(items: AnyOf[F]) -> list[F]:
    """In canonical text order: what follows from a set is the same on every machine."""
    return sorted(items, key=str) if len(items) > 1 else list(items)
