"""Runs of CBCB, over time, and when everything has arrived: what has been lost?

A run gives a curve: its samples are kept as a text of JSON in one cell, one list for
each interval, in the order of :class:`Sample`.  Another cell has, as a list, how many
notifications so many brokers wanted.
"""

import json
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from siena.model import Constraint, Filter, Notification, Operator
from siena.research.cbcb.node import Options
from siena.research.cbcb.run import CbcbPlan, run
from siena.research.cbcb.world import CbcbWorld
from siena.research.studies.framework.rows import Row, integer, number, text
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import distances
from siena.sim.topologies.drawn import barabasi_albert, waxman
from siena.sim.workload import SSBG

# How long a link of weight 1 takes: brokers are some hundred units apart.
DELAY_S = 0.001

DEFAULTS: Row = {
    "network": "power law",
    "publication_s": 10.0,
    "change_s": 30.0,
    "batch_s": None,
    "request_s": None,
    "messages_min": 0,
    "filters_min": 0,
    "filters_max": 19,
    "prunes": False,
}


class Sample(NamedTuple):
    """What happened in one interval, and the memory at its end."""

    time: float
    expected: int
    missing: int
    received: int
    unmatched: int
    useless: int
    advertisements: int
    requests: int
    replies: int
    messages: int
    table_bytes: int


def over_time(row: Row) -> Row:
    """Run a network for a while; totals, and the samples of its intervals.

    >>> row = {"brokers": 8, "duration_s": 3, "sample_s": 1, **DEFAULTS, "seed": 3,
    ...        "publication_s": 0.05, "change_s": None}
    >>> found = over_time(row)
    >>> [sample.missing > 0 for sample in samples(found)]
    [True, True, False]
    >>> sum(n * count for n, count in enumerate(wanted_by(found))) == found["expected"]
    True
    """
    topology = topology_of(row)
    plan = CbcbPlan(
        topology,
        duration_s=number(row, "duration_s"),
        sample_s=number(row, "sample_s"),
        publication_s=number(row, "publication_s"),
        change_s=_optional(row, "change_s"),
        batch_s=_optional(row, "batch_s"),
        request_s=_optional(row, "request_s"),
        options=Options(
            prunes=bool(row["prunes"]), messages_min=integer(row, "messages_min")
        ),
        workload=SSBG(
            filters=range(integer(row, "filters_min"), integer(row, "filters_max") + 1),
            seed=integer(row, "seed"),
        ),
        delay_s=DELAY_S,
        seed=integer(row, "seed"),
    )
    found = list(run(plan))
    taken = [
        Sample(
            round(s.time, 6),
            s.expected,
            s.missing,
            s.received,
            s.unmatched,
            s.useless,
            s.packets["RA"],
            s.packets["SR"],
            s.packets["UR"],
            s.packets["ME"],
            s.table_bytes,
        )
        for s in found
    ]
    wanting = sum((s.wanting for s in found), Counter[int]())
    far = max(max(distances(topology, b).values()) for b in topology.brokers)
    return {
        "spreading_s": float(far) * DELAY_S,
        **{
            name: sum(getattr(sample, name) for sample in taken)
            for name in Sample._fields
            if name not in {"time", "table_bytes"}
        },
        "table_bytes": taken[-1].table_bytes,
        "samples": json.dumps(taken, separators=(",", ":")),
        "wanting": json.dumps([wanting[n] for n in range(max(wanting, default=0) + 1)]),
    }


def samples(row: Row) -> list[Sample]:
    """The samples of a row."""
    return [Sample(*each) for each in json.loads(text(row, "samples"))]


def wanted_by(row: Row) -> list[int]:
    """How many notifications of a run none, one, two… of the brokers wanted."""
    return [int(each) for each in json.loads(text(row, "wanting"))]


def topology_of(row: Row) -> Topology:
    """The network of a row, as BRITE would draw it."""
    draw = waxman if row["network"] == "waxman" else barabasi_albert
    return draw(integer(row, "brokers"), seed=integer(row, "seed"))


def _optional(row: Row, name: str) -> float | None:
    return None if row[name] is None else number(row, name)


# --- Pruning --------------------------------------------------------------------

# T-C20: shortest paths are unique, and the tree of 4 reaches 3 through 2.
COUNTEREXAMPLE = Topology([(1, 3, 1), (2, 3, 1), (2, 4, 1), (1, 4, 2)])
# So many different predicates, of which brokers have one each: the fewer there are, the
# more advertisements are of something that is known.
INTERESTS = 4


def prune(row: Row) -> Row:
    """Advertise one after the other, publish everywhere, and count who is missing.

    ``asks`` says whether brokers ask what is wanted before anything is published:
    ``never``, ``all`` their neighbours, or only those where something is ``known``.

    >>> row = {"network": "T-C20", "brokers": 4, "prunes": True, "seed": 1}
    >>> [prune({**row, "asks": asks})["missing"] for asks in ("never", "all", "known")]
    [1, 0, 1]
    """
    is_example = row["network"] == "T-C20"
    topology = COUNTEREXAMPLE if is_example else topology_of(row)
    options = Options(prunes=bool(row["prunes"]), skips_empty=row["asks"] == "known")
    world = CbcbWorld(topology, options, delay_s=DELAY_S)
    wanted = [(1, 0), (3, 0)] if is_example else list(_interests(row, topology))
    for broker, interest in wanted:
        world.want(broker, [_filter(interest)])
        world.run()
    if row["asks"] != "never":
        for broker in topology.brokers:
            world.request(broker)
            world.run()
    publications = [
        world.publish(broker, Notification({f"x{interest}": 1}))
        for broker in topology.brokers
        for interest in sorted({interest for _, interest in wanted})
    ]
    world.run()
    return {
        "expected": sum(len(p.expected) for p in publications),
        "missing": sum(len(p.missing) for p in publications),
        "twice": sum(n - 1 for p in publications for n in p.received.values()),
        "advertisements": world.packets["RA"],
        "requests": world.packets["SR"] + world.packets["UR"],
        "table_bytes": world.table_bytes,
    }


def _interests(row: Row, topology: Topology) -> Iterator[tuple[int, int]]:
    random = Random(f"{integer(row, 'seed')}/pruning")
    brokers = list(topology.brokers)
    random.shuffle(brokers)
    for broker in brokers[: max(2, round(0.75 * len(brokers)))]:
        yield broker, random.randrange(INTERESTS)


def _filter(interest: int) -> Filter:
    return Filter([Constraint(f"x{interest}", Operator.EQ, 1)])
