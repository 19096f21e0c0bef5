"""Flat: what a router without neighbours knows of interests, which is how many.

A router compares interests to tell neighbours as little as possible.  Without
neighbours that would be work for nothing, and with very many interests a lot of it.
Until there is one, interests are settled at once, and a publisher is quenched if none
of the filters, looked at one after the other, wants what it advertises.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from siena.messages import Outbox
from siena.model import Filter
from siena.routing.quenching import Quenching


class Flat:
    """How often each filter is wanted, so that publishers hear of the first and last.

    >>> from siena.algebra.overlap import overlaps
    >>> from siena.lang import parse_advertisement, parse_filter
    >>> quenching = Quenching(overlaps)
    >>> flat = Flat(quenching, [])
    >>> quenching.advertise("p", parse_advertisement("x any"), flat)
    [('p', Quenched(advertisement=<Advertisement x any>))]
    >>> wanted = [parse_filter("x > 3")]
    >>> flat.gain(wanted), flat.gain(wanted), flat.lose(wanted)
    ([('p', Unquenched(advertisement=<Advertisement x any>))], [], [])
    """

    def __init__(self, quenching: Quenching | None, others: Iterable[Filter]) -> None:
        self._quenching = quenching
        # What the steps of patterns want: those are looked for without neighbours, too.
        self._others = others
        self._filters: Counter[Filter] = Counter()

    def __iter__(self) -> Iterator[Filter]:
        return chain(self._filters, self._others)

    def gain(self, filters: Iterable[Filter]) -> Outbox:
        """Some filters are wanted once more."""
        out: Outbox = []
        for f in filters:
            if not self._filters[f] and self._quenching is not None:
                out += self._quenching.gain(f)
            self._filters[f] += 1
        return out

    def lose(self, filters: Iterable[Filter]) -> Outbox:
        """And once less."""
        out: Outbox = []
        for f in filters:
            self._filters[f] -= 1
            if not self._filters[f]:
                del self._filters[f]
                if self._quenching is not None:
                    out += self._quenching.lose(f, self)
        return out
