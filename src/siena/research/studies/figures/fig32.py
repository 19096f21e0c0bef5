"""Figure 32 of CU-CS-888-99: cost of a notification.

x: interested parties.  y: the cost of all notifications, divided by their number; one
object.  The hierarchy sends every one of them to the root; that is the bracket between
the curves, whatever the parties do.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`, but for 100
publications a cycle.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARTIES,
    TWO_VIEWS,
    cases,
    draw_architectures,
    intervals,
    parameters_with,
    with_cost_per,
)
from siena.research.studies.framework.claim import Answer, Claim
from siena.research.studies.framework.intervals import (
    Means,
    Samples,
    all_below,
    between,
    of_means,
)
from siena.research.studies.framework.rows import Row, integer, number
from siena.research.studies.framework.spoils import constant, each, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import panels, two_views
from siena.research.studies.runs.architectures import parameters, simulate

PUBLICATIONS = 100
PARTIES_MAX = 1000
# Of 1,000 notifications every party waits for 100.
IGNORED = 0.9


def plan(size: Size, seeds: int) -> list[Row]:
    """Both architectures, with ten times as many publications as are waited for."""
    return [
        parameters(name, 1, parties, seed, publications=PUBLICATIONS)
        for parties in PARTIES[size]
        if parties <= PARTIES_MAX
        for name in ("hs", "as")
        for seed in among(seeds)
    ]


def per_notification(rows: Sequence[Row]) -> list[Row]:
    """The rows with the cost of a notification as ``each``."""
    return with_cost_per(rows, "notification_cost", "publications_made")


# --- Claims ---------------------------------------------------------------------


def _pairs(rows: Sequence[Row]) -> dict[int, tuple[Samples, Samples]]:
    """What a notification costs in hs and in as, by number of parties."""
    known = cases(per_notification(rows), "each")
    return {
        case.parties: (samples, known[case._replace(architecture="as")])
        for case, samples in sorted(known.items())
        if case.architecture == "hs"
    }


def _same_gap(rows: Sequence[Row]) -> Answer:
    pairs = _pairs(rows).values()

    def spread_of(*means: Means) -> Means:
        gaps: Means = np.asarray(means[::2]) - np.asarray(means[1::2])
        # A gap that is none, or the wrong way round, is as far off as can be.
        spread: Means = gaps.max(axis=0) / gaps.min(axis=0).clip(1e-9)
        return spread

    found = of_means(spread_of, *(samples for pair in pairs for samples in pair))
    low, high = (
        pick(of_means(lambda a, b: a - b, *pair).value for pair in pairs)
        for pick in (min, max)
    )
    words = f"by {low:.1f} to {high:.1f}; max/min {found.words()}"
    return between(found, 1, 1.3, words)


def _ignored(rows: Sequence[Row]) -> Answer:
    """In each network for itself: how far objects are from the root differs much."""
    ways = {integer(row, "seed"): number(row, "object_way") for row in rows}
    margins = {
        f"P = {parties:,}": of_means(
            lambda hs, peers, way: abs((hs - peers) / (IGNORED * way) - 1),
            *(*pair, ways),
        )
        for parties, pair in _pairs(rows).items()
    }
    return all_below(margins, 0.15, may_be_none=True)


_as_only = partial(only, lambda r: r["architecture"] == "as")
CLAIMS = (
    Claim(
        "F32a",
        "hs costs more than as by the same for any parties (max/min < 1.3)",
        "largest over least difference of means, with its 95 % interval: below 1.3",
        _same_gap,
        {
            "hs grows with the parties": only(
                lambda r: r["architecture"] == "hs",
                each(
                    lambda r: {
                        "notification_cost": number(r, "notification_cost")
                        * number(r, "parties")
                    }
                ),
            ),
            "both cost the same": constant("notification_cost", 7.0),
        },
        about="hs and as, one object, by number of parties",
    ),
    Claim(
        "F32b",
        "that is what ignored notifications cost on the way to the root, within 15 %",
        "how far the difference of means is from what is expected, as a share of it, "
        "with its 95 % interval: below 0.15 for any number of parties",
        _ignored,
        {
            "the way is a fifth longer": times("object_way", 1.2),
            "as costs nothing": _as_only(constant("notification_cost", 0.0)),
        },
        about="hs and as, one object, by number of parties",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Two curves, linear and logarithmic."""
    figure, axes = panels(1, 2)
    found = intervals(per_notification(rows), value="each")
    draws = [partial(draw_architectures, found=found)]
    titles = ["One object, 9 of 10 notifications ignored"]
    two_views(axes, draws, titles, "interested parties", "cost per notification")
    return figure


STUDY = Study(
    name="fig32",
    title="Cost of a notification",
    paper=f"{PAPER}, figure 32",
    says="The hierarchy pays more for each notification, by an amount that does not "
    "depend on the parties.",
    shape="Two parallel rising curves, hs above as.",
    caption="Cost of all notifications between 100 sites, divided by their number, "
    "against the interested parties, for a hierarchy (hs) and an acyclic network (as); "
    "one object, and nine of ten notifications wanted by no party." + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1", "stated"),
        Parameter("parties", "1 to 1,000", "stated; points are ours"),
        Parameter("an object", "10 cycles of 100 publications", "ours, as remarked"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 20, "quick": 10, "test": 1},
    remark="With the reference scenario and one object, exactly as many notifications "
    "are produced as are consumed, none is ignored, and there is no bracket. So there "
    "are ten times as many here.",
)
