"""Figure 33 of CU-CS-888-99: cost of notifications that nobody wants.

x: how many notifications an object publishes.  y: cost of one.  Left: nobody is
interested.  Right: one party wants one notification, and leaves.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`, but for one
cycle of each.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    Costs,
    draw_architectures,
    with_cost_per,
)
from siena.research.studies.framework.drawing import finish, panels
from siena.research.studies.framework.rows import Row, curve, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
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


def by_publications(rows: Sequence[Row], parties: int) -> Costs:
    """Cost of a notification by architecture and number of publications."""
    each = with_cost_per(
        where(rows, parties=parties), "notification_cost", "publications_made"
    )
    return {
        name: curve(where(each, architecture=name), "publications", "each")
        for name in ("hs", "as")
    }


def check(rows: Sequence[Row]) -> list[Finding]:
    """F33a, F33b, F33c."""
    none, one = by_publications(rows, 0), by_publications(rows, 1)
    flat = max(none["hs"].values()) - min(none["hs"].values())
    paid = max(none["as"].values())
    many = [cost for publications, cost in one["hs"].items() if publications >= 10]
    mean = sum(many) / len(many)
    away = max(abs(cost / mean - 1) for cost in many)
    totals = [publications * cost for publications, cost in one["as"].items()]
    spread = max(totals) - min(totals)
    return [
        Finding(
            "F33a",
            "no party: hs costs the same for any number, and something",
            flat < 1e-6 and min(none["hs"].values()) > 0,
            f"{min(none['hs'].values()):.1f}, with a spread of {flat:.2g}",
        ),
        Finding("F33a", "no party: as costs nothing", paid == 0, f"{paid:.1f} at most"),
        Finding(
            "F33b",
            "one party, 10 notifications or more: hs is constant within 5 %",
            away <= 0.05,
            f"{away:.1%} from {mean:.1f} at most",
        ),
        Finding(
            "F33c",
            "one party: as pays for one notification, so 1/K for each of K",
            spread < 1e-6 * max(totals),
            f"{min(totals):.1f} in all, with a spread of {spread:.2g}",
        ),
    ]


def draw(rows: Sequence[Row]) -> Figure:
    """No party, and one."""
    figure, axes = panels(2)
    titles = "Nobody is interested", "One party, which wants one notification"
    for each, parties, title in zip(axes, (0, 1), titles, strict=True):
        draw_architectures(each, by_publications(rows, parties))
        finish(each, title, "publications", "cost per notification", log="x")
        each.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="fig33",
    title="Cost of notifications that nobody wants",
    paper=f"{PAPER}, figure 33",
    says="In an acyclic network a notification that nobody wants costs nothing; in a "
    "hierarchy it goes to the root, always.",
    shape="hs flat; as zero on the left, and falling as 1/K on the right.",
    parameters=(
        Parameter("objects", "1, in one cycle of K publications", "stated"),
        *PARAMETERS,
    ),
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 10, "quick": 10, "test": 1},
)
