"""Covering and merging in a network: how much less is told, and what that costs.

x: subscriptions, in a tree of 32 brokers.  y: interests that stand on all links, as a
share of every one on every link; and, for merging that is not exact, notifications
sent in vain.  Production routers, with W-TR0605 and with the flights of New York.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
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
WAYS: dict[str, tuple[str, str]] = {
    "no covering": ("none", "none"),
    "pairwise covering": ("pairwise", "none"),
    "exact covering": ("exact", "none"),
    "perfect merging": ("exact", "perfect"),
    "imperfect merging": ("exact", "imperfect"),
}
TINY = ("W",)


def plan(size: Size, seeds: int) -> list[Row]:
    """All ways with all workloads."""
    return [
        {
            "workload": workload,
            "subscriptions": subscriptions,
            "covering": covering,
            "merging": merging,
            "publications": PUBLICATIONS[size],
            "seed": seed,
        }
        for subscriptions in SUBSCRIPTIONS[size]
        for workload in (TINY if size == "test" else WORKLOADS)
        for covering, merging in WAYS.values()
        if merging == "none" or subscriptions <= MERGED_MAX[size]
        for seed in among(seeds)
    ]


def of_way(rows: Sequence[Row], way: str, **others: str | int) -> list[Row]:
    """The rows of one way, with what is told as a share."""
    covering, merging = WAYS[way]
    return [
        {**row, "share": 100 * number(row, "told") / number(row, "told_alone")}
        for row in where(rows, covering=covering, merging=merging, **others)
    ]


def check(rows: Sequence[Row]) -> list[Finding]:
    """Nothing is lost; each way tells no more than the one before."""
    wrong = [row for row in rows if not row["is_right"]]
    return [
        Finding(
            "right",
            "everybody gets what it wants, once, and nothing else",
            not wrong,
            f"{len(rows) - len(wrong)} of {len(rows)} networks",
        ),
        _order(rows),
        _in_vain(rows),
        *(_saved(rows, workload) for workload in WORKLOADS),
    ]


def _order(rows: Sequence[Row]) -> Finding:
    worse = []
    cases = 0
    for one in of_way(rows, "no covering"):
        same = where(
            rows,
            workload=one["workload"],
            subscriptions=one["subscriptions"],
            seed=one["seed"],
        )
        told = [
            number(row, "told") for way in list(WAYS)[:4] for row in of_way(same, way)
        ]
        cases += 1
        if told != sorted(told, reverse=True):
            worse.append(one)
    says = "no covering tells most, then pairwise, exact, and perfect merging"
    return Finding(
        "order", says, not worse, f"in {cases - len(worse)} of {cases} cases"
    )


def _in_vain(rows: Sequence[Row]) -> Finding:
    """Only imperfect merging may send more notifications than exact covering."""
    sent = {
        way: sum(
            number(row, "notification_messages")
            for row in of_way(rows, way)
            if number(row, "subscriptions") <= _merged_max(rows)
        )
        for way in WAYS
    }
    first = sent["no covering"]
    same = all(sent[way] == first for way in list(WAYS)[:4])
    more = sent["imperfect merging"] / first - 1 if first else 0.0
    says = "only imperfect merging sends notifications in vain"
    words = f"{more:.1%} more with it, {'none' if same else 'some'} without"
    return Finding("in vain", says, same and more >= 0, words)


def _merged_max(rows: Sequence[Row]) -> float:
    merged = of_way(rows, "perfect merging")
    return max(number(row, "subscriptions") for row in merged)


def _saved(rows: Sequence[Row], workload: str) -> Finding:
    own = where(rows, workload=workload)
    says = f"{WORKLOADS[workload]}: exactness saves something over the pairwise rule"
    if not own:
        return Finding("saved", says, None, "not among the rows", is_gating=False)
    told = {way: sum(number(row, "told") for row in of_way(own, way)) for way in WAYS}
    sent = {
        way: sum(number(row, "subscription_messages") for row in of_way(own, way))
        for way in WAYS
    }
    pair, exact = "pairwise covering", "exact covering"
    interests, messages = (1 - of[exact] / of[pair] for of in (told, sent))
    merged = of_way(own, "perfect merging")
    least = sum(number(row, "told") for row in merged)
    beside = sum(
        number(row, "told")
        for row in of_way(own, exact)
        if number(row, "subscriptions") <= _merged_max(rows)
    )
    words = (
        f"{interests:.1%} of the interests and {messages:.1%} of the messages; "
        f"perfect merging {1 - least / beside:.1%} more"
    )
    return Finding("saved", says, interests > 0, words, is_gating=False)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each workload, and what imperfect merging sends."""
    figure, axes = panels(2, 2)
    known = [name for name in WORKLOADS if where(rows, workload=name)]
    for each, workload in zip(axes, known, strict=False):
        for style, way in enumerate(WAYS):
            own = of_way(rows, way, workload=workload)
            line(each, curve(own, "subscriptions", "share"), way, style)
        x, y = "subscriptions", "interests on links, % of all"
        finish(each, WORKLOADS[workload], x, y, log="x")
        each.set_ylim(bottom=0)
    for style, workload in enumerate(known):
        points = _more(rows, workload)
        line(axes[3], points, WORKLOADS[workload], style)
    title = "Imperfect merging: notifications in vain"
    finish(axes[3], title, "subscriptions", "more messages, %", log="x")
    axes[3].set_ylim(bottom=0)
    for each in axes[len(known) : 3]:
        each.set_visible(False)
    return figure


def _more(rows: Sequence[Row], workload: str) -> dict[float, float]:
    name = "notification_messages"
    merged = of_way(rows, "imperfect merging", workload=workload)
    plain = of_way(rows, "exact covering", workload=workload)
    with_it = curve(merged, "subscriptions", name)
    without = curve(plain, "subscriptions", name)
    return {n: 100 * (with_it[n] / without[n] - 1) for n in with_it if without[n]}


STUDY = Study(
    name="merging",
    title="Covering and merging in a network",
    paper="ours; covering and merging are of CU-CS-888-99 and TR 902-00",
    says="Brokers need not be told what a wider interest covers, and interests may be "
    "merged into wider ones. The papers do not say how much either saves.",
    shape="Falling shares; merging at or below covering; only imperfect merging pays "
    "with notifications.",
    parameters=(
        Parameter("network", "a random tree of 32 brokers", "ours"),
        Parameter("W", "W-TR0605 with 10 names, equally likely", "ours: they meet"),
        Parameter("flights", "14 kinds of travellers; flights of January", "ours"),
        Parameter("publications", "200, at random brokers", "ours"),
        Parameter("merging", "among filters of one link, batched", "ours"),
    ),
    run=live,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="Real wishes for flights are narrow and differ, so little covers anything: "
    "what reduces them is imperfect merging, by names alone, and it pays with "
    "notifications that nobody wants.",
)
