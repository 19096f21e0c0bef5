"""Figure 29 of CU-CS-888-99: cost of a request, one drawing for each number of objects.

x: interested parties.  y: total cost, divided by the number of requests that clients
made.  Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    EVERY_CASE,
    PAPER,
    TWO_VIEWS,
    against,
    all_objects,
    cases,
    draw_architectures,
    intervals,
    named,
    parameters_with,
    runs,
    swapped,
    sweep,
    with_cost_per,
)
from siena.research.studies.framework.claim import Answer, Claim, Decide
from siena.research.studies.framework.intervals import all_below
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.spoils import constant, only, times
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.reporting.drawing import panels, two_views
from siena.research.studies.runs.architectures import simulate


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30."""
    return sweep(size, seeds)


def per_request(rows: Sequence[Row]) -> list[Row]:
    """The rows with the cost of a request as ``each``."""
    return with_cost_per(rows, "cost", "requests")


# --- Claims ---------------------------------------------------------------------


def _below(names: Sequence[str], other: str, limit: float = 1.0) -> Decide:
    """Whether requests cost less in some architectures than a multiple of another."""

    def decide(rows: Sequence[Row]) -> Answer:
        shares = against(cases(per_request(rows), "each"), names, other)
        return all_below(named(shares), limit)

    return decide


_alike = constant("cost", 1.0)
_dear_centre = only(lambda r: r["architecture"] == "ce", times("cost", 10))
CLAIMS = (
    Claim(
        "F29a",
        "from 30 parties on, a request costs most in ce",
        EVERY_CASE,
        _below(("hs", "as", "aa"), "ce"),
        {"ce is hs": swapped("ce", "hs"), "all cost the same": _alike},
        {"ce costs ten times as much": _dear_centre},
        of=runs(ARCHITECTURES, lambda _, parties: parties >= 30),
        about="hs, as, aa against ce, from 30 parties on",
    ),
    *(
        Claim(
            "F29b",
            f"one object, up to 30 parties: hs costs less than {other}",
            EVERY_CASE,
            _below(("hs",), other),
            {"they change places": swapped("hs", other), "all cost the same": _alike},
            of=runs(
                ["hs", other], lambda objects, parties: objects == 1 and parties <= 30
            ),
            about=f"hs against {other}, one object, up to 30 parties",
        )
        for other in ("as", "aa")
    ),
    Claim(
        "F29c",
        "10 objects or more, up to 1,000 parties: as costs less than hs",
        EVERY_CASE,
        _below(("as",), "hs"),
        {"they change places": swapped("hs", "as"), "all cost the same": _alike},
        of=runs(
            ["hs", "as"], lambda objects, parties: objects >= 10 and parties <= 1000
        ),
        about="as against hs, 10 objects or more, up to 1,000 parties",
    ),
    Claim(
        "F29d",
        "1,000 objects: as is low for any parties, below 2 % of hs",
        f"{EVERY_CASE} of 2 %",
        _below(("as",), "hs", 0.02),
        {"they change places": swapped("hs", "as"), "all cost the same": _alike},
        of=runs(["hs", "as"], lambda objects, _: objects == 1000),
        about="as against hs, 1,000 objects",
    ),
    Claim(
        "F29e",
        "up to 10 objects, 1,000 parties: hs costs less than twice what as does",
        f"{EVERY_CASE} of 2",
        _below(("hs",), "as", 2),
        {"hs costs more": only(lambda r: r["architecture"] == "hs", times("cost", 9))},
        of=runs(
            ["hs", "as"], lambda objects, parties: objects <= 10 and parties == 1000
        ),
        about="hs against as, up to 10 objects, 1,000 parties",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects, linear and logarithmic."""
    each = per_request(rows)
    known = all_objects(rows)
    figure, axes = panels(len(known), 2)
    draws = [
        partial(draw_architectures, found=intervals(each, objects, "each"))
        for objects in known
    ]
    titles = [f"{o:,} object{'s' if o > 1 else ''} of interest" for o in known]
    two_views(axes, draws, titles, "interested parties", "cost per request")
    return figure


STUDY = Study(
    name="fig29",
    title="Cost of a request, by number of objects",
    paper=f"{PAPER}, figure 29",
    says="A request to a centralised service costs most. The hierarchy is good for few "
    "parties and few objects, the acyclic network wherever notifications are ignored; "
    "with many parties, costs are shared.",
    shape="ce rises, and is on top from 30 parties on; the others fall in the end; hs "
    "and as change places between 1 and 10 objects.",
    caption="Cost of all messages between 100 sites, divided by the requests that "
    "clients made, against the number of interested parties; a drawing for each number "
    "of objects, a curve for each architecture." + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1, 10, 100, 1,000", "stated"),
        Parameter("parties", "1 to 10,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
)
