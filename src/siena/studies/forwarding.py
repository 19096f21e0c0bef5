"""Forwarding, after SIGCOMM 2003: how does the time for a message grow?

x: filters.  y: processor time for a message, with 20 interfaces; and with an interface
for each filter (a single, central router).  Counting (the paper's algorithm), the
search tree (Gryphon's) and our engine beside each other, on W-TR0605.
"""

from collections.abc import Sequence
from math import log

from matplotlib.figure import Figure

from siena.studies.drawing import finish, line, panels
from siena.studies.matching_runs import match_rows
from siena.studies.rows import Cell, Row, curve, distinct, number, where
from siena.studies.study import Finding, Parameter, Size, Study, among

FILTERS = {
    "full": (1000, 3000, 10_000, 30_000, 100_000),
    "quick": (1000, 3000, 10_000),
    "test": (100, 300),
}
# A tree has a node for every name, in Python: more would take minutes.
TREE_MAX = 3000
MESSAGES = {"full": 500, "quick": 200, "test": 20}
ROUNDS = {"full": (0, 5, 10, 20, 50), "quick": (0, 10, 50), "test": (0, 10)}
MATCHERS = ("counting", "tree", "engine")
INTERFACES = (20, 0)  # 0: one for each filter
DEFAULT_ROUNDS = 10


def plan(size: Size, seeds: int) -> list[Row]:
    """Growth; and, for counting, rounds of selectivity and leaving early."""
    rows: list[Row] = []
    for seed in among(seeds):
        shared: dict[str, Cell] = {
            "names": 500,
            "messages": MESSAGES[size],
            "seed": seed,
        }
        for filters in FILTERS[size]:
            rows += [
                {
                    "matcher": matcher,
                    "filters": filters,
                    "interfaces": interfaces,
                    "rounds": DEFAULT_ROUNDS,
                    "early_exit": True,
                    **shared,
                }
                for matcher in MATCHERS
                if matcher != "tree" or filters <= TREE_MAX
                for interfaces in INTERFACES
            ]
        largest = max(FILTERS[size])
        variants = [(rounds, True) for rounds in ROUNDS[size]] + [
            (DEFAULT_ROUNDS, False)
        ]
        rows += [
            {
                "matcher": "counting",
                "filters": largest,
                "interfaces": 20,
                "rounds": rounds,
                "early_exit": early,
                **shared,
            }
            for rounds, early in variants
            if (rounds, early) != (DEFAULT_ROUNDS, True)
        ]
    return rows


def usual(rows: Sequence[Row], matcher: str, interfaces: int) -> dict[float, float]:
    """Times by number of filters."""
    own = where(
        rows,
        matcher=matcher,
        interfaces=interfaces,
        rounds=DEFAULT_ROUNDS,
        early_exit=True,
    )
    return curve(own, "filters", "microseconds", min)


def check(rows: Sequence[Row]) -> list[Finding]:
    """Agreement, C.8 (a) to (c), (e) and (f)."""
    return [
        _agreement(rows),
        *(_slope(rows, matcher, 20) for matcher in ("counting", "engine")),
        *(_slope(rows, matcher, 0) for matcher in ("counting", "engine")),
        _bytes(rows),
        _rounds(rows),
        _early(rows),
    ]


def _agreement(rows: Sequence[Row]) -> Finding:
    found: dict[str, set[float]] = {}
    for row in rows:
        case = f"{row['filters']}/{row['interfaces']}/{row['seed']}"
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


def _rounds(rows: Sequence[Row]) -> Finding:
    own = where(rows, matcher="counting", early_exit=True, interfaces=20)
    largest = max(distinct(own, "filters"))
    points = curve(where(own, filters=int(largest)), "rounds", "microseconds", min)
    best = min(points, key=lambda rounds: points[rounds])
    words = ", ".join(f"{r:.0f}: {t:.1f} µs" for r, t in points.items())
    says = "counting: some rounds of the selectivity table help"
    return Finding("C.8e", says, best > 0, words, is_gating=False)


def _early(rows: Sequence[Row]) -> Finding:
    own = where(rows, matcher="counting", rounds=DEFAULT_ROUNDS, interfaces=20)
    largest = int(max(distinct(own, "filters")))
    times = {
        early: min(
            number(r, "microseconds")
            for r in where(own, filters=largest, early_exit=early)
        )
        for early in (True, False)
    }
    words = f"{times[True]:.1f} µs with, {times[False]:.1f} µs without"
    says = "counting: leaving early helps"
    return Finding("C.8f", says, times[True] < times[False], words, is_gating=False)


def draw(rows: Sequence[Row]) -> Figure:
    """20 interfaces, and one for each filter."""
    figure, axes = panels(2)
    titles = "20 interfaces", "An interface for each filter"
    for each, interfaces, title in zip(axes, INTERFACES, titles, strict=True):
        for style, matcher in enumerate(MATCHERS):
            line(each, usual(rows, matcher, interfaces), matcher, style)
        finish(each, title, "filters", "processor time per message, µs", log="xy")
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
        Parameter("interfaces", "20, and as many as filters", "stated"),
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
