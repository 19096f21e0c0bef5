"""Covering and merging in a network: how much less is told, and what that costs.

x: subscriptions, in a tree of 32 brokers.  y: interests that stand on all links, as a
share of every one on every link; and, for merging that is not exact, notifications
sent in vain.  Production routers, with W-TR0605 and with the flights of New York.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from siena.research.studies.framework.claim import Answer, Claim, Select, decided
from siena.research.studies.framework.intervals import (
    Interval,
    all_right,
    between,
    cells,
    curve_of,
    of_means,
)
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    distinct,
    integer,
    number,
    where,
)
from siena.research.studies.framework.spoils import constant, one, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import (
    Plain,
    finish,
    from_zero,
    line,
    panels,
    ticks_at,
)
from siena.research.studies.runs.interests import live

WORKLOADS = {
    "W": "W: one constraint on a name",
    "W joined": "W joined: several on a name",
    "flights": "flights of New York",
}
SUBSCRIPTIONS = {"full": (50, 100, 200), "quick": (50, 100), "test": (20,)}
# Merging looks at all filters for every link: more would take minutes.
MERGED_MAX = {"full": 100, "quick": 50, "test": 20}
PUBLICATIONS = {"full": 200, "quick": 100, "test": 20}
# So many clients change their minds, one after the other: what covering saves then is
# little, and varies much from one to the next.  The pairwise rule is beside it in the
# figure of changes, decides nothing there, and has fewer.
CHANGES = {"full": 200, "quick": 80, "test": 40}
CHANGES_PAIRWISE = 40
WAYS: dict[str, tuple[str, str]] = {
    "no covering": ("none", "none"),
    "pairwise covering": ("pairwise", "none"),
    "exact covering": ("exact", "none"),
    "perfect merging": ("exact", "perfect"),
    "imperfect merging": ("exact", "imperfect"),
}
TINY = ("W",)
# Less would not pay for the exact rule; more is a price that must be known.
LEAST, IN_VAIN = 0.02, 0.05
# Who saves more has told nothing.
NOT_ALL = 1 - 1e-9
SENT = "notification_messages"


def plan(size: Size, seeds: int) -> list[Row]:
    """All ways with all workloads."""
    return [
        {
            "workload": workload,
            "subscriptions": subscriptions,
            "covering": covering,
            "merging": merging,
            "publications": PUBLICATIONS[size],
            "changes": _changes(size, covering, merging),
            "seed": seed,
        }
        for subscriptions in SUBSCRIPTIONS[size]
        for workload in (TINY if size == "test" else WORKLOADS)
        for covering, merging in WAYS.values()
        if merging == "none" or subscriptions <= MERGED_MAX[size]
        for seed in among(seeds)
    ]


def _changes(size: Size, covering: str, merging: str) -> int:
    if merging != "none":
        return 0  # all at rest: each change would be merged anew
    return CHANGES_PAIRWISE if covering == "pairwise" else CHANGES[size]


def of_way(rows: Sequence[Row], way: str, **others: str | int) -> list[Row]:
    """The rows of one way, with what is told as a share."""
    covering, merging = WAYS[way]
    return [
        {**row, "share": 100 * number(row, "told") / number(row, "told_alone")}
        for row in where(rows, covering=covering, merging=merging, **others)
    ]


# --- Claims ---------------------------------------------------------------------


def _order(rows: Sequence[Row]) -> Answer:
    worse = cases = 0
    for row in of_way(rows, "no covering"):
        same = {name: row[name] for name in ("workload", "subscriptions", "seed")}
        told = [
            number(each_, "told")
            for way in list(WAYS)[:4]
            for each_ in where(of_way(rows, way), **same)
        ]
        cases += 1
        worse += told != sorted(told, reverse=True) or told[0] == told[-1] == 0
    return decided(not worse, f"in {cases - worse} of {cases} cases")


def _merged(rows: Sequence[Row]) -> list[Row]:
    """The rows of sizes for which merging was tried."""
    sizes = {row["subscriptions"] for row in of_way(rows, "perfect merging")}
    return [row for row in rows if row["subscriptions"] in sizes]


def _sent(rows: Sequence[Row], way: str) -> dict[tuple[Cell, ...], dict[int, float]]:
    names = ("workload", "subscriptions")
    return cells(of_way(rows, way), names, SENT)


def _exact_is_exact(rows: Sequence[Row]) -> Answer:
    """All ways but imperfect merging send the same notifications, run by run."""
    known = [_sent(rows, way) for way in list(WAYS)[:4]]
    other = sum(each_ != known[0] for each_ in known[1:])
    runs = sum(map(len, known[0].values()))
    sent = sum(sum(of.values()) for of in known[0].values())
    words = f"{other} of 3 ways send others, in {runs} networks"
    return decided(not other and sent > 0, f"{words}; {sent:,.0f} messages each")


def _in_vain(rows: Sequence[Row]) -> Answer:
    """How much more imperfect merging sends: for each workload, not of all together."""
    merged, plain = (
        _sent(rows, way) for way in ("imperfect merging", "exact covering")
    )
    said, worst = [], Interval(0.0, 0.0, 0.0)
    for workload in WORKLOADS:
        own = [case for case in merged if case[0] == workload]
        if own:
            case = max(own, key=lambda each_: int(str(each_[1])))
            more = of_means(
                lambda a, b: a / np.maximum(b, 1) - 1, merged[case], plain[case]
            )
            said.append(
                f"{workload}, {case[1]} subscriptions: {more.words('.0%')} more"
            )
            worst = max(worst, more, key=lambda each_: each_.value)
    return between(worst, IN_VAIN, float("inf"), "; ".join(said))


def _saved(rows: Sequence[Row]) -> Answer:
    told = {
        way: in_all(of_way(rows, way), "told")
        for way in ("pairwise covering", "exact covering")
    }
    share = of_means(
        lambda a, b: 1 - a / b, told["exact covering"], told["pairwise covering"]
    )
    return between(share, LEAST, NOT_ALL, f"{share.words('.1%')} of the interests")


def in_all(rows: Sequence[Row], column: str) -> dict[int, float]:
    """The sum of a column, by seed."""
    found: dict[int, float] = {}
    for row in rows:
        seed = integer(row, "seed")
        found[seed] = found.get(seed, 0.0) + number(row, column)
    return found


def _unmerged(workload: str) -> Select:
    """Of both rules, without merging."""
    return lambda rows: [
        row
        for row in where(rows, workload=workload, merging="none")
        if row["covering"] != "none"
    ]


def _is_imperfect(row: Row) -> bool:
    return row["merging"] == "imperfect"


CLAIMS = (
    Claim(
        "right",
        "every client gets what it wants, once, and nothing else",
        "what clients got against a flat list of filters, in every single run",
        partial(all_right, column="is_right", what="networks"),
        {"one is wrong": one(constant("is_right", False))},
    ),
    Claim(
        "order",
        "no covering tells most, then pairwise, exact, and perfect merging",
        "interests told, in every single network: never more than the way before",
        _order,
        {
            "exact tells most": only(
                lambda r: r["covering"] == "exact", times("told", 100)
            ),
            "nothing is told": constant("told", 0),
        },
        about="four ways in the same networks",
    ),
    Claim(
        "in vain",
        "without imperfect merging, the same notifications travel whatever is covered "
        "or merged",
        "notifications sent, in every single network: equal among four ways",
        _exact_is_exact,
        {
            "pairwise sends one more": only(
                lambda r: r["covering"] == "pairwise",
                times("notification_messages", 1.001),
            ),
            "nothing is sent": constant("notification_messages", 0),
        },
        of=_merged,
        about="four ways in the same networks",
    ),
    Claim(
        "in vain",
        f"imperfect merging sends {IN_VAIN:.0%} more notifications or more, in some "
        "workload",
        "notifications of imperfect merging against exact covering, for each workload "
        "at its largest size, with a 95 % interval over the seeds",
        _in_vain,
        {"it sends none": only(_is_imperfect, constant("notification_messages", 0))},
        {"it sends twice": only(_is_imperfect, times("notification_messages", 9))},
        of=_merged,
        about="imperfect merging and others, in the same networks",
        why="These interests could be merged without loss.",
        is_gating=False,
    ),
    *(
        Claim(
            "saved",
            f"{WORKLOADS[workload]}: exactness saves {LEAST:.0%} of the interests that "
            "the pairwise rule tells, or more",
            "share saved, all sizes together, with its 95 % interval over the seeds: "
            f"above {LEAST:.0%}",
            _saved,
            {
                "both tell as much": constant("told", 62),
                "exact tells nothing": only(
                    lambda r: r["covering"] == "exact", constant("told", 0)
                ),
            },
            {
                "half is saved": only(
                    lambda r: r["covering"] == "exact", times("told", 0.5)
                )
            },
            of=_unmerged(workload),
            about=f"{workload}, exact against pairwise covering",
            why="What exactness finds is filters that nothing matches (study "
            "covering), and of these routers tell by neither rule.",
            is_gating=False,
        )
        for workload in WORKLOADS
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each workload, and what imperfect merging sends."""
    figure, axes = panels(2, 2)
    known = [name for name in WORKLOADS if where(rows, workload=name)]
    for each, workload in zip(axes, known, strict=False):
        for style, way in enumerate(WAYS):
            own = of_way(rows, way, workload=workload)
            line(each, curve_of(own, "subscriptions", "share"), way, style)
        x, y = "subscriptions", "interests on links, % of all"
        title = WORKLOADS[workload]
        finish(each, title[:1].upper() + title[1:], x, y, log="x")
        ticks_at(each, distinct(rows, "subscriptions"))
        from_zero(each)
    most = 0.0
    for style, workload in enumerate(known):
        points = _more(rows, workload)
        line(axes[3], points, WORKLOADS[workload], style)
        most = max(most, *(each.high for each in points.values()))
    title = "Imperfect merging: notifications in vain, y logarithmic"
    finish(axes[3], title, "subscriptions", "more messages, %", log="x")
    ticks_at(axes[3], distinct(_merged(rows), "subscriptions"))
    # An interval may begin at nothing: below 1 % the axis is linear.
    axes[3].set_yscale("symlog", linthresh=1)
    axes[3].yaxis.set_major_formatter(FuncFormatter(lambda y, _: Plain.words(y)))
    axes[3].set_ylim(0, 2 * most)
    for each in axes[len(known) : 3]:
        each.set_visible(False)
    return figure


