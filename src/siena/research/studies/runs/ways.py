"""Workloads on which today's ways to bring notifications are compared, row by row.

The same quotes are published in all of them; what differs is what subscribers want:
one symbol, a symbol within a band of prices, a band of prices alone, a class with all
that is below it, or any few of the attributes.
"""

from random import Random

from siena.lang import parse_filter
from siena.messages import Subscribe
from siena.model import Filter, Notification
from siena.research.schemes.ways import (
    CLASS,
    WAYS,
    Publication,
    Subscriber,
    costs_of,
)
from siena.research.studies.framework.rows import Row, integer, text
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import minimum_spanning_tree
from siena.sim.topologies.drawn import barabasi_albert
from siena.sim.world import World

SYMBOLS = 500
CLASSES = ((3, "market"), (4, "sector"), (5, "desk"))
CHOICES = {"exchange": 5, "currency": 4, "kind": 3}
PRICE_MAX = 1000
WORKLOADS = ("symbol", "symbol and band", "band", "class", "any few")
# Routers carry worlds of up to so many subscribers as well; more would take minutes.
CARRIED_MAX = 200


def compare(row: Row) -> Row:
    """What each way costs, counted on one tree with one set of publications."""
    random = Random(f"{row['seed']}/ways/{row['workload']}")
    network = barabasi_albert(integer(row, "brokers"), seed=integer(row, "seed"))
    tree = minimum_spanning_tree(network)
    subscribers = [
        Subscriber(draw_filter(text(row, "workload"), random), _place(tree, random))
        for _ in range(integer(row, "subscribers"))
    ]
    publications = [
        Publication(draw_notification(random), _place(tree, random))
        for _ in range(integer(row, "publications"))
    ]
    costs = costs_of(tree, subscribers, publications)
    found: Row = {
        "deliveries": sum(
            subscriber.filter.matches(publication.notification)
            for subscriber in subscribers
            for publication in publications
        )
    }
    for way in WAYS:
        for name, number in costs[way]._asdict().items():
            found[f"{way}_{name}"] = number
    carried = None
    if len(subscribers) <= CARRIED_MAX:
        carried = _carried(tree, subscribers, publications)
    found["router_links"], found["router_entries"] = carried or (None, None)
    return found


def draw_notification(random: Random) -> Notification:
    """A quote."""
    attributes: dict[str, str | int] = {
        CLASS: _class(random),
        "symbol": _symbol(random),
    }
    attributes |= {name: _choice(name, random) for name in CHOICES}
    attributes["price"] = random.randrange(PRICE_MAX)
    attributes["volume"] = random.randrange(1, 100_000)
    return Notification(attributes)


def draw_filter(workload: str, random: Random) -> Filter:
    """What a subscriber wants.

    >>> print(draw_filter("class", Random(1)))
    class >* market1/sector0/
    """
    low = random.randrange(PRICE_MAX)
    band = f"price > {low} and price < {low + random.randint(2, PRICE_MAX // 4)}"
    wanted = {
        "symbol": [f"symbol = {_symbol(random)}"],
        "symbol and band": [f"symbol = {_symbol(random)}", band],
        "band": [band],
        "class": [_class_or_above(random)],
    }.get(workload)
    if wanted is None:
        names = ["symbol", *CHOICES]
        some = random.sample(names, random.randint(1, 3))
        wanted = [
            f"{n} = {_symbol(random) if n == 'symbol' else _choice(n, random)}"
            for n in some
        ]
        if random.random() < 0.5:
            wanted.append(band)
    return parse_filter(" and ".join(wanted))


def _carried(
    tree: Topology,
    subscribers: list[Subscriber],
    publications: list[Publication],
) -> tuple[int, int]:
    """Links that notifications crossed with production routers, and what these told."""
    world = World(tree, "acyclic")
    for place, (wanted, broker) in enumerate(subscribers):
        world.ask(world.client(f"s{place}", broker), Subscribe(wanted))
    world.run()
    before = world.network.account.counts["notify"]
    for place, (notification, broker) in enumerate(publications):
        world.publish(world.client(f"p{place}", broker), notification)
    world.run()
    told = sum(
        len(neighbour.filters.told)
        for router in world.routers.values()
        for neighbour in router.tables.neighbours.values()
    )
    return world.network.account.counts["notify"] - before, told


def _place(tree: Topology, random: Random) -> int:
    return random.choice(tree.brokers)


def _symbol(random: Random) -> str:
    """Popular symbols are much more popular than others (Zipf)."""
    return f"S{int(SYMBOLS ** random.random())}"


def _choice(name: str, random: Random) -> str:
    return f"{name}{random.randrange(CHOICES[name])}"


def _class(random: Random) -> str:
    return "/".join(f"{name}{random.randrange(count)}" for count, name in CLASSES)


def _class_or_above(random: Random) -> str:
    """One class, or all of those below a level."""
    levels = _class(random).split("/")[: random.randint(1, len(CLASSES))]
    path = "/".join(levels)
    if len(levels) == len(CLASSES):
        return f'{CLASS} = "{path}"'
    return f'{CLASS} >* "{path}/"'
