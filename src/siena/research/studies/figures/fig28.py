"""Figure 28 of CU-CS-888-99: total cost, one drawing for each architecture.

x: interested parties.  y: total cost.  One curve for each number of objects: how far
they are apart is what ignored notifications cost.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    EVERY_CASE,
    PAPER,
    TITLES,
    TWO_VIEWS,
    Case,
    all_objects,
    cases,
    intervals,
    parameters_with,
    runs,
    sweep,
)
from siena.research.studies.framework.claim import Answer, Claim, undecided
from siena.research.studies.framework.intervals import (
    Interval,
    Means,
    all_below,
    all_between,
    between,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.spoils import constant, copied
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.reporting.drawing import line, panels, two_views
from siena.research.studies.runs.architectures import simulate

FEW, MANY = 1, 1000
NEEDS_MANY = undecided(f"needs {MANY:,} objects")


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30."""
    return sweep(size, seeds)


# --- Claims ---------------------------------------------------------------------


def _central_grows(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    margins = {
        f"{one} to {other.parties:,}": ratio(known[one], known[other])
        for one, other in pairwise(sorted(known))
        if one[:2] == other[:2] and one.architecture == "ce"
    }
    return all_below(margins)


def _hierarchy_is_apart(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    if Case("hs", MANY, 1) not in known:
        return NEEDS_MANY
    factor = ratio(known[Case("hs", MANY, 1)], known[Case("hs", FEW, 1)])
    return between(factor, 100, float("inf"), f"{factor.words(',.0f')} times")


def _hierarchy_is_steady(rows: Sequence[Row]) -> Answer:
    known = {
        case: samples
        for case, samples in cases(rows).items()
        if case[:2] == ("hs", MANY)
    }
    if len(known) < 2:
        return NEEDS_MANY
    spread = of_means(_spread, *known.values())
    return between(spread, 1, 1.1, f"max/min is {spread.words('.3f')}")


def _spread(*means: Means) -> Means:
    """The largest of several means divided by the least, draw by draw."""
    all_means: Means = np.asarray(means)
    spread: Means = all_means.max(axis=0) / all_means.min(axis=0)
    return spread


def _acyclic(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    factors = {
        f"P = {case.parties:,}": ratio(samples, known[case._replace(objects=FEW)])
        for case, samples in known.items()
        if case[:2] == ("as", MANY) and case._replace(objects=FEW) in known
    }
    return all_between(factors, 0.5, 2) if factors else NEEDS_MANY


_STEADY = "largest mean over least mean, with its 95 % interval, below 1.1"
CLAIMS = (
    Claim(
        "F28a",
        "ce grows with the parties, for any objects",
        EVERY_CASE,
        _central_grows,
        {
            "all cost the same": constant("cost", 1.0),
        },
        of=runs(["ce"]),
        about="ce, neighbouring numbers of parties",
    ),
    Claim(
        "F28b",
        "hs, one party: 1,000 objects cost 100 times what one does, or more",
        "ratio of means, with its 95 % interval: above 100",
        _hierarchy_is_apart,
        {"all alike": constant("cost", 1.0)},
        of=runs(
            ["hs"], lambda objects, parties: parties == 1 and objects in {FEW, MANY}
        ),
        about="hs, one party, 1 and 1,000 objects",
    ),
    Claim(
        "F28b",
        "hs, 1,000 objects: nearly constant in the parties (max/min < 1.1)",
        _STEADY,
        _hierarchy_is_steady,
        {"cost is that of parties": copied("cost", "parties")},
        of=runs(["hs"], lambda objects, _: objects == MANY),
        about="hs, 1,000 objects",
    ),
    Claim(
        "F28c",
        "as: 1,000 objects cost half to twice what one does, for any parties",
        "ratio of means for any number of parties; all 95 % intervals within the range",
        _acyclic,
        {
            "cost is that of objects": copied("cost", "objects"),
        },
        of=runs(["as"], lambda objects, _: objects in {FEW, MANY}),
        about="as, 1 and 1,000 objects",
    ),
)


def by_objects(
    axes: Axes, found: Mapping[int, Mapping[str, Mapping[float, Interval]]], name: str
) -> None:
    """One architecture: a curve for each number of objects."""
    for style, (objects, own) in enumerate(found.items()):
        line(axes, own[name], f"{objects:,}", style)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each architecture, linear and logarithmic."""
    found = {objects: intervals(rows, objects) for objects in all_objects(rows)}
    figure, axes = panels(4, 2)
    draws = [partial(by_objects, found=found, name=name) for name in ARCHITECTURES]
    titles = [TITLES[name] for name in ARCHITECTURES]
    x, y = "interested parties", "total cost"
    two_views(axes, draws, titles, x, y, legend="objects")
    return figure


STUDY = Study(
    name="fig28",
    title="Total cost by number of objects",
    paper=f"{PAPER}, figure 28",
    says="A centralised service grows with the parties whatever there is to be "
    "notified of. The hierarchy pays for every notification, wanted or not; the "
    "acyclic network only for wanted ones, so that objects hardly matter.",
    shape="hs: curves far apart, the top one flat. as: all curves close together.",
    caption="Cost of all messages between 100 sites against the number of interested "
    "parties; a drawing for each architecture, a curve for each number of objects."
    + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1, 10, 100, 1,000", "stated"),
        Parameter("parties", "1 to 10,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    remark="F28d, that aa is unstable with few parties and many objects, is reported "
    "with figure 27 (F27e).",
)
