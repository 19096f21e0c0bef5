"""How many filters must a broker tell its neighbour, when bands are wide or narrow?

A study in one file: what to compute (`run`), for which parameters (`plan`), what is
claimed (`CLAIMS`, each with wrong rows that must refute it), and the figure (`draw`).

    siena study check example_study.py             # can every claim fail?
    siena study run example_study.py --quick       # compute, check and draw
    siena study report example_study.py -o example_study.html
"""

from collections.abc import Sequence
from random import Random

from matplotlib.figure import Figure

from siena.algebra.poset import Poset
from siena.lang import parse_filter
from siena.research.studies.framework.claim import Answer, Claim, undecided
from siena.research.studies.framework.intervals import (
    all_below,
    cells,
    curve_of,
    ratio,
)
from siena.research.studies.framework.rows import (
    Row,
    distinct,
    integer,
    number,
    where,
)
from siena.research.studies.framework.spoils import constant
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, line, panels

WIDTHS = (1, 3, 10, 30, 100, 300)
SIZES = {"full": (100, 1000), "quick": (100, 300), "test": (30,)}


def run(row: Row) -> Row:
    """One row: from parameters to results, all random numbers from the seed."""
    random = Random(integer(row, "seed"))
    poset = Poset.of_filters()
    for _ in range(integer(row, "filters")):
        low = random.randrange(1000)
        high = low + random.randint(1, integer(row, "width"))
        poset.add(parse_filter(f"price > {low} and price < {high}"))
    return {"told": len(poset.roots)}


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of parameters; each has a seed."""
    return [
        {"filters": filters, "width": width, "seed": seed}
        for filters in SIZES[size]
        for width in WIDTHS
        for seed in among(seeds)
    ]


def _fewer(rows: Sequence[Row]) -> Answer:
    narrow, wide = min(distinct(rows, "width")), max(distinct(rows, "width"))
    if narrow == wide:
        return undecided("there is one width only")
    told = cells(rows, ("filters", "width"), "told")
    return all_below(
        {
            f"{filters:.0f} filters": ratio(told[filters, wide], told[filters, narrow])
            for filters in distinct(rows, "filters")
        }
    )


CLAIMS = (
    Claim(
        "fewer",
        "fewer filters are told where bands are widest than where they are narrowest",
        "ratio of means, with its 95 % interval over the seeds: below 1 for every "
        "number of filters",
        _fewer,
        {"all the same": constant("told", 7)},
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """The filters that are told, against the width; a curve for each number of them."""
    figure, (axes,) = panels(1)
    for style, filters in enumerate(distinct(rows, "filters")):
        own = where(rows, filters=filters)
        share = [{**row, "share": number(row, "told") / filters} for row in own]
        line(axes, curve_of(share, "width", "share"), f"{filters:,.0f} filters", style)
    finish(axes, "Told to a neighbour", "width of a band, at most", "share", log="x")
    axes.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="example_study",
    title="Bands, wide and narrow",
    paper="ours",
    says="Fewer filters are told where bands are wide: wide ones cover narrow ones.",
    shape="Falling curves.",
    caption="Share of band filters that no other filter covers, against their width.",
    parameters=(Parameter("prices", "0 to 1000, equally likely", "ours"),),
    run=run,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
)
