"""Counters: what a broker has done since it started, in one place."""

from dataclasses import asdict, dataclass


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
    router_out: int = 0  # messages of our router to others
    router_in: int = 0  # and of theirs to ours
    repaired: int = 0  # links that were told everything again
    silenced: int = 0  # links that were ended because nothing came any more
    gaps: int = 0  # times in which something may have been lost, told to clients
    faults: int = 0  # errors that were sent
    bytes_in: int = 0
    bytes_out: int = 0
    ticks: int = 0  # of the loop, in which something came
    longest_tick_us_now: int = 0  # how long the longest of them took

    def snapshot(self) -> dict[str, int]:
        """All of them by name."""
        return asdict(self)


@dataclass(slots=True)
class LinkCounters:
    """The same for one link, since it came up."""

    forwarded: int = 0
    received: int = 0
    router_out: int = 0
    router_in: int = 0

    def snapshot(self) -> dict[str, int]:
        """All of them by name."""
        return asdict(self)
