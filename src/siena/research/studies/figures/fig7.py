"""Figure 7 of TR 2006/05: the disjunction advantage of filters with any names.

Axes and parameters: :mod:`siena.research.studies.figures.conjunction_figures`.  All
names are equally likely, of 50 and of 500.  With 500 it takes some 7,000 predicates to
save half.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.figures.conjunction_figures import (
    PARAMETERS,
    Scenario,
    above_half,
    alphas,
    decreasing,
    draw_of,
    plan_of,
    shrinking,
)
from siena.research.studies.framework.rows import Row, quantile
from siena.research.studies.framework.study import Finding, Parameter, Size, Study
from siena.research.studies.runs.disjunction import conjunctions

UNIFORM_50: Scenario = (50, "uniform")
UNIFORM_500: Scenario = (500, "uniform")
ZIPF_500: Scenario = (500, "zipf")  # of figure 6, to compare with


def plan(size: Size, seeds: int) -> list[Row]:
    """Both scenarios with every number of predicates, and one of figure 6."""
    return plan_of((UNIFORM_50, UNIFORM_500, ZIPF_500), size, seeds)


def check(rows: Sequence[Row]) -> list[Finding]:
    """T-E23 to T-E27."""
    return [
        decreasing(rows, (UNIFORM_50, UNIFORM_500)),
        _popular_is_lower(rows),
        shrinking(rows, (UNIFORM_50,)),
        above_half(rows, (UNIFORM_50, UNIFORM_500)),
        _crossing(rows),
    ]


def _popular_is_lower(rows: Sequence[Row]) -> Finding:
    says = "with 500 names, Zipf is below uniform from 200 predicates on (medians)"
    uniform, zipf = alphas(rows, UNIFORM_500), alphas(rows, ZIPF_500)
    gaps = [uniform[n] - zipf[n] for n in uniform if n >= 200]
    if not gaps:
        return Finding("T-E24", says, None, "needs 200 predicates or more")
    return Finding("T-E24", says, min(gaps) > 0, f"by {min(gaps):.3f} or more")


def _crossing(rows: Sequence[Row]) -> Finding:
    says = "500 uniform names: nearly all sets save half from about 7,000 predicates on"
    high = alphas(rows, UNIFORM_500, partial(quantile, share=0.95))
    if not {6500, 7500} <= high.keys():
        return Finding("T-E27", says, None, "needs 6,500 and 7,500 predicates")
    words = f"95th percentile {high[6500]:.3f} at 6,500 and {high[7500]:.3f} at 7,500"
    return Finding("T-E27", says, high[6500] >= 0.5 > high[7500], words)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each scenario."""
    return draw_of(rows, (UNIFORM_50, UNIFORM_500))


STUDY = Study(
    name="fig7",
    title="Disjunction advantage, filters with equally popular names",
    paper="TR 2006/05, figure 7",
    says="With as many names, popular ones (figure 6) gain more than equally popular "
    "ones. With 500 equally popular names, half is saved from about 7,000 predicates.",
    shape="50 names: a steep fall; 500 names: near 1 for long, half at some 7,000.",
    parameters=(
        Parameter("names", "50 and 500, equally likely", "stated"),
        *PARAMETERS,
    ),
    run=conjunctions,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 20, "quick": 8, "test": 3},
)
