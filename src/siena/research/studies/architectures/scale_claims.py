"""What is claimed about a million sites, and how rows decide it.

The study, its plan and its drawings are
:mod:`siena.research.studies.architectures.scale`.

How laws are told apart is
:mod:`siena.research.studies.architectures.scale_laws`.
"""

from collections.abc import Sequence
from math import log
from statistics import fmean

from siena.research.studies.architectures.scale_laws import (
    better_law,
    by_sites,
    excess,
    exponent,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    Spoil,
    Verdict,
    having,
    undecided,
    weakest,
)
from siena.research.studies.framework.intervals import (
    all_below,
    all_right,
    between,
    cells,
    ratio,
)
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import constant, copied, each, one, times
from siena.research.studies.runs.large.networks import FAMILIES

TREES = {"least": "least spanning tree", "shortest": "shortest paths"}
INTERNET = 1_000_000
# More above the line is no logarithm: N^0.1 would be 7 % above it.
EXCESS = 0.05
ALIKE = 1.15
# Ways of a notification for ten parties by a centre: one to it, and one to each.
BY_ITSELF = 11
# Ways that differ by less between the smallest and the largest networks are too alike.
LINK = 1.0
# Where the law begins: a transit-stub network of 100 sites is a single domain.
FIRST = 1000
WINDING = (
    "A least spanning tree winds: the ways on it grow more than a logarithm does. "
    "Shortest paths from the root are the remedy, where the claim about them holds."
)

# What production routers are asked, by columns.
AGREES = {
    "agrees_notifications": "notifications",
    "agrees_subscriptions": "subscriptions",
    "agrees_held": "interests held",
}

# --- Claims ---------------------------------------------------------------------


def _agree(rows: Sequence[Row]) -> Answer:
    parts = [all_right(rows, *part) for part in AGREES.items()]
    said = "; ".join(part.found for part in parts)
    return weakest(*parts)._replace(found=f"right about {said}")


