"""Forwarding, after SIGCOMM 2003: how does the time for a message grow?

y: processor time for a message.  x: filters, with 20 interfaces, with an interface for
each filter (a single, central router), and with other numbers; constraints in a filter;
the share of interfaces that match; rounds of the selectivity table.  Counting (the
paper's algorithm), the search tree (Gryphon's) and our engine, on W-TR0605.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.claims.forwarding_claims import CLAIMS, HEADLINE
from siena.research.studies.claims.forwarding_times import (
    DEFAULT_ROUNDS,
    by_rounds,
    by_wanting,
    growing,
)
from siena.research.studies.framework.intervals import curve_of, mean
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    distinct,
    where,
)
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.matching import match_rows

FILTERS = {
    "full": (1000, 3000, 10_000, 30_000, 100_000, 250_000, 1_000_000),
    "quick": (1000, 3000, 10_000, 30_000),
    "test": (100, 300),
}
# A tree has a node for every name, in Python: more would take minutes.
TREE_MAX = 3000
# Above this, one seed: a table of a million takes half a minute to build.
SEEDS_MAX = 100_000
MESSAGES = {"full": 500, "quick": 200, "test": 20}
ROUNDS = {"full": (0, 2, 5, 10, 20, 50), "quick": (0, 10, 50), "test": (0, 10)}
SIZES = {"full": (1, 2, 5, 10, 20), "quick": (1, 2, 5, 10), "test": (1, 5)}
# Of 20 interfaces, so many want what is published.
WANTING = {"full": (16, 12, 8, 4, 2, 0), "quick": (12, 6, 2, 0), "test": (10, 5, 0)}
# Where the rest is tried; and at most so many, since building takes longer than trying.
VARIED = {"full": 100_000, "quick": 30_000, "test": 300}
MATCHERS = ("counting", "tree", "engine")
# The same colour for a matcher in every drawing, and another one beside it.
STYLES = {"counting": 0, "tree": 1, "engine": 2}
PALER = {"counting": 5, "engine": 4}
INTERFACES = (20, 0)  # 0: one for each filter
OTHERS = (10, 100)
NAMES, HEADLINE_NAMES = 500, 1000


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
            row(matcher, largest, wanting=wanting)
            for matcher in ("counting", "engine")
            for wanting in WANTING[size]
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
        "wanting": None,
        "messages": MESSAGES[size_],
        **others,
        "seed": seed,
    }


def draw(rows: Sequence[Row]) -> Figure:
    """Growth, twice; constraints, matches, rounds and interfaces."""
    figure, axes = panels(2, 3)
    x, y = "filters", "processor time per message, µs"
    axes_of = ("filters", "microseconds")
    titles = "20 interfaces", "An interface for each filter"
    for drawing, interfaces, title in zip(axes, INTERFACES, titles, strict=False):
        for matcher, style in STYLES.items():
            points = curve_of(growing(rows, matcher, interfaces), *axes_of)
            line(drawing, points, matcher, style)
        finish(drawing, title, x, y, log="xy")
    _, _, interfaces_, constraints, matches, rounds = axes
    for matcher in ("counting", "engine"):
        for count, style in zip(OTHERS, (STYLES[matcher], PALER[matcher]), strict=True):
            points = curve_of(growing(rows, matcher, count), *axes_of)
            line(interfaces_, points, f"{matcher}, {count} interfaces", style)
    finish(interfaces_, "Other numbers of interfaces", x, y, log="xy")
    headline = [row for row in rows if row["size"] is not None]
    for matcher in ("counting", "engine"):
        own = where(headline, matcher=matcher)
        style = STYLES[matcher]
        points = curve_of(own, "size", "microseconds")
        line(constraints, points, matcher, style)
        shares = {at.share: at.taken for at in by_wanting(rows, matcher)}
        line(matches, shares, matcher, style)
    filters = f"{max(distinct(headline, 'filters')):,.0f}"
    title = f"{filters} filters of so many constraints, 1,000 names"
    finish(constraints, title, "constraints in a filter", y, log="y")
    share = "interfaces that get a message, %"
    finish(matches, "Selectivity", share, y)
    from_zero(matches)
    for early, styles in ((True, STYLES), (False, PALER)):
        label = "leaving early" if early else "not leaving early"
        known = by_rounds(rows, early=early)
        points = {at: mean(taken) for at, taken in known.items()}
        line(rounds, points, label, styles["counting"])
    finish(rounds, "Counting: rounds of the selectivity table", "rounds", y)
    from_zero(rounds)
    return figure


_tables = f"one for each seed; above {SEEDS_MAX:,} filters one alone"
STUDY = Study(
    name="forwarding",
    title="Time to forward a message",
    paper="SIGCOMM 2003",
    says="With a fixed number of interfaces, time grows less than the number of "
    "filters; also a single router for everybody performs well. A table takes 48 bytes "
    "for each constraint.",
    shape="Both axes logarithmic: slopes below 1 with a fixed number of interfaces; "
    "the engine lowest.",
    caption="Processor time for a message of 10 attributes: against the number of "
    "filters with 20 interfaces, with one for each filter, and with 10 and 100; "
    "against the constraints in a filter; against the share of interfaces that get it; "
    "and against the rounds of the selectivity table. Counting is the paper's "
    "algorithm, the tree Gryphon's (in plain Python), the engine ours. The time of a "
    "table is the least of several rounds.",
    parameters=(
        Parameter("filters, messages", "W-TR0605, 500 Zipf names", "ours (C.7)"),
        Parameter("sizes of tables", listed(FILTERS["full"]), "ours (C.8)"),
        Parameter("tables of a size", _tables, "ours: time"),
        Parameter("sizes with the tree", f"up to {TREE_MAX:,}", "ours: time"),
        Parameter("messages", f"{MESSAGES['full']} for each table", "ours"),
        Parameter("attributes of a message", "10", "stated"),
        Parameter("interfaces", "20, as many as filters; 10, 100", "stated; ours"),
        Parameter(
            "headline",
            f"{HEADLINE['full']:,} filters, 1,000 names; one table of each",
            "stated; ours",
        ),
        Parameter(
            "rounds, selectivity", f"tables of {VARIED['full']:,} filters", "ours: time"
        ),
        Parameter("rounds", listed(ROUNDS["full"]), "ours: 10 are the library's"),
        Parameter("fewer matches", "some interfaces want what is unpublished", "ours"),
        Parameter("time", "of the processor, least of several rounds", "ours"),
    ),
    run=match_rows,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 1, "test": 1},
    remark="The evaluation of the paper is not at hand, and its headline numbers do "
    "not fit together (erratum E13): only shapes are compared. The tree is plain "
    "Python, the others are compiled.",
    is_timed=True,
)
