"""What do faults lose, and what does it cost to lose less?

A hierarchy and an acyclic network have one way between two brokers, a general network
has all that there are.  Left: deliveries lost after a single fault, for links and for
brokers.  Right: what that costs without any fault: messages for a subscription, and the
cost of a notification; and messages when a fault is noticed.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, Decide, decided
from siena.research.studies.framework.intervals import (
    Interval,
    Samples,
    all_below,
    cells,
    mean,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.spoils import constant, each, one, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import COLOURS, EDGE, finish, panels
from siena.research.studies.runs.robustness import endure

ARCHITECTURES = ("hierarchical", "acyclic", "general")
NETWORKS = {
    "full": (("random", 40), ("power law", 40), ("transit-stub", 100)),
    "quick": (("random", 40), ("power law", 40), ("transit-stub", 100)),
    "test": (("random", 30), ("power law", 30)),
}
KINDS = {"link": "a connection breaks", "broker": "a broker crashes"}


def plan(size: Size, seeds: int) -> list[Row]:
    """All architectures in all networks."""
    return [
        {"network": kind, "brokers": n, "architecture": architecture, "seed": seed}
        for kind, n in NETWORKS[size]
        for architecture in ARCHITECTURES
        for seed in among(seeds)
    ]


def lost(rows: Sequence[Row], kind: str) -> dict[tuple[str, str], Samples]:
    """The share of deliveries lost, by network and architecture."""
    own: list[Row] = [
        {**row, "share": number(row, f"{kind}_lost") / number(row, f"{kind}_expected")}
        for row in rows
    ]
    return by_case(own, "share")


def by_case(rows: Sequence[Row], column: str) -> dict[tuple[str, str], Samples]:
    """A column by network and architecture, then by seed."""
    known = cells(rows, ("network", "architecture"), column)
    return {(str(network), str(name)): known[network, name] for network, name in known}


# --- Claims ---------------------------------------------------------------------


def _right(rows: Sequence[Row]) -> Answer:
    wrong = sum(number(row, "wrong") for row in rows)
    expected = sum(number(row, f"{k}_expected") for row in rows for k in KINDS)
    return decided(wrong == 0 < expected, f"{wrong:,.0f} wrong of {expected:,.0f}")


def _loses_less(kind: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        known = lost(rows, kind)
        margins = {
            f"{network}, {name}": of_means(
                # Where a tree loses nothing either, nothing is shown.
                lambda a, b: (a + 1e-9) / (b + 1e-9),
                known[network, "general"],
                samples,
            )
            for (network, name), samples in known.items()
            if name != "general"
        }
        shares = ", ".join(
            f"{network}, {name} {mean(samples).words('.1%')}"
            for (network, name), samples in known.items()
        )
        return all_below(margins)._replace(found=f"lost: {shares}")

    return decide


def _costs_more(column: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        known = by_case(rows, column)
        margins = {
            network: ratio(samples, known[network, "general"])
            for (network, name), samples in known.items()
            if name == "acyclic"
        }
        more = {
            network: ratio(known[network, "general"], known[network, "acyclic"])
            for network in margins
        }
        times_ = ", ".join(f"{network} {of.words()}" for network, of in more.items())
        return all_below(margins)._replace(found=f"times as much: {times_}")

    return decide


_RATIO = "ratio of means, with its 95 % bootstrap interval over the seeds"


def _is_general(row: Row) -> bool:
    return row["architecture"] == "general"


_cheaper = only(_is_general, times("notification_cost", 0.1))
_dearer = only(_is_general, times("notification_cost", 10))
_nothing = each(lambda _: {"link_lost": 0, "broker_lost": 0})
CLAIMS = (
    Claim(
        "right",
        "after every fault, brokers deliver wherever they are still joined, once",
        "deliveries missing or made twice among parties that brokers could reach: none",
        _right,
        {"one is wrong": one(constant("wrong", 1))},
    ),
    *(
        Claim(
            "robust",
            f"{words}: a general network loses less than a hierarchy or an acyclic one",
            f"{_RATIO}: the share that a general network loses over that of the other, "
            "below 1 in every network",
            _loses_less(kind),
            {
                "it loses as much": constant(f"{kind}_lost", 7),
                "none loses anything": _nothing,
            },
            {
                "only others lose": each(
                    lambda r: {
                        "link_lost": int(not _is_general(r)),
                        "broker_lost": int(not _is_general(r)),
                    }
                )
            },
            about="three architectures in the same networks, with the same faults",
            why="Where stubs hang on one link, as in transit-stub networks, there is "
            "no other way that a general network could use.",
            is_gating=False,
            seeds_min=3,
        )
        for kind, words in KINDS.items()
    ),
    Claim(
        "price",
        "a subscription takes more messages in a general network than in an acyclic "
        "one",
        f"{_RATIO}: messages of the acyclic network over those of the general one, "
        f"below 1",
        _costs_more("subscription_messages"),
        {"as many": constant("subscription_messages", 7)},
        about="general against acyclic",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "price",
        "a notification costs more in a general network than on the least spanning "
        "tree",
        f"{_RATIO}: cost in the acyclic network over that in the general one, below 1",
        _costs_more("notification_cost"),
        {"as much": constant("notification_cost", 7), "less": _cheaper},
        {"twice as much": _dearer},
        about="general against acyclic",
        why="With half of all sites interested nearly all links of either tree are "
        "used; the least spanning tree is the cheapest of all, shortest paths are not.",
        is_gating=False,
        seeds_min=3,
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """What is lost, and what it costs."""
    figure, axes = panels(3, 2)
    for drawing, (kind, words) in zip(axes, KINDS.items(), strict=False):
        found = {
            case: of_means(lambda a: 100 * a, samples)
            for case, samples in lost(rows, kind).items()
        }
        _bars(drawing, found, f"Lost when {words}", "deliveries, %")
    costs = by_case(rows, "notification_cost")
    # Weights of one kind of network have nothing to do with those of another.
    shares = {
        (network, name): ratio(samples, costs[network, "acyclic"])
        for (network, name), samples in costs.items()
    }
    _bars(axes[2], shares, "A notification", "cost / that in the acyclic network")
    quantities = {
        "subscription_messages": "A subscription",
        "link_messages": "When a connection breaks",
        "broker_messages": "When a broker crashes",
    }
    for drawing, (column, title) in zip(axes[3:], quantities.items(), strict=True):
        means = {case: mean(of) for case, of in by_case(rows, column).items()}
        _bars(drawing, means, title, "messages between brokers")
    return figure


def _bars(
    axes: Axes, found: dict[tuple[str, str], Interval], title: str, y: str
) -> None:
    """A group of bars for each network, a bar for each architecture."""
    networks = list(dict.fromkeys(network for network, _ in found))
    width = 0.8 / len(ARCHITECTURES)
    placed: list[tuple[float, Interval]] = []
    for place, name in enumerate(ARCHITECTURES):
        own = [found[network, name] for network in networks]
        xs = np.arange(len(networks)) + (place - 1) * width
        placed += zip(xs, own, strict=True)
        ends = [[e.value - e.low for e in own], [e.high - e.value for e in own]]
        heights = [e.value for e in own]
        axes.bar(xs, heights, width, yerr=ends, color=COLOURS[place], label=name)
    axes.set_xticks(range(len(networks)), networks)
    finish(axes, title, "", y)
    axes.set_ylim(bottom=0)
    top = axes.get_ylim()[1]
    for x, bar in placed:
        if bar.value < EDGE * top:
            # Too low to be seen: its height is written where it stands.
            above = bar.high + EDGE * top / 2
            axes.text(x, above, f"{bar.value:.2g}", ha="center", fontsize=7)


STUDY = Study(
    name="robustness",
    title="What faults lose, and what it costs to lose less",
    paper="CU-CS-888-99, section 5.1 (architectures); ours",
    says="In a hierarchy and in an acyclic network the failure of a server cuts off "
    "all that are behind it; a general network has other ways, and needs algorithms "
    "that avoid cycles. The paper does not simulate either.",
    shape="A general network loses least, but where stubs hang on one link; it takes "
    "more messages for a subscription, and many when something fails.",
    caption="Above, first two: deliveries that brokers do not make after a connection "
    "between two of them breaks, or one of them crashes, as a share of those wanted by "
    "parties that are left. Then, without a fault, the cost of a notification that "
    "half of all sites want, and messages for a subscription; and messages that "
    "brokers exchange when they notice the fault. Production routers; hierarchy and "
    "acyclic network on the least spanning tree, the general one on all links.",
    parameters=(
        Parameter(
            "networks", "random and power law of 40, transit-stub of 100", "ours"
        ),
        Parameter("parties", "at every other site, all want everything", "ours"),
        Parameter("faults", "10 links of the network, 10 brokers, one by one", "ours"),
        Parameter("notifications", "5 after each fault, anywhere that is left", "ours"),
        Parameter("repair", "none: links and brokers do not come back", "ours"),
    ),
    run=endure,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 5, "test": 2},
    bands="Bars are means over the seeds, lines on them 95 % bootstrap intervals.",
    remark="A link of the network that the tree of a hierarchy or an acyclic network "
    "does not use may break without any loss. A centralised service loses everything "
    "when its server crashes, and nothing when another one does.",
)