def _logarithm(column: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        known = by_sites(rows, column)
        known = {sites: of for sites, of in known.items() if sites >= FIRST}
        if len(known) < 3:
            return undecided(f"needs three sizes from {FIRST:,} sites on")
        means = [fmean(samples.values()) for samples in known.values()]
        above_line = excess(known)
        words = (
            f"{means[-1]:.1f} links with {max(known):,} sites; "
            f"{above_line.words('.1%')} of them above the line; {better_law(known)}; "
            f"the best power is N^{exponent(known).words()}"
        )
        answer = between(above_line, -10, EXCESS, words)
        if max(means) - min(means) >= LINK:
            return answer
        words += (
            f"; all sizes have {min(means):.1f} to {max(means):.1f} links, and shares "
            "of less than a link tell no law"
        )
        return answer._replace(verdict=Verdict.UNDECIDED, found=words)

    return decide


def _small(rows: Sequence[Row]) -> Answer:
    own = where(rows, sites=INTERNET)
    if not own:
        return undecided("needs a million sites")
    up = cells(own, ("family", "tree"), "hierarchical_subscription")
    all_ = cells(own, ("family", "tree"), "acyclic_subscription")
    margins = {
        f"{family}, {tree}": ratio(up[family, tree], all_[family, tree])
        for family, tree in up
    }
    return all_below(margins, 0.001)


def _alike(rows: Sequence[Row]) -> Answer:
    names = ("family", "tree", "sites")
    up = cells(rows, names, "hierarchical_notification")
    across = cells(rows, names, "acyclic_notification")
    margins = {
        f"{case[0]}, {case[1]}, {case[2]:,} sites": ratio(up[case], across[case])
        for case in up
    }
    return all_below(margins, ALIKE)


def largest(rows: Sequence[Row]) -> list[Row]:
    """The rows of the largest networks."""
    most = max((number(row, "sites") for row in rows), default=0)
    return where(rows, sites=int(most))


def _room_for_ten_thousand(rows: Sequence[Row]) -> list[Row]:
    """The largest networks, where ten thousand parties were drawn."""
    return [row for row in largest(rows) if row.get("hierarchical_10000") is not None]


def _share(some: str, all_: str, limit: float) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        few, many = (cells(rows, ("family", "tree"), name) for name in (some, all_))
        margins = {
            f"{family}, {tree}": ratio(few[family, tree], many[family, tree])
            for family, tree in few
        }
        return all_below(margins, limit)

    return decide


def _root_holds_more(rows: Sequence[Row]) -> Answer:
    names = ("family", "tree")
    peers, root = (cells(rows, names, c) for c in ("held_acyclic_mean", "held_root"))
    times_ = [ratio(root[case], peers[case]).value for case in peers]
    answer = _share("held_acyclic_mean", "held_root", 1)(rows)
    words = f"{min(times_):.1f} to {max(times_):.1f} times as much; {answer.found}"
    return answer._replace(found=words)


def _part(family: str, tree: str) -> Select:
    return lambda rows: where(rows, family=family, tree=tree)


def _law(column: str, law: str) -> Spoil:
    if law == "a logarithm":
        return each(lambda r: {column: log(number(r, "sites"))})
    return each(lambda r: {column: number(r, "sites") ** 0.5})


_as_many = each(lambda r: {"hierarchical_notification": r["acyclic_notification"]})


def _of_law(
    name: str, says: str, column: str, family: str, tree: str, why: str
) -> Claim:
    return Claim(
        name,
        says,
        "how far the largest networks are above the straight line that fits the others "
        f"from {FIRST:,} sites on best, x logarithmic, and no falling one, as a share: "
        f"its 95 % interval over the seeds at most {EXCESS:.0%} (a logarithm: 0, "
        "N^0.25: 26 %); not decided where ways of all sizes differ by less than a link",
        _logarithm(column),
        {"it is a power": _law(column, "a power")},
        {
            "it is a logarithm": _law(column, "a logarithm"),
            "it falls": each(lambda r: {column: 20 - log(number(r, "sites"))}),
        },
        of=_part(family, tree),
        about=f"{family}, {TREES[tree]}",
        why=why,
        is_gating=False,
        seeds_min=3,
    )


CLAIMS = (
    Claim(
        "agree",
        "production routers send and hold what is counted on the trees: notifications, "
        "subscriptions of 1, 10 and 100 parties, and interests of neighbours",
        "links that two notifications cross, and two draws of each number of parties, "
        "acyclic and hierarchical; interests that each broker has been told and holds, "
        "with covering and without it: equal in every single network that routers were "
        "asked about",
        _agree,
        {
            f"one does not: {what}": one(constant(column, False))
            for column, what in AGREES.items()
        },
        of=having(lambda r: r["agrees_held"] is not None),
        about="networks of up to 200 sites",
    ),
    *(
        _of_law(
            "O(log N)",
            f"{family}, {TREES[tree]}: a lone subscription in a hierarchy crosses "
            "O(log N) links: at most as the logarithm of the sites",
            "hierarchical_subscription",
            family,
            tree,
            WINDING if tree == "least" else "",
        )
        for family in FAMILIES
        for tree in TREES
    ),
    *(
        _of_law(
            "distance",
            f"{family}: the mean distance of two sites grows at most as the logarithm "
            "of the sites",
            "distance",
            family,
            "shortest",
            "These are distances in weights, counted in links: ways that are shorter "
            "have more of them.",
        )
        for family in FAMILIES
    ),
    Claim(
        "internet",
        "a million sites: a lone subscription in a hierarchy crosses less than a "
        "thousandth of what it does in an acyclic network",
        "ratio of means, with its 95 % bootstrap interval: below 0.001 in every "
        "family, on both trees",
        _small,
        {"it crosses all": times("hierarchical_subscription", 1e6)},
        {"it crosses one": constant("hierarchical_subscription", 1)},
        of=having(lambda r: number(r, "sites") >= INTERNET),
        about="networks of a million sites",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "shared",
        "ten thousand parties: in a hierarchy a subscription crosses less than half of "
        "the links that a lone party's does",
        "ratio of means, with its 95 % interval: below 0.5 in every family of the "
        "largest networks, on both trees",
        _share("hierarchical_10000", "hierarchical_subscription", 0.5),
        {"nobody shares": copied("hierarchical_10000", "hierarchical_subscription")},
        {"all share": constant("hierarchical_10000", 1)},
        of=_room_for_ten_thousand,
        about="the largest networks",
        why="On shortest paths ways are a few links long, and parties have only the "
        "last of them in common: those from a site to the next larger one are its own.",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "held",
        "a million sites and subscriptions: a broker in a hierarchy, but for the root, "
        "holds less than a hundredth of the interests that it holds in an acyclic "
        "network",
        "ratio of means over all brokers but the root, with its 95 % interval: below "
        "0.01 in every family, on both trees",
        _share("held_mean", "held_acyclic_mean", 0.01),
        {"as many": copied("held_mean", "held_acyclic_mean")},
        of=having(lambda r: number(r, "sites") >= INTERNET),
        about="networks of a million sites",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "held",
        "a million sites and subscriptions: the root of a hierarchy holds more than a "
        "broker in an acyclic network does",
        "mean of a broker in an acyclic network over what the root holds, with its 95 "
        "% interval: below 1 in every family, on both trees",
        _root_holds_more,
        {"as many": copied("held_root", "held_acyclic_mean")},
        {"all there are": copied("held_root", "sites")},
        of=having(lambda r: number(r, "sites") >= INTERNET),
        about="networks of a million sites",
        why="What is wanted of both sides of a link is told over it in an acyclic "
        "network, and only of one in a hierarchy; the root hears it all, and may hear "
        "the same from fewer neighbours.",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "held",
        "a million sites and subscriptions: covering halves what a broker holds in an "
        "acyclic network, or does better",
        "interests held with covering over those without, ratio of means with its 95 "
        "% interval: below 0.5 in every family, on both trees",
        _share("held_acyclic_mean", "held_acyclic_plain_mean", 0.5),
        {"as many": copied("held_acyclic_mean", "held_acyclic_plain_mean")},
        {"one": constant("held_acyclic_mean", 1)},
        of=having(lambda r: number(r, "sites") >= INTERNET),
        about="networks of a million sites",
        why="Most topics are rare, and of what one subscriber wants alone nothing is "
        "covered.",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "central",
        "a million sites, shortest paths: a notification for ten parties crosses fewer "
        "links in a hierarchy than to a centre, which may be anywhere, and from there "
        "to each party by itself",
        "links of a notification over the mean distance of two sites, ratio of means "
        f"with its 95 % interval: below {BY_ITSELF} in every family",
        _share("hierarchical_notification", "distance", BY_ITSELF),
        {
            "as to each by itself": each(
                lambda r: {
                    "hierarchical_notification": 1.01
                    * BY_ITSELF
                    * number(r, "distance")
                }
            )
        },
        {"one way for all": copied("hierarchical_notification", "distance")},
        of=having(lambda r: number(r, "sites") >= INTERNET and r["tree"] == "shortest"),
        about="networks of a million sites, shortest paths",
        is_gating=False,
        seeds_min=3,
    ),
    Claim(
        "alike",
        "a notification for ten parties crosses as many links in a hierarchy as in an "
        f"acyclic network, within {ALIKE - 1:.0%}",
        f"ratio of means, with its 95 % bootstrap interval: below {ALIKE} in every "
        f"case",
        _alike,
        {"it crosses twice as many": times("hierarchical_notification", 2)},
        {"it crosses as many": _as_many},
        about="all families, sizes and trees",
        why="The way to the root adds most where receivers are few and near each "
        "other.",
        is_gating=False,
    ),
)
