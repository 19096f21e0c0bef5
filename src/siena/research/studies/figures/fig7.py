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
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    decided,
    having,
    undecided,
)
from siena.research.studies.framework.rows import Row, number, quantile, where
from siena.research.studies.framework.spoils import constant, only
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.runs.disjunction import conjunctions

UNIFORM_50: Scenario = (50, "uniform")
UNIFORM_500: Scenario = (500, "uniform")
ZIPF_500: Scenario = (500, "zipf")  # of figure 6, to compare with


def plan(size: Size, seeds: int) -> list[Row]:
    """Both scenarios with every number of predicates, and one of figure 6."""
    return plan_of((UNIFORM_50, UNIFORM_500, ZIPF_500), size, seeds)


# --- Claims ---------------------------------------------------------------------


def _popular_is_lower(rows: Sequence[Row]) -> Answer:
    uniform, zipf = alphas(rows, UNIFORM_500), alphas(rows, ZIPF_500)
    gaps = [uniform[n] - zipf[n] for n in uniform if n >= 200]
    if not gaps:
        return undecided("needs 200 predicates or more")
    is_lower = min(gaps) > 0 and min(zipf.values()) > 0
    return decided(is_lower, f"by {min(gaps):.3f} or more")


def _crossing(rows: Sequence[Row]) -> Answer:
    high = alphas(rows, UNIFORM_500, partial(quantile, share=0.95))
    if not {6500, 7500} <= high.keys():
        return undecided("needs 6,500 and 7,500 predicates")
    said = []
    for predicates in (6500, 7500):
        sets = [number(row, "alpha") for row in where(rows, predicates=predicates)]
        half = sum(alpha < 0.5 for alpha in sets)
        said.append(
            f"{high[predicates]:.3f} at {predicates:,}, where {half} of {len(sets)} "
            "sets save half"
        )
    words = f"95th percentile {'; '.join(said)}"
    return decided(high[6500] >= 0.5 > high[7500] > 0, words)


def _is_near_crossing(row: Row) -> bool:
    scenario = (row["names"], row["names_are"])
    return scenario == UNIFORM_500 and row["predicates"] in {6500, 7500}


CLAIMS = (
    decreasing((UNIFORM_50, UNIFORM_500)),
    Claim(
        "T-E24",
        "with 500 names, Zipf is below uniform from 200 predicates on",
        "difference of the medians of sets: above 0 for every number of predicates",
        _popular_is_lower,
        {
            "both are alike": constant("alpha", 0.9),
            "Zipf saves nothing": only(
                lambda r: r["names_are"] == "zipf", constant("alpha", 1.0)
            ),
            "Zipf leaves nothing": only(
                lambda r: r["names_are"] == "zipf", constant("alpha", 0.0)
            ),
        },
        of=having(lambda r: r["names"] == 500 and number(r, "predicates") >= 200),
        about="500 names, 200 predicates or more",
    ),
    shrinking((UNIFORM_50,)),
    above_half((UNIFORM_50, UNIFORM_500)),
    Claim(
        "T-E27",
        "500 uniform names: nearly all sets save half from about 7,000 predicates on",
        "95th percentile of alpha among the sets that were drawn, as the figure has "
        "it: 0.5 or more at 6,500 predicates, below it at 7,500; what it is among all "
        "sets so few do not tell",
        _crossing,
        {"they do earlier": constant("alpha", 0.4), "never": constant("alpha", 0.6)},
        of=having(_is_near_crossing),
        about="500 uniform names, 6,500 and 7,500 predicates",
        seeds_min=5,
    ),
)


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
    caption="Alpha, the constraints that are left when covered filters are dropped as "
    "a share of all, against the number of filters; left 50 names, right"
    " 500, all equally likely."
    " Above, x is linear, as in the paper; below are the same curves with a "
    "logarithmic x.",
    parameters=(
        Parameter("names", "50 and 500, equally likely", "stated"),
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
