"""Settling: when is an interest in force throughout the network?

A broker asks every neighbour that it told about the interest, or about one that covers
it, and answers when all of them have; one that told no neighbour answers at once.
Links keep the order of messages, so whoever is asked has already heard of the interest.
What has once been answered for need not be asked again, unless the answer has to be
*fresh*.

In a network with cycles a question keeps to the tree of the origin that it is about,
also where the interest has been pruned under one of another origin: what is asked is
whether the cover is in force among those brokers, and not wherever else it reaches.
If it followed the tree of each cover in turn, it would go round and multiply.

Of an advertisement it is asked whether all brokers know it: since subscriptions follow
an advertisement back over the same links, before the answer, whoever has the answer
knows all who want something of it.

Reference:
    Our specification, A.9: a request is guaranteed to be effective from then on.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.messages import Interest, Interface, Outbox, Settle, Side
from siena.model import Advertisement, Filter, Pattern
from siena.routing.demand.announcer import Told
from siena.routing.neighbour import Neighbour

# Whether the reach of one origin, through a neighbour, is within that of another.
ReachOf = Callable[[Neighbour, int, int], bool]
# Whether what entered at an origin goes on to a neighbour from here.
Leads = Callable[[Neighbour, int], bool]


class Question(NamedTuple):
    """What is asked, and on whose behalf."""

    filters: tuple[Filter | Advertisement, ...]
    origin: int
    source: Interface
    fresh: bool
    ttl: int
    # Runs of a pattern that neighbours look for.
    delegated: tuple[tuple[int, Pattern], ...] = ()


@dataclass(slots=True)
class _Waiting:
    answer: Outbox
    tokens: set[int] = field(default_factory=set)


class Settling:
    """The questions that are open, and whom each of them waits for."""

    def __init__(self, reach: ReachOf, leads: Leads, *, is_exact: bool = False) -> None:
        self._reach = reach
        self._leads = leads
        # Whether the order of the tables is covering itself, and what is told is in it.
        self._is_exact = is_exact
        self._tokens = count(1)
        self._asked: dict[int, tuple[int, int | None, Told, _Waiting]] = {}

    def ask(
        self, question: Question, neighbours: Iterable[Neighbour], answer: Outbox
    ) -> Outbox:
        """Ask on, or give the ``answer`` at once; later it follows when all have."""
        waiting = _Waiting(answer)
        asked: list[tuple[int, Interest | Advertisement, int | None, Told]] = [
            (number, pattern, None, Told()) for number, pattern in question.delegated
        ]
        for neighbour in neighbours:
            number = neighbour.number
            if number != question.source and self._leads(neighbour, question.origin):
                for f in question.filters:
                    told = self._to_ask(neighbour, f, question)
                    if told is not None:
                        asked.append((number, told[0], question.origin, told[1]))
        if not asked or question.ttl <= 0:
            return list(answer)
        out: Outbox = []
        for number, interest, origin, announcement in asked:
            token = next(self._tokens)
            self._asked[token] = number, origin, announcement, waiting
            waiting.tokens.add(token)
            fresh, ttl = question.fresh, question.ttl - 1
            settle = Settle(interest, token, origin, fresh=fresh, ttl=ttl)
            out.append((number, settle))
        return out

    def answered(self, token: int, source: Interface) -> Outbox:
        """A neighbour has answered."""
        if token not in self._asked or self._asked[token][0] != source:
            return []
        _, origin, told, waiting = self._asked.pop(token)
        if origin is not None:
            told.settled.add(origin)
        return self._done(waiting, token)

    def forget(self, neighbour: int) -> Outbox:
        """A neighbour is gone, and all that lies behind it: it need not answer."""
        out: Outbox = []
        for token, (number, _, _, waiting) in list(self._asked.items()):
            if number == neighbour:
                del self._asked[token]
                out += self._done(waiting, token)
        return out

    def _done(self, waiting: _Waiting, token: int) -> Outbox:
        waiting.tokens.remove(token)
        return [] if waiting.tokens else waiting.answer

    def _to_ask(
        self, neighbour: Neighbour, f: Filter | Advertisement, question: Question
    ) -> tuple[Filter | Advertisement, Told] | None:
        """What to ask a neighbour about, if it must be asked: a cover of it."""
        if isinstance(f, Advertisement):
            return self._to_ask_of_offer(neighbour, f, question)
        if neighbour.side is Side.CHILD:
            # It was told nothing, but what is published there climbs all the same.
            return (f, Told()) if question.fresh else None
        told, origin = neighbour.filters.told, question.origin
        pair: tuple[Filter, int] | None
        if self._is_exact:
            pair = neighbour.filters.told_cover(f, origin)
            is_settled = pair is not None and self._is_settled(
                neighbour, told[pair], origin
            )
        else:
            covers = [
                (g, other)
                for g, other in told
                if covers_filter(g, f) and self._reach(neighbour, origin, other)
            ]
            is_settled = any(
                self._is_settled(neighbour, told[pair], origin) for pair in covers
            )
            pair = min(covers, key=lambda pair: (str(pair[0]), pair[1]), default=None)
        if pair is None or (is_settled and not question.fresh):
            return None
        return pair[0], told[pair]

    def _is_settled(self, neighbour: Neighbour, told: Told, origin: int) -> bool:
        """Whether an announcement is in force wherever an origin reaches."""
        return any(self._reach(neighbour, origin, other) for other in told.settled)

    def _to_ask_of_offer(
        self, neighbour: Neighbour, offer: Advertisement, question: Question
    ) -> tuple[Advertisement, Told] | None:
        """The same, of an advertisement.

        It is asked for always: others may have come to want it since the last time.
        """
        covers = [
            (wide, origin)
            for wide, origin in neighbour.advertisements.told
            if covers_advertisement(wide, offer)
            and self._reach(neighbour, question.origin, origin)
        ]
        pair = min(covers, key=lambda pair: (str(pair[0]), pair[1]), default=None)
        return None if pair is None else (pair[0], Told())
