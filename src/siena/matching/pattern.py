"""Finding the sequences of notifications that match a pattern.

The matcher is greedy and keeps no alternatives: it waits for one step at a time
and ignores everything else, newer matches of its first step included.  So its state
is one position and at most :data:`~siena.model.limits.STEPS_MAX` notifications, and
all matchers of a pattern, wherever they stand, agree on what a match is.

Reference:
    CU-CS-888-99, section 3.4 and figure 4; our specification, A.6.1.
"""

from siena.model import Notification, Pattern


class PatternMatcher:
    """The search for one pattern in one stream of notifications.

    >>> from siena.lang.parser import parse_pattern
    >>> matcher = PatternMatcher(parse_pattern("what = login then what = alarm"))
    >>> matcher.offer(Notification(what="login"), time=3)
    >>> matcher.offer(Notification(what="alarm", level=1), time=2)
    >>> matcher.offer(Notification(what="alarm", level=5), time=4)
    (<Notification what = login>, <Notification level = 5 and what = alarm>)

    The alarm of time 2 was *generated* before the login, although it came after it.
    """

    __slots__ = ("_accepted", "_last_time", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.reset()

    def reset(self) -> None:
        """Forget what was accepted, and wait for the first step again."""
        self._accepted: list[Notification] = []
        self._last_time: float | None = None

    @property
    def progress(self) -> tuple[Notification, ...]:
        """The notifications accepted so far, one for each step that is done."""
        return tuple(self._accepted)

    def offer(
        self, notification: Notification, time: float
    ) -> tuple[Notification, ...] | None:
        """The sequence that ``notification`` completes, if it completes one.

        ``time`` is when it was generated, in any unit; an integer stays exact.  It
        must be later than that of the step before, strictly.  One notification
        fills one step, and after a match the search restarts with the next.

        Cost: one match of one step.
        """
        if self._last_time is not None and time <= self._last_time:
            return None
        step = self.pattern.steps[len(self._accepted)]
        if not step.matches(notification):
            return None
        self._accepted.append(notification)
        self._last_time = time
        if len(self._accepted) < len(self.pattern):
            return None
        found = self.progress
        self.reset()
        return found
