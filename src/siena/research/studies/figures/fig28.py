"""Figure 28 of CU-CS-888-99: total cost, one drawing for each architecture.

x: interested parties.  y: total cost.  One curve for each number of objects: how far
they are apart is what ignored notifications cost.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    PAPER,
    PARAMETERS,
    TITLES,
    all_objects,
    costs,
    every,
    sweep,
)
from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.study import Finding, Size, Study
from siena.research.studies.runs.architectures import simulate

FEW, MANY = 1, 1000


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30."""
    return sweep(size, seeds)


def check(rows: Sequence[Row]) -> list[Finding]:
    """F28a, F28b, F28c; F28d is F27e again."""
    return [_central_grows(rows), *_hierarchy(rows), _acyclic(rows)]


def _central_grows(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        ce = costs(rows, objects)["ce"]
        for one, other in pairwise(ce):
            case = f"O = {objects}, P = {one:.0f} to {other:.0f}"
            margins[case] = ce[one] / ce[other]
    return every("F28a", "ce grows with the parties, for any objects", margins)


def _hierarchy(rows: Sequence[Row]) -> list[Finding]:
    says = "hs, one party: 1,000 objects cost 100 times what one does, or more"
    steady = "hs, 1,000 objects: nearly constant in the parties (max/min < 1.1)"
    if MANY not in all_objects(rows):
        words = f"needs {MANY:,} objects"
        return [
            Finding("F28b", says, None, words),
            Finding("F28b", steady, None, words),
        ]
    few, many = costs(rows, FEW)["hs"], costs(rows, MANY)["hs"]
    factor = many[1] / few[1]
    spread = max(many.values()) / min(many.values())
    return [
        Finding("F28b", says, factor >= 100, f"{factor:,.0f} times"),
        Finding("F28b", steady, spread < 1.1, f"max/min is {spread:.3f}"),
    ]


def _acyclic(rows: Sequence[Row]) -> Finding:
    says = "as: 1,000 objects cost half to twice what one does, for any parties"
    if MANY not in all_objects(rows):
        return Finding("F28c", says, None, f"needs {MANY:,} objects")
    few, many = costs(rows, FEW)["as"], costs(rows, MANY)["as"]
    factors = [many[parties] / cost for parties, cost in few.items()]
    words = f"{min(factors):.2f} to {max(factors):.2f} times"
    return Finding("F28c", says, 0.5 <= min(factors) <= max(factors) <= 2, words)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each architecture."""
    figure, axes = panels(2, 2)
    for each, name in zip(axes, ARCHITECTURES, strict=True):
        for style, objects in enumerate(all_objects(rows)):
            line(each, costs(rows, objects)[name], f"{objects:,}", style)
        x, y = "interested parties", "total cost"
        finish(each, TITLES[name], x, y, log="xy", legend="objects")
    return figure


STUDY = Study(
    name="fig28",
    title="Total cost by number of objects",
    paper=f"{PAPER}, figure 28",
    says="A centralised service grows with the parties whatever there is to be "
    "notified of. The hierarchy pays for every notification, wanted or not; the "
    "acyclic network only for wanted ones, so that objects hardly matter.",
    shape="hs: curves far apart, the top one flat. as: all curves close together.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    remark="F28d, that aa is unstable with few parties and many objects, is not "
    "gating and is reported with figure 27 (F27e).",
)
