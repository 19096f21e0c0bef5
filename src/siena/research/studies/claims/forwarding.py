"""Forwarding, after SIGCOMM 2003: how does the time for a message grow?

y: processor time for a message.  x: filters, with 20 interfaces, with an interface for
each filter (a single, central router), and with other numbers; constraints in a filter;
the share of interfaces that match; rounds of the selectivity table.  Counting (the
paper's algorithm), the search tree (Gryphon's) and our engine, on W-TR0605.
"""

from collections.abc import Sequence
from functools import partial
from math import log

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    curve,
    distinct,
    number,
    where,
)
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.matching import match_rows

FILTERS = {
    "full": (1000, 3000, 10_000, 30_000, 100_000, 250_000, 1_000_000),
    "quick": (1000, 3000, 10_000, 30_000),
    "test": (100, 300),
}
# A tree has a node for every name, in Python: more would take minutes.
TREE_MAX = 3000
# Other numbers of interfaces, and central routers, have fewer filters.
OTHER_MAX = 100_000
# Above this, one seed.
SEEDS_MAX = 100_000
MESSAGES = {"full": 500, "quick": 200, "test": 20}
ROUNDS = {"full": (0, 2, 5, 10, 20, 50), "quick": (0, 10, 50), "test": (0, 10)}
SIZES = {"full": (1, 2, 5, 10, 20), "quick": (1, 2, 5, 10), "test": (1, 5)}
HEADLINE = {"full": 250_000, "quick": 10_000, "test": 300}
KNOWN = {"full": (10, 8, 6, 4, 2, 0), "quick": (10, 6, 3, 0), "test": (10, 0)}
# Where the rest is tried; and at most so many, since building takes longer than trying.
VARIED = {"full": 100_000, "quick": 30_000, "test": 300}
MATCHERS = ("counting", "tree", "engine")
INTERFACES = (20, 0)  # 0: one for each filter
OTHERS = (10, 100)
DEFAULT_ROUNDS = 10
NAMES, HEADLINE_NAMES, ATTRIBUTES = 500, 1000, 10


def plan(size: Size, seeds: int) -> list[Row]:
    """Growth; and, for counting and the engine, everything else one at a time."""
    rows: list[Row] = []
    for seed in among(seeds):
        row = partial(_row, size, seed)
        for filters in FILTERS[size]:
            if seed > 1 and filters > SEEDS_MAX:
                continue
            rows += [
                row(matcher, filters, interfaces=interfaces)
                for matcher in MATCHERS
                if matcher != "tree" or filters <= TREE_MAX
                for interfaces in (*INTERFACES, *OTHERS)
                if interfaces == 20 or filters <= OTHER_MAX
                if interfaces not in OTHERS or matcher != "tree"
            ]
        largest = VARIED[size]
        variants = [(rounds, True) for rounds in ROUNDS[size]]
        variants += [(rounds, False) for rounds in ROUNDS[size]]
        rows += [
            row("counting", largest, rounds=rounds, early_exit=early)
            for rounds, early in variants
            if (rounds, early) != (DEFAULT_ROUNDS, True)
        ]
        rows += [
            row(matcher, largest, known=known)
            for matcher in ("counting", "engine")
            for known in KNOWN[size]
            if known != ATTRIBUTES
        ]
        if seed == 1:
            rows += [
                row(matcher, HEADLINE[size], names=HEADLINE_NAMES, size=constraints)
                for matcher in ("counting", "engine")
                for constraints in SIZES[size]
            ]
    return rows


def _row(size_: Size, seed: int, matcher: str, filters: int, **others: Cell) -> Row:
    return {
        "matcher": matcher,
        "filters": filters,
        "interfaces": 20,
        "rounds": DEFAULT_ROUNDS,
        "early_exit": True,
        "names": NAMES,
        "size": None,
        "known": ATTRIBUTES,
        "messages": MESSAGES[size_],
        **others,
        "seed": seed,
    }


def plain(rows: Sequence[Row]) -> list[Row]:
    """The rows of the workload as it is."""
    return where(rows, size=None, known=ATTRIBUTES)


