"""Figure 33 of CU-CS-888-99: cost of notifications that are not wanted.

x: how many notifications an object publishes.  y: cost of one.  Left: no party is
interested.  Right: one party wants one notification, and leaves.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`, but for one
cycle of each.
"""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    draw_architectures,
    parameters_with,
    with_cost_per,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Select,
    decided,
    weakest,
)
from siena.research.studies.framework.intervals import (
    Means,
    between,
    cells,
    curve_of,
    of_means,
)
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.spoils import constant, copied, each, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    panels,
)
from siena.research.studies.runs.architectures import parameters, simulate

PUBLICATIONS = {
    "full": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "quick": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "test": (1, 10, 100),
}


# From so many notifications on, what is paid once should hardly matter.
FROM, WITHIN, SMALL = 10, 0.05, 0.1


def plan(size: Size, seeds: int) -> list[Row]:
    """No party, and one."""
    return [
        parameters(
            name,
            1,
            parties,
            seed,
            publications=publications,
            object_cycles=1,
            notifications=1,
            party_cycles=1,
        )
        for publications in PUBLICATIONS[size]
        for parties in (0, 1)
        for name in ("hs", "as")
        for seed in among(seeds)
    ]


def per_notification(rows: Sequence[Row], parties: int) -> list[Row]:
    """The rows with the cost of a notification as ``each``."""
    own = where(rows, parties=parties)
    return with_cost_per(own, "notification_cost", "publications_made")


def by_publications(rows: Sequence[Row], parties: int) -> dict[str, dict[float, float]]:
    """The mean cost of a notification, by architecture and number of publications."""
    each_ = per_notification(rows, parties)
    return {
        name: curve(own, "publications", "each")
        for name in ("hs", "as")
        if (own := where(each_, architecture=name))
    }


# --- Claims ---------------------------------------------------------------------


def _pays_always(rows: Sequence[Row]) -> Answer:
    found = by_publications(rows, 0)["hs"].values()
    flat = max(found) - min(found)
    words = f"{min(found):.1f}, with a spread of {flat:.2g}"
    return decided(flat < 1e-6 and min(found) > 0, words)


def _pays_nothing(rows: Sequence[Row]) -> Answer:
    paid = [number(row, "notification_cost") for row in where(rows, architecture="as")]
    return decided(max(paid) == 0, f"{max(paid):.1f} at most, in {len(paid)} runs")


def _is_constant(rows: Sequence[Row]) -> Answer:
    own = where(per_notification(rows, 1), architecture="hs")
    found = cells(own, ("publications",), "each")
    known = {int(str(k)): samples for (k,), samples in found.items()}
    shares = np.array([[1.0, 1 / k] for k in known])
    to_fit = np.linalg.pinv(shares)

    def fitted(*means: Means) -> Means:
        """What every notification costs, and what is shared by all, draw by draw."""
        found: Means = np.tensordot(to_fit, np.asarray(means), axes=1)
        return found

    def away(*means: Means) -> Means:
        expected = np.tensordot(shares, fitted(*means), axes=1)
        farthest: Means = abs(np.asarray(means) / expected - 1).max(axis=0)
        return farthest

    def shared(*means: Means) -> Means:
        every, once = fitted(*means)
        share: Means = once / FROM / (every + once / FROM)
        return share

    far = of_means(away, *known.values())
    rest = of_means(shared, *known.values())
    means = np.array([fmean(samples.values()) for samples in known.values()])
    every, once = fitted(*means)
    words = (
        f"{every:.1f} + {once:.1f}/K; {far.words('.1%')} from it at most; the second "
        f"part is {rest.words('.1%')} of it with K = {FROM}"
    )
    return weakest(between(far, 0, WITHIN, words), between(rest, -SMALL, SMALL, words))


def _pays_once(rows: Sequence[Row]) -> Answer:
    found = by_publications(rows, 1)["as"]
    totals = [publications * cost for publications, cost in found.items()]
    spread = max(totals) - min(totals)
    words = f"{min(totals):.1f} in all, with a spread of {spread:.2g}"
    return decided(min(totals) > 0 and spread < 1e-6 * max(totals), words)


def _runs(name: str, parties: int) -> Select:
    return lambda rows: where(rows, architecture=name, parties=parties)


_seven = constant("notification_cost", 7.0)
_nothing = constant("notification_cost", 0.0)
CLAIMS = (
    Claim(
        "F33a",
        "no party: hs costs the same for any number, and something",
        "spread of the means: none; the least: above 0",
        _pays_always,
        {"it pays once": _seven, "it pays nothing": _nothing},
        of=_runs("hs", 0),
        about="hs, no party",
    ),
    Claim(
        "F33a",
        "no party: as costs nothing",
        "every single run: 0",
        _pays_nothing,
        {
            "it pays once": _seven,
            "one run pays": only(
                lambda r: r["architecture"] == "as" and r["publications"] == 10, _seven
            ),
        },
        of=_runs("as", 0),
        about="as, no party",
    ),
    Claim(
        "F33b",
        f"one party, {FROM} notifications or more: hs pays the same for each, within "
        f"{WITHIN:.0%}, but for what the party's one notification costs, which is less "
        f"than {SMALL:.0%} of it",
        "a + c/K by least squares: how far any mean is from it, and what share c/K "
        f"is of it with K = {FROM}, with their 95 % intervals: within {WITHIN:.0%} and "
        f"{SMALL:.0%}",
        _is_constant,
        {
            "it pays once": _seven,
            "one number is dearer": only(
                lambda r: r["publications"] == 100, times("notification_cost", 1.2)
            ),
            "it grows": each(
                lambda r: {"notification_cost": number(r, "publications_made") ** 2}
            ),
        },
        {"each costs the same": copied("notification_cost", "publications_made")},
        of=lambda rows: [
            row for row in _runs("hs", 1)(rows) if number(row, "publications") >= FROM
        ],
        about=f"hs, one party, {FROM} publications or more",
    ),
    Claim(
        "F33c",
        "one party: as pays for one notification, so 1/K for each of K",
        "spread of K times the cost of one: none; and it is above 0",
        _pays_once,
        {
            "it pays for all": copied("notification_cost", "publications_made"),
            "it pays nothing": _nothing,
        },
        of=_runs("as", 1),
        about="as, one party",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """No party, and one."""
    figure, axes = panels(2)
    titles = "No party is interested", "One party, which wants one notification"
    for each_, parties, title in zip(axes, (0, 1), titles, strict=True):
        own = per_notification(rows, parties)
        found = {
            name: curve_of(where(own, architecture=name), "publications", "each")
            for name in ("hs", "as")
        }
        draw_architectures(each_, found)
        finish(each_, title, "publications", "cost per notification", log="x")
        from_zero(each_)
    return figure


STUDY = Study(
    name="fig33",
    title="Cost of notifications that are not wanted",
    paper=f"{PAPER}, figure 33",
    says="In an acyclic network a notification that nobody wants costs nothing; in a "
    "hierarchy it goes to the root, always.",
    shape="hs flat; as zero on the left, and falling as 1/K on the right.",
    caption="Cost of all notifications of one object between 100 sites, divided by "
    "their number, against how many it publishes. Left: no party is interested. Right: "
    "one party wants a single notification and leaves. Hierarchy (hs) and acyclic "
    "network (as).",
    parameters=parameters_with(
        Parameter("objects", "1", "stated"),
        Parameter("an object", "one cycle of K publications, 1 to 1,000", "stated"),
        Parameter("parties", "none, or one", "stated"),
        Parameter("a party", "one cycle of one notification", "stated"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 40, "quick": 10, "test": 1},
)
