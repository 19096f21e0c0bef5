"""Which publications a broker has seen, so that a second copy is known when it comes.

Of each life of a broker the greatest number is remembered, and for the last few
thousand before it, in a window of bits, whether they came: while routes stand they come
in order, and afterwards not much out of it.  What is older than the window counts as
seen.
"""

from collections.abc import Iterable, Iterator

from siena.messages import Stamp, Window

# Publications of one broker that may be overtaken by its latest, and still are told
# from copies.
WINDOW = 4_096
_ALL = (1 << WINDOW) - 1

# Lives of brokers that are remembered; of more, the half that was met first is not.
ORIGINS_MAX = 65_536


class Seen:
    """The stamps of the last publications.

    >>> seen = Seen()
    >>> seen.is_new(Stamp(1, 0, 7)), seen.is_new(Stamp(1, 0, 7))
    (True, False)
    >>> Stamp(1, 0, 6) in seen, Stamp(1, 0, 7) in seen, Stamp(1, 1, 7) in seen
    (False, True, False)
    """

    def __init__(self, windows: Iterable[Window] = ()) -> None:
        self._windows = {(w.broker, w.epoch): (w.mark, w.bits) for w in windows}

    def __contains__(self, stamp: Stamp) -> bool:
        window = self._windows.get(stamp[:2])
        if window is None:
            return False
        mark, bits = window
        behind = mark - stamp.number
        return behind >= 0 and (behind >= WINDOW or bool(bits >> behind & 1))

    def __iter__(self) -> Iterator[Window]:
        """All of it, to be told to another broker."""
        for (broker, epoch), (mark, bits) in self._windows.items():
            yield Window(broker, epoch, mark, bits)

    def is_new(self, stamp: Stamp) -> bool:
        """Whether this one was not known before; from now on it is."""
        return self.learn(Window(*stamp, 1)) != 0

    def learn(self, window: Window) -> int:
        """Remember some at once: the bits of those that were not known before."""
        origin = window.broker, window.epoch
        known = self._windows.get(origin)
        if known is None:
            self._windows[origin] = window.mark, window.bits & _ALL
            if len(self._windows) > ORIGINS_MAX:
                self._forget()
            return window.bits
        mark, bits = known
        ahead = window.mark - mark
        if ahead >= window.bits.bit_length():  # all of them are later
            kept = (bits << ahead) & _ALL if ahead < WINDOW else 0
            self._windows[origin] = window.mark, kept | window.bits & _ALL
            return window.bits
        if ahead >= 0:
            new = window.bits & ~(bits << ahead) & ((1 << ahead + WINDOW) - 1)
            self._windows[origin] = window.mark, (bits << ahead | new) & _ALL
            return new
        if ahead <= -WINDOW:
            return 0
        new = window.bits & ~(bits >> -ahead) & (_ALL >> -ahead)
        self._windows[origin] = mark, bits | new << -ahead
        return new

    def add(self, stamp: Stamp) -> None:
        """Remember one more."""
        self.is_new(stamp)

    def _forget(self) -> None:
        """Forget the older half of the origins, at once: one by one would be slow."""
        for origin in list(self._windows)[: ORIGINS_MAX // 2]:
            del self._windows[origin]


def all_before(broker: int, epoch: int, count: int) -> list[Window]:
    """What a broker has published itself, so many until now, as it has seen it."""
    return [Window(broker, epoch, count - 1, _ALL)] if count else []