def usual(rows: Sequence[Row], matcher: str, interfaces: int) -> dict[float, float]:
    """Times by number of filters."""
    own = where(
        plain(rows),
        matcher=matcher,
        interfaces=interfaces,
        rounds=DEFAULT_ROUNDS,
        early_exit=True,
    )
    return curve(own, "filters", "microseconds", min)


def check(rows: Sequence[Row]) -> list[Finding]:
    """Agreement, and C.8 (a) to (f)."""
    return [
        _agreement(rows),
        _headline(rows),
        *(
            _slope(rows, matcher, interfaces)
            for interfaces in (10, 20, 100, 0)
            for matcher in ("counting", "engine")
        ),
        _bytes(rows),
        *(_fewer_matches(rows, matcher) for matcher in ("counting", "engine")),
        _rounds(rows),
        _early(rows),
    ]


def _agreement(rows: Sequence[Row]) -> Finding:
    found: dict[str, set[float]] = {}
    for row in rows:
        case = "/".join(
            str(row[name])
            for name in ("filters", "interfaces", "names", "size", "known", "seed")
        )
        found.setdefault(case, set()).add(number(row, "matched"))
    wrong = [case for case, matched in found.items() if len(matched) > 1]
    says = "all matchers, with all options, find the same"
    words = f"{len(found) - len(wrong)} of {len(found)} tables"
    return Finding("agree", says, not wrong, words)


def _slope(rows: Sequence[Row], matcher: str, interfaces: int) -> Finding:
    points = usual(rows, matcher, interfaces)
    first, last = min(points), max(points)
    is_central = not interfaces
    case = "an interface for each filter" if is_central else f"{interfaces} interfaces"
    claim = "C.8c" if is_central else "C.8b"
    says = f"{matcher}, {case}: time grows less than the filters (exponent below 1)"
    if last < 10 * first:
        return Finding(claim, says, None, "needs a decade of filters", not is_central)
    slope = log(points[last] / points[first]) / log(last / first)
    return Finding(claim, says, slope < 1, f"exponent {slope:.2f}", not is_central)


def _bytes(rows: Sequence[Row]) -> Finding:
    own = [r for r in where(rows, matcher="counting") if r["bytes"] is not None]
    shares = [number(r, "bytes") / number(r, "constraints") for r in own]
    says = "counting takes 48 bytes of table for each constraint"
    words = f"{min(shares):.0f} to {max(shares):.0f} bytes"
    return Finding("C.8a", says, max(shares) <= 60, words, is_gating=False)


def _headline(rows: Sequence[Row]) -> Finding:
    own = [row for row in rows if row["size"] is not None]
    filters = max(number(row, "filters") for row in own)
    found = []
    for matcher in ("counting", "engine"):
        times = curve(where(own, matcher=matcher), "size", "microseconds")
        low, high = min(times.values()), max(times.values())
        found.append(f"{matcher} {low:,.0f} to {high:,.0f} µs")
    matched = [number(row, "matched") for row in own]
    says = "20 interfaces, 1,000 names, 1 to 20 constraints in a filter: below 3 ms"
    worst = max(number(row, "microseconds") for row in own)
    words = (
        f"{filters:,.0f} filters: {', '.join(found)}; "
        f"{min(matched):.1f} to {max(matched):.1f} interfaces"
    )
    return Finding("C.8a", says, worst < 3000, words, is_gating=False)


def by_known(rows: Sequence[Row], matcher: str) -> dict[float, float]:
    """Times by the share of interfaces that want a message."""
    own = where(rows, matcher=matcher, interfaces=20, size=None, names=NAMES)
    own = where(own, rounds=DEFAULT_ROUNDS, early_exit=True)
    varied = max(number(row, "filters") for row in own if row["known"] == 0)
    same = where(own, filters=int(varied))
    shares = curve(same, "known", "matched")
    times = curve(same, "known", "microseconds", min)
    found: dict[float, float] = {}
    for known, share in shares.items():
        found[100 * share / 20] = times[known]
    return found


def _fewer_matches(rows: Sequence[Row], matcher: str) -> Finding:
    points = by_known(rows, matcher)
    first, last = min(points), max(points)
    says = f"{matcher}: the fewer interfaces match, the less time it takes"
    words = ", ".join(f"{points[at]:.1f} µs at {at:.0f} %" for at in (last, first))
    # Leaving early is quick where everything matches: the claim is about both ends.
    return Finding("C.8d", says, points[first] < points[last], words, is_gating=False)


