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
from siena.research.studies.framework.claim import Answer, Claim, decided, undecided
from siena.research.studies.framework.rows import (
    Row,
    curve,
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
    told = curve(rows, "width", "told")
    if len(told) == 1:
        return undecided("there is one width only")
    first, *_, last = told.values()
    return decided(last < first, f"{first:.0f} at width 1, {last:.0f} at width 300")


CLAIMS = (
    Claim(
        "fewer",
        "the wider the bands, the fewer filters are told",
        "mean of the filters told: fewer at the largest width than at the smallest",
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
        line(axes, curve(share, "width", "share"), f"{filters:,.0f} filters", style)
    finish(axes, "Told to a neighbour", "width of a band, at most", "share", log="x")
    return figure


STUDY = Study(
    name="example_study",
    title="Bands, wide and narrow",
    paper="ours",
    says="What the paper says about it, in your words.",
    shape="Falling curves.",
    caption="Share of band filters that no other filter covers, against their width.",
    parameters=(Parameter("prices", "0 to 1000, equally likely", "ours"),),
    run=run,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    bands="Points are means over the seeds.",
)
