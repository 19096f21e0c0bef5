"""Figure 26 of CU-CS-888-99: total cost of the four architectures.

x: interested parties.  y: total cost.  Left 10 objects, right 1,000.  A centralised
service grows with every party; the others level off.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    all_objects,
    costs,
    draw_architectures,
    every,
    sweep,
)
from siena.research.studies.framework.drawing import finish, panels
from siena.research.studies.framework.rows import Row, where
from siena.research.studies.framework.study import Finding, Size, Study
from siena.research.studies.runs.architectures import simulate

OBJECTS = (10, 1000)


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30 with these numbers of objects."""
    rows = sweep(size, seeds)
    return [row for row in rows if row["objects"] in OBJECTS]


def check(rows: Sequence[Row]) -> list[Finding]:
    """F26a, F26b, F26c."""
    return [_central_is_dearest(rows), _central_is_linear(rows), _sublinear(rows)]


def _central_is_dearest(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        found = costs(rows, objects)
        for name in found.keys() - {"ce"}:
            for parties, cost in found[name].items():
                if parties >= 1000:
                    case = f"{name}, O = {objects}, P = {parties:,.0f}"
                    margins[case] = cost / found["ce"][parties]
    says = "with 1,000 parties or more, ce costs more than any other"
    return every("F26a", says, margins)


def _central_is_linear(rows: Sequence[Row]) -> Finding:
    """Each decade adds ten times what the one before did."""
    factors = {}
    for objects in all_objects(rows):
        ce = costs(rows, objects)["ce"]
        for parties in ce:
            steps = (parties / 100, parties / 10, parties)
            if parties >= 1000 and all(p in ce for p in steps):
                least, middle, most = (ce[p] for p in steps)
                case = f"O = {objects}, P = {parties:,.0f}"
                factors[case] = (most - middle) / (middle - least)
    says = "ce is linear in the parties: each decade adds ten times what the last did"
    if not factors:
        return Finding("F26b", says, None, "needs three decades")
    low, high = min(factors.values()), max(factors.values())
    words = f"{low:.1f} to {high:.1f} times"
    return Finding("F26b", says, low > 7 and high < 13, words)


def _sublinear(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        found = costs(rows, objects)
        for name in found.keys() - {"ce"}:
            for parties, cost in found[name].items():
                if 10 * parties in found[name]:
                    growth = found[name][10 * parties] / cost
                    allowed = 2 if parties >= 100 else 10
                    margins[f"{name}, O = {objects}, P = {parties:,.0f}"] = (
                        growth / allowed
                    )
    says = "hs, as, aa: ten times the parties cost less than ten times, and from 100 "
    return every("F26c", says + "parties on less than twice as much", margins)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects."""
    figure, axes = panels(2)
    for each, objects in zip(axes, OBJECTS, strict=True):
        if not where(rows, objects=objects):
            each.set_visible(False)
            continue
        draw_architectures(each, costs(rows, objects))
        title = f"{objects:,} objects of interest"
        finish(each, title, "interested parties", "total cost", log="xy")
    return figure


STUDY = Study(
    name="fig26",
    title="Total cost of four architectures",
    paper=f"{PAPER}, figure 26",
    says="A centralised service is the most expensive with many parties, and its cost "
    "grows linearly with them. The distributed ones grow less and less.",
    shape="Both axes logarithmic: ce a straight rising line, the others level off.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
)
