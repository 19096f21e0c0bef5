"""Four families of networks, drawn as arrays, with up to a million sites and more.

=============  =================================================================
power law      Barabási-Albert, as BRITE draws it: two links for a new site
waxman         Waxman, as BRITE draws it: two links for a new site, to near ones
transit-stub   domains of 100 sites as in figures 26 to 33, themselves at random
as-like        degrees by a power law with the exponent of the internet's systems
=============  =================================================================

All are connected, and the same seed gives the same network.  They are drawn without a
loop over sites, so they are not those of :mod:`siena.sim.topologies`; what they have in
common with these is tested.
"""

from collections.abc import Callable

import numpy as np

from siena.research.studies.runs.large.graph_arrays import (
    SITES_MAX,
    Integers,
    Network,
    components,
    largest_component,
    simple,
)

Generator = np.random.Generator
# Links of a new site, and BRITE's plane in small units: distances hardly ever tie.
NEW_LINKS, PLANE_SIDE = 2, 1_000_000
# Waxman's scale, as in the evaluation of CBCB.
WAXMAN_BETA = 0.2
# Of the degrees of autonomous systems (Faloutsos et al., SIGCOMM 1999).
AS_EXPONENT = 2.2
# GT-ITM's sample: a domain has 4 transit sites with 3 stubs of 8 sites each.
TRANSITS, STUBS, STUB_SITES = 4, 3, 8
TRANSIT_PROBABILITY, STUB_PROBABILITY = 0.6, 0.42
DOMAIN_SITES = TRANSITS * (1 + STUBS * STUB_SITES)
# Domains are linked with so many others on average, or with all where they are fewer.
DOMAIN_LINKS = 8
COSTS = {"stub": (1, 10), "gate": (10, 30), "transit": (20, 60)}
# A domain is redrawn so often at most, until it is connected.
REDRAWS_MAX = 1000


def draw(family: str, sites: int, seed: int) -> Network:
    """A connected network of a family.

    >>> [draw(family, 300, seed=1).sites for family in FAMILIES]
    [300, 300, 300, 265]

    Of ``as-like`` networks the largest piece is taken, so they are somewhat smaller.
    """
    assert 3 <= sites <= SITES_MAX
    random = np.random.default_rng([seed, sites, list(FAMILIES).index(family)])
    return FAMILIES[family](random, sites)


