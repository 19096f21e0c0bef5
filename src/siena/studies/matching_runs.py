"""Runs over many filters at once: matchers beside each other, and covering."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from time import process_time
from typing import cast

from siena.algebra.poset import Poset
from siena.matching.blocks import encode_all
from siena.matching.counting import CountingMatcher
from siena.matching.table import ForwardingTable
from siena.matching.tree import TreeMatcher
from siena.model import Filter, Notification
from siena.sim.workload import TR0605, Distribution
from siena.studies.rows import Row, integer, text

# Processor time below this is measured again and again.
SECONDS_MIN = 0.15
ROUNDS_MAX = 200

Match = Callable[[], int]
"""Match all notifications; how many interfaces want one, in all."""


def match_rows(row: Row) -> Row:
    """Time one matcher with filters of W-TR0605 behind some interfaces.

    ``interfaces`` 0 means one for each filter.  Times are of the processor, and the
    least of several rounds: what else the machine does can only add to them.
    """
    count, interfaces = integer(row, "filters"), integer(row, "interfaces")
    workload = TR0605(
        names=integer(row, "names"), distribution="zipf", seed=integer(row, "seed")
    )
    filters = list(workload.filters(count))
    notifications = list(workload.notifications(integer(row, "messages")))
    owners = [i % interfaces if interfaces else i for i in range(count)]
    match, table_bytes = _matcher(row, filters, owners, notifications)
    found = match()  # also builds what is built at the first match
    least, spent, rounds = float("inf"), 0.0, 0
    while spent < SECONDS_MIN and rounds < ROUNDS_MAX:
        start = process_time()
        again = match()
        taken = process_time() - start
        assert again == found
        least, spent, rounds = min(least, taken), spent + taken, rounds + 1
    return {
        "microseconds": 1e6 * least / len(notifications),
        "matched": found / len(notifications),
        "constraints": sum(map(len, filters)),
        "bytes": table_bytes,
    }


def _matcher(
    row: Row,
    filters: Sequence[Filter],
    owners: Sequence[int],
    notifications: Sequence[Notification],
) -> tuple[Match, int | None]:
    pairs = list(zip(owners, filters, strict=True))
    name = text(row, "matcher")
    if name == "tree":
        tree = TreeMatcher()
        for owner, f in pairs:
            tree.add(owner, f)
        return (lambda: sum(len(tree.match(n)) for n in notifications)), None
    if name == "engine":
        table = ForwardingTable()
        for owner, f in pairs:
            table.add(owner, f)
        blocks, offsets = encode_all(notifications)
        return (lambda: len(table.match_interfaces(blocks, offsets).interfaces)), None
    counting = CountingMatcher(
        rounds=integer(row, "rounds"), early_exit=bool(row["early_exit"])
    )
    for owner, f in pairs:
        counting.add(owner, f)
    batch = counting.encode(notifications)
    size = counting.sizes.bytes
    return (lambda: len(counting.match_interfaces(batch)[1])), size


# --- Covering -------------------------------------------------------------------

# So many are asked whether anything was lost.
NOTIFICATIONS = 200


def covering(row: Row) -> Row:
    """How many filters are left, by the pairwise rule and by the exact one.

    ``W joined`` has several constraints on one name: each filter is joined with the
    next one.

    >>> row = {"names": 50, "names_are": "uniform", "workload": "W", "filters": 100,
    ...        "seed": 1}
    >>> result = covering(row)
    >>> result["exact"] <= result["pairwise"] <= 100
    True
    """
    count = integer(row, "filters")
    workload = TR0605(
        names=integer(row, "names"),
        distribution=cast("Distribution", text(row, "names_are")),
        seed=integer(row, "seed"),
    )
    filters = list(workload.filters(count + 1))
    if row["workload"] == "W joined":
        filters = [
            Filter([*one.constraints, *other.constraints])
            for one, other in pairwise(filters)
        ]
    else:
        filters = filters[:count]
    exact, simple = Poset.of_filters("exact"), Poset.of_filters("pairwise")
    for f in filters:
        exact.add(f)
        simple.add(f)
    return {
        "distinct": len(set(filters)),
        "exact": len(exact.roots),
        "pairwise": len(simple.roots),
        "impossible": len(exact.impossible),
        "agrees": all(
            any(f.matches(n) for f in filters)
            == any(f.matches(n) for f in exact.roots)
            == any(f.matches(n) for f in simple.roots)
            for n in workload.notifications(NOTIFICATIONS)
        ),
    }
