"""Figure 33 of CU-CS-888-99: cost of notifications that are not wanted.

x: how many notifications an object publishes.  y: cost of one.  Left: no party is
interested.  Right: one party wants one notification, and leaves.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`, but for one
cycle of each.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    draw_architectures,
    parameters_with,
    with_cost_per,
)
from siena.research.studies.framework.claim import Answer, Claim, Select, decided
from siena.research.studies.framework.intervals import (
    Means,
    between,
    cells,
    curve_of,
    of_means,
)
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.spoils import constant, copied, only
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, panels
from siena.research.studies.runs.architectures import parameters, simulate

PUBLICATIONS = {
    "full": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "quick": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    "test": (1, 10, 100),
}


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
    known = cells(own, ("publications",), "each")
    many = [samples for (k,), samples in known.items() if int(str(k)) >= 10]

    def away(*means: Means) -> Means:
        all_means: Means = np.asarray(means)
        farthest: Means = abs(all_means / all_means.mean(axis=0) - 1).max(axis=0)
        return farthest

    found = of_means(away, *many)
    return between(found, 0, 0.05, f"{found.words('.1%')} from the mean at most")


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
        "one party, 10 notifications or more: hs is constant within 5 %",
        "how far any mean is from the mean of all, with its 95 % interval: within 5 %",
        _is_constant,
        {"it pays once": _seven},
        of=lambda rows: [
            row for row in _runs("hs", 1)(rows) if number(row, "publications") >= 10
        ],
        about="hs, one party, 10 publications or more",
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
        each_.set_ylim(bottom=0)
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
