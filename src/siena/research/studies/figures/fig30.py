"""Figure 30 of CU-CS-888-99: cost of a request, one drawing for each architecture.

The data of figure 29, turned: one curve for each number of objects.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    EVERY_CASE,
    PAPER,
    TITLES,
    TWO_VIEWS,
    all_objects,
    cases,
    intervals,
    parameters_with,
    runs,
)
from siena.research.studies.figures.fig28 import by_objects
from siena.research.studies.figures.fig29 import per_request, plan
from siena.research.studies.framework.claim import Answer, Claim
from siena.research.studies.framework.intervals import all_below, ratio
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.spoils import each
from siena.research.studies.framework.study import Parameter, Study
from siena.research.studies.reporting.drawing import panels, two_views
from siena.research.studies.runs.architectures import simulate

# Fewer parties than this are not at most of a hundred sites, and share little.
MANY = 1000


def _sharing(rows: Sequence[Row]) -> Answer:
    known = cases(per_request(rows), "each")
    margins = {}
    for case, samples in known.items():
        same = [c.parties for c in known if c[:2] == case[:2]]
        if case.architecture != "ce" and case.parties == max(same) >= MANY:
            few = case._replace(parties=min(same))
            margins[str(case)] = ratio(samples, known[few])
    return all_below(margins)


CLAIMS = tuple(
    Claim(
        "ours",
        f"{words}: with the most parties a request costs less than with one",
        EVERY_CASE,
        _sharing,
        {
            "cost is the parties cubed": each(
                lambda r: {"cost": number(r, "parties") ** 3}
            )
        },
        {
            "cost is that of one request": each(
                lambda r: {"cost": number(r, "requests") / number(r, "parties")}
            )
        },
        of=runs(names),
        about=f"{words}: one party and the most",
        why="This is no claim of the paper. It is not so where nearly all requests are "
        "publications that cost nothing while they are not wanted: as and aa with "
        "1,000 objects.",
        is_gating=False,
    )
    for words, names in (("hs", ["hs"]), ("as and aa", ["as", "aa"]))
)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each architecture, linear and logarithmic."""
    own = per_request(rows)
    found = {objects: intervals(own, objects, "each") for objects in all_objects(rows)}
    figure, axes = panels(4, 2)
    draws = [partial(by_objects, found=found, name=name) for name in ARCHITECTURES]
    titles = [TITLES[name] for name in ARCHITECTURES]
    x, y = "interested parties", "cost per request"
    two_views(axes, draws, titles, x, y, legend="objects")
    return figure


STUDY = Study(
    name="fig30",
    title="Cost of a request, by architecture",
    paper=f"{PAPER}, figure 30",
    says="The same data as figure 29, by architecture.",
    shape="hs falls with the parties, least with many objects; as stays low.",
    caption="Cost of all messages between 100 sites, divided by the requests that "
    "clients made, against the number of interested parties; a drawing for each "
    "architecture, a curve for each number of objects." + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1, 10, 100, 1,000", "stated"),
        Parameter("parties", "1 to 10,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    remark="What the paper says of these rows are the claims of figure 29, which are "
    "decided, and counted, there.",
)
