"""A peer server as the specification writes it down (H.3), and nothing else.

It shares no code with the router but the relations between filters: a dictionary of
subscribers, and ``sync`` from scratch after every request.
"""

from collections.abc import Callable

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.overlap import overlaps
from siena.algebra.sat import satisfiable
from siena.messages import (
    Advertise,
    Interface,
    Message,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from siena.model import Advertisement, Filter
from siena.model.filter import ConstraintSet

Covers = Callable[..., bool]


class NaiveServer:
    """Subscriptions and, if they are wanted, advertisements, each with its holders."""

    def __init__(self, neighbours: list[int], *, advertising: bool) -> None:
        self.neighbours = neighbours
        self.advertising = advertising
        self.subscribers: dict[ConstraintSet, set[Interface]] = {}
        self.advertisers: dict[ConstraintSet, set[Interface]] = {}
        self.told = {n: {Subscribe: set(), Advertise: set()} for n in neighbours}  # type: ignore[var-annotated]

    def handle(
        self, message: Message, source: Interface
    ) -> list[tuple[Interface, Message]]:
        if isinstance(message, Subscribe):
            assert isinstance(message.interest, Filter)
            if satisfiable(message.interest):
                enter(self.subscribers, source, message.interest, covers_filter)
        elif isinstance(message, Unsubscribe):
            assert isinstance(message.interest, Filter)
            leave(self.subscribers, source, message.interest, covers_filter)
        elif isinstance(message, Advertise):
            enter(self.advertisers, source, message.advertisement, covers_advertisement)
        elif isinstance(message, Unadvertise):
            leave(self.advertisers, source, message.advertisement, covers_advertisement)
        return self.sync()

    def sync(self) -> list[tuple[Interface, Message]]:
        sent: list[tuple[Interface, Message]] = []
        for n in self.neighbours:
            if self.advertising:
                wanted = {a for a, who in self.advertisers.items() if who - {n}}
                sent += self._tell(
                    n, wanted, covers_advertisement, Advertise, Unadvertise
                )
            wanted = {
                f
                for f, who in self.subscribers.items()
                if who - {n} and (not self.advertising or self._is_offered(n, f))
            }
            sent += self._tell(n, wanted, covers_filter, Subscribe, Unsubscribe)
        return sent

    def _is_offered(self, n: int, f: ConstraintSet) -> bool:
        assert isinstance(f, Filter)
        return any(
            isinstance(a, Advertisement) and n in who and overlaps(a, f)
            for a, who in self.advertisers.items()
        )

    def _tell(
        self,
        n: int,
        wanted: set[ConstraintSet],
        covers: Covers,
        announce: type[Subscribe] | type[Advertise],
        cancel: type[Unsubscribe] | type[Unadvertise],
    ) -> list[tuple[Interface, Message]]:
        new = {f for f in wanted if not any(covers(g, f) for g in wanted - {f})}
        old = self.told[n][announce]
        self.told[n][announce] = new
        gone = [g for g in old - new if not any(covers(f, g) for f in new)]
        return [
            *((n, cancel(g)) for g in sorted(gone, key=str)),
            *((n, announce(f)) for f in sorted(new - old, key=str)),  # type: ignore[arg-type]
        ]


def enter(
    table: dict[ConstraintSet, set[Interface]],
    source: Interface,
    item: ConstraintSet,
    covers: Covers,
) -> None:
    if any(source in who and covers(g, item) for g, who in table.items()):
        return
    equal = (g for g in table if covers(g, item) and covers(item, g))
    node = next(equal, item)
    table.setdefault(node, set()).add(source)
    for g in list(table):
        if g != node and covers(node, g):
            table[g].discard(source)
            if not table[g]:
                del table[g]


def leave(
    table: dict[ConstraintSet, set[Interface]],
    source: Interface,
    item: ConstraintSet,
    covers: Covers,
) -> None:
    for g in list(table):
        if covers(item, g):
            table[g].discard(source)
            if not table[g]:
                del table[g]
