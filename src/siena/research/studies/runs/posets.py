"""What the poset of the papers compares, and how long two filters take to compare."""

from collections.abc import Callable
from random import Random
from time import process_time

from siena.algebra.pairwise import covers_pairwise
from siena.algebra.poset.poset import Poset
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.oracles.searched_poset import SearchedPoset
from siena.research.studies.framework.rows import Row, integer, text
from siena.sim.workload import TR0605

# Filters that are added to a full poset, and notifications that are matched in it.
PROBES = 50
PRICE_MAX = 1000
# Names of W-TR0605, equally likely.
NAMES = 10
# A time is the least of so many; each is of as many calls as take a few milliseconds.
REPEATS, LEAST_S = 5, 0.005


def search(row: Row) -> Row:
    """A poset of so many filters, or two filters of so many constraints."""
    return _compare(row) if row["part"] == "constraints" else _fill(row)


def _fill(row: Row) -> Row:
    """Comparisons of an addition and of a match, in a poset of so many filters."""
    filters = integer(row, "filters")
    drawn = draw(text(row, "shape"), filters + PROBES, integer(row, "seed"))
    poset = SearchedPoset()
    ours = Poset.of_filters("pairwise")
    for f in drawn.filters[:filters]:
        poset.add(f)
        ours.add(f)
    held, roots = len(poset.above), len(poset.roots)
    agrees = set(poset.above) == set(ours) and all(
        poset.above[f] == ours.predecessors(f) for f in ours
    )
    for notification in drawn.notifications:
        matched = {f for f in poset.above if f.matches(notification)}
        agrees &= set(poset.match(notification)) == matched
    tested = poset.tested
    before = poset.compared
    for f in drawn.filters[filters:]:
        poset.add(f)
    return {
        "held": held,
        "roots": roots,
        "compared": (poset.compared - before) / PROBES,
        "tested": tested / PROBES,
        "agrees": agrees,
        "microseconds": None,
    }


class Drawn:
    """Filters to hold, and notifications to match."""

    def __init__(
        self, filters: list[Filter], notifications: list[Notification]
    ) -> None:
        self.filters = filters
        self.notifications = notifications


def draw(shape: str, filters: int, seed: int) -> Drawn:
    """Filters of which none, some or many cover each other.

    >>> [str(f) for f in draw("apart", 2, 1).filters]
    ['x = 0', 'x = 1']
    """
    random = Random(f"{seed}/poset/{shape}")
    if shape == "W":
        workload = TR0605(names=NAMES, distribution="uniform", seed=seed)
        return Drawn(
            list(workload.filters(filters)), list(workload.notifications(PROBES))
        )
    if shape == "apart":
        found = [Filter([Constraint("x", Operator.EQ, n)]) for n in range(filters)]
    else:
        assert shape == "nested"
        found = [_band(random) for _ in range(filters)]
    top = filters if shape == "apart" else PRICE_MAX
    notifications = [Notification(x=random.randrange(top)) for _ in range(PROBES)]
    return Drawn(found, notifications)


def _band(random: Random) -> Filter:
    """A band of prices: wide ones contain narrow ones."""
    low = random.randrange(PRICE_MAX)
    high = low + random.randint(2, PRICE_MAX)
    return Filter(
        [Constraint("x", Operator.GT, low), Constraint("x", Operator.LT, high)]
    )


def _compare(row: Row) -> Row:
    """Time to compare two filters, or a filter and a notification, of one size."""
    size = integer(row, "constraints")
    if row["shape"] == "matching":
        f = Filter([Constraint(f"n{i}", Operator.GT, 0) for i in range(size)])
        notification = Notification({f"n{i}": 1 for i in range(size)})
        taken = seconds(lambda: f.matches(notification))
    else:
        # All on one name, and only the last one implies anything: no pair is spared.
        wide = Filter([Constraint("x", Operator.NE, -i - 1) for i in range(size)])
        narrow = Filter(
            [Constraint("x", Operator.LT, 1000 + i) for i in range(size - 1)]
            + [Constraint("x", Operator.GT, 0)]
        )
        taken = seconds(lambda: covers_pairwise(wide, narrow))
    return {
        "held": None,
        "roots": None,
        "compared": None,
        "tested": None,
        "agrees": None,
        "microseconds": 1e6 * taken,
    }


def seconds(call: Callable[[], object]) -> float:
    """Processor time of a call: the least of several means."""
    calls, spent = 1, 0.0
    while spent < LEAST_S:
        calls *= 2
        spent = _spent(call, calls)
    return min(_spent(call, calls) for _ in range(REPEATS)) / calls


def _spent(call: Callable[[], object], calls: int) -> float:
    start = process_time()
    for _ in range(calls):
        call()
    return process_time() - start
