"""Figure 30 of CU-CS-888-99: cost of a request, one drawing for each architecture.

The data of figure 29, turned: one curve for each number of objects.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    PAPER,
    PARAMETERS,
    TITLES,
    every,
)
from siena.research.studies.figures.fig29 import check as check_29, per_request, plan
from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.study import Finding, Study
from siena.research.studies.runs.architectures import simulate


def check(rows: Sequence[Row]) -> list[Finding]:
    """The claims of figure 29, whose data these are; and one of ours."""
    found = per_request(rows)
    margins = {}
    for name in ("hs", "as", "aa"):
        for objects, own in found.items():
            ends = min(own[name]), max(own[name])
            margins[f"{name}, O = {objects}"] = own[name][ends[1]] / own[name][ends[0]]
    says = "hs, as, aa: with the most parties a request costs less than with one"
    return [*check_29(rows), every("ours", says, margins, is_gating=False)]


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each architecture."""
    found = per_request(rows)
    figure, axes = panels(2, 2)
    for each, name in zip(axes, ARCHITECTURES, strict=True):
        for style, (objects, own) in enumerate(found.items()):
            line(each, own[name], f"{objects:,}", style)
        x, y = "interested parties", "cost per request"
        finish(each, TITLES[name], x, y, log="xy", legend="objects")
    return figure


STUDY = Study(
    name="fig30",
    title="Cost of a request, by architecture",
    paper=f"{PAPER}, figure 30",
    says="The same data as figure 29, by architecture.",
    shape="hs falls with the parties, least with many objects; as stays low.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    remark="That a request is cheaper where there are more parties is no claim of the "
    "paper. It is not so where nearly all requests are publications that cost nothing "
    "while nobody wants them: as and aa with 1,000 objects.",
)
