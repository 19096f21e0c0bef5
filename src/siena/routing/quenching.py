"""Quenching: a publisher hears when nothing that it advertises is wanted.

And when it is again.  A broker that hears of every interest in the network, or
of one that covers it, can tell; one that has a master cannot: interests only climb.

Reference:
    Elvin's quenching; our specification, G.
"""

from collections.abc import Callable, Iterable

from siena.messages import Outbox, Quenched, Unquenched
from siena.model import Advertisement, Filter

# What is wanted by whoever knows; None where only a master does.
Filters = Iterable[Filter] | None
# Stands for a filter that may exist elsewhere; it is never one of ours.
_UNKNOWN = Filter()


class Quenching:
    """For each advertisement of a client, one filter that wants something of it.

    >>> from siena.algebra.overlap import overlaps
    >>> from siena.lang import parse_advertisement, parse_filter
    >>> quenching = Quenching(overlaps)
    >>> alarms, severe = parse_advertisement("level any"), parse_filter("level > 3")
    >>> quenching.advertise("p", alarms, [])
    [('p', Quenched(advertisement=<Advertisement level any>))]
    >>> quenching.gain(severe)
    [('p', Unquenched(advertisement=<Advertisement level any>))]
    >>> quenching.lose(severe, [])
    [('p', Quenched(advertisement=<Advertisement level any>))]
    """

    def __init__(self, overlaps: Callable[[Advertisement, Filter], bool]) -> None:
        self._overlaps = overlaps
        self._wanted_by: dict[tuple[str, Advertisement], Filter | None] = {}

    def advertise(
        self, client: str, advertisement: Advertisement, filters: Filters
    ) -> Outbox:
        """A client advertises: it is quenched if none of the filters wants anything."""
        self._wanted_by[client, advertisement] = _UNKNOWN
        return self._reconsider(client, advertisement, filters)

    def unadvertise(self, client: str, advertisement: Advertisement) -> None:
        """A client advertises this no longer."""
        self._wanted_by.pop((client, advertisement), None)

    def is_quenched(self, client: str, advertisement: Advertisement) -> bool:
        """Whether a client was told that nothing of its advertisement is wanted."""
        return self._wanted_by.get((client, advertisement), _UNKNOWN) is None

    def gain(self, f: Filter) -> Outbox:
        """A filter is new in the table."""
        out: Outbox = []
        for (client, advertisement), wanting in self._wanted_by.items():
            if wanting is None and self._overlaps(advertisement, f):
                self._wanted_by[client, advertisement] = f
                out.append((client, Unquenched(advertisement)))
        return out

    def lose(self, f: Filter, filters: Iterable[Filter]) -> Outbox:
        """A filter has left the table; of those that remain another may want it."""
        out: Outbox = []
        for (client, advertisement), wanting in self._wanted_by.items():
            if wanting == f:
                other = self._find(advertisement, filters)
                self._wanted_by[client, advertisement] = other
                if other is None:
                    out.append((client, Quenched(advertisement)))
        return out

    def reconsider(self, filters: Filters) -> Outbox:
        """Everything may have changed."""
        out: Outbox = []
        for client, advertisement in self._wanted_by:
            out += self._reconsider(client, advertisement, filters)
        return out

    def _reconsider(
        self, client: str, advertisement: Advertisement, filters: Filters
    ) -> Outbox:
        key = client, advertisement
        before = self._wanted_by[key]
        now = self._wanted_by[key] = (
            _UNKNOWN if filters is None else self._find(advertisement, filters)
        )
        if (now is None) == (before is None):
            return []
        return [(client, (Unquenched if now else Quenched)(advertisement))]

    def _find(
        self, advertisement: Advertisement, filters: Iterable[Filter]
    ) -> Filter | None:
        return next((f for f in filters if self._overlaps(advertisement, f)), None)
