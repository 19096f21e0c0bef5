"""Figure 29 of CU-CS-888-99: cost of a request, one drawing for each number of objects.

x: interested parties.  y: total cost, divided by the number of requests that clients
made.  Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    Costs,
    all_objects,
    costs,
    draw_architectures,
    every,
    sweep,
    with_cost_per,
)
from siena.research.studies.framework.drawing import finish, panels
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.study import Finding, Size, Study
from siena.research.studies.runs.architectures import simulate


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30."""
    return sweep(size, seeds)


def per_request(rows: Sequence[Row]) -> dict[int, Costs]:
    """Cost of a request by number of objects, architecture and parties."""
    each = with_cost_per(rows, "cost", "requests")
    return {objects: costs(each, objects, "each") for objects in all_objects(rows)}


def check(rows: Sequence[Row]) -> list[Finding]:
    """F29a to F29e."""
    found = per_request(rows)
    return [
        _central_is_highest(found),
        _hierarchy_is_good_for_few(found),
        _acyclic_is_better(found),
        _acyclic_is_low(found),
        _hierarchy_comes_back(found),
    ]


def _central_is_highest(found: dict[int, Costs]) -> Finding:
    margins = {
        f"{name}, O = {objects}, P = {parties:,.0f}": cost / each["ce"][parties]
        for objects, each in found.items()
        for name in each.keys() - {"ce"}
        for parties, cost in each[name].items()
        if parties >= 30
    }
    return every("F29a", "from 30 parties on, a request costs most in ce", margins)


def _hierarchy_is_good_for_few(found: dict[int, Costs]) -> Finding:
    margins = {
        f"{name}, P = {parties:,.0f}": cost / found[1][name][parties]
        for name in ("as", "aa")
        for parties, cost in found[1]["hs"].items()
        if parties <= 30
    }
    says = "one object, up to 30 parties: hs costs less than as and aa"
    return every("F29b", says, margins)


def _acyclic_is_better(found: dict[int, Costs]) -> Finding:
    margins = {
        f"O = {objects}, P = {parties:,.0f}": cost / each["hs"][parties]
        for objects, each in found.items()
        for parties, cost in each["as"].items()
        if objects >= 10 and parties <= 1000
    }
    says = "10 objects or more, up to 1,000 parties: as costs less than hs"
    return every("F29c", says, margins)


def _acyclic_is_low(found: dict[int, Costs]) -> Finding:
    says = "1,000 objects: as is low for any parties, below 2 % of hs"
    if 1000 not in found:
        return Finding("F29d", says, None, "needs 1,000 objects")
    margins = {
        f"P = {parties:,.0f}": cost / found[1000]["hs"][parties] / 0.02
        for parties, cost in found[1000]["as"].items()
    }
    return every("F29d", says, margins)


def _hierarchy_comes_back(found: dict[int, Costs]) -> Finding:
    margins = {
        f"O = {objects}": each["hs"][1000] / each["as"][1000] / 2
        for objects, each in found.items()
        if objects <= 10 and 1000 in each["hs"]
    }
    says = "up to 10 objects, 1,000 parties: hs costs less than twice what as does"
    return every("F29e", says, margins)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects."""
    found = per_request(rows)
    figure, axes = panels(2, (len(found) + 1) // 2)
    for each, (objects, own) in zip(axes, found.items(), strict=False):
        draw_architectures(each, own)
        title = f"{objects:,} object{'s' if objects > 1 else ''} of interest"
        finish(each, title, "interested parties", "cost per request", log="xy")
    return figure


STUDY = Study(
    name="fig29",
    title="Cost of a request, by number of objects",
    paper=f"{PAPER}, figure 29",
    says="A request to a centralised service costs most. The hierarchy is good for few "
    "parties and few objects, the acyclic network wherever notifications are ignored; "
    "with many parties, costs are shared.",
    shape="Falling curves; ce stays on top; hs and as cross between 1 and 10 objects.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
)