def _more(rows: Sequence[Row], workload: str) -> dict[float, Interval]:
    merged, plain = (
        cells(of_way(rows, way, workload=workload), ("subscriptions",), SENT)
        for way in ("imperfect merging", "exact covering")
    )
    return {
        float(str(case[0])): of_means(
            lambda a, b: 100 * (a / np.maximum(b, 1) - 1), merged[case], plain[case]
        )
        for case in merged
    }


STUDY = Study(
    name="merging",
    title="Covering and merging in a network",
    paper="ours; covering and merging are of CU-CS-888-99 and TR 902-00",
    says="Brokers need not be told what a wider interest covers, and interests may be "
    "merged into wider ones. The papers do not say how much either saves.",
    shape="Falling shares; merging at or below covering; only imperfect merging pays "
    "with notifications.",
    caption="Interests that stand on all links of a tree of 32 brokers, as a share of "
    "every interest on every link, against the number of subscriptions, for three "
    "workloads; without covering, with the pairwise and the exact rule, and with "
    "merging that keeps or widens what is wanted. Last: how many more notifications "
    "travel where merging widens; y is logarithmic there.",
    parameters=(
        Parameter("network", "a random tree of 32 brokers", "ours"),
        Parameter("subscriptions", listed(SUBSCRIPTIONS["full"]), "ours"),
        Parameter(
            "with merging", f"up to {MERGED_MAX['full']} subscriptions", "ours: time"
        ),
        Parameter("W", "W-TR0605 with 10 names, equally likely", "ours: they meet"),
        Parameter("flights", "14 kinds of travellers; flights of January", "ours"),
        Parameter("W joined", "each filter of W with the next", "ours"),
        Parameter("publications", f"{PUBLICATIONS['full']}, at random brokers", "ours"),
        Parameter("merging", "among filters of one link, batched", "ours"),
    ),
    run=live,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 2, "test": 1},
    remark="Filters that nothing matches are told in no way, so that of W joined not "
    "all are even without covering. What these travellers want is narrow and differs, "
    "so little covers anything: what reduces it is imperfect merging, by names "
    "alone, and it pays with notifications that are not wanted: how many differs "
    "from workload to workload, so no mean of all is told.",
)
