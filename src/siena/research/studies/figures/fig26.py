"""Figure 26 of CU-CS-888-99: total cost of the four architectures.

x: interested parties.  y: total cost.  Left 10 objects, right 1,000.  A centralised
service grows with every party; the others level off.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    EVERY_CASE,
    PAPER,
    TWO_VIEWS,
    against,
    all_objects,
    cases,
    draw_architectures,
    intervals,
    named,
    parameters_with,
    runs,
    swapped,
    sweep,
)
from siena.research.studies.framework.claim import Answer, Claim, undecided
from siena.research.studies.framework.intervals import (
    Interval,
    all_below,
    all_between,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.spoils import copied, each
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.reporting.drawing import panels, two_views
from siena.research.studies.runs.architectures import simulate

OBJECTS = (10, 1000)
DISTRIBUTED = ("hs", "as", "aa")


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30 with these numbers of objects."""
    rows = sweep(size, seeds)
    return [row for row in rows if row["objects"] in OBJECTS]


# --- Claims ---------------------------------------------------------------------


def _central_is_dearest(rows: Sequence[Row]) -> Answer:
    margins = against(cases(rows), DISTRIBUTED, "ce")
    return all_below(named({c: m for c, m in margins.items() if c.parties >= 1000}))


def _central_is_linear(rows: Sequence[Row]) -> Answer:
    """Each decade adds ten times what the one before did."""
    known = cases(rows)
    factors = {}
    for case in known:
        steps = [case._replace(parties=case.parties // part) for part in (100, 10, 1)]
        is_meant = case.architecture == "ce" and case.parties >= 1000
        if is_meant and all(step in known for step in steps):
            samples = (known[step] for step in steps)
            factor = of_means(lambda a, b, c: (c - b) / (b - a), *samples)
            factors[str(case)] = factor
    if not factors:
        return undecided("needs three decades of parties")
    return all_between(factors, 7, 13)


def growths(
    rows: Sequence[Row], names: Sequence[str]
) -> tuple[dict[str, Interval], dict[str, float]]:
    """How many times as much ten times the parties cost, and what is allowed."""
    known = cases(rows)
    found, allowed = {}, {}
    for case, samples in known.items():
        more = known.get(case._replace(parties=10 * case.parties))
        if case.architecture in names and more is not None:
            allowed[str(case)] = 2.0 if case.parties >= 100 else 10.0
            found[str(case)] = ratio(more, samples)
    return found, allowed


def _sublinear(rows: Sequence[Row]) -> Answer:
    return all_below(*growths(rows, DISTRIBUTED))


CLAIMS = (
    Claim(
        "F26a",
        "with 1,000 parties or more, ce costs more than any other",
        EVERY_CASE,
        _central_is_dearest,
        {
            "ce is as cheap as hs": swapped("ce", "hs"),
            "all cost the same": copied("cost", "parties"),
        },
        of=runs(ARCHITECTURES, lambda _, parties: parties >= 1000),
        about="hs, as, aa against ce, from 1,000 parties on",
    ),
    Claim(
        "F26b",
        "ce is linear in the parties: each decade adds ten times what the last did",
        "what a decade of parties adds, divided by what the one before added: all 95 % "
        "intervals between 7 and 13",
        _central_is_linear,
        {
            "it grows as the square root": each(
                lambda r: {"cost": number(r, "parties") ** 0.5}
            )
        },
        of=runs(["ce"]),
        about="ce, three decades of parties",
    ),
    Claim(
        "F26c",
        "hs, as, aa: ten times the parties cost less than ten times, and from 100 "
        "parties on less than twice as much",
        EVERY_CASE,
        _sublinear,
        {
            "cost is that of parties": copied("cost", "parties"),
        },
        of=runs(DISTRIBUTED),
        about="hs, as, aa, every decade of parties",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects, linear and logarithmic."""
    known = all_objects(rows)
    figure, axes = panels(len(known), 2)
    draws = [
        partial(draw_architectures, found=intervals(rows, objects)) for objects in known
    ]
    titles = [f"{objects:,} objects of interest" for objects in known]
    two_views(axes, draws, titles, "interested parties", "total cost")
    return figure


STUDY = Study(
    name="fig26",
    title="Total cost of four architectures",
    paper=f"{PAPER}, figure 26",
    says="A centralised service is the most expensive with many parties, and its cost "
    "grows linearly with them. The distributed ones grow less and less.",
    shape="ce rises above all others; where y is logarithmic they level off.",
    caption="Cost of all messages between 100 sites (every message costs the links it "
    "crosses) against the number of interested parties, for a centralised service, a "
    "hierarchy, and acyclic networks that forward subscriptions or advertisements. "
    "Left 10 objects that publish, right 1,000." + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "10 and 1,000", "stated"),
        Parameter("parties", "1 to 10,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
)
