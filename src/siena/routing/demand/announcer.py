"""What a neighbour has been told, and the messages that bring it up to date.

The messages are the difference between what was told and what is to be told now.  What
comes goes first, and then the cancellations, each of exactly one announcement: at no
moment the neighbour holds less than it should, *make before break*.

In the papers an unsubscription cancels everything that it covers.  Then cancellations
have to go first, for a more specific subscription sent before one would be lost with
it; and what is wanted is not told in between.

Reference:
    Our specification, B.3: with cancellations that cover, sent the other way round, 38
    of 400 random networks delivered a wrong set.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Generic

from siena.messages import Message
from siena.routing.demand.covering_order import F
from siena.routing.demand.declarative import DeclarativeDemand
from siena.routing.demand.demand import Demand

Pair = tuple[F, int]
# What to do about a filter and its origin: Subscribe, Unsubscribe and their likes.
Say = Callable[[F, int | None], Message]


@dataclass(slots=True)
class Told:
    """One announcement, and where it is known to be in force.

    An origin stands for the brokers that it reaches through the neighbour.
    """

    settled: set[int] = field(default_factory=set)


class Announcer(Generic[F]):
    """Keeps one neighbour informed about one kind of thing.

    ``told`` has what the neighbour holds from us.
    """

    def __init__(
        self,
        demand: Demand[F] | DeclarativeDemand[F],
        covers: Callable[[F, F], bool],
        *,
        announce: Say[F],
        cancel: Say[F],
        merge: Callable[[set[Pair[F]]], set[Pair[F]]] | None = None,
        names_origins: bool = False,
        is_exact: bool = False,
    ) -> None:
        self.demand = demand
        self.told: dict[Pair[F], Told] = {}
        self._covers = covers
        self._announce = announce
        self._cancel = cancel
        self._merge = merge
        self._names_origins = names_origins
        self._is_exact = is_exact
        self._is_new = True

    def replace(self, demand: Demand[F] | DeclarativeDemand[F]) -> None:
        """Go on from another demand, after the network has changed."""
        self.demand = demand
        self._is_new = True

    def wanted(self) -> set[Pair[F]]:
        """What the neighbour should hold from us."""
        pairs = self.demand.pairs()
        return pairs if self._merge is None else self._merge(pairs)

    def told_cover(self, item: F, origin: int) -> Pair[F] | None:
        """What the neighbour was told that covers an item, by the order of the demand.

        It reaches as far as what has this origin.  Nothing is missing if :meth:`sync`
        has been called since the last change.
        """
        pair = self.demand.cover_of(item, origin)
        return pair if pair in self.told else None

    def sync(self) -> list[Message]:
        """The messages after which the neighbour holds what it should."""
        changed = self.demand.take_changes()
        if not changed and not self._is_new:
            return []
        if self._merge is not None:
            new = self.wanted()
            gone, come = self.told.keys() - new, new - self.told.keys()
            is_implied = self._covered_by(new)
        else:
            if self._is_new:
                changed = self.demand.pairs() | self.told.keys()
            gone, come = set(), set()
            for pair in changed:
                if pair in self.demand:
                    if pair not in self.told:
                        come.add(pair)
                elif pair in self.told:
                    gone.add(pair)
            is_implied = self._is_implied
        self._is_new = False
        if not gone:
            self.told.update((pair, Told()) for pair in come)
            return self._messages(self._announce, come)
        for pair in gone:
            del self.told[pair]
        self.told.update((pair, Told()) for pair in come)
        cancelled = {pair for pair in gone if not is_implied(pair)}
        return self._in_order(come, cancelled)

    def _in_order(self, come: set[Pair[F]], cancelled: set[Pair[F]]) -> list[Message]:
        """Announcements first, unless a cancellation would take them with it."""
        safe = come
        if not self._is_exact:
            # It cancels nothing of another origin.
            risky = {origin for _, origin in cancelled}
            safe = {pair for pair in come if pair[1] not in risky}
        return [
            *self._messages(self._announce, safe),
            *self._messages(self._cancel, cancelled),
            *self._messages(self._announce, come - safe),
        ]

    def _messages(self, say: Say[F], pairs: set[Pair[F]]) -> list[Message]:
        """In canonical order."""
        if not pairs:
            return []
        ordered: Iterable[Pair[F]] = pairs
        if len(pairs) > 1:
            ordered = sorted(pairs, key=lambda pair: (str(pair[0]), pair[1]))
        return [say(item, o if self._names_origins else None) for item, o in ordered]

    def _is_implied(self, pair: Pair[F]) -> bool:
        """Whether the neighbour cancels it by itself, for it gets a cover of it."""
        return self.demand.covers(*pair)

    def _covered_by(self, new: set[Pair[F]]) -> Callable[[Pair[F]], bool]:
        def is_covered(pair: Pair[F]) -> bool:
            item, origin = pair
            return any(o == origin and self._covers(wide, item) for wide, o in new)

        return is_covered
