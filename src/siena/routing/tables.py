"""What a broker knows, who its neighbours are, and what each of them must hear.

Two interest tables, of filters and of advertisements, and for every neighbour a demand
on each of them.  Every change to a table, to a neighbour or to the network goes through
here; :meth:`Tables.sync` then has the messages that follow.

Why one module: whatever changes, the tables, the neighbours or the network, has to meet
the same counts.
"""

from collections.abc import Callable, Iterable
from typing import Any

from siena.messages import Interface, LinkState, Outbox, PeerConnect, Side
from siena.model import Advertisement, Filter
from siena.routing.demand.covering_order import (
    F,
    Order,
    order_of_advertisements,
    order_of_filters,
    overlap_of,
)
from siena.routing.demand.declarative import DeclarativeDemand
from siena.routing.demand.demand import Demand, Gate, Reach, reaches_all
from siena.routing.interest_table import Change, Holder, InterestTable
from siena.routing.neighbour import Neighbour
from siena.routing.options import Options
from siena.routing.steps.backlog import Backlog, Task
from siena.routing.topology.mesh import Mesh

Watcher = Callable[[Change[Filter] | Change[Advertisement]], None]


class Tables:
    """The state of one broker, and what follows from it for its neighbours.

    ``declarative`` makes every demand from scratch: slow, and obviously right.  With a
    ``step_max``, what takes long is done in steps of the ``backlog``.
    """

    def __init__(
        self,
        me: int,
        options: Options,
        *,
        epoch: int = 0,
        declarative: bool = False,
        step_max: int | None = None,
    ) -> None:
        self.me = me
        self.options = options
        self.filters = InterestTable(order_of_filters(options.covering))
        self.advertisements = InterestTable(order_of_advertisements(options.covering))
        self.neighbours: dict[int, Neighbour] = {}
        self.mesh = Mesh(me, epoch)
        self.overlaps = overlap_of(options.covering)
        # Hops of which one neighbour is not told: they are there on its behalf.
        self.spared: dict[Interface, int] = {}
        # Hears of every change to both tables: a broker keeps a copy of the filters in
        # the form in which it matches, and compares with neighbours what they told.
        self.watcher: Watcher | None = None
        # Neighbours for whom something may have changed since the last sync.
        self._stale: set[int] = set()
        # Those outside of the mesh: a tree says of which in it an entry concerns.
        self._plain: list[Neighbour] = []
        self._declarative = declarative
        # How much is done at once; without it, all.
        self.step_max = step_max
        self.filters.part_max = step_max
        self.backlog = Backlog()
        # The demands that are brought to the least, by who they are.
        self._levelled: set[int] = set()
        # Whether the table of filters is not complete, so that nobody is told yet.
        self.is_held = False

    @property
    def masters(self) -> list[int]:
        """The brokers that know more: one at most, unless settings are wrong."""
        return [n.number for n in self._plain if n.side is Side.MASTER]

    @property
    def has_master(self) -> bool:
        """Whether there is a broker that knows more."""
        return bool(self._plain) and bool(self.masters)

    def holder(self, hop: Interface, origin: int | None) -> Holder:
        """Where an announcement of a hop entered the part of the network we are in."""
        is_inside = isinstance(hop, int) and self._side(hop) is Side.MESH
        return Holder(hop, origin if is_inside and origin is not None else self.me)

    def is_exact(self, source: Interface) -> bool:
        """Whether a neighbour cancels each of its announcements by its name."""
        return isinstance(source, int) and self.neighbours[source].is_exact

    # --- Changes --------------------------------------------------------------------

    def apply_filters(self, changes: Iterable[Change[Filter]]) -> None:
        """Let the neighbours' demands follow changes to the table of filters."""
        watcher = self.watcher
        before: Holder | None = None
        downstream: list[tuple[Neighbour, int]] = []
        for change in changes:
            if watcher is not None:
                watcher(change)
            item, holder, gained, _ = change
            if before is None or not self._is_like(holder, before):
                before, downstream = holder, self._downstream(holder)
            for neighbour, origin in downstream:
                # What is not counted yet will be, as it is then.
                uncounted = neighbour.uncounted_filters
                if neighbour.hears_filters and not (uncounted and item in uncounted):
                    self._stale.add(neighbour.number)
                    demand = neighbour.filters.demand
                    if gained:
                        demand.enter(item, origin)
                    else:
                        demand.leave(item, origin)

    def apply_advertisements(self, changes: Iterable[Change[Advertisement]]) -> None:
        """Let them follow changes to the table of advertisements.

        An advertisement of a neighbour is like a connection for what it overlaps.
        """
        for change in changes:
            if self.watcher is not None:
                self.watcher(change)
            if not self.options.is_advertising:
                continue
            item, holder, gained, _ = change
            for neighbour, origin in self._downstream(holder):
                if (
                    neighbour.hears_advertisements
                    and item not in neighbour.uncounted_advertisements
                ):
                    self._stale.add(neighbour.number)
                    _count(neighbour.advertisements.demand, item, origin, gained=gained)
            self._reconsider(item, holder.hop)

    def _reconsider(self, advertisement: Advertisement, hop: Interface) -> None:
        neighbour = self.neighbours.get(hop) if isinstance(hop, int) else None
        if neighbour is not None and neighbour.hears_advertisements:
            self._stale.add(neighbour.number)
            for f in self.filters:
                if self.overlaps(advertisement, f):
                    neighbour.filters.demand.reconsider(f)

    # --- Neighbours -----------------------------------------------------------------

    def connect(self, number: int, asked: PeerConnect) -> Outbox:
        """A neighbour more; in a mesh, the others hear of the link."""
        self.adopt(number, asked)
        if asked.side is not Side.MESH:
            self._fill(self.neighbours[number])
            return []
        out = self.mesh.join(number, asked.weight)
        self.regrow()
        return out

    def adopt(self, number: int, asked: PeerConnect) -> None:
        """A neighbour from the beginning, of whose link all brokers know."""
        side = asked.side
        neighbour = self.neighbours[number] = Neighbour(
            number,
            asked,
            self.options,
            (self._demand(number, side), self.filters.order),
            (self._demand_of_offers(number, side), self.advertisements.order),
        )
        neighbour.tell_in_parts(self.step_max)
        self._stale.add(number)
        if side is not Side.MESH:
            self._plain.append(neighbour)

    def disconnect(self, number: int, *, is_forgotten: bool = True) -> Outbox:
        """A neighbour less: it wants nothing any more, and nothing is told to it."""
        side = self.neighbours.pop(number).side
        self._stale.discard(number)
        self._plain = [n for n in self._plain if n.number != number]
        if is_forgotten:  # or it will be, step by step
            self.apply_advertisements(self.advertisements.forget(number))
            self.apply_filters(self.filters.forget(number))
        if side is not Side.MESH:
            return []
        out = self.mesh.leave(number)
        self.regrow()
        return out

    def learn(self, state: LinkState, source: Interface) -> Outbox:
        """Hear about links elsewhere in the mesh, and hand on what is news."""
        before = self.mesh.trees
        out = self.mesh.learn(state, source)
        if self.mesh.trees is not before:
            self.regrow()
        return out

    def regrow(self) -> None:
        """The trees are others: what concerns a neighbour in the mesh is anew."""
        for neighbour in self.neighbours.values():
            if neighbour.side is Side.MESH:
                number, side = neighbour.number, neighbour.side
                self._stale.add(number)
                neighbour.filters.replace(self._demand(number, side))
                neighbour.advertisements.replace(self._demand_of_offers(number, side))
                self._fill(neighbour)

    def sync(self) -> Outbox:
        """The messages after which all neighbours hold what they should."""
        if not self._stale and not self._declarative:
            return []  # most often
        out: Outbox = []
        stale, self._stale = self._stale, set()
        for number in sorted(self.neighbours if self._declarative else stale):
            neighbour = self.neighbours[number]
            if neighbour.is_counting or self.is_held:
                self._stale.add(number)
                continue
            was_behind = neighbour.is_behind
            if self.options.is_advertising and neighbour.hears_advertisements:
                out += [(number, m) for m in neighbour.advertisements.sync()]
            if neighbour.hears_filters:
                out += [(number, m) for m in neighbour.filters.sync()]
            if neighbour.is_behind and not was_behind:
                self.backlog.add(self._telling(neighbour))
            for announcer in neighbour.announcers:
                demand = announcer.demand
                if demand.is_behind and id(demand) not in self._levelled:
                    self._levelled.add(id(demand))
                    self.backlog.add(self._levelling(neighbour, demand))
        return out

    def is_told(self, wanted: Filter) -> bool:
        """Whether some neighbour was told of a filter itself, from any origin."""
        item = self.filters.order.find(wanted)
        if item is None or item not in self.filters:
            return False
        origins = {self.me, *(holder.origin for holder in self.filters.holders(item))}
        return any(
            (item, origin) in neighbour.filters.told
            for neighbour in self.neighbours.values()
            for origin in origins
        )

    def hasten(self, wanted: Iterable[Filter], origin: int) -> Outbox:
        """What neighbours have to be told now of some filters, if it was put off."""
        out: Outbox = []
        for number, neighbour in self.neighbours.items():
            if neighbour.hears_filters and (neighbour.is_behind or self.is_held):
                for f in wanted:
                    item = self.filters.order.find(f)
                    if item in neighbour.uncounted_filters:
                        self._count_in(self.filters, item, neighbour)
                    messages = neighbour.filters.hasten(f, origin)
                    out += [(number, message) for message in messages]
        return out

    def reach(self, neighbour: Neighbour, origin: int, other: int) -> bool:
        """Whether ``other`` reaches through a neighbour all that ``origin`` does."""
        if neighbour.side is not Side.MESH:
            return True
        return self.mesh.trees.reaches(neighbour.number, origin, other)

    def leads(self, neighbour: Neighbour, origin: int) -> bool:
        """Whether what entered at ``origin`` goes on to a neighbour from here."""
        if neighbour.side is not Side.MESH:
            return True
        return self.mesh.trees.is_child(origin, neighbour.number, of=self.me)

    def check(self) -> None:
        """Verify that all neighbours have been told what the declarative rule says."""
        for neighbour in self.neighbours.values():
            number, side = neighbour.number, neighbour.side
            order, reach = self.filters.order, self._reach_through(number, side)
            wanted = DeclarativeDemand(order, reach, self._gate(number, side))
            offered = DeclarativeDemand(self.advertisements.order, reach)
            self._fill_with(neighbour, wanted, offered)
            assert neighbour.filters.demand.pairs() == wanted.pairs()
            assert neighbour.advertisements.demand.pairs() == offered.pairs()
            if not self.options.batching:
                told = neighbour.filters.told.keys()
                assert told == neighbour.filters.wanted()

    # --- Demands --------------------------------------------------------------------

    def _demand(
        self, number: int, side: Side
    ) -> Demand[Filter] | DeclarativeDemand[Filter]:
        reach, gate = self._reach_through(number, side), self._gate(number, side)
        return self._make(self.filters.order, reach, gate)

    def _demand_of_offers(
        self, number: int, side: Side
    ) -> Demand[Advertisement] | DeclarativeDemand[Advertisement]:
        reach = self._reach_through(number, side)
        return self._make(self.advertisements.order, reach, None)

    def _make(
        self, order: Order[F], reach: Reach, gate: Gate[F] | None
    ) -> Demand[F] | DeclarativeDemand[F]:
        if self._declarative:
            return DeclarativeDemand(order, reach, gate)
        return Demand(order, reach, gate)

    def _reach_through(self, number: int, side: Side) -> Reach:
        if side is not Side.MESH:
            return reaches_all
        trees = self.mesh.trees
        return lambda origin, other: trees.reaches(number, origin, other)

    def _gate(self, number: int, side: Side) -> Callable[[Filter], bool] | None:
        """A peer hears only of what it, or a client behind it, may publish."""
        if not self.options.is_advertising or side is Side.MASTER:
            return None
        held = self.advertisements.held_by
        return lambda f: any(self.overlaps(a, f) for a in held(number))

    def _fill(self, neighbour: Neighbour) -> None:
        """Count all that concerns a neighbour; in steps, if there is much."""
        if self.step_max is None:
            filters, offers = neighbour.filters.demand, neighbour.advertisements.demand
            self._fill_with(neighbour, filters, offers)
            return
        if neighbour.hears_filters:  # the last is taken first
            neighbour.uncounted_filters = dict.fromkeys(reversed([*self.filters]))
        if self.options.is_advertising and neighbour.hears_advertisements:
            neighbour.uncounted_advertisements = dict.fromkeys(self.advertisements)
        self.backlog.add(self._counting(neighbour))

    def _counting(self, neighbour: Neighbour) -> Task:
        """Count what is uncounted, and then let the neighbour hear of it."""
        while self._is_there(neighbour) and neighbour.is_counting:
            self._count_some(self.advertisements, neighbour)
            self._count_some(self.filters, neighbour)
            yield []
        yield self.sync()

    def _telling(self, neighbour: Neighbour) -> Task:
        """Tell a neighbour what was put off."""
        number = neighbour.number
        announcers = neighbour.advertisements, neighbour.filters
        while self._is_there(neighbour) and any(a.is_behind for a in announcers):
            behind = next(a for a in announcers if a.is_behind)
            yield [(number, message) for message in behind.work()]

    def _levelling(
        self, neighbour: Neighbour, demand: Demand[Any] | DeclarativeDemand[Any]
    ) -> Task:
        """Bring the demand on a neighbour to the least; it hears of it in between."""
        while demand.is_behind and self._is_current(neighbour, demand):
            demand.work()
            self._stale.add(neighbour.number)
            yield self.sync()
        self._levelled.discard(id(demand))

    def _is_current(self, neighbour: Neighbour, demand: object) -> bool:
        demands = [announcer.demand for announcer in neighbour.announcers]
        return self._is_there(neighbour) and any(demand is d for d in demands)

    def _is_there(self, neighbour: Neighbour) -> bool:
        return self.neighbours.get(neighbour.number) is neighbour

    def _count_some(self, table: InterestTable[Any], neighbour: Neighbour) -> None:
        assert self.step_max is not None
        uncounted = self._uncounted(table, neighbour)
        for _ in range(min(self.step_max, len(uncounted))):
            self._count_in(table, next(reversed(uncounted)), neighbour)

    def _count_in(
        self, table: InterestTable[Any], item: object, neighbour: Neighbour
    ) -> None:
        """Count one item, as it is now."""
        del self._uncounted(table, neighbour)[item]
        is_of_filters = table is self.filters
        announcer = neighbour.filters if is_of_filters else neighbour.advertisements
        if item in table:
            self._enter_all(table, item, neighbour, announcer.demand)

    def _uncounted(
        self, table: InterestTable[Any], neighbour: Neighbour
    ) -> dict[Any, None]:
        if table is self.filters:
            return neighbour.uncounted_filters
        return neighbour.uncounted_advertisements

    def _fill_with(
        self,
        neighbour: Neighbour,
        filters: Demand[Filter] | DeclarativeDemand[Filter],
        advertisements: Demand[Advertisement] | DeclarativeDemand[Advertisement],
    ) -> None:
        if neighbour.hears_filters:
            self._fill_from(self.filters, neighbour, filters)
        if self.options.is_advertising and neighbour.hears_advertisements:
            self._fill_from(self.advertisements, neighbour, advertisements)

    def _fill_from(
        self,
        table: InterestTable[F],
        neighbour: Neighbour,
        demand: Demand[F] | DeclarativeDemand[F],
    ) -> None:
        for item in table:
            self._enter_all(table, item, neighbour, demand)

    def _enter_all(
        self,
        table: InterestTable[F],
        item: F,
        neighbour: Neighbour,
        demand: Demand[F] | DeclarativeDemand[F],
    ) -> None:
        for holder in table.holders(item):
            origin = self._origin_towards(neighbour, holder)
            if origin is not None:
                demand.enter(item, origin)

    def _is_like(self, holder: Holder, other: Holder) -> bool:
        """Whether the same neighbours are downstream of two: of clients they are."""
        if holder.origin != other.origin:
            return False
        if holder.hop == other.hop:
            return True
        hops = holder.hop, other.hop
        return not self.spared and isinstance(hops[0], str) and isinstance(hops[1], str)

    def _downstream(self, holder: Holder) -> list[tuple[Neighbour, int]]:
        """The neighbours that hear of an entry, and under which origin."""
        apart = holder.hop, self.spared.get(holder.hop)
        downstream = [(n, self.me) for n in self._plain if n.number not in apart]
        if len(self._plain) == len(self.neighbours):  # nobody is in a mesh
            return downstream
        for number in self.mesh.trees.children(holder.origin, self.me):
            found = self.neighbours.get(number)
            if found is not None and found.side is Side.MESH and number not in apart:
                downstream.append((found, holder.origin))
        return downstream

    def _origin_towards(self, neighbour: Neighbour, holder: Holder) -> int | None:
        """Under which origin a neighbour hears of an entry; ``None`` if not at all."""
        if neighbour.number in {holder.hop, self.spared.get(holder.hop)}:
            return None
        if neighbour.side is not Side.MESH:
            return self.me
        number, origin = neighbour.number, holder.origin
        is_downstream = self.mesh.trees.is_child(origin, number, of=self.me)
        return origin if is_downstream else None

    def _side(self, number: int) -> Side | None:
        neighbour = self.neighbours.get(number)
        return None if neighbour is None else neighbour.side


def _count(
    demand: Demand[F] | DeclarativeDemand[F], item: F, origin: int, *, gained: bool
) -> None:
    if gained:
        demand.enter(item, origin)
    else:
        demand.leave(item, origin)
