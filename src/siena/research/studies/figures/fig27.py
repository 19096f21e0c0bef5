"""Figure 27 of CU-CS-888-99: total cost of the distributed architectures.

x: interested parties.  y: total cost.  One drawing for each number of objects.  All
rise until there is a party at almost every site, and stay there; the hierarchy pays
for notifications that nobody wants.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, stdev

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    PAPER,
    PARAMETERS,
    SATURATION,
    all_objects,
    costs,
    draw_architectures,
    every,
    sweep,
)
from siena.research.studies.framework.drawing import finish, panels
from siena.research.studies.framework.rows import Row, curve, where
from siena.research.studies.framework.study import Finding, Size, Study
from siena.research.studies.runs.architectures import simulate

PLATEAU = 10_000


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30, without the centralised ones."""
    return [row for row in sweep(size, seeds) if row["architecture"] != "ce"]


def check(rows: Sequence[Row]) -> list[Finding]:
    """F27a to F27e."""
    return [
        _sublinear(rows),
        _plateau(rows),
        _hierarchy_pays(rows),
        _gap_grows(rows),
        _advertising_is_alike(rows),
        _advertising_is_erratic(rows),
    ]


def _sublinear(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        for name, points in costs(rows, objects).items():
            known = [p for p in points if p <= 100]
            for one, other in pairwise(known):
                growth = points[other] / points[one]
                case = f"{name}, O = {objects}, P = {one:.0f} to {other:.0f}"
                margins[case] = growth / (other / one)
    says = "up to 100 parties, cost grows less than the number of parties"
    return every("F27a", says, margins)


def _plateau(rows: Sequence[Row]) -> Finding:
    says = f"plateau: {PLATEAU:,} parties cost 0.8 to 1.25 times what {SATURATION} do"
    ratios = [
        points[PLATEAU] / points[SATURATION]
        for objects in all_objects(rows)
        for points in costs(rows, objects).values()
        if PLATEAU in points
    ]
    if not ratios:
        return Finding("F27b", says, None, f"needs {PLATEAU:,} parties")
    words = f"{min(ratios):.2f} to {max(ratios):.2f} times"
    return Finding("F27b", says, 0.8 <= min(ratios) <= max(ratios) <= 1.25, words)


def _hierarchy_pays(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        found = costs(rows, objects)
        if objects >= 10:
            for parties, cost in found["hs"].items():
                case = f"O = {objects}, P = {parties:,.0f}"
                margins[case] = found["as"][parties] / cost
    return every("F27c", "with 10 objects or more, as costs less than hs", margins)


def _gap_grows(rows: Sequence[Row]) -> Finding:
    margins = {}
    known = all_objects(rows)
    for one, other in pairwise(known):
        few, many = costs(rows, one), costs(rows, other)
        for parties in few["hs"]:
            before = few["hs"][parties] - few["as"][parties]
            after = many["hs"][parties] - many["as"][parties]
            case = f"O = {one} to {other}, P = {parties:,.0f}"
            margins[case] = before / after if after > 0 else 2.0
    return every("F27c", "the gap between hs and as grows with the objects", margins)


def _advertising_is_alike(rows: Sequence[Row]) -> Finding:
    margins = {}
    for objects in all_objects(rows):
        found = costs(rows, objects)
        for parties, cost in found["as"].items():
            if parties >= SATURATION:
                away = abs(found["aa"][parties] / cost - 1)
                margins[f"O = {objects}, P = {parties:,.0f}"] = away / 0.10
    says = f"from {SATURATION} parties on, aa is within 10 % of as"
    return every("F27d", says, margins)


def _advertising_is_erratic(rows: Sequence[Row]) -> Finding:
    says = "below 100 parties aa varies more from run to run than as"
    more = cases = 0
    for objects in all_objects(rows):
        own = where(rows, objects=objects)
        spread = {
            name: curve(where(own, architecture=name), "parties", "cost", _variation)
            for name in ("as", "aa")
        }
        for parties, variation in spread["aa"].items():
            if parties < 100:
                cases += 1
                more += variation > spread["as"][parties]
    words = f"in {more} of {cases} cases"
    return Finding("F27e", says, more > 0.8 * cases, words, is_gating=False)


def _variation(values: Sequence[float]) -> float:
    return stdev(values) / fmean(values) if len(values) > 1 else 0.0


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects."""
    known = all_objects(rows)
    figure, axes = panels(2, (len(known) + 1) // 2)
    for each, objects in zip(axes, known, strict=False):
        draw_architectures(each, costs(rows, objects))
        title = f"{objects:,} object{'s' if objects > 1 else ''} of interest"
        finish(each, title, "interested parties", "total cost", log="xy")
    return figure


STUDY = Study(
    name="fig27",
    title="Total cost of distributed architectures",
    paper=f"{PAPER}, figure 27",
    says="Cost grows less than the number of parties, and not at all once there is a "
    "party at almost every site. The hierarchy costs more, the more notifications are "
    "ignored. Forwarding advertisements is erratic with few parties.",
    shape="Rising curves that level off near 100 parties; hs above as, ever more.",
    parameters=PARAMETERS,
    run=simulate,
    plan=plan,
    check=check,
    draw=draw,
    remark="That advertisement forwarding is erratic (F27e) depends on something the "
    "paper does not say: without latency it is about as steady as its sibling. The "
    "paper speaks of objects at every site where it must mean parties (erratum E8).",
)
