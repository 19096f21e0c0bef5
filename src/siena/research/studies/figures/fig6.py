"""Figure 6 of TR 2006/05: the disjunction advantage of filters with popular names.

Axes and parameters: :mod:`siena.research.studies.figures.conjunction_figures`.  Names
are drawn by Zipf's law, from 500 and from 5,000.  The more predicates, the more is
saved; with ten times the names it takes longer.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.conjunction_figures import (
    PARAMETERS,
    Scenario,
    above_half,
    decreasing,
    draw_of,
    plan_of,
    shrinking,
)
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.runs.disjunction import conjunctions

SCENARIOS: tuple[Scenario, ...] = ((500, "zipf"), (5000, "zipf"))


def plan(size: Size, seeds: int) -> list[Row]:
    """Both scenarios with every number of predicates."""
    return plan_of(SCENARIOS, size, seeds)


CLAIMS = (decreasing(SCENARIOS), shrinking(SCENARIOS), above_half(SCENARIOS))


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each scenario."""
    return draw_of(rows, SCENARIOS)


STUDY = Study(
    name="fig6",
    title="Disjunction advantage, filters with popular names",
    paper="TR 2006/05, figure 6",
    says="Alpha falls as predicates are added, and large sets differ little from each "
    "other. Fewer than 100 predicates save little.",
    shape="Falling curves whose spread narrows; with 5,000 names slower than with 500.",
    caption="Alpha, the constraints that are left when covered filters are dropped as "
    "a share of all, against the number of filters; left 500 names, right"
    " 5,000, by Zipf's law."
    " Above, x is linear, as in the paper; below are the same curves with a "
    "logarithmic x.",
    parameters=(
        Parameter("names", "500 and 5,000, weight 1/rank", "stated"),
        *PARAMETERS,
    ),
    bands="Lines with marks are medians of the sets, dashed lines their 5th and 95th "
    "percentiles; shaded are all sets. Filters of W-TR0605.",
    run=conjunctions,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 20, "quick": 8, "test": 3},
)
