"""Figure 31 of CU-CS-888-99: cost of a subscription.

x: interested parties.  y: the cost of all messages about subscriptions, divided by the
number of subscriptions and unsubscriptions; one object.  A lone party pays for the
whole tree in the acyclic network, and for a path to the root in the hierarchy; with
more parties the difference goes away.  Beside the curves: how both grow with the
number of sites, and that nothing else matters.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import log, log2

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    EVERY_CASE,
    PAPER,
    PARTIES,
    TWO_VIEWS,
    Case,
    cases,
    draw_architectures,
    intervals,
    parameters_with,
    swapped,
    with_cost_per,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    decided,
    undecided,
)
from siena.research.studies.framework.intervals import (
    all_below,
    between,
    cells,
    curve_of,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import (
    constant,
    copied,
    each,
    one,
    only,
    times,
)
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import line, panels, two_views
from siena.research.studies.runs.architectures import DEFAULTS, parameters, simulate

BOTH = ("hs", "as")
SITES = {"full": (200, 400, 1000), "quick": (200, 400), "test": (200, 400)}
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


def per_subscription(rows: Sequence[Row]) -> list[Row]:
    """The rows with the cost of a subscription as ``each``."""
    return with_cost_per(rows, "subscription_cost", "subscriptions")


def lone_party(rows: Sequence[Row]) -> list[Row]:
    """Those with one party."""
    return where(rows, parties=1)


# --- Claims ---------------------------------------------------------------------


def _costs_more(rows: Sequence[Row]) -> Answer:
    known = cases(per_subscription(rows), "each")
    factor = ratio(known[Case("as", 1, 1)], known[Case("hs", 1, 1)])
    return between(factor, 4, float("inf"), f"{factor.words('.1f')} times")


def _falls(rows: Sequence[Row]) -> Answer:
    known = cases(per_subscription(rows), "each")
    rises = {
        f"{one} to {other.parties:,}": ratio(known[other], known[one])
        for one, other in pairwise(sorted(known))
        if one.architecture == other.architecture
    }
    return all_below(rises)


def _shrinks(rows: Sequence[Row]) -> Answer:
    known = cases(per_subscription(rows), "each")
    last = max(case.parties for case in known)
    if last < PARTIES_MAX:
        return undecided(f"needs {PARTIES_MAX:,} parties")
    four = (known[Case(name, 1, p)] for p in (last, 1) for name in ("as", "hs"))
    share = of_means(lambda a, b, c, d: (a - b) / (c - d), *four)
    return between(share, -0.01, 0.01, f"{share.words('.2%')} at {last:,}")


def _costs(name: str, expected: str) -> Decide:
    """With one party: the whole tree, or the path to the root, in every single run."""

    def decide(rows: Sequence[Row]) -> Answer:
        own = where(per_subscription(rows), architecture=name)
        away = max(abs(number(row, "each") - number(row, expected)) for row in own)
        return decided(away < 1e-6, f"{away:.3g} away at most, in {len(own)} runs")

    return decide


def _linear(rows: Sequence[Row]) -> Answer:
    known = cells(where(per_subscription(rows), architecture="as"), ("sites",), "each")
    first, last = min(known), max(known)
    decades = log(int(str(last[0])) / int(str(first[0])))
    slope = of_means(lambda a, b: np.log(b / a) / decades, known[first], known[last])
    return between(slope, 0.8, 1.2, f"exponent {slope.words()}")


def _doublings(rows: Sequence[Row]) -> Answer:
    """A logarithm: each doubling adds as much as the last; a line would add twice that.

    A quarter more is allowed, for what networks of one size differ among themselves.
    Over all sites, not only where the party happens to be: that is the mean.
    """
    known = cells(where(rows, architecture="hs"), ("sites",), "site_way")
    if len(known) < 3:
        return undecided("needs three sizes of networks")
    sizes = sorted(int(str(size)) for (size,) in known)
    ends = [*sizes[:2], *sizes[-2:]]
    one, other = log2(ends[1] / ends[0]), log2(ends[3] / ends[2])
    growth = of_means(
        lambda a, b, c, d: ((d - c) / other) / ((b - a) / one),
        *(known[(size,)] for size in ends),
    )
    words = f"the last doubling adds {growth.words()} times what the first does"
    return between(growth, -1.25, 1.25, words)


def _nothing_else(rows: Sequence[Row]) -> Answer:
    each_ = per_subscription(rows)
    base = cases(usual(each_), "each")
    margins = {
        f"{case}, {which} = {value}": of_means(
            lambda a, b: abs(a / b - 1), samples, base[case]
        )
        for which, value in OTHERS.items()
        for case, samples in cases(where(each_, **{which: value}), "each").items()
    }
    return all_below(margins, 0.1, may_be_none=True)


def _lone(name: str) -> Select:
    return lambda rows: where(lone_party(rows), architecture=name)


def _has_other(which: str) -> Callable[[Row], bool]:
    return lambda row: row[which] == OTHERS[which]


_flat = each(lambda r: {"subscription_cost": number(r, "subscriptions")})
_high = each(lambda r: {"subscription_cost": 700 * number(r, "subscriptions")})
_rising = each(
    lambda r: {"subscription_cost": number(r, "subscriptions") * number(r, "parties")}
)
_dearer_as = each(
    lambda r: {"architecture": "as", "subscription_cost": 1.01 * number(r, "cost")}
)
_alike = constant("subscription_cost", 7.0)
_dearer = times("subscription_cost", 1.01)
CLAIMS = (
    Claim(
        "F31a",
        "one party: a subscription costs 4 times as much in as, or more",
        "ratio of means, with its 95 % interval: above 4",
        _costs_more,
        {"both cost the same": _alike, "they change places": swapped("hs", "as")},
        of=lambda rows: lone_party(usual(rows)),
        about="hs and as, one party, 100 sites",
    ),
    Claim(
        "F31b",
        "both fall with the parties",
        EVERY_CASE,
        _falls,
        {"they rise": _rising, "they are flat": _flat},
        of=usual,
        about="hs and as, neighbouring numbers of parties, 100 sites",
    ),
    Claim(
        "F31c",
        "the difference at 1,000 parties is less than 1 % of that at one",
        "ratio of differences of means, with its 95 % interval: within 1 %",
        _shrinks,
        {"as does not fall": only(lambda r: r["architecture"] == "as", _high)},
        of=lambda rows: [r for r in usual(rows) if r["parties"] in {1, PARTIES_MAX}],
        about="hs and as, 1 and 1,000 parties, 100 sites",
    ),
    Claim(
        "F31d",
        "as, one party: a subscription costs the whole tree",
        "difference in every single run: none",
        _costs("as", "tree_cost"),
        {"it costs 1 % more": _dearer, "one run does": one(_dearer_as)},
        of=_lone("as"),
        about="as, one party",
    ),
    Claim(
        "F31d",
        "hs, one party: a subscription costs the path to the root",
        "difference in every single run: none",
        _costs("hs", "party_way"),
        {"it costs 1 % more": _dearer},
        of=_lone("hs"),
        about="hs, one party",
    ),
    Claim(
        "F31d",
        "as, one party: grows linearly with the sites (exponent 0.8 to 1.2)",
        "exponent between the smallest and the largest networks, with its 95 % "
        "interval",
        _linear,
        {"it does not grow": _flat},
        of=_lone("as"),
        about="as, one party, by number of sites",
    ),
    Claim(
        "F31d",
        "hs, one party: from 100 to 1,000 sites it grows at most as the logarithm of "
        "the sites",
        "mean way from a site to the root, over all sites: what the last doubling of "
        "sites adds to it, divided by what the first adds, with its 95 % interval: at "
        "most 1.25 (a line would be 2 or more); beyond 1,000 sites nothing is said",
        _doublings,
        {"it grows with the sites": copied("site_way", "sites")},
        {"it is a logarithm": each(lambda r: {"site_way": log2(number(r, "sites"))})},
        of=_lone("hs"),
        about="hs, one party, by number of sites",
        why="Networks of up to 1,000 sites are too few and too different to tell a "
        "logarithm from a small power; the study scale has a million.",
        is_gating=False,
        seeds_min=5,
    ),
    Claim(
        "F31e",
        "the cost depends on n, t, m, q and p by less than 10 %",
        "how far the ratio of means is from 1, with its 95 % interval: below 0.1 in "
        "every case",
        _nothing_else,
        {
            f"{which} matters": only(_has_other(which), times("subscription_cost", 1.2))
            for which in OTHERS
        },
        about="hs and as, another value of each parameter",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Left: with the parties.  Right: a lone party, with the sites."""
    own = per_subscription(rows)
    figure, axes = panels(2, 2)
    by_parties = partial(draw_architectures, found=intervals(usual(own), value="each"))
    x, y = "interested parties", "cost per subscription"
    two_views([axes[0], axes[2]], [by_parties], ["One object, 100 sites"], x, y)
    lone = lone_party(own)
    trees = curve_of(where(lone, architecture="as"), "sites", "tree_cost")
    ways = curve_of(where(lone, architecture="hs"), "sites", "site_way")

    def by_sites(each_: Axes) -> None:
        line(each_, trees, "as: the whole tree", 2)
        line(each_, ways, "hs: mean path to the root", 1)

    title = "What a lone subscription crosses"
    two_views([axes[1], axes[3]], [by_sites], [title], "sites", "cost of the links")
    return figure


STUDY = Study(
    name="fig31",
    title="Cost of a subscription",
    paper=f"{PAPER}, figure 31",
    says="With few parties a subscription costs much more in an acyclic network, which "
    "tells everybody (O(N)), than in a hierarchy, which tells the root (O(log N)). "
    "With many parties both are nearly nothing.",
    shape="Two falling curves, as far above hs at one party and together in the end.",
    caption="Left: cost of all messages about subscriptions, divided by the number of "
    "subscriptions and unsubscriptions, against the interested parties; one object, "
    "100 sites, hierarchy (hs) and acyclic network (as). Right, against the number of "
    "sites: the cost of all links of the tree, which is what a lone party's "
    "subscription costs in as, and of the way from a site to the root, the mean over "
    "all sites, which is what it costs in hs wherever the party may be." + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1", "stated"),
        Parameter("parties", "1 to 1,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 40, "quick": 10, "test": 4},
    remark="Larger networks have more transit domains of the same kind. What is "
    "beyond 1,000 sites is left open here: the study scale asks for O(log N) up to a "
    "million, on least spanning trees, as they are here, and on shortest paths from "
    "the root. Its verdict about transit-stub networks and their least spanning trees "
    "is the one that counts for large networks, whatever is found about 1,000 sites.",
)