def _rounds(rows: Sequence[Row]) -> Finding:
    points = by_rounds(rows, early=True)
    best = min(points, key=lambda rounds: points[rounds])
    words = ", ".join(f"{r:.0f}: {t:.1f} µs" for r, t in points.items())
    says = "counting: some rounds of the selectivity table help"
    return Finding("C.8e", says, best > 0, words, is_gating=False)


def by_rounds(rows: Sequence[Row], *, early: bool) -> dict[float, float]:
    """Times of counting by rounds, for the table where all of them were tried."""
    own = where(plain(rows), matcher="counting", interfaces=20)
    varied = [number(row, "filters") for row in own if row["rounds"] == 0]
    same = where(own, filters=int(max(varied)), early_exit=early)
    return curve(same, "rounds", "microseconds", min)


def _early(rows: Sequence[Row]) -> Finding:
    times = {
        early: by_rounds(rows, early=early)[DEFAULT_ROUNDS] for early in (True, False)
    }
    words = f"{times[True]:.1f} µs with, {times[False]:.1f} µs without"
    says = "counting: leaving early helps"
    return Finding("C.8f", says, times[True] < times[False], words, is_gating=False)


def draw(rows: Sequence[Row]) -> Figure:
    """Growth, twice; constraints, matches, rounds and interfaces."""
    figure, axes = panels(2, 3)
    x, y = "filters", "processor time per message, µs"
    titles = "20 interfaces", "An interface for each filter"
    for each, interfaces, title in zip(axes, INTERFACES, titles, strict=False):
        for style, matcher in enumerate(MATCHERS):
            line(each, usual(rows, matcher, interfaces), matcher, style)
        finish(each, title, x, y, log="xy")
    _, _, interfaces_, constraints, matches, rounds = axes
    style = 0
    for matcher in ("counting", "engine"):
        for count in OTHERS:
            points = usual(rows, matcher, count)
            line(interfaces_, points, f"{matcher}, {count} interfaces", style)
            style += 1
    finish(interfaces_, "Other numbers of interfaces", x, y, log="xy")
    headline = [row for row in rows if row["size"] is not None]
    for style, matcher in ((0, "counting"), (2, "engine")):
        own = where(headline, matcher=matcher)
        line(constraints, curve(own, "size", "microseconds"), matcher, style)
        line(matches, by_known(rows, matcher), matcher, style)
    filters = f"{max(distinct(headline, 'filters')):,.0f}"
    title = f"{filters} filters of so many constraints, 1,000 names"
    finish(constraints, title, "constraints in a filter", y, log="y")
    share = "interfaces that want a message, %"
    finish(matches, "Selectivity", share, y, log="y")
    for style, early in enumerate((True, False)):
        label = "leaving early" if early else "not leaving early"
        line(rounds, by_rounds(rows, early=early), label, style)
    finish(rounds, "Counting: rounds of the selectivity table", "rounds", y)
    rounds.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="forwarding",
    title="Time to forward a message",
    paper="SIGCOMM 2003",
    says="With a fixed number of interfaces, time grows less than the number of "
    "filters; also a single router for everybody performs well. A table takes 48 bytes "
    "for each constraint.",
    shape="Both axes logarithmic: slopes below 1; the engine lowest.",
    parameters=(
        Parameter("filters, messages", "W-TR0605, 500 Zipf names", "ours (C.7)"),
        Parameter("attributes of a message", "10", "stated"),
        Parameter("interfaces", "20, as many as filters; 10, 100", "stated; ours"),
        Parameter("headline", "250,000 filters, 1,000 names", "stated"),
        Parameter("fewer matches", "some attributes have unknown names", "ours"),
        Parameter("time", "of the processor, least of several rounds", "ours"),
    ),
    run=match_rows,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="The evaluation of the paper is not at hand, and its headline numbers do "
    "not fit together (erratum E13): only shapes are compared. The tree is plain "
    "Python, the others are compiled.",
    is_timed=True,
)
