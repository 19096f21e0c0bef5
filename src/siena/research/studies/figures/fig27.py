"""Figure 27 of CU-CS-888-99: total cost of the distributed architectures.

x: interested parties.  y: total cost.  One drawing for each number of objects.  All
rise until there is a party at almost every site, and stay there; the hierarchy pays
for notifications that are not wanted.
Parameters: :mod:`siena.research.studies.figures.architecture_figures`.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from statistics import fmean, stdev

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    EVERY_CASE,
    PAPER,
    SATURATION,
    TWO_VIEWS,
    Case,
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
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    decided,
    having,
    undecided,
)
from siena.research.studies.framework.intervals import (
    Samples,
    all_below,
    all_between,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.spoils import constant, copied, each, only, times
from siena.research.studies.framework.study import Parameter, Size, Study
from siena.research.studies.reporting.drawing import panels, two_views
from siena.research.studies.runs.architectures import simulate

PLATEAU = 10_000


def plan(size: Size, seeds: int) -> list[Row]:
    """The rows of figures 26 to 30, without the centralised ones."""
    return [row for row in sweep(size, seeds) if row["architecture"] != "ce"]


# --- Claims ---------------------------------------------------------------------


def _sublinear(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    margins, allowed = {}, {}
    for case, following in _steps(known):
        if following.parties <= 100:
            words = f"{case} to {following.parties}"
            margins[words] = ratio(known[following], known[case])
            allowed[words] = following.parties / case.parties
    return all_below(margins, allowed)


def _steps(known: dict[Case, Samples]) -> list[tuple[Case, Case]]:
    """Neighbouring numbers of parties."""
    ordered = pairwise(sorted(known))
    return [(a, b) for a, b in ordered if a[:2] == b[:2]]


def _plateau(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    ratios = {
        f"{case.architecture}, O = {case.objects:,}": ratio(
            samples, known[case._replace(parties=SATURATION)]
        )
        for case, samples in known.items()
        if case.parties == PLATEAU and case._replace(parties=SATURATION) in known
    }
    if not ratios:
        return undecided(f"needs {SATURATION} and {PLATEAU:,} parties")
    return all_between(ratios, 0.8, 1.25)


def _hierarchy_pays(rows: Sequence[Row]) -> Answer:
    margins = against(cases(rows), ("as",), "hs")
    return all_below(named({c: m for c, m in margins.items() if c.objects >= 10}))


def _gap_grows(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    margins = {}
    for case in known:
        more = [o for o in all_objects(rows) if o > case.objects]
        after = case._replace(objects=min(more, default=0))
        if case.architecture != "hs" or after not in known:
            continue
        peers = (case._replace(architecture="as"), after._replace(architecture="as"))
        gaps = of_means(
            # Where the wider gap is none at all, nothing has grown.
            lambda a, b, c, d: (a - b) / (c - d).clip(1e-9),
            *(known[each_] for each_ in (case, peers[0], after, peers[1])),
        )
        margins[f"{case} to O = {after.objects:,}"] = gaps
    return all_below(margins)


def _advertising_is_alike(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    margins = {
        str(case): of_means(
            lambda a, b: abs(a / b - 1),
            samples,
            known[case._replace(architecture="as")],
        )
        for case, samples in known.items()
        if case.architecture == "aa" and case.parties >= SATURATION
    }
    return all_below(margins, 0.1, may_be_none=True)


def _advertising_is_erratic(rows: Sequence[Row]) -> Answer:
    known = cases(rows)
    few = [c for c in known if c.architecture == "aa" and c.parties < 100]
    if min((len(known[case]) for case in few), default=0) < 2:
        return undecided("needs two seeds")
    more = [
        case
        for case in few
        if _variation(known[case]) > _variation(known[case._replace(architecture="as")])
    ]
    words = f"in {len(more)} of {len(few)} cases"
    return decided(len(more) > 0.8 * len(few), words)


def _variation(samples: Samples) -> float:
    values = list(samples.values())
    return stdev(values) / fmean(values)


_varied = each(lambda r: {"cost": number(r, "cost") * number(r, "seed")})

CLAIMS = (
    Claim(
        "F27a",
        "up to 100 parties, cost grows less than the number of parties",
        EVERY_CASE,
        _sublinear,
        {
            "cost is the parties squared": each(
                lambda r: {"cost": number(r, "parties") ** 2}
            )
        },
        of=having(lambda r: number(r, "parties") <= 100),
        about="neighbouring numbers of parties up to 100",
    ),
    Claim(
        "F27b",
        f"plateau: {PLATEAU:,} parties cost 0.8 to 1.25 times what {SATURATION} do",
        "ratio of means for every architecture and number of objects; all 95 % "
        "intervals within the range",
        _plateau,
        {"cost is that of parties": copied("cost", "parties")},
        of=having(lambda r: r["parties"] in {SATURATION, PLATEAU}),
        about=f"{SATURATION} and {PLATEAU:,} parties",
    ),
    Claim(
        "F27c",
        "with 10 objects or more, as costs less than hs",
        EVERY_CASE,
        _hierarchy_pays,
        {"they change places": swapped("hs", "as"), "all alike": constant("cost", 1.0)},
        of=runs(["as", "hs"], lambda objects, _: objects >= 10),
        about="as against hs, 10 objects or more",
    ),
    Claim(
        "F27c",
        "the gap between hs and as grows with the objects",
        "ratio of the gaps of neighbouring numbers of objects, with its 95 % interval: "
        "below 1 in every case",
        _gap_grows,
        {
            "they change places": swapped("hs", "as"),
            "objects do not matter": each(
                lambda r: {"cost": 2.0 + (r["architecture"] == "hs")}
            ),
        },
        of=runs(["as", "hs"]),
        about="hs and as, neighbouring numbers of objects",
    ),
    Claim(
        "F27d",
        f"from {SATURATION} parties on, aa is within 10 % of as",
        "how far the ratio of means is from 1, with its 95 % interval: below 0.1 in "
        "every case",
        _advertising_is_alike,
        {
            "aa costs half as much": only(
                lambda r: r["architecture"] == "aa", times("cost", 0.5)
            )
        },
        of=runs(["as", "aa"], lambda _, parties: parties >= SATURATION),
        about=f"aa against as, from {SATURATION} parties on",
    ),
    Claim(
        "F27e",
        "below 100 parties aa varies more from run to run than as",
        "standard deviation over mean: larger for aa in more than 80 % of all cases",
        _advertising_is_erratic,
        {
            "nothing varies": constant("cost", 1.0),
            "as varies": only(lambda r: r["architecture"] == "as", _varied),
        },
        {"aa varies": only(lambda r: r["architecture"] == "aa", _varied)},
        of=runs(["as", "aa"], lambda _, parties: parties < 100),
        about="aa against as, below 100 parties",
        why="The paper does not say how long messages take nor when objects advertise "
        "again. A short and a long latency were tried (the study choices): with "
        "neither does aa vary more in most cases. When objects advertise was not "
        "varied.",
        is_gating=False,
        seeds_min=5,
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each number of objects, linear and logarithmic."""
    known = all_objects(rows)
    figure, axes = panels(len(known), 2)
    draws = [
        partial(draw_architectures, found=intervals(rows, objects)) for objects in known
    ]
    titles = [f"{o:,} object{'s' if o > 1 else ''} of interest" for o in known]
    two_views(axes, draws, titles, "interested parties", "total cost")
    return figure


STUDY = Study(
    name="fig27",
    title="Total cost of distributed architectures",
    paper=f"{PAPER}, figure 27",
    says="Cost grows less than the number of parties, and not at all once there is a "
    "party at almost every site. The hierarchy costs more, the more notifications are "
    "ignored. Forwarding advertisements is erratic with few parties.",
    shape="Rising curves that level off near 100 parties; hs above as, ever more.",
    caption="Cost of all messages between 100 sites against the number of interested "
    "parties, without the centralised service: a hierarchy (hs) and acyclic networks "
    "that forward subscriptions (as) or advertisements (aa), for 1 to 1,000 objects."
    + TWO_VIEWS,
    parameters=parameters_with(
        Parameter("objects", "1, 10, 100, 1,000", "stated"),
        Parameter("parties", "1 to 10,000", "stated; points are ours"),
    ),
    run=simulate,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    remark="Advertisement forwarding is about as steady as its sibling here, and in "
    "the study choices with latencies, too, though it costs more there. The paper "
    "speaks of objects at every site where it must mean parties (erratum E8).",
)
