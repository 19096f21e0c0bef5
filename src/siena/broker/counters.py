"""Counters: what a broker has done since it started, in one place."""

from bisect import bisect_left
from dataclasses import dataclass, fields


@dataclass(slots=True)
class Counters:
    """Plain numbers that only grow, but for those that say ``now``.

    >>> counters = Counters()
    >>> counters.publications += 3
    >>> counters.snapshot()["publications"]
    3
    """

    connections: int = 0  # accepted
    connections_now: int = 0
    connections_refused: int = 0
    logins: int = 0  # of those who have shown who they are
    logins_refused: int = 0  # and of those who have not
    subscriptions_now: int = 0
    advertisements_now: int = 0
    publications: int = 0  # good ones, from clients
    rejected: int = 0  # publications that were refused
    deliveries: int = 0  # to clients, each notification once for each connection
    pattern_matches: int = 0  # matches of patterns
    lost: int = 0  # deliveries that a slow or absent client did not get
    forwarded: int = 0  # to neighbours
    received: int = 0  # from neighbours
    duplicates: int = 0  # of these, known already
    misplaced: int = 0  # and those that cannot come from there
    router_out: int = 0  # messages of our router to others
    router_in: int = 0  # and of theirs to ours
    repaired: int = 0  # links that were told everything again
    silenced: int = 0  # links that were ended because nothing came any more
    gaps: int = 0  # times in which something may have been lost, told to clients
    relay_unassured: int = 0  # acknowledged elsewhere, to a neighbour without a store
    relay_dropped: int = 0  # acknowledged, and not kept for a neighbour any longer
    log_unreadable: int = 0  # offsets that durable readers do not get: damaged
    faults: int = 0  # errors that were sent
    bytes_in: int = 0
    bytes_out: int = 0
    ticks: int = 0  # of the loop, in which something came
    longest_tick_us_now: int = 0  # how long the longest of them took

    def snapshot(self) -> dict[str, int]:
        """All of them by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(slots=True)
class LinkCounters:
    """The same for one link, since it came up."""

    forwarded: int = 0
    received: int = 0
    router_out: int = 0
    router_in: int = 0
    misplaced: int = 0

    def snapshot(self) -> dict[str, int]:
        """All of them by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


# Seconds up to which ticks are counted apart: from what is usual to what is too long.
TICK_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1.0)


class Histogram:
    """How often something took how long.

    >>> took = Histogram((0.01, 0.1))
    >>> for seconds in (0.002, 0.01, 0.05, 7.0):
    ...     took.add(seconds)
    >>> took.counts, round(took.total, 3)
    ([2, 1, 1], 7.062)
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Count one."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        """As Prometheus wants it: up to each bound, how many were not above it."""
        bounds = [*(f"{bound:g}" for bound in self.bounds), "+Inf"]
        return [
            (bound, float(sum(self.counts[: place + 1])))
            for place, bound in enumerate(bounds)
        ]
