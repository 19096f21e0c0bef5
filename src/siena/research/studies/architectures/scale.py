"""How far does it scale?  Networks of a million sites, computed and not extrapolated.

x: sites, from a hundred to a million, in four families of networks.  y: links that a
message crosses in a hierarchy, on the least spanning tree and on shortest paths from
the root: a lone party's subscription, and a notification for ten parties; and interests
that a broker holds where there are as many subscriptions as sites.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.architectures.scale_claims import CLAIMS, TREES
from siena.research.studies.framework.intervals import curve_of
from siena.research.studies.framework.rows import Row, where
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, line, panels, two_views
from siena.research.studies.runs.large.networks import FAMILIES
from siena.research.studies.runs.large.routers import ASKED_TOPICS, INTERESTS
from siena.research.studies.runs.large.scale import measure

SITES = {
    "full": (100, 1000, 10_000, 100_000, 1_000_000),
    "quick": (100, 1000, 10_000, 100_000),
    "test": (100, 1000, 10_000),
}


# How laws are told apart was chosen with networks of other seeds; so that it can be
# wrong, it is asked of fresh ones.
FIRST_SEED = 2001
# Up to here production routers are asked as well; in the tests, of one family.
ROUTERS_MAX = 200


def plan(size: Size, seeds: int) -> list[Row]:
    """Networks of all sizes and families, with two kinds of trees."""
    asked = tuple(FAMILIES)[:1] if size == "test" else FAMILIES
    return [
        {
            "family": family,
            "sites": sites,
            "tree": tree,
            "routers": sites <= ROUTERS_MAX and family in asked,
            "seed": seed,
        }
        for sites in SITES[size]
        for family in FAMILIES
        for tree in TREES
        for seed in among(seeds, FIRST_SEED)
    ]


TITLES = {"as-like": "AS-like"}
"""Of families that are not just written with a capital."""


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each family, linear and logarithmic."""
    known = [family for family in FAMILIES if where(rows, family=family)]
    figure, axes = panels(len(known), 3)
    draws = [partial(_draw, rows=where(rows, family=family)) for family in known]
    titles = [TITLES.get(family, family.capitalize()) for family in known]
    two_views(axes[: 2 * len(known)], draws, titles, "sites", "links crossed")
    for axis, family, title in zip(axes[2 * len(known) :], known, titles, strict=True):
        _draw_held(axis, where(rows, family=family))
        finish(
            axis,
            f"{title}: interests held",
            "sites and subscriptions",
            "interests",
            log="xy",
        )
    return figure


CURVES = {
    "hierarchical_subscription": "subscription",
    "hierarchical_notification": "notification for 10",
}


def _draw(axes: Axes, rows: Sequence[Row]) -> None:
    style = 0
    for column, what in CURVES.items():
        for tree in TREES:
            own = where(rows, tree=tree)
            line(axes, curve_of(own, "sites", column), f"{what}, {tree}", style)
            style += 1
    own = where(rows, tree="shortest")
    line(axes, curve_of(own, "sites", "distance"), "mean distance", style)


HELD = {
    "held_acyclic_plain_mean": "acyclic, without covering",
    "held_acyclic_mean": "acyclic",
    "held_mean": "hierarchy",
    "held_root": "hierarchy, the root",
}


def _draw_held(axes: Axes, rows: Sequence[Row]) -> None:
    own = where(rows, tree="shortest")
    for style, (column, words) in enumerate(HELD.items()):
        line(axes, curve_of(own, "sites", column), words, style)
    least = where(rows, tree="least")
    line(axes, curve_of(least, "sites", "held_mean"), "hierarchy, least tree", 4)


STUDY = Study(
    name="scale",
    title="To a million sites",
    paper="ours; CU-CS-888-99 asks for internet scale and simulates 100 sites",
    says="A service for the internet must scale to it. The paper argues with O(N) and "
    "O(log N), from simulations of 100 sites.",
    shape="With y linear and x logarithmic a logarithm is a straight line: so are "
    "shortest paths. Least spanning trees have ways that are several times as long; "
    "where these grow as a power, they bend upwards.",
    caption="Links that messages cross in a hierarchy against the number of sites, for "
    "four families of networks: a lone party's subscription, and a notification for "
    "ten parties, on the least spanning tree and on shortest paths from the site with "
    "the most links; and the mean distance of two sites. A lone subscription in an "
    "acyclic network crosses all links of the tree, one less than the sites. Below: "
    "interests of neighbours that a broker holds, the mean of all but for the root, "
    "where there are as many subscriptions as sites, on shortest paths unless it is "
    "said.",
    parameters=(
        Parameter("seeds", f"{FIRST_SEED} and those after it", "ours"),
        Parameter("power law", "Barabási-Albert, 2 links for a new site", "as BRITE"),
        Parameter("waxman", "2 links for a new site, beta 0.2", "as BRITE"),
        Parameter(
            "transit-stub", "domains of 100 sites, 8 links each", "as GT-ITM; ours"
        ),
        Parameter(
            "as-like", "degrees k^-2.2 at random, largest piece", "Faloutsos 1999"
        ),
        Parameter("weights", "distances on a plane; transit-stub: 1 to 60", "as BRITE"),
        Parameter("sites", "100 to 1,000,000, all computed", "ours"),
        Parameter("subscriptions", "mean over all sites, exact", "ours"),
        Parameter("notifications", "20 draws of 10 parties and a publisher", "ours"),
        Parameter("distances", "4 sources to all sites", "ours"),
        Parameter("tables", "as many subscriptions as sites, anywhere", "ours"),
        Parameter("topics", "100,000, Zipf; 8 ranges, each in the next", "ours"),
        Parameter(
            "routers",
            f"with up to {ROUTERS_MAX} sites: 2 notifications, 2 draws each of 1, 10 "
            f"and 100 parties, {INTERESTS} interests in {ASKED_TOPICS} topics",
            "ours",
        ),
    ),
    run=measure,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 3, "test": 2},
    first_seed=FIRST_SEED,
    remark="What a hierarchy costs depends on its tree. Brokers that join along the "
    "cheapest links get a tree that winds; along shortest paths from the root they do "
    "not. Whether that is the difference between O(log N) and more is told family by "
    "family, and only where it is decided. How laws are told apart, and that they are "
    "asked from a thousand sites on, was decided after a look at other networks, of "
    "the same families and sizes; these have been drawn since. An interest that is "
    "held has been told in a message: with covering as many if wide ones come first, "
    "and at most as many as without it. A notification that nobody wants crosses the "
    "way to the root in a hierarchy, as a lone subscription does, and no link in an "
    "acyclic network: figure 33 needs no row here.",
)
