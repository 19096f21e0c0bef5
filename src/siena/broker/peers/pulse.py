"""The pulse of a neighbour: whether it is still there.

Brokers send each other a PING at every beat, also while they do not read what the other
sends because a reader is full.  So a neighbour of which nothing at all comes for some
beats is not busy but gone: its machine, its process, or the way to it.  Beats are
counted, not seconds: a broker that had no time to read has not listened either.
"""

from math import ceil, inf

# How often neighbours hear of each other, unless the settings say otherwise; and the
# most that these may say.
PULSE_SECONDS = 1.5
PULSE_SECONDS_MAX = 3_600.0
# After so many beats of silence a neighbour is dead: it takes 7.5 to 9 seconds.
SILENT_BEATS_MAX = 5
# While we do not read, the system tells: what is sent must be acknowledged within so
# many seconds.  Not always, as it would also take a neighbour for dead that holds us.
UNACKNOWLEDGED_SECONDS_MAX = 10

_PULSE = "pulse="


def pulse_feature(seconds: float) -> str:
    """What INFO and CONNECT say of it.

    >>> pulse_feature(1.5)
    'pulse=1.5'
    >>> pulse_of(("run", "pulse=1.5")), pulse_of(("run",)), pulse_of(("pulse=-1",))
    (1.5, None, None)
    """
    return f"{_PULSE}{seconds:g}"


def pulse_of(features: tuple[str, ...] | list[str]) -> float | None:
    """How often something comes of a broker; ``None`` if it promises nothing."""
    for feature in features:
        if feature.startswith(_PULSE):
            try:
                seconds = float(feature.removeprefix(_PULSE))
            except ValueError:
                return None
            return seconds if 0 < seconds < inf else None
    return None


class Pulse:
    """Counts beats of silence.

    >>> pulse = Pulse(ours=1.5, theirs=1.5)
    >>> pulse.is_dead_at_beat(has_come=True, is_reading=True)
    False
    >>> [pulse.is_dead_at_beat(has_come=False, is_reading=True) for _ in range(5)]
    [False, False, False, False, True]

    Args:
        ours: how often we count.
        theirs: how often something comes of the neighbour; if that is slower, it has
            more of our beats.
    """

    def __init__(self, ours: float, theirs: float) -> None:
        self._silent = 0
        self._silent_max = SILENT_BEATS_MAX * max(1, ceil(theirs / ours))

    @property
    def silent(self) -> int:
        """How many beats of silence there were, up to now."""
        return self._silent

    def is_dead_at_beat(self, *, has_come: bool, is_reading: bool) -> bool:
        """Count a beat.

        Args:
            has_come: whether anything has come since the last one.
            is_reading: whether anything could, because we read it.
        """
        if has_come or not is_reading:
            self._silent = 0
        else:
            self._silent += 1
        return self._silent >= self._silent_max
