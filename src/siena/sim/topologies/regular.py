"""Networks drawn by a rule.  Brokers are numbered from 1."""

from siena.errors import InvalidTopologyError, LimitError
from siena.routing.topology.topology import Topology

# Far above any simulation here, and small enough that nobody waits for a typing error.
BROKERS_MAX = 100_000


def chain(brokers: int) -> Topology:
    """Brokers in a row.

    >>> chain(3).links
    (Link(one=1, other=2, weight=1), Link(one=2, other=3, weight=1))
    """
    check_count(brokers, least=1)
    return _topology(brokers, [(i, i + 1) for i in range(1, brokers)])


def star(brokers: int) -> Topology:
    """Broker 1 in the middle, linked to all others."""
    check_count(brokers, least=1)
    return _topology(brokers, [(1, i) for i in range(2, brokers + 1)])


def ring(brokers: int) -> Topology:
    """A chain whose ends are linked: three brokers or more."""
    check_count(brokers, least=3)
    return _topology(brokers, [(i, i % brokers + 1) for i in range(1, brokers + 1)])


def tree(branching: int, depth: int) -> Topology:
    """A tree below broker 1, numbered row by row.

    >>> [(link.one, link.other) for link in tree(2, 2).links]
    [(1, 2), (1, 3), (2, 4), (2, 5), (3, 6), (3, 7)]
    """
    if branching < 1 or depth < 0:
        raise InvalidTopologyError("a tree has branching 1 or more and depth 0 or more")
    brokers = row = 1
    for _ in range(depth):
        row *= branching
        brokers += row
        check_count(brokers, least=1)  # before the row grows beyond measure
    # In a row-by-row numbering from 0, the parent of i is (i - 1) // branching.
    links = [((i - 1) // branching + 1, i + 1) for i in range(1, brokers)]
    return _topology(brokers, links)


def check_count(brokers: int, *, least: int) -> None:
    """Refuse a network of too few brokers, or of far too many."""
    if brokers < least:
        raise InvalidTopologyError(
            f"{brokers} brokers are too few here", hint=f"{least} or more"
        )
    if brokers > BROKERS_MAX:
        raise LimitError("BROKERS_MAX", BROKERS_MAX, "brokers in a network")


def _topology(brokers: int, links: list[tuple[int, int]]) -> Topology:
    return Topology(links, brokers=range(1, brokers + 1))
