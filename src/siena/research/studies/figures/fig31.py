"""Figure 31 of CU-CS-888-99: cost of a subscription.

x: interested parties.  y: the cost of all messages about subscriptions, divided by the
number of subscriptions and unsubscriptions; one object.  A lone party pays for the
whole tree in the acyclic network, and for a path to the root in the hierarchy; with
more parties the difference goes away.  Beside the curves: how both grow with the
number of sites, and that nothing else matters.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log, log2

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    PARTIES,
    costs,
    draw_architectures,
    every,
    with_cost_per,
)
from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.study import Finding, Size, Study, among
from siena.research.studies.runs.architectures import DEFAULTS, parameters, simulate

BOTH = ("hs", "as")
SITES = {"full": (200, 400, 1000), "quick": (200, 400), "test": (200,)}
# What the cost of a subscription should not depend on, and another value of each.
OTHERS: dict[str, int] = {
    "publications": 20,
    "interval": 1000,
    "object_cycles": 20,
    "notifications": 5,
    "party_cycles": 5,
}
WITH_OTHERS = {"full": (1, 100), "quick": (1, 100), "test": (1,)}
# With few seeds, what a lone party pays is a matter of luck.
TINY = (1, 100, 1000)
PARTIES_MAX = 1000


def plan(size: Size, seeds: int) -> list[Row]:
    """The curves, larger networks, and other values of everything else."""
    rows: list[Row] = []
    for name in BOTH:
        for seed in among(seeds):
            rows += [
                parameters(name, 1, parties, seed)
                for parties in (TINY if size == "test" else PARTIES[size])
                if parties <= PARTIES_MAX
            ]
            rows += [parameters(name, 1, 1, seed, sites=n) for n in SITES[size]]
            rows += [
                parameters(name, 1, parties, seed, **{which: value})
                for which, value in OTHERS.items()
                for parties in WITH_OTHERS[size]
            ]
    return rows


def usual(rows: Sequence[Row]) -> list[Row]:
    """The rows of the reference scenario."""
    return [r for r in rows if all(r[n] == value for n, value in DEFAULTS.items())]


def check(rows: Sequence[Row]) -> list[Finding]:
    """F31a to F31e."""
    each = with_cost_per(rows, "subscription_cost", "subscriptions")
    found = costs(usual(each), value="each")
    return [
        *_curves(found["hs"], found["as"]),
        *_lone_party(where(each, parties=1)),
        *_growth(where(each, parties=1)),
        _nothing_else(each),
    ]


def _curves(hs: dict[float, float], peers: dict[float, float]) -> list[Finding]:
    factor = peers[1] / hs[1]
    rises = {
        f"{name}, P = {one:.0f} to {other:.0f}": points[other] / points[one]
        for name, points in (("hs", hs), ("as", peers))
        for one, other in pairwise(points)
    }
    last = max(hs)
    share = (peers[last] - hs[last]) / (peers[1] - hs[1])
    shrinks = "the difference at 1,000 parties is less than 1 % of that at one"
    return [
        Finding(
            "F31a",
            "one party: a subscription costs 4 times as much in as, or more",
            factor >= 4,
            f"{factor:.1f} times ({peers[1]:.0f} and {hs[1]:.0f})",
        ),
        every("F31b", "both fall with the parties", rises),
        Finding("F31c", shrinks, share < 0.01, f"{share:.2%} at {last:,.0f}"),
    ]


def _lone_party(rows: Sequence[Row]) -> list[Finding]:
    """With one party: the whole tree, or the path to the root, in every single run."""
    worst = {"hs": 0.0, "as": 0.0}
    for row in rows:
        name = str(row["architecture"])
        expected = number(row, "party_way" if name == "hs" else "tree_cost")
        away = abs(number(row, "each") - expected)
        worst[name] = max(worst[name], away)
    tree = "as, one party: a subscription costs the whole tree"
    path = "hs, one party: a subscription costs the path to the root"
    return [
        Finding("F31d", tree, worst["as"] < 1e-6, f"{worst['as']:.3g} away at most"),
        Finding("F31d", path, worst["hs"] < 1e-6, f"{worst['hs']:.3g} away at most"),
    ]


def _growth(rows: Sequence[Row]) -> list[Finding]:
    peers = curve(where(rows, architecture="as"), "sites", "each")
    # Over all sites, not only where the party happens to be: that is the mean.
    ways = curve(where(rows, architecture="hs"), "sites", "site_way")
    slope = _slope(peers)
    linear = "as, one party: grows linearly with the sites (exponent 0.8 to 1.2)"
    return [
        Finding("F31d", linear, 0.8 <= slope <= 1.2, f"exponent {slope:.2f}"),
        _doublings(ways),
    ]


def _doublings(ways: dict[float, float]) -> Finding:
    """A logarithm: each doubling adds as much as the last; a line would add twice that.

    A quarter more is allowed, for what networks of one size differ among themselves.
    """
    says = "hs, one party: grows at most as the logarithm of the sites"
    steps = [
        (ways[other] - ways[one]) / log2(other / one) for one, other in pairwise(ways)
    ]
    if len(steps) < 2:
        return Finding("F31d", says, None, "needs three sizes of networks")
    words = (
        f"doubling the sites adds {steps[0]:.0f} at first, {steps[-1]:.0f} in the end"
    )
    return Finding("F31d", says, steps[-1] <= 1.25 * steps[0], words)


def _slope(points: dict[float, float]) -> float:
    """The exponent of growth between the ends."""
    first, last = min(points), max(points)
    return log(points[last] / points[first]) / log(last / first)


def _nothing_else(rows: Sequence[Row]) -> Finding:
    margins = {}
    base = costs(usual(rows), value="each")
    for which, value in OTHERS.items():
        changed = costs(where(rows, **{which: value}), value="each")
        for name, points in changed.items():
            for parties, cost in points.items():
                away = abs(cost / base[name][parties] - 1)
                margins[f"{name}, {which} = {value}, P = {parties:.0f}"] = away / 0.10
    says = "the cost depends on n, t, m, q and p by less than 10 %"
    return every("F31e", says, margins)


def draw(rows: Sequence[Row]) -> Figure:
    """Left: with the parties.  Right: a lone party, with the sites."""
    each = with_cost_per(rows, "subscription_cost", "subscriptions")
    figure, (parties, sites) = panels(2)
    draw_architectures(parties, costs(usual(each), value="each"))
    x, y = "interested parties", "cost per subscription"
    finish(parties, "One object, 100 sites", x, y, log="xy")
    lone = where(each, parties=1)
    of_tree = curve(where(lone, architecture="as"), "sites", "tree_cost")
    of_way = curve(where(lone, architecture="hs"), "sites", "site_way")
    line(sites, of_tree, "as: the whole tree", 2)
    line(sites, of_way, "hs: mean path to the root", 1)
    finish(sites, "A lone party", "sites", "cost per subscription", log="xy")
    return figure


STUDY = Study(
    name="fig31",
    title="Cost of a subscription",
    paper=f"{PAPER}, figure 31",
    says="With few parties a subscription costs much more in an acyclic network, which "
    "tells everybody (O(N)), than in a hierarchy, which tells the root (O(log N)). "
    "With many parties both are nearly nothing.",
    shape="Two falling curves, as far above hs at one party and together in the end.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 10, "quick": 10, "test": 4},
    remark="Larger networks have more transit domains of the same kind. What the "
    "hierarchy adds with each doubling depends on the tree: on a least spanning tree, "
    "as here, about the same each time; on shortest paths from the root, hardly "
    "anything beyond 400 sites.",
)
