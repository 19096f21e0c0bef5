"""Networks drawn by a seed: the ones the papers used, and some for tests.

Our own generators rather than a library's: the same seed must give the same network
with every version of everything, and the growth that the papers' tool (BRITE) has is
not in the libraries.  See ``docs/decisions``.
"""

from collections.abc import Callable
from math import exp, isqrt, sqrt
from random import Random

from siena.routing.topology.topology import Link, Topology
from siena.sim.topologies.regular import check_count

# BRITE's plane; its unit is the unit of weights.
PLANE_SIDE = 1000
# Two links for each new broker, as in the INFOCOM 2004 evaluation.
NEW_LINKS = 2
# Waxman's scale of distances in the same evaluation.
WAXMAN_BETA = 0.2

Point = tuple[int, int]


def barabasi_albert(brokers: int, *, seed: int, new_links: int = NEW_LINKS) -> Topology:
    """A network that grew by preferring brokers that have many links.

    >>> len(barabasi_albert(100, seed=7).links)  # as BRITE has it
    197

    Each new broker links to ``new_links`` others, or to all while there are fewer.
    Weights are distances: every broker has a place on a plane.

    Reference:
        Barabási and Albert, Science 286, 1999; our specification, C.6.
    """

    def popularity(degrees: list[int], _distances: list[int]) -> list[float]:
        return [float(degree) for degree in degrees]

    return _grown(brokers, new_links, Random(f"{seed}/barabasi-albert"), popularity)


def waxman(
    brokers: int,
    *,
    seed: int,
    new_links: int = NEW_LINKS,
    beta: float = WAXMAN_BETA,
) -> Topology:
    """A network that grew by preferring brokers that are near.

    >>> len(waxman(100, seed=7).links)
    197

    Waxman's probability of a link is ``alpha exp(-d / (beta L))``.  Since every new
    broker gets all of its links, ``alpha`` cancels, and is no parameter here.

    Reference:
        Waxman, IEEE JSAC 6, 1988; our specification, C.6.
    """
    scale = beta * PLANE_SIDE * sqrt(2)  # L is the largest distance there is

    def nearness(_degrees: list[int], distances: list[int]) -> list[float]:
        return [exp(-distance / scale) for distance in distances]

    return _grown(brokers, new_links, Random(f"{seed}/waxman"), nearness)


def random_tree(
    brokers: int, *, seed: int, weights: tuple[int, int] = (1, 10)
) -> Topology:
    """A tree in which every broker hangs below one of those before it."""
    check_count(brokers, least=1)
    random = Random(f"{seed}/tree")
    return Topology(_random_tree(brokers, random, weights), brokers=[1])


def random_graph(
    brokers: int, *, extra_links: int, seed: int, weights: tuple[int, int] = (1, 10)
) -> Topology:
    """A random tree, and so many links more, as long as there is room for them.

    >>> network = random_graph(6, extra_links=3, seed=1)
    >>> network.is_connected, len(network.links)
    (True, 8)
    """
    check_count(brokers, least=1)
    random = Random(f"{seed}/graph")
    links = {
        (link.one, link.other): link for link in _random_tree(brokers, random, weights)
    }
    room = brokers * (brokers - 1) // 2
    while len(links) < min(brokers - 1 + extra_links, room):
        one, other = sorted(random.sample(range(1, brokers + 1), 2))
        links.setdefault((one, other), Link(one, other, random.randint(*weights)))
    return Topology(links.values(), brokers=[1])


def _random_tree(brokers: int, random: Random, weights: tuple[int, int]) -> list[Link]:
    return [
        Link(random.randrange(1, broker), broker, random.randint(*weights))
        for broker in range(2, brokers + 1)
    ]


def _grown(
    brokers: int,
    new_links: int,
    random: Random,
    liking: Callable[[list[int], list[int]], list[float]],
) -> Topology:
    """Add brokers one by one; ``liking`` weighs those there by degree and distance."""
    check_count(brokers, least=1)
    check_count(new_links, least=1)
    places: list[Point] = []
    degrees: list[int] = []
    links: list[Link] = []
    for new in range(brokers):
        place = random.randrange(PLANE_SIDE), random.randrange(PLANE_SIDE)
        away = [_distance(place, other) for other in places]
        likings = liking(degrees, away)
        # The second broker finds one without links, which is its only choice.
        chosen = [0] if new == 1 else _choose(random, likings, new_links)
        places.append(place)
        degrees.append(len(chosen))
        for other in chosen:
            degrees[other] += 1
            links.append(Link(other + 1, new + 1, away[other]))
    return Topology(links, brokers=[1])


def _choose(random: Random, likings: list[float], count: int) -> list[int]:
    """So many different ones, each draw by liking."""
    left = list(likings)
    chosen: list[int] = []
    for _ in range(min(count, len(left))):
        [one] = random.choices(range(len(left)), weights=left)
        left[one] = 0.0
        chosen.append(one)
    return chosen


def _distance(one: Point, other: Point) -> int:
    """Rounded down, in integers, so that every machine finds the same; 1 or more."""
    return max(1, isqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2))