def power_law(random: Generator, sites: int) -> Network:
    """New sites prefer those that have many links.

    Every link writes its two ends into a list, and a new link goes to what stands at a
    random place of it: so a site is chosen as often as it has links.  Where that place
    holds what another one held before, the other one is looked at, and so on, until a
    place is found that does not depend on chance.

    Reference:
        Sanders and Schulz, Information Processing Letters 116, 2016.
    """
    new = np.repeat(np.arange(1, sites), NEW_LINKS)
    links = np.arange(len(new))
    # Place 2i holds the new end of link i, place 2i + 1 the other one.  Only places of
    # older sites are drawn; the links of the first new site go to site 0.
    before = 2 * (links - links % NEW_LINKS)
    drawn = (random.random(len(new)) * before).astype(np.int64)
    place = drawn.copy()
    while (is_copy := (place % 2 == 1) & (place // 2 >= NEW_LINKS)).any():
        place[is_copy] = drawn[place[is_copy] // 2]
    target = np.where(place % 2 == 1, 0, new[place // 2])
    target[:NEW_LINKS] = 0
    return _placed(random, sites, new, target)


def waxman(random: Generator, sites: int) -> Network:
    """New sites prefer those that are near: older ones are drawn until one is taken.

    About a quarter is, because the scale is a fifth of the plane's diagonal: cells
    would save little.
    """
    x, y = _plane(random, sites)
    scale = WAXMAN_BETA * PLANE_SIDE * np.sqrt(2)
    new = np.repeat(np.arange(1, sites), NEW_LINKS)
    target = np.zeros(len(new), np.int64)
    waiting = np.arange(len(new))
    while len(waiting):
        own = new[waiting]
        older = (random.random(len(waiting)) * own).astype(np.int64)
        target[waiting] = older
        away = np.hypot(x[own] - x[older], y[own] - y[older])
        waiting = waiting[random.random(len(waiting)) >= np.exp(-away / scale)]
    return simple(Network(sites, new, target, _distances(x, y, new, target)))


def as_like(random: Generator, sites: int) -> Network:
    """Degrees by a power law, and links between random ends; the largest piece."""
    uniform = 1 - random.random(sites)
    degrees = np.floor(uniform ** (-1 / (AS_EXPONENT - 1))).clip(1, sites - 1)
    ends = np.repeat(np.arange(sites), degrees.astype(np.int64))
    random.shuffle(ends)
    half = len(ends) // 2
    return largest_component(_placed(random, sites, ends[:half], ends[half : 2 * half]))


def transit_stub(random: Generator, sites: int) -> Network:
    """Transit domains at random, with stubs; a hundred sites belong to each domain."""
    domains = max(1, sites // DOMAIN_SITES)
    first = np.arange(domains) * DOMAIN_SITES
    one, other = _between_domains(random, domains)
    gates = np.repeat(first, TRANSITS * STUBS)
    gates = gates + np.tile(np.repeat(np.arange(TRANSITS), STUBS), domains)
    stubs = np.repeat(first + TRANSITS, TRANSITS * STUBS)
    stubs = stubs + np.tile(np.arange(TRANSITS * STUBS) * STUB_SITES, domains)
    parts = [
        (*_within(random, first, TRANSITS, TRANSIT_PROBABILITY), "transit"),
        (
            first[one] + random.integers(TRANSITS, size=len(one)),
            first[other] + random.integers(TRANSITS, size=len(other)),
            "transit",
        ),
        (gates, stubs + random.integers(STUB_SITES, size=len(stubs)), "gate"),
        (*_within(random, stubs, STUB_SITES, STUB_PROBABILITY), "stub"),
    ]
    weights = [
        random.integers(*COSTS[kind], len(ends), endpoint=True)
        for ends, _, kind in parts
    ]
    return simple(
        Network(
            domains * DOMAIN_SITES,
            np.concatenate([ends for ends, _, _ in parts]),
            np.concatenate([ends for _, ends, _ in parts]),
            np.concatenate(weights),
        )
    )


FAMILIES: dict[str, Callable[[Generator, int], Network]] = {
    "power law": power_law,
    "waxman": waxman,
    "transit-stub": transit_stub,
    "as-like": as_like,
}


# --- Parts ----------------------------------------------------------------------


def _plane(random: Generator, sites: int) -> tuple[Integers, Integers]:
    return random.integers(PLANE_SIDE, size=sites), random.integers(
        PLANE_SIDE, size=sites
    )


def _distances(x: Integers, y: Integers, one: Integers, other: Integers) -> Integers:
    """Between sites on the plane, rounded down; 1 or more."""
    away = np.hypot(x[one] - x[other], y[one] - y[other])
    rounded: Integers = np.maximum(1, away.astype(np.int64))
    return rounded


def _placed(random: Generator, sites: int, one: Integers, other: Integers) -> Network:
    """Links that weigh what sites at random places are apart."""
    x, y = _plane(random, sites)
    return simple(Network(sites, one, other, _distances(x, y, one, other)))


def _between_domains(random: Generator, domains: int) -> tuple[Integers, Integers]:
    """Which domains are linked; pieces are joined with the largest one."""
    if domains <= DOMAIN_LINKS + 1:
        one, other = np.triu_indices(domains, 1)
        return one.astype(np.int64), other.astype(np.int64)
    count = domains * DOMAIN_LINKS // 2
    one, other = random.integers(domains, size=(2, count))
    piece = components(Network(domains, one, other, np.ones(count, np.int64)))
    largest = np.bincount(piece).argmax()
    alone = np.unique(piece)
    alone = alone[alone != largest]
    targets = random.choice(np.flatnonzero(piece == largest), len(alone))
    return np.concatenate([one, alone]), np.concatenate([other, targets])


def _within(
    random: Generator, firsts: Integers, size: int, probability: float
) -> tuple[Integers, Integers]:
    """Links within many domains of a size, each redrawn until it is connected."""
    low, high = np.triu_indices(size, 1)
    is_link = random.random((len(firsts), len(low))) < probability
    for _ in range(REDRAWS_MAX):
        pieces = np.flatnonzero(~_is_connected(is_link, size))
        if not len(pieces):
            break
        is_link[pieces] = random.random((len(pieces), len(low))) < probability
    domain, pair = np.nonzero(is_link)
    return firsts[domain] + low[pair], firsts[domain] + high[pair]


def _is_connected(
    is_link: "np.ndarray[tuple[int, int], np.dtype[np.bool_]]", size: int
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Of many small graphs at once: whether each site reaches each other one."""
    low, high = np.triu_indices(size, 1)
    reach = np.zeros((len(is_link), size, size), np.float32)
    reach[:, low, high] = is_link
    reach[:, high, low] = is_link
    reach[:, np.arange(size), np.arange(size)] = 1
    for _ in range(size.bit_length()):  # ways twice as long in each step
        reach = np.minimum(1, reach @ reach)
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = reach.min(axis=(1, 2)) > 0
    return found
