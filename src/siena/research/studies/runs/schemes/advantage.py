"""What tables of routing schemes hold when covered filters are dropped.

The formulas of TR 2006/05 have an alpha for what disjunction saves, of sets as large as
those that a table holds: alpha(r/Δ) for r receivers and Δ neighbours at most.  Here
brokers want filters of W-TR0605, tables are those of the schemes, and alpha is measured
on sets of that size, drawn from the same filters.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from random import Random
from statistics import fmean

from siena.model import Predicate
from siena.research.schemes.network import Network
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.disjunction import undominated
from siena.research.studies.runs.networks import SCHEMES, topology_of
from siena.routing.topology.topology import Broker
from siena.sim.workload import TR0605

# Names of W-TR0605, equally likely: few, so that filters meet.
NAMES = 50
# Sets of brokers that an alpha is the mean of.
SETS = 20
STORING = ("PSF", "iPS", "PIF")


def with_advantage(row: Row) -> Row:
    """Constraints in the tables of all brokers, with and without what is covered.

    >>> row = {"network": "tree", "brokers": 12, "filters": 5, "seed": 1}
    >>> found = with_advantage(row)
    >>> found["PIF_left"] < found["PIF_all"] <= found["PSF_all"]
    True
    """
    seed, kind = integer(row, "seed"), text(row, "network")
    topology = topology_of(kind, integer(row, "brokers"), seed)
    each = integer(row, "filters")
    workload = TR0605(names=NAMES, distribution="uniform", seed=seed)
    filters = list(workload.filters(each * len(topology)))
    wanted = {
        broker: Predicate(filters[place * each : (place + 1) * each])
        for place, broker in enumerate(topology.brokers)
    }
    sizes = _Sizes(wanted)
    network = Network(topology, wanted)
    degrees = [len(topology.neighbours(broker)) for broker in topology.brokers]
    random = Random(f"{seed}/{kind}/advantage")
    receivers = len(wanted)

    @cache
    def alpha(neighbours: int) -> float:
        """Of sets of r/Δ brokers."""
        count = max(1, round(receivers / neighbours))
        sets = [random.sample(topology.brokers, count) for _ in range(SETS)]
        return fmean(sizes.left(chosen) / sizes.all(chosen) for chosen in sets)

    # r M_p: what all receivers want, once.
    once = sizes.all(topology.brokers)
    found: Row = {
        "size": len(topology),
        "degree": max(degrees),
        "alpha": alpha(max(degrees)),
        "formula": len(topology) * once * alpha(max(degrees)),
        "formula_by_broker": once * sum(map(alpha, degrees)),
    }
    for name in STORING:
        tables = SCHEMES[name](network).memory().tables
        members = [table.members for table in tables]
        found[f"{name}_all"] = sum(map(sizes.all, members))
        found[f"{name}_left"] = sum(map(sizes.left, members))
    return found


class _Sizes:
    """Constraints of the predicates of some brokers, as they are and reduced."""

    def __init__(self, wanted: dict[Broker, Predicate]) -> None:
        self._wanted = wanted
        self._left: dict[frozenset[Broker], int] = {}

    def all(self, brokers: Iterable[Broker]) -> int:
        return sum(len(f) for broker in brokers for f in self._wanted[broker])

    def left(self, brokers: Sequence[Broker] | frozenset[Broker]) -> int:
        members = frozenset(brokers)
        if members not in self._left:
            filters = [f for broker in sorted(members) for f in self._wanted[broker]]
            self._left[members] = sum(map(len, undominated(filters)))
        return self._left[members]
